import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

/**
 * The subject of requests that anybody can make in a developer's name: those of browsers, and of clients that registered or
 * described themselves. They use up a share of their own, and not that of the developer's clients.
 */
export const unauthenticatedOf = (developerId: string) => `${developerId} strangers`;

export const rates = rateRules({
  oauthAuthorize: {
    perMinute: 10,
    describes:
      'authorization requests of OAuth, also of devices and by backchannel, by client and address; twelve times as many by developer, and once more for clients that prove nothing',
    counts: [{ by: 'client' }, { by: 'developer', factor: 12 }],
  },
  oauthToken: {
    perMinute: 20,
    describes: '`POST /oauth/token`, by client; without a secret or key, by client and address',
    counts: [{ by: 'client' }],
  },
  deviceCode: {
    perMinute: 10,
    describes: '`POST /v1/device`, by client address',
    counts: [{ by: 'address' }],
  },
  oauthSignIn: {
    perMinute: 20,
    describes:
      'signing in with a passkey for an authorization request of OAuth, and who asks on the page of a device, by client address',
    counts: [{ by: 'address' }],
  },
  oauthClientFetch: {
    perMinute: 30,
    describes: 'documents of OAuth clients that the service fetches, by the address that asked',
    counts: [{ by: 'client' }],
  },
  oauthRegister: {
    perMinute: 10,
    describes: 'registrations of OAuth clients and their management, by address',
    counts: [{ by: 'address' }],
  },
  oauthRevoke: {
    perMinute: 60,
    describes: '`POST /oauth/revoke`, by client; without a secret or key, by client and address',
    counts: [{ by: 'client' }],
  },
  oauthIntrospect: {
    perMinute: 600,
    describes: '`POST /oauth/introspect`, by client or resource',
    counts: [{ by: 'client' }],
  },
});
