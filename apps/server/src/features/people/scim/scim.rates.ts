import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  scim: {
    perMinute: 30_000, // a directory that comes for the first time, by a search and a write for each person
    describes: 'calls of an identity provider, by SCIM token',
    counts: [{ by: 'token' }],
  },
  scimTokenWrite: {
    perMinute: 30,
    describes: 'creating and deleting SCIM tokens, by developer',
    counts: [{ by: 'developer' }],
  },
});
