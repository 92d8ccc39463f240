import type { JWK } from 'jose';
import { isUsableKey } from '../../accounts/developers/index.ts';
import type { FoundClient } from './oauth.repo.ts';
import { isClientRedirectUri } from './redirects.ts';

/** A client that no developer has registered, as it describes itself. */
export interface DescribedClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: FoundClient['authMethod'];
  readonly secretHash: Buffer | null;
  readonly keys: ClientKeys | null;
  /** Whether it gets refresh tokens without asking for `offline_access`. */
  readonly refreshes: boolean;
  /** Whether it has registered the grant type of a device without a browser. */
  readonly usesDevice: boolean;
  /** The host that published the description; null where no host answers for it. */
  readonly host: string | null;
}

/** The public keys of a client, or the address where it publishes them. */
export type ClientKeys = { readonly jwks: readonly JWK[] } | { readonly uri: string };

const MAX_CLIENT_ID = 1000;
const MAX_REDIRECT_URIS = 50;
const MAX_KEYS = 10;
const NAME = /^[^\p{C}]{1,255}$/u;

/**
 * The members that a client states. Programs write `null`, an empty text or an empty list for a member that they have not
 * set, which counts as left out.
 */
export function statedMembers(metadata: unknown): Readonly<Record<string, unknown>> {
  const members: [string, unknown][] = Object.entries(Object(metadata));
  return Object.fromEntries(members.filter(([, value]) => !isEmpty(value)));
}

const isUnset = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** A list or an object of nothing but unset values is unset too, such as the key set `{"keys":[]}` of a template. */
const isEmpty = (value: unknown): boolean =>
  isUnset(value) || (typeof value === 'object' && Object.values(Object(value)).every(isUnset));

/** By it a client gets grants without a browser that is sent back to it, so it needs no redirect address. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** By it a client names the person, so a developer answers for it. */
export const CIBA_GRANT = 'urn:openid:params:grant-type:ciba';

/** Whether a client lists a grant type. */
export const lists = (grantTypes: unknown, grantType: string): boolean =>
  Array.isArray(grantTypes) && grantTypes.includes(grantType);

/** Whether a text can stand for a client on the consent page: one line, whose characters are all seen. */
export const isClientName = (text: string): boolean => NAME.test(text);

/**
 * Whether a text is the address of a client's document. An address has one spelling: the one that every parser leaves as
 * it is, so it has no dot segments, no upper case in its host, and no port that its scheme has anyway.
 */
export function isDocumentUrl(clientId: string, { allowsHttp }: { readonly allowsHttp: boolean }): boolean {
  if (clientId.length > MAX_CLIENT_ID || !URL.canParse(clientId)) return false;
  const url = new URL(clientId);
  const isWeb = url.protocol === 'https:' || (allowsHttp && url.protocol === 'http:');
  const hasPath = url.pathname !== '/';
  const isPlain = url.href === clientId && !clientId.includes('#') && url.username + url.password === '';
  return isWeb && hasPath && isPlain;
}

/**
 * Reads the document at a client's address.
 * @see draft-ietf-oauth-client-id-metadata-document §4
 * @returns undefined for a document that is not a client's, or not this one's
 */
export function clientInDocument(document: unknown, clientId: string): DescribedClient | undefined {
  const stated = statedMembers(document);
  const { client_id, client_name, client_secret, client_secret_expires_at, grant_types } = stated;
  const { token_endpoint_auth_method: authMethod = 'none', jwks, jwks_uri } = stated;
  if (client_id !== clientId || client_secret !== undefined || client_secret_expires_at !== undefined) {
    return undefined;
  }
  if (authMethod !== 'none' && authMethod !== 'private_key_jwt') return undefined;
  const keys = keysIn(jwks, jwks_uri);
  if (keys === 'malformed' || (authMethod === 'private_key_jwt' && keys === null)) return undefined;
  const redirectUris = redirectUrisIn(stated);
  if (typeof client_name !== 'string' || !isClientName(client_name) || !redirectUris) return undefined;
  return {
    clientId,
    name: client_name,
    redirectUris,
    authMethod,
    secretHash: null,
    keys: authMethod === 'none' ? null : keys,
    refreshes: lists(grant_types, 'refresh_token'),
    usesDevice: lists(grant_types, DEVICE_GRANT),
    host: new URL(clientId).host,
  };
}

/** Addresses of a form that is never redirected to match nothing, so they do no harm to the others. */
function redirectUrisIn({
  redirect_uris: value,
  grant_types: grantTypes,
}: Readonly<Record<string, unknown>>) {
  if (value === undefined && usesDeviceOnly(grantTypes)) return [];
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECT_URIS) return undefined;
  const fit = value.filter((each): each is string => typeof each === 'string' && isClientRedirectUri(each));
  return fit.length === 0 ? undefined : fit;
}

const usesDeviceOnly = (grantTypes: unknown) =>
  lists(grantTypes, DEVICE_GRANT) && !lists(grantTypes, 'authorization_code');

/** @returns null without keys */
export function keysIn(jwks: unknown, uri: unknown): ClientKeys | null | 'malformed' {
  if (jwks === undefined && uri === undefined) return null;
  if (jwks !== undefined && uri !== undefined) return 'malformed';
  if (uri !== undefined) return isWebAddress(uri) ? { uri } : 'malformed';
  const { keys } = Object(jwks);
  return Array.isArray(keys) && keys.length > 0 && keys.length <= MAX_KEYS && keys.every(isPublicKey)
    ? { jwks: keys }
    : 'malformed';
}

const isWebAddress = (uri: unknown): uri is string =>
  typeof uri === 'string' && /^https?:/.test(uri) && URL.canParse(uri);

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** A published private key proves nothing about its sender. */
const isPublicKey = (key: unknown) =>
  PRIVATE_MEMBERS.every((member) => !(member in Object(key))) && isUsableKey(Object(key));
