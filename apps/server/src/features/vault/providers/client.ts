import { randomUUID } from 'node:crypto';
import { importJWK, type JWK, SignJWT } from 'jose';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { currentKey, type MasterKeys, newEnvelope, openEnvelope } from '../../../platform/envelope.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import type { Found } from './found.rules.ts';
import type { ProviderRow } from './providers.repo.ts';
import type { ProviderSettings } from './providers.schema.ts';
import { type Registered, registerClient } from './registration.ts';
import { documentUrlOf, type ProviderDeps, redirectUriOf } from './show.ts';

/** The stored settings. */
export const settingsOf = ({ settings }: Pick<ProviderRow, 'settings'>): ProviderSettings => Object(settings); // stored by this service
/** The facts that the upstream published about itself, as they were found last. */
export const foundOf = ({ found }: Pick<ProviderRow, 'found'>): Found => Object(found); // stored by this service

/** The service as a client of an upstream, with its secrets. */
export interface UpstreamClient {
  readonly clientId: string;
  readonly authMethod: string;
  readonly clientSecret: string | undefined;
  readonly privateKey: string | undefined;
}

/** A request with the proof of the client, ready to be sent. */
export interface ClientRequest {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The names that secrets of a provider are sealed for. The origin is the only one that they are sent to. */
export const sealedFor = ({ developerId }: Tenant, id: string, tokenEndpoint: string) =>
  [developerId, id, new URL(tokenEndpoint).origin] as const;

/** @returns undefined when the secrets do not open: the row was changed, or its key is another */
export function openClient(vault: MasterKeys, row: ProviderRow): UpstreamClient | undefined {
  const { developerId, id, clientId, authMethod, dataKey, clientSecret, privateKey } = row;
  const client = { clientId, authMethod, clientSecret: undefined, privateKey: undefined };
  if (dataKey === null) return client;
  const envelope = openEnvelope(vault, dataKey, sealedFor({ developerId }, id, foundOf(row).tokenEndpoint));
  if (!envelope) return undefined;
  const opened = {
    clientSecret: clientSecret === null ? undefined : envelope.open('client_secret', clientSecret),
    privateKey: privateKey === null ? undefined : envelope.open('private_key', privateKey),
  };
  const isWhole =
    (clientSecret === null) === (opened.clientSecret === undefined) &&
    (privateKey === null) === (opened.privateKey === undefined);
  return isWhole ? { ...client, ...opened } : undefined;
}

/** The client with which a connection was made: its secret goes to no other server, and speaks for no other client. */
export function frozenClient(
  vault: MasterKeys,
  row: ProviderRow,
  frozen: { readonly tokenEndpoint: string; readonly clientId: string },
): UpstreamClient | undefined {
  const isSame =
    new URL(foundOf(row).tokenEndpoint).origin === new URL(frozen.tokenEndpoint).origin &&
    row.clientId === frozen.clientId;
  return isSame ? openClient(vault, row) : undefined;
}

const ASSERTION_SECONDS = 60;

/**
 * Adds the client to a form for a token, revocation or pushed authorization endpoint.
 * @param audience the issuer or, without metadata, the token endpoint
 * @see RFC 6749, section 2.3.1, and RFC 7523, section 3
 */
export async function asClient(
  { clientId, authMethod, clientSecret = '', privateKey = '' }: UpstreamClient,
  form: URLSearchParams,
  { audience, clock }: { readonly audience: string; readonly clock: Clock },
): Promise<ClientRequest> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (authMethod === 'client_secret_basic') {
    const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    return { headers, body: form.toString() };
  }
  form.set('client_id', clientId);
  if (authMethod === 'client_secret_post') form.set('client_secret', clientSecret);
  if (authMethod === 'private_key_jwt') {
    form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    form.set('client_assertion', await assertion({ clientId, privateKey, audience, now: clock() }));
  }
  return { headers, body: form.toString() };
}

/** The encoding of a form's value, which goes before that of the header. */
const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);

interface Asserted {
  readonly clientId: string;
  readonly privateKey: string;
  readonly audience: string;
  readonly now: Date;
}

async function assertion({ clientId, privateKey, audience, now }: Asserted): Promise<string> {
  const jwk: JWK = JSON.parse(privateKey);
  const seconds = Math.floor(now.getTime() / 1000);
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: String(jwk.kid) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience)
    .setJti(randomUUID())
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ASSERTION_SECONDS)
    .sign(await importJWK(jwk, 'ES256'));
}

/** The public part of a client's own key, for the document that the upstream reads. */
export async function publicPart(privateKey: string): Promise<JWK> {
  const { kid, kty, crv, x, y }: JWK = JSON.parse(privateKey);
  return { kid, kty, crv, x, y, alg: 'ES256', use: 'sig' } as JWK;
}

interface Client {
  readonly id: string;
  readonly settings: ProviderSettings;
  readonly found: Found;
  readonly clientSecret: string | undefined;
}

export async function clientFor(
  deps: ProviderDeps,
  { tenant }: Caller,
  { id, settings, found, clientSecret }: Client,
): Promise<Registered> {
  return registerClient(deps.upstream, {
    settings,
    found,
    clientSecret,
    developerName: await findDeveloperName(deps.db, tenant),
    redirectUri: redirectUriOf(deps, id),
    documentUrl: documentUrlOf(deps, id),
  });
}

interface Sealing {
  readonly id: string;
  readonly found: Found;
  readonly client: Registered;
  readonly at: Date;
}

/** The client of an upstream, with its secrets sealed for the origin of the token endpoint. */
export function clientColumns({ vault }: ProviderDeps, tenant: Tenant, { id, found, client, at }: Sealing) {
  const { clientId, clientSource, authMethod, clientSecret, privateKey, registrationToken } = client;
  const hasSecret = [clientSecret, privateKey, registrationToken].some((secret) => secret !== undefined);
  const envelope = hasSecret
    ? newEnvelope(currentKey(vault), sealedFor(tenant, id, found.tokenEndpoint))
    : undefined;
  const seal = (field: string, text: string | undefined) =>
    text === undefined ? null : (envelope?.seal(field, text) ?? null);
  return {
    clientId,
    clientSource,
    authMethod,
    keyId: envelope?.keyId ?? null,
    dataKey: envelope?.dataKey ?? null,
    clientSecret: seal('client_secret', clientSecret),
    privateKey: seal('private_key', privateKey),
    registrationToken: seal('registration_token', registrationToken),
    clientExpiresAt: client.clientExpiresAt ?? null,
    registeredAt: clientSource === 'dcr' ? at : null,
  };
}
