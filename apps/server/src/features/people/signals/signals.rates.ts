import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  ssfReceive: {
    perMinute: 600,
    describes: 'signals of an identity provider that has shown its secret, by connection',
    counts: [{ by: 'resource' }],
  },
});
