import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  didResolve: {
    perMinute: 60,
    describes: '`GET /v1/dids/:id`, by client address',
    counts: [{ by: 'address' }],
  },
});
