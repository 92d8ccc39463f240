import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  auditErasure: {
    perMinute: 30,
    describes: 'erasing the content of people from audit entries, by developer',
    counts: [{ by: 'developer' }],
  },
});
