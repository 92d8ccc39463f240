import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  principalSession: {
    perMinute: 10,
    describes: 'making principal sessions, by developer',
    counts: [{ by: 'developer' }],
  },
  principalAudit: {
    perMinute: 30,
    describes: '`GET /v1/principal/audit`, by principal session',
    counts: [{ by: 'session' }],
  },
});
