import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  vaultProviderWrite: {
    perMinute: 30,
    describes: 'adding, changing and deleting providers of connected accounts, by developer',
    counts: [{ by: 'developer' }],
  },
});
