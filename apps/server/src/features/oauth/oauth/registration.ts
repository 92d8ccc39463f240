import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, isSameText, newId, newSecret } from '../../../platform/ids.ts';
import {
  CIBA_GRANT,
  type ClientKeys,
  DEVICE_GRANT,
  isClientName,
  keysIn,
  lists,
  statedMembers,
} from './described.ts';
import {
  type DynamicClientRow,
  deleteDynamicClient,
  findDynamicClientAcrossTenants,
  insertDynamicClient,
  updateDynamicClient,
} from './oauth.repo.ts';
import type { ClientInformationResponse, ClientMetadata } from './oauth.schema.ts';
import { isClientRedirectUri, isNativeUri } from './redirects.ts';

export interface RegistrationDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

const UNUSED_SECONDS = 86_400;

/**
 * Registers an unknown client, which gets nothing by that: a person approves it at one developer at a time.
 * @see RFC 7591 §3
 * @throws invalid_redirect_uri, invalid_client_metadata
 */
export async function registerClient(
  deps: RegistrationDeps,
  metadata: ClientMetadata,
): Promise<ClientInformationResponse> {
  const accepted = acceptMetadata(statedMembers(metadata));
  const at = deps.clock();
  const managementToken = newSecret();
  const secret = accepted.needsSecret ? `bhs_${newSecret()}` : undefined;
  const row = await insertDynamicClient(deps.db, {
    ...accepted.columns,
    clientId: newId('dcr', at),
    secretHash: secret === undefined ? null : hashOf(secret),
    managementHash: hashOf(managementToken),
    createdAt: at,
    expiresAt: new Date(at.getTime() + UNUSED_SECONDS * 1000),
  });
  return { ...shown(deps, { row, managementToken }), ...secretOf(secret) };
}

/** @see RFC 7592 §2.1 @throws invalid_client */
export async function readRegistration(
  deps: RegistrationDeps,
  clientId: string,
  authorization: string | undefined,
): Promise<ClientInformationResponse> {
  return shown(deps, await managedClient(deps, clientId, authorization));
}

/**
 * Replaces the metadata. A client that goes on having a secret keeps it.
 * @see RFC 7592 §2.2
 * @throws invalid_client, invalid_redirect_uri, invalid_client_metadata
 */
export async function replaceRegistration(
  deps: RegistrationDeps,
  clientId: string,
  { authorization, metadata }: { authorization: string | undefined; metadata: ClientMetadata },
): Promise<ClientInformationResponse> {
  const { row: before, managementToken } = await managedClient(deps, clientId, authorization);
  const stated = statedMembers(metadata);
  mustBeOfClient(before, stated);
  const accepted = acceptMetadata(stated);
  const isNew = accepted.needsSecret && before.secretHash === null;
  const secret = isNew ? `bhs_${newSecret()}` : undefined;
  const kept = accepted.needsSecret ? before.secretHash : null;
  const row = await updateDynamicClient(deps.db, clientId, {
    ...accepted.columns,
    secretHash: secret === undefined ? kept : hashOf(secret),
  });
  if (!row) throw unknown();
  return { ...shown(deps, { row, managementToken }), ...secretOf(secret) };
}

/** Its agents and their grants stay, and it cannot refresh them. @see RFC 7592 §2.3 @throws invalid_client */
export async function removeRegistration(
  deps: RegistrationDeps,
  clientId: string,
  authorization: string | undefined,
): Promise<void> {
  await managedClient(deps, clientId, authorization);
  await deleteDynamicClient(deps.db, clientId);
}

const unknown = () => oauthRefusal('invalid_client', 'The registration is not there, or its token is wrong.');

/** A registration, and the token by which its client manages it. The service keeps only a hash of the token. */
interface Managed {
  readonly row: DynamicClientRow;
  readonly managementToken: string;
}

async function managedClient(
  { db, clock }: RegistrationDeps,
  clientId: string,
  authorization: string | undefined,
): Promise<Managed> {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const row = await findDynamicClientAcrossTenants(db, clientId, clock());
  const expected = row?.managementHash.toString('base64url') ?? '';
  if (!row || !isSameText(expected, hashOf(token).toString('base64url'))) throw unknown();
  return { row, managementToken: token };
}

/**
 * A replacement that names another client, or another secret, was meant for another registration.
 * @see RFC 7592 §2.2
 * @throws invalid_client_metadata
 */
function mustBeOfClient(
  { clientId, secretHash }: DynamicClientRow,
  { client_id, client_secret }: ClientMetadata,
): void {
  const refuse = (message: string) => oauthRefusal('invalid_client_metadata', message);
  if (client_id !== clientId) throw refuse('`client_id` has to be that of the registration.');
  if (client_secret === undefined) return;
  const expected = secretHash?.toString('base64url');
  const sent = typeof client_secret === 'string' ? hashOf(client_secret).toString('base64url') : '';
  if (expected === undefined || !isSameText(expected, sent)) {
    throw refuse('`client_secret` is not that of the client; leave it out to keep the secret.');
  }
}

/** A secret has no end of its own: it ends with the registration. */
const secretOf = (secret: string | undefined) =>
  secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 };

/** @see RFC 7592 §3 */
function shown(
  { publicBaseUrl }: RegistrationDeps,
  { row, managementToken }: Managed,
): ClientInformationResponse {
  return {
    ...Object(row.description),
    client_id: row.clientId,
    client_id_issued_at: Math.floor(row.createdAt.getTime() / 1000),
    registration_client_uri: `${publicBaseUrl}/oauth/register/${row.clientId}`,
    registration_access_token: managementToken,
  };
}

const MAX_REDIRECT_URIS = 10;
const GRANT_TYPES = ['authorization_code', 'refresh_token', DEVICE_GRANT];
const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;
type AuthMethod = (typeof AUTH_METHODS)[number];

const invalid = (message: string) => oauthRefusal('invalid_client_metadata', message);

/** Metadata of a registration that can be kept. */
interface AcceptedMetadata {
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
function acceptMetadata(metadata: ClientMetadata): AcceptedMetadata {
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
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MAX_REDIRECT_URIS;
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
