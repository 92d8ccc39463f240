import type { JWK } from 'jose';
import type { Caller } from '../../../platform/caller.ts';
import type { ChargeClient } from '../../../platform/charge.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import { type AssertionDeps, provesByKey, provesByPlatform } from './assertion.ts';
import {
  type PresentedCredentials,
  presentedCredentials,
  type SentCredentials,
} from './credentials.rules.ts';
import { DEVICE_GRANT, type DescribedClient, lists } from './described.ts';
import type { ClientDocuments } from './documents.ts';
import { unauthenticatedOf } from './oauth.rates.ts';
import {
  type DynamicClientRow,
  type FoundClient,
  findDynamicClientAcrossTenants,
  findOAuthClientAcrossTenants,
} from './oauth.repo.ts';
import { clientAtDeveloper, developerOfRequest } from './tenant.ts';

export interface AuthenticationDeps extends AssertionDeps {
  readonly db: Executor;
  readonly chargeClient: ChargeClient;
  readonly clientDocuments: ClientDocuments;
  /** Whether clients may register themselves. */
  readonly registersClients: boolean;
  /** The client for the issuers of workloads. */
  readonly upstream: Egress;
}

/** One sentence for every reason, so that a refusal does not say which clients exist, or how they authenticate. */
const refused = ({ method }: PresentedCredentials) =>
  oauthRefusal(
    'invalid_client',
    `The client is not known, or is not authenticated. The request used the method \`${method}\`; use the one that the client is registered with.`,
  );

/** For the client itself: the request has shown what proves it, in another place than that of its method. */
const otherMethod = ({ method }: PresentedCredentials, registered: string) =>
  oauthRefusal(
    'invalid_client',
    `The client is registered with the method \`${registered}\`, and the request used \`${method}\`.`,
  );

/**
 * Authenticates a client and counts its request. A client that proves nothing is counted with its address, so that no
 * other party uses up the requests of another.
 * @param isFree whether a request of this client, which is proved, is refused for another reason and not counted
 * @throws invalid_client, invalid_request, invalid_grant, invalid_target, RATE_LIMITED
 */
export async function authenticateClient(
  deps: AuthenticationDeps,
  request: ClientRequest,
  rule: Rule,
  isFree?: (client: Client) => Promise<boolean>,
): Promise<Client> {
  const proved = await provedClient(deps, request, rule, isFree);
  return 'described' in proved ? seatOf(deps, proved.described, request, rule) : proved.agent;
}

/**
 * Authenticates a client that asks about a token or ends one.
 * @returns undefined for a client that belongs to no developer, where the token names none
 * @throws invalid_client, invalid_request, RATE_LIMITED
 */
export async function authenticateAboutToken(
  deps: AuthenticationDeps,
  request: ClientRequest,
  rule: Rule,
): Promise<Client | undefined> {
  const proved = await provedClient(deps, request, rule);
  if ('agent' in proved) return proved.agent;
  return seatOf(deps, proved.described, request, rule).catch((error: unknown) => {
    if (UNKNOWN_DEVELOPER.has(Object(Object(error).details).oauth)) return undefined;
    throw error;
  });
}

/** The client is proved already, so a refusal is one of the developer whom the request names. */
const UNKNOWN_DEVELOPER: ReadonlySet<unknown> = new Set([
  'invalid_client',
  'invalid_grant',
  'invalid_target',
]);

type Rule = Parameters<ChargeClient>[0];

/** Authenticates a client before it is known for which developer it acts, and counts it whatever it asks for. */
async function provedClient(
  deps: AuthenticationDeps,
  request: ClientRequest,
  rule: Rule,
  isFree: (client: Client) => Promise<boolean> = async () => false,
): Promise<{ readonly agent: Client } | { readonly described: DescribedClient }> {
  const claimed = presentedCredentials(request.authorization, request.sent);
  const { clientId } = claimed;
  const known = await findClient(deps, clientId, request.address);
  const isProved = known !== undefined && (await proves(deps, known, claimed, request.address));
  const refusal = () =>
    known && isOtherMethod(known, claimed) ? otherMethod(claimed, methodOf(known)) : refused(claimed);
  const isNamed = !isProved || claimed.method === 'none';
  const client = isNamed ? `${clientId} ${request.address}` : clientId;
  if (!known || 'agent' in known) {
    const found = known?.agent;
    if (found && !(isProved && (await isFree(clientOf(found, request))))) {
      const developer = isNamed ? unauthenticatedOf(found.developerId) : found.developerId;
      await deps.chargeClient(rule, { client, ...(isProved && { developer }) });
    }
    if (!isProved || !found) throw refusal();
    return { agent: clientOf(found, request) };
  }
  await deps.chargeClient(rule, { client });
  if (!isProved) throw refusal();
  return { described: known.described };
}

/** @throws invalid_client, invalid_grant, invalid_target, RATE_LIMITED */
async function seatOf(
  deps: AuthenticationDeps,
  described: DescribedClient,
  request: ClientRequest,
  rule: Rule,
): Promise<Client> {
  const developer = await developerOfRequest(deps, request.tenantHints);
  await deps.chargeClient(rule, { developer: unauthenticatedOf(developer) });
  return clientAtDeveloper(deps, described, developer, request);
}

