import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  policySync: {
    perMinute: 10,
    describes: 'sending and activating policy bundles, by developer',
    counts: [{ by: 'developer' }],
  },
  policySecret: {
    perMinute: 5,
    describes: 'making the secret of Git notifications, by developer',
    counts: [{ by: 'developer' }],
  },
});
