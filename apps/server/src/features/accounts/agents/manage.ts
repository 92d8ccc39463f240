import { didOfHost } from '@behest/protocol/did';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { lockCaller } from '../../../platform/db/principals.ts';
import { isoTime } from '../../../platform/db/values.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { type Chained, recordActs } from '../../record/audit/index.ts';
import { isUsableKey, type OnAccountClosed, type OnKeyBound } from '../developers/index.ts';
import { isVerifiedAcrossTenants } from '../domains/domains.queries.ts';
import { freeQuota, useQuota } from '../quotas/index.ts';
import { countUsableAgents } from './agents.queries.ts';
import {
  type AgentRow,
  countActiveGrants,
  type FoundAgent,
  findAgent,
  findAgentAcrossTenants,
  insertAgent,
  type ListedAgent,
  listAgentRows,
  lockAgent,
  lockLivingAgents,
  updateAgent,
} from './agents.repo.ts';
import { acceptAgentScopes, agentDid, didDocument } from './agents.rules.ts';
import type {
  Agent,
  AgentChange,
  AgentJwk,
  AgentPage,
  AgentQuery,
  DidDocument,
  NewAgent,
} from './agents.schema.ts';

export interface AgentDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly store: EphemeralStore;
  /** The host, with its port if any, in the DID of every new agent. */
  readonly didHost: string;
  readonly publicBaseUrl: string;
  readonly quotas: Quotas;
  readonly onAgentRevoked: readonly OnAgentRevoked[];
  readonly onAgentEnded: readonly OnAgentEnded[];
}

export function createAgent(deps: AgentDeps, caller: Caller, input: NewAgent): Promise<Agent> {
  const { scopes: requested, publicKeyJwk, ...profile } = input;
  const scopes = acceptAgentScopes(requested);
  mustBeKey(publicKeyJwk);
  const at = deps.clock();
  const id = newId('ag', at);
  const did = agentDid(deps.didHost, id);
  const agent = { ...profile, id, did, scopes, status: 'active' } as const;
  const key = { publicKeyJwk: publicKeyJwk ? JSON.stringify(publicKeyJwk) : null };
  const created = { type: 'agent.created', agentId: id, agentDid: did, data: { name: input.name } } as const;

  return inTransaction(deps.db, async (tx) => {
    await useQuota(tx, deps.quotas, caller, 'agents', at);
    const row = await insertAgent(tx, caller.tenant, { ...agent, ...key, createdAt: at, updatedAt: at });
    await recordActs(tx, caller, [created], at);
    return toAgent(row);
  });
}

/** @throws BAD_REQUEST when the key has the right shape but cannot be used. */
function mustBeKey(jwk: AgentJwk | null | undefined): void {
  if (jwk && !isUsableKey(jwk)) {
    throw badField('publicKeyJwk', 'format', 'The public key is not a usable key.');
  }
}

/** @throws NOT_FOUND for an unknown agent and for a foreign one alike. */
export async function getAgent(deps: AgentDeps, caller: Caller, agentId: string): Promise<Agent> {
  const row = await findAgent(deps.db, caller, agentId);
  if (!row) throw notFound();
  return toAgent(row);
}

export async function listAgents(deps: AgentDeps, caller: Caller, query: AgentQuery): Promise<AgentPage> {
  const rows = await listAgentRows(deps.db, caller, query);
  const { page, nextCursor } = pageOf(rows, byId, toListed);
  return { agents: page, nextCursor };
}

/** @throws NOT_FOUND, AGENT_INACTIVE when it is revoked. */
export function changeAgent(deps: AgentDeps, caller: Caller, agentId: string, change: AgentChange) {
  const { scopes, publicKeyJwk, ...plain } = change;
  mustBeKey(publicKeyJwk);
  const columns = {
    ...plain,
    ...(scopes && { scopes: acceptAgentScopes(scopes) }),
    ...(publicKeyJwk !== undefined && { publicKeyJwk: publicKeyJwk && JSON.stringify(publicKeyJwk) }),
  };
  const at = deps.clock();

  return inTransaction(deps.db, async (tx): Promise<Agent> => {
    const before = await lockAgent(tx, caller.tenant, agentId);
    if (!before) throw notFound();
    if (before.status === 'revoked') {
      throw new AppError('AGENT_INACTIVE', 'A revoked agent cannot be changed.', { status: before.status });
    }
    const row = await updateAgent(tx, caller.tenant, agentId, { ...columns, updatedAt: at });
    const acts = actsOfChange(before, row, change);
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
    return toAgent(row);
  });
}

