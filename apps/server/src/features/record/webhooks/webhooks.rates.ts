import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  webhookWrite: {
    perMinute: 30,
    describes: 'registering, changing and deleting webhooks, by developer',
    counts: [{ by: 'developer' }],
  },
});
