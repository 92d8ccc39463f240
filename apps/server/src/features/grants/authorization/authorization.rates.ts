import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  authorize: {
    perMinute: 10,
    describes: '`POST /v1/authorize`, by developer',
    counts: [{ by: 'developer' }],
  },
});