/**
 * Suspending and resuming are acts of their own, since they stop and start everything that the agent may do.
 */
function actsOfChange(before: AgentRow, after: AgentRow, change: AgentChange): Act[] {
  const about = { agentId: after.id, agentDid: after.did };
  const { name } = after;
  const changed = Object.keys(change).filter((field) => field !== 'status');
  const acts: Act[] = [];
  if (changed.length > 0) acts.push({ type: 'agent.updated', ...about, data: { name, changed } });
  if (before.status !== after.status) {
    const type = after.status === 'suspended' ? 'agent.suspended' : 'agent.resumed';
    acts.push({ type, ...about, data: { name } });
  }
  return acts;
}

/** Suspends an active agent. @returns the act, which the caller records; none when it is not active */
export async function suspendAgentWithin(tx: Tx, caller: Caller, agentId: string, at: Date): Promise<Act[]> {
  const before = await lockAgent(tx, caller.tenant, agentId);
  if (before?.status !== 'active') return [];
  const row = await updateAgent(tx, caller.tenant, agentId, { status: 'suspended', updatedAt: at });
  return actsOfChange(before, row, { status: 'suspended' });
}

/** Cannot be undone. A repeated call changes nothing. @throws NOT_FOUND for an unknown or foreign agent. */
export function revokeAgent(deps: AgentDeps, caller: Caller, agentId: string): Promise<void> {
  const at = deps.clock();

  return inTransaction(deps.db, async (tx) => {
    const agent = await lockAgent(tx, caller.tenant, agentId);
    if (!agent) throw notFound();
    if (agent.status === 'revoked') return;

    await lockCaller(tx, caller.tenant, agentId);
    await updateAgent(tx, caller.tenant, agentId, { status: 'revoked', updatedAt: at });
    await freeQuota(tx, caller, 'agents', 1);
    const cascaded: Act[] = [];
    const { store, onAgentRevoked } = deps;
    for (const cascade of onAgentRevoked)
      cascaded.push(...(await cascade(tx, caller, { agentId, at, store })));
    const revokedGrants = cascaded.filter(({ type }) => type === 'grant.revoked').length;
    const data = { name: agent.name, revokedGrants };
    const revoked = { type: 'agent.revoked', agentId, agentDid: agent.did, data } as const;
    const acts = [revoked, ...cascaded];
    const chained = await recordActs(tx, caller, acts, at);
    if (!chained) return;
    for (const listener of deps.onAgentEnded) await listener(tx, caller, { agentId, acts, chained, at });
  });
}

/**
 * Revokes all agents of an account that is closed. Flows that use an agent share its row, so those under way end
 * first, and later ones are refused.
 */
export const revokeAgentsOfAccount: OnAccountClosed = async (tx, { tenant }, at) => {
  const agents = await lockLivingAgents(tx, tenant);
  const grants = new Map(
    (await countActiveGrants(tx, tenant)).map((counted) => [counted.agentId, Number(counted.grants)]),
  );
  for (const { id } of agents) await updateAgent(tx, tenant, id, { status: 'revoked', updatedAt: at });
  return agents.map(({ id: agentId, did: agentDid, name }): Act => {
    const data = { name, revokedGrants: grants.get(agentId) ?? 0 };
    return { type: 'agent.revoked', agentId, agentDid, data };
  });
};

/** An API key is bound only to agents that are not revoked. @throws NOT_FOUND */
export const mustBeUsable: OnKeyBound = async (tx, tenant, agentIds) => {
  if ((await countUsableAgents(tx, tenant, agentIds)) < agentIds.length) throw notFound();
};

