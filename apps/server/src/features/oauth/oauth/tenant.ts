import { invalidGrantReasons } from '@behest/protocol/errors';
import { parseJson } from '@behest/protocol/json';
import type { Executor } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { proposeAgent } from '../../accounts/agents/index.ts';
import { findByCode } from '../../grants/authorization/index.ts';
import { developerOfResourceAcrossTenants } from '../../grants/resources/resources.queries.ts';
import type { AssertionDeps } from './assertion.ts';
import type { Client, ClientRequest, TenantHints } from './client.ts';
import type { DescribedClient } from './described.ts';
import { findClientAtDeveloper } from './oauth.repo.ts';
import { getFlow } from './poll.ts';

interface TenantDeps extends AssertionDeps {
  readonly db: Executor;
}

/**
 * The developer whose code, token, flow or resource a request names. Nothing is verified here: the engine looks for the code or
 * token among those of this developer and this client.
 * @throws invalid_grant, expired_token, invalid_target
 */
export async function developerOfRequest(
  { db, store }: TenantDeps,
  tenantHints: TenantHints,
): Promise<string> {
  const { code, device_code: deviceCode } = tenantHints;
  const resource = tenantHints.resource ?? resourcesIn(tenantHints.assertion);
  const token = tenantHints.refresh_token ?? tenantHints.token;
  if (code !== undefined || token !== undefined) {
    const named =
      code === undefined ? developerIn(token ?? '') : (await findByCode(store, code))?.developerId;
    // The sentence of a code or token of another client, so that the answer does not say whose it is.
    const reason = code === undefined ? 'refresh_unknown' : 'code_unknown';
    if (named === undefined) throw oauthRefusal('invalid_grant', invalidGrantReasons[reason]);
    return named;
  }
  if (deviceCode !== undefined) return (await getFlow({ store }, deviceCode)).developerId;
  const [first] = resource;
  if (first === undefined) {
    throw oauthRefusal('invalid_target', 'Send `resource`: it says whose service this client is for.');
  }
  const owner = await developerOfResourceAcrossTenants(db, first);
  if (owner === undefined)
    throw oauthRefusal('invalid_target', 'A resource is not registered at the service.');
  return owner;
}

/** A refresh token for a client that belongs to no developer, with the developer who finds it. */
export const withDeveloper = (refreshToken: string, developerId: string) => `${refreshToken}.${developerId}`;

/** The refresh token as the engine knows it. */
export const withoutDeveloper = (refreshToken: string) => refreshToken.replace(/\..*$/s, '');

/** The developer that a refresh token or a grant token states. */
function developerIn(token: string): string | undefined {
  const [, ofRefresh] = /^ref_[^.]+\.(dev_\w+)$/.exec(token) ?? [];
  if (ofRefresh !== undefined) return ofRefresh;
  const { dev } = statedIn(token);
  return typeof dev === 'string' ? dev : undefined;
}

/** The resources that an assertion of an identity provider states. */
function resourcesIn(assertion = ''): string[] {
  const { resource } = statedIn(assertion);
  return [resource ?? []].flat().filter((each): each is string => typeof each === 'string');
}

function statedIn(jwt: string): Readonly<Record<string, unknown>> {
  try {
    return Object(parseJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url')));
  } catch {
    return {};
  }
}

/**
 * The client at one developer, where it acts as an agent of its own. Before its first request the agent has only an id.
 * @throws invalid_client
 */
export async function clientAtDeveloper(
  { db, clock }: TenantDeps,
  described: DescribedClient,
  developerId = '',
  { requestId, address }: Pick<ClientRequest, 'requestId' | 'address'>,
): Promise<Client> {
  const { clientId, redirectUris, authMethod } = described;
  const seat = await findClientAtDeveloper(db, { developerId }, clientId);
  if (!seat) throw oauthRefusal('invalid_client', 'The client is not known, or is not authenticated.');
  const { mode, plan, agentDid } = seat;
  const agentId = seat.agentId ?? newId('ag', clock());
  const caller = {
    tenant: { developerId },
    agentIds: [agentId],
    actor: `agent:${agentId}`,
    role: 'runtime',
    mode,
    plan,
    requestId,
    address,
  } as const;
  return {
    clientId,
    caller,
    agentId,
    agentDid: agentDid ?? '',
    isActive: true,
    redirectUris,
    isPublic: authMethod === 'none',
    dpopBound: false,
    described,
    isProposed: seat.isProposed ?? true,
  };
}

/**
 * Keeps a place for the agent of a client that asks for the first time.
 * @returns the client as whose agent the request is made: another request may have come first
 */
export async function withProposedAgent(
  deps: TenantDeps & { readonly didHost: string },
  client: Client,
  scopes: readonly string[],
): Promise<Client> {
  const { described, caller, agentId, clientId, isProposed } = client;
  if (!described || !isProposed || client.agentDid !== '') return client;
  const { name } = described;
  await proposeAgent(deps, caller, { agentId, clientId, name, scopes }, deps.clock());
  return clientAtDeveloper(deps, described, caller.tenant.developerId, {
    requestId: caller.requestId,
    address: caller.address ?? '',
  });
}
