import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  token: {
    perMinute: 20,
    describes: '`POST /v1/token`, by developer',
    counts: [{ by: 'developer' }],
  },
  refresh: {
    perMinute: 20,
    describes: '`POST /v1/token/refresh`, by developer',
    counts: [{ by: 'developer' }],
  },
});