/**
 * A developer's own domain publishes no DIDs of other hosts.
 * @param host the request's, with its port if any
 * @throws NOT_FOUND, GONE when the agent is revoked: its DID is deactivated.
 */
export async function getDidDocument(deps: AgentDeps, agentId: string, host: string): Promise<DidDocument> {
  const agent = await findAgentAcrossTenants(deps.db, agentId);
  if (!agent) throw notFound();
  const isOfHost = host === deps.didHost || agent.did.startsWith(`${didOfHost(host)}:`);
  if (!isOfHost && (await isVerifiedAcrossTenants(deps.db, host))) throw notFound();
  if (agent.status === 'revoked') {
    throw new AppError('GONE', 'This DID is deactivated.', { status: agent.status });
  }
  return documentOf(agent, deps.publicBaseUrl);
}

type PublicAgent = NonNullable<Awaited<ReturnType<typeof findAgentAcrossTenants>>>;

const documentOf = ({ did, publicKeyJwk }: PublicAgent, baseUrl: string): DidDocument =>
  didDocument(did, publicKeyJwk === null ? null : Object(publicKeyJwk), baseUrl);

/** The DID of an agent, resolved. The document is null when the agent is revoked. */
export interface AgentDid {
  readonly document: DidDocument | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** @returns undefined when no agent has this very DID */
export async function resolveAgentDid(
  deps: Pick<AgentDeps, 'db' | 'publicBaseUrl'>,
  did: string,
): Promise<AgentDid | undefined> {
  const agentId = did.slice(did.lastIndexOf(':') + 1);
  const agent = await findAgentAcrossTenants(deps.db, agentId);
  if (agent?.did !== did) return undefined;
  const document = agent.status === 'revoked' ? null : documentOf(agent, deps.publicBaseUrl);
  return { document, createdAt: agent.createdAt, updatedAt: agent.updatedAt };
}

const toAgent = (row: FoundAgent): Agent =>
  shown(row, row.createdAt.toISOString(), row.updatedAt.toISOString());

const toListed = (row: ListedAgent): Agent => shown(row, isoTime(row.createdAt), isoTime(row.updatedAt));

type Shown = Omit<AgentRow, 'createdAt' | 'updatedAt' | 'isProposed'>;

/** Member by member, because the copy of a whole row costs a list more than the rest of its shaping. */
function shown(
  { id, did, developerId, name, description, scopes, status, publicKeyJwk, clientId }: Shown,
  createdAt: string,
  updatedAt: string,
): Agent {
  const key = publicKeyJwk && Object(publicKeyJwk);
  return {
    agentId: id,
    id,
    did,
    developerId,
    name,
    description,
    scopes,
    status,
    publicKeyJwk: key,
    origin: clientId === null ? 'api' : clientId.startsWith('dcr_') ? 'dcr' : 'cimd',
    clientId,
    createdAt,
    updatedAt,
  };
}

/**
 * Ends the rows that depend on an agent, in the transaction that revokes the agent: throwing undoes all of
 * it. Returns an act for each ended row instead of recording it, because the audit chain is locked after
 * every other row.
 */
export type OnAgentRevoked = (tx: Tx, caller: Caller, revoked: RevokedAgent) => Promise<Act[]>;

export interface RevokedAgent {
  readonly agentId: string;
  readonly at: Date;
  /** For work after the commit. */
  readonly store: EphemeralStore;
}

export const agentRevoked = hook<OnAgentRevoked>('agent revoked');

/** What a revocation of an agent has ended, once it is recorded. The listener waits for nobody: it holds the account's chain. */
export interface EndedAgent {
  readonly agentId: string;
  readonly acts: readonly Act[];
  readonly chained: Chained;
  readonly at: Date;
}

export type OnAgentEnded = (tx: Tx, caller: Caller, ended: EndedAgent) => Promise<void>;

export const agentEnded = hook<OnAgentEnded>('agent ended');
