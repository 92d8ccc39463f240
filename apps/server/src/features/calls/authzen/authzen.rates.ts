import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  authzen: {
    perMinute: 600,
    describes: 'evaluations of AuthZEN, by resource; those of a developer count against the plan',
    counts: [{ by: 'token' }],
  },
});
