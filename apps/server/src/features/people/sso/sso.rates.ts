import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  ssoTest: {
    perMinute: 10,
    describes: 'testing a connection of single sign-on, by developer',
    counts: [{ by: 'developer' }],
  },
  ssoLogin: {
    perMinute: 30,
    describes: '`GET /sso/login`, by client address',
    counts: [{ by: 'address' }],
  },
  ssoDiscover: {
    perMinute: 20,
    describes: '`GET /sso/discover`, by client address',
    counts: [{ by: 'address' }],
  },
  ssoCallback: {
    perMinute: 20,
    describes: 'answers of identity providers, by client address',
    counts: [{ by: 'address' }],
  },
  ssoLdap: {
    perMinute: 10,
    describes: '`POST /sso/callback/ldap`, by client address',
    counts: [{ by: 'address' }],
  },
});
