import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  vaultProxy: {
    perMinute: 120,
    describes: 'calls through the vault proxy, by grant token',
    counts: [{ by: 'token' }],
  },
  vaultProxyCredential: {
    perMinute: 600,
    describes: 'calls through the vault proxy, by credential',
    counts: [{ by: 'credential' }],
  },
});
