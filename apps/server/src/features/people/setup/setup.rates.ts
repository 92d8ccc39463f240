import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  setupLinkWrite: {
    perMinute: 30,
    describes: 'making and revoking setup links, by developer',
    counts: [{ by: 'developer' }],
  },
  setup: {
    perMinute: 30,
    describes: 'calls of the setup page, by client address',
    counts: [{ by: 'address' }],
  },
});
