import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  auditLog: {
    perMinute: 30,
    describes: '`POST /v1/audit/log`, by developer',
    counts: [{ by: 'developer' }],
  },
  auditVerify: {
    perMinute: 10,
    describes: '`GET /v1/audit/verify`, by developer',
    counts: [{ by: 'developer' }],
  },
});
