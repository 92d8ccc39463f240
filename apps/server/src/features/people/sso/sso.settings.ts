import { boolean, integer, notInProduction } from '../../../config/readers.ts';
import { sharedSecret } from '../../../config/secrets.ts';
import { defaulted, optional, type ValuesOf } from '../../../config/setting.ts';
import type { ServiceContext } from '../../../feature.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { definePart } from '../../../platform/parts.ts';

export const ssoSettings = {
  SSO_STATE_SECRET: optional(
    sharedSecret,
    'derived from the other keys',
    'The key that protects logins under way at identity providers. Set the same value on every instance.',
  ),
  SSO_SESSION_SECONDS: defaulted(
    integer(300, 86_400),
    '28800',
    'How long a session of single sign-on lasts. Use does not prolong it.',
  ),
  SSO_ALLOW_PRIVATE_HOSTS: defaulted(
    boolean,
    'false',
    'Whether identity providers may be on this machine and private networks.',
  ),
  SSO_ALLOW_INSECURE_URLS: defaulted(
    notInProduction(boolean, (value) => value, 'SSO_ALLOW_INSECURE_URLS must not be true in production'),
    'false',
    'Whether identity providers may be called over `http` and `ldap` without TLS. The service refuses it in production.',
  ),
  SSO_RESPONSE_LIMIT_BYTES: defaulted(
    integer(65_536, 1_048_576),
    '262144',
    'The largest SAML response, decoded. A person in hundreds of groups needs some 100 KiB.',
  ),
  SSO_METADATA_LIMIT_BYTES: defaulted(
    integer(65_536, 8_388_608),
    '1048576',
    'The largest metadata of an identity provider, fetched or pasted.',
  ),
};

export type SsoSettings = ValuesOf<typeof ssoSettings>;

const MAX_BYTES = 1_048_576;

/** The client for identity providers. */
export const identityProviders = definePart<Egress>('the client for identity providers');

/** @param mostBytes the largest answer */
export const ssoEgress = (
  { openEgress }: Pick<ServiceContext, 'openEgress'>,
  {
    SSO_ALLOW_PRIVATE_HOSTS: allowsPrivateHosts,
    SSO_ALLOW_INSECURE_URLS: allowsHttp,
  }: Pick<SsoSettings, 'SSO_ALLOW_PRIVATE_HOSTS' | 'SSO_ALLOW_INSECURE_URLS'>,
  mostBytes = MAX_BYTES,
): Egress => openEgress({ allowsHttp, allowsPrivateHosts }, { mostBytes });