/** @returns undefined for an unknown client, or whose description cannot be used */
export async function findClient(
  { db, clock, clientDocuments, registersClients }: AuthenticationDeps,
  clientId: string,
  address: string,
): Promise<KnownClient | undefined> {
  if (/^https?:/.test(clientId)) {
    const described = await clientDocuments.find(clientId, address);
    return described && { described };
  }
  if (clientId.startsWith('dcr_')) {
    const row = registersClients && (await findDynamicClientAcrossTenants(db, clientId, clock()));
    return row ? { described: registeredClient(row) } : undefined;
  }
  const agent = await findOAuthClientAcrossTenants(db, clientId);
  return agent && { agent };
}

export function clientOf(
  found: FoundClient,
  { requestId, address }: Pick<ClientRequest, 'requestId' | 'address'>,
): Client {
  const { agentId, developerId, mode, plan } = found;
  return {
    clientId: agentId,
    agentId,
    agentDid: found.agentDid,
    isActive: found.agentStatus === 'active',
    redirectUris: found.redirectUris,
    isPublic: found.authMethod === 'none',
    dpopBound: found.dpopBound,
    caller: {
      tenant: { developerId },
      agentIds: [agentId],
      actor: `agent:${agentId}`,
      role: 'runtime',
      mode,
      plan,
      requestId,
      address,
    },
  };
}

/** Nobody answers for what a client says of itself at its registration. */
const registeredClient = ({ keys, ...row }: DynamicClientRow): DescribedClient => ({
  ...row,
  keys: keys === null ? null : Object(keys),
  usesDevice: lists(Object(row.description).grant_types, DEVICE_GRANT),
  host: null,
});

async function proves(
  deps: AuthenticationDeps,
  known: KnownClient,
  claimed: PresentedCredentials,
  address: string,
): Promise<boolean> {
  const { authMethod, secretHash } = 'agent' in known ? known.agent : known.described;
  // Both show a `client_assertion`: of the agent's own key, or of the platform on which the agent runs.
  if ('agent' in known && authMethod === 'workload_jwt' && claimed.method === 'private_key_jwt') {
    return provesByPlatform(deps, known.agent, claimed.assertion);
  }
  if (claimed.method !== authMethod) return false;
  if (claimed.method === 'none') return true;
  if (claimed.method === 'private_key_jwt') {
    const keys = await keysOf(deps, known, address);
    return provesByKey(deps, { ...claimed, keys });
  }
  return isSecret(secretHash, claimed.secret);
}

const isSecret = (hash: Buffer | null, secret: string) =>
  isSameText(hash?.toString('base64url') ?? '', hashOf(secret).toString('base64url'));

const methodOf = (known: KnownClient) => ('agent' in known ? known.agent : known.described).authMethod;

/** Whether the request shows the client's own secret by another method than its own, or a client without one shows one. */
function isOtherMethod(known: KnownClient, claimed: PresentedCredentials): boolean {
  const { authMethod, secretHash } = 'agent' in known ? known.agent : known.described;
  if (claimed.method === authMethod || claimed.method === 'none') return false;
  // Anybody can act as a client without a secret, so its method is no news.
  return authMethod === 'none' || ('secret' in claimed && isSecret(secretHash, claimed.secret));
}

async function keysOf(
  { clientDocuments }: AuthenticationDeps,
  known: KnownClient,
  address: string,
): Promise<readonly JWK[]> {
  if ('agent' in known) {
    return known.agent.publicKeyJwk === null ? [] : [Object(known.agent.publicKeyJwk)];
  }
  const { keys } = known.described;
  return keys ? clientDocuments.keysOf(keys, address) : [];
}

/** The parts of a request by which a client that belongs to no developer says which developer it is about. */
export interface TenantHints {
  readonly resource?: readonly string[];
  readonly code?: string;
  readonly refresh_token?: string;
  readonly token?: string;
  readonly device_code?: string;
  readonly assertion?: string;
}

/** The parts of a request that say which client made it, and from where. */
export interface ClientRequest {
  readonly authorization: string | undefined;
  readonly sent: SentCredentials;
  readonly tenantHints: TenantHints;
  readonly requestId: string;
  readonly address: string;
}

/** A client at one developer, where it acts as an agent. */
export interface Client {
  readonly clientId: string;
  readonly caller: Caller;
  readonly agentId: string;
  readonly agentDid: string;
  /** Whether the agent is neither suspended nor revoked. Only the engine judges the agent of a described client. */
  readonly isActive: boolean;
  readonly redirectUris: readonly string[];
  /** Whether it has neither a secret nor a key. */
  readonly isPublic: boolean;
  readonly dpopBound: boolean;
  /** How a client that no developer has registered describes itself. */
  readonly described?: DescribedClient;
  /** Whether this client is not approved at this developer yet. */
  readonly isProposed?: boolean;
}

/** A client before it is known for which developer it acts. */
export type KnownClient = { readonly agent: FoundClient } | { readonly described: DescribedClient };
