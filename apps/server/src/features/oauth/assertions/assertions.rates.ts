import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  ssoClientWrite: {
    perMinute: 30,
    describes: 'changes of the clients for which identity providers speak, by developer',
    counts: [{ by: 'developer' }],
  },
});
