import { oauthRefusal } from '../../../platform/errors.ts';
import { CIBA_GRANT, type ClientKeys, DEVICE_GRANT, isClientName, keysIn, lists } from './described.ts';
import { isClientRedirectUri, isNativeUri } from './redirects.ts';
import type { ClientMetadata } from './registration.schema.ts';

const MOST_REDIRECT_URIS = 10;
const GRANT_TYPES = ['authorization_code', 'refresh_token', DEVICE_GRANT];
const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;
type AuthMethod = (typeof AUTH_METHODS)[number];

const invalid = (message: string) => oauthRefusal('invalid_client_metadata', message);

/** Metadata of a registration that can be kept. */
export interface AcceptedMetadata {
  readonly columns: {
    readonly name: string;
    readonly redirectUris: string[];
    readonly authMethod: AuthMethod;
    readonly keys: string | null;
    readonly refreshes: boolean;
    readonly description: string;
  };
  readonly needsSecret: boolean;
}

/** @see RFC 7591 §2 @throws invalid_redirect_uri, invalid_client_metadata */
export function acceptMetadata(metadata: ClientMetadata): AcceptedMetadata {
  const grantTypes = grantTypesOf(metadata.grant_types);
  const usesBrowser = grantTypes.includes('authorization_code');
  const isUnsent = metadata.redirect_uris === undefined && !usesBrowser;
  const redirectUris = isUnsent ? [] : redirectUrisOf(metadata.redirect_uris);
  const name = nameOf(metadata.client_name);
  const authMethod = authMethodOf(metadata.token_endpoint_auth_method);
  const keys = keysOf(metadata, authMethod);
  const { response_types: responseTypes = ['code'] } = metadata;
  if (!Array.isArray(responseTypes) || !responseTypes.includes('code')) {
    throw invalid('The only response type is `code`.');
  }
  const isNative = redirectUris.every(isNativeUri);
  const { application_type: applicationType = isNative ? 'native' : 'web' } = metadata;
  if (applicationType !== 'native' && applicationType !== 'web') {
    throw invalid('`application_type` is `native` or `web`.');
  }
  const description = {
    redirect_uris: redirectUris,
    client_name: name,
    application_type: applicationType,
    grant_types: grantTypes,
    response_types: usesBrowser ? ['code'] : [],
    token_endpoint_auth_method: authMethod,
    ...pageOf('client_uri', metadata.client_uri),
    ...pageOf('logo_uri', metadata.logo_uri),
    ...scopeOf(metadata.scope),
    ...(keys && 'uri' in keys && { jwks_uri: keys.uri }),
    ...(keys && 'jwks' in keys && { jwks: { keys: keys.jwks } }),
  };
  const needsSecret = authMethod === 'client_secret_basic' || authMethod === 'client_secret_post';
  return {
    columns: {
      name,
      redirectUris,
      authMethod,
      keys: keys && JSON.stringify(keys),
      refreshes: grantTypes.includes('refresh_token'),
      description: JSON.stringify(description),
    },
    needsSecret,
  };
}

function redirectUrisOf(value: unknown): string[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MOST_REDIRECT_URIS;
  const fit = isList ? value.filter((each) => typeof each === 'string' && isClientRedirectUri(each)) : [];
  if (isList && fit.length === value.length) return [...new Set(fit)];
  const message = 'Send 1 to 10 absolute https URLs, loopback addresses or app addresses.';
  throw oauthRefusal('invalid_redirect_uri', message);
}

/** A client without a name is called so on the consent page. */
function nameOf(value: unknown): string {
  if (value === undefined) return 'A client without a name';
  if (typeof value === 'string' && isClientName(value)) return value;
  throw invalid('`client_name` is a line of 1 to 255 characters.');
}

/** A client that asks for nothing gets no secret, which a program on a person's machine could not keep. */
function authMethodOf(value: unknown = 'none'): AuthMethod {
  const known = AUTH_METHODS.find((method) => method === value);
  if (!known) throw invalid('The metadata of the server list the methods of `token_endpoint_auth_method`.');
  return known;
}

/** Grant types that the service does not offer here are left out, as RFC 7591 §3.2.1 lets a server do. */
function grantTypesOf(value: unknown = GRANT_TYPES.slice(0, 1)): string[] {
  const known = Array.isArray(value) ? GRANT_TYPES.filter((each) => value.includes(each)) : [];
  if (known.every((each) => each === 'refresh_token')) {
    const isRefused = lists(value, CIBA_GRANT);
    throw invalid(
      isRefused
        ? 'A client that registers itself cannot use the backchannel flow, in which the client names the person. Ask the developer to register it with a secret or key.'
        : `\`grant_types\` has to have \`authorization_code\` or \`${DEVICE_GRANT}\`.`,
    );
  }
  return known;
}

function keysOf({ jwks, jwks_uri }: ClientMetadata, authMethod: AuthMethod): ClientKeys | null {
  const keys = keysIn(jwks, jwks_uri);
  if (keys === 'malformed')
    throw invalid('Send usable public keys as `jwks`, or their address as `jwks_uri`.');
  if (authMethod !== 'private_key_jwt') return null;
  if (keys === null) throw invalid('`private_key_jwt` needs `jwks` or `jwks_uri`.');
  return keys;
}

function pageOf(member: 'client_uri' | 'logo_uri', value: unknown) {
  if (value === undefined) return {};
  if (typeof value === 'string' && value.length <= 2048 && /^https?:/.test(value) && URL.canParse(value)) {
    return { [member]: value };
  }
  throw invalid(`\`${member}\` is a web address.`);
}

function scopeOf(value: unknown) {
  if (value === undefined) return {};
  if (typeof value === 'string' && /^[!-~ ]{0,4096}$/.test(value)) return { scope: value };
  throw invalid('`scope` is a text of scopes with spaces between them.');
}
