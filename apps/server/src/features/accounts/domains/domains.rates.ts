import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  domainWrite: {
    perMinute: 30,
    describes: 'adding and removing domains, by developer',
    counts: [{ by: 'developer' }],
  },
  domainVerify: {
    perMinute: 10,
    describes: 'verifying domains, by developer',
    counts: [{ by: 'developer' }],
  },
});
