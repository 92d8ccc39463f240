import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  ssf: {
    perMinute: 120,
    describes: 'calls of receivers of signals, by receiver',
    counts: [{ by: 'token' }],
  },
  ssfReceiverWrite: {
    perMinute: 30,
    describes: 'registering, changing and deleting receivers of signals, by developer',
    counts: [{ by: 'developer' }],
  },
});
