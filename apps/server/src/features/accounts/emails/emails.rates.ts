import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  emailVerify: {
    perMinute: 5,
    describes: '`POST /v1/signup/verify`, by developer',
    counts: [{ by: 'developer' }],
  },
  mailRecipient: {
    perHour: 5,
    describes: 'links and codes mailed to an address, by that address, whichever developer sends them',
    counts: [{ by: 'recipient' }],
  },
  // Or a stranger who has codes sent to a person could keep the person from hearing of changes.
  mailNotice: {
    perHour: 20,
    describes: 'notices of an account to a person whose address is known, by both',
    counts: [{ by: 'recipient' }],
  },
});
