import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import { publicPart } from './client.ts';
import { discoveryFailed, objectIn } from './discovery.ts';
import { type Found, methodOf } from './found.rules.ts';
import { acceptClient, type ProviderRow, refuseClient } from './providers.repo.ts';
import type { ClientDocument, ProviderSettings } from './providers.schema.ts';

/** The service as a client of one upstream, before its secrets are sealed. */
export interface Registered {
  readonly clientId: string;
  readonly clientSource: 'static' | 'cimd' | 'dcr';
  readonly authMethod: string;
  readonly clientSecret?: string;
  readonly privateKey?: string;
  readonly registrationToken?: string;
  readonly clientExpiresAt?: Date;
}

interface Registering {
  readonly settings: ProviderSettings;
  readonly found: Found;
  readonly clientSecret: string | undefined;
  readonly developerName: string;
  readonly redirectUri: string;
  /** The address of the client's metadata document, which is its id. */
  readonly documentUrl: string;
}

/**
 * The developer's own client or, where the upstream takes it, one that the service makes.
 * @throws CONFLICT without any, DISCOVERY_FAILED, UPSTREAM_ERROR
 * @see the authorization chapter of MCP 2026-07-28 for the order
 */
export async function registerClient(upstream: Egress, registering: Registering): Promise<Registered> {
  const { settings, found, clientSecret, documentUrl } = registering;
  if (settings.clientId !== null) {
    const hasSecret = clientSecret !== undefined;
    const authMethod = methodOf(found, { wanted: settings.authMethod, hasSecret });
    const client = { clientId: settings.clientId, clientSource: 'static', authMethod } as const;
    if (authMethod.startsWith('client_secret') && !hasSecret) {
      throw new AppError('CONFLICT', 'Send the client secret in the same body.', { field: 'clientSecret' });
    }
    return authMethod === 'private_key_jwt'
      ? { ...client, privateKey: await newKey() }
      : { ...client, ...(hasSecret && { clientSecret }) };
  }
  if (found.takesClientDocuments) {
    const client = { clientId: documentUrl, clientSource: 'cimd' } as const;
    const canSign =
      found.authMethods?.includes('private_key_jwt') && found.assertionAlgorithms.includes('ES256');
    return canSign
      ? { ...client, authMethod: 'private_key_jwt', privateKey: await newKey() }
      : { ...client, authMethod: 'none' };
  }
  if (found.registrationEndpoint !== null)
    return registerAt(upstream, found.registrationEndpoint, registering);
  throw new AppError('CONFLICT', 'Send `clientId`: this upstream registers no client by itself.', {
    field: 'clientId',
  });
}

/** A key of this provider alone: a key of the platform never speaks as a developer's client. */
async function newKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  return JSON.stringify({ ...jwk, kid: await calculateJwkThumbprint(jwk) });
}

/** RFC 7591. */
async function registerAt(
  upstream: Egress,
  url: string,
  { found, developerName, redirectUri }: Registering,
): Promise<Registered> {
  const methods = found.authMethods ?? [];
  const wanted = ['client_secret_basic', 'client_secret_post', 'none'].find((name) => methods.includes(name));
  const document: ClientDocument = {
    ...clientDocument({ developerName, redirectUri, authMethod: wanted ?? 'client_secret_basic' }),
    application_type: 'web',
  };
  const answer = await upstream.ask({
    url,
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(document),
  });
  if (answer.failure !== undefined) throw discoveryFailed('registration', answer.failure);
  const said = objectIn(answer.body);
  const repeats = Array.isArray(said?.redirect_uris) && said.redirect_uris.includes(redirectUri);
  const id = said?.client_id;
  if (![200, 201].includes(answer.status) || typeof id !== 'string' || !repeats) {
    throw discoveryFailed('registration', 'refused');
  }
  const {
    client_secret: secret,
    registration_access_token: token,
    client_secret_expires_at: end,
  } = said ?? {};
  const hasSecret = typeof secret === 'string' && secret !== '';
  const method = String(said?.token_endpoint_auth_method ?? document.token_endpoint_auth_method);
  return {
    clientId: id,
    clientSource: 'dcr',
    authMethod: hasSecret ? method : 'none',
    ...(hasSecret && { clientSecret: secret }),
    ...(typeof token === 'string' && { registrationToken: token }),
    ...(typeof end === 'number' && end > 0 && { clientExpiresAt: new Date(end * 1000) }),
  };
}

interface Described {
  readonly developerName: string;
  readonly redirectUri: string;
  readonly authMethod: string;
}

const clientDocument = ({ developerName, redirectUri, authMethod }: Described): ClientDocument => ({
  client_name: developerName,
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: authMethod,
});

/** @see draft-ietf-oauth-client-id-metadata-document-03 */
export async function metadataDocument(
  described: Described & { readonly documentUrl: string; readonly privateKey: string | undefined },
): Promise<ClientDocument> {
  const { documentUrl, privateKey } = described;
  return {
    client_id: documentUrl,
    ...clientDocument(described),
    ...(privateKey !== undefined && { jwks: { keys: [{ ...(await publicPart(privateKey)) }] } }),
  };
}

interface Deps {
  readonly db: Executor;
  readonly clock: Clock;
}

const CLIENT_REFUSED = 'invalid_client';

/**
 * Notes that the upstream refused the client itself, while it was asked for one person. The developer sees the error at
 * the provider. No session begins any more only after the same at another person: some upstreams say such words of one
 * person's token.
 */
export function noteClientRefused(
  { db, clock }: Deps,
  caller: Caller,
  { id, service }: Pick<ProviderRow, 'id' | 'service'>,
  principalId: string,
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const refusal = { principalId, lastError: CLIENT_REFUSED, updatedAt: at };
    if (!(await refuseClient(tx, caller.tenant, id, refusal))) return;
    const data = { providerId: id, service, error: CLIENT_REFUSED };
    await recordActs(tx, caller, [{ type: 'vault.provider.failed', data }], at);
  });
}

/** The upstream takes the client: what it said of it before was about one person. */
export const noteClientAccepted = ({ db }: Deps, tenant: Tenant, id: string): Promise<void> =>
  acceptClient(db, tenant, id);
