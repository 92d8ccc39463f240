import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  vaultExchange: {
    perMinute: 20,
    describes: '`POST /v1/vault/credentials/exchange`, by grant token',
    counts: [{ by: 'token' }],
  },
  vaultWrite: {
    perMinute: 30,
    describes: 'storing and deleting credentials of the vault, by developer',
    counts: [{ by: 'developer' }],
  },
});
