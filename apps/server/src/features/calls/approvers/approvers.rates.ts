import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  memberWrite: {
    perMinute: 30,
    describes: 'inviting, changing and removing approvers, by developer',
    counts: [{ by: 'developer' }],
  },
  console: {
    perMinute: 600,
    describes: 'calls of the page on which approvers decide, by approver',
    counts: [{ by: 'session' }],
  },
  consoleSignIn: {
    perMinute: 20,
    describes: 'signing in and enrolling as an approver, by client address',
    counts: [{ by: 'address' }],
  },
});
