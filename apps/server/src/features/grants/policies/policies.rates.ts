import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  policyWrite: {
    perMinute: 30,
    describes: 'writing and replaying policies, by developer',
    counts: [{ by: 'developer' }],
  },
});
