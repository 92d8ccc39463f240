import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  scimTokenWrite: {
    perMinute: 30,
    describes: 'creating and deleting SCIM tokens, by developer',
    counts: [{ by: 'developer' }],
  },
});
