import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { heldAgent } from '../../accounts/agents/agents.queries.ts';
import { isRedirectUri } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type ClientRow, deleteClient, findClientRow, lockClient, putClient } from './oauth.repo.ts';
import type { OAuthClient, OAuthClientSettings } from './oauth.schema.ts';

export interface ClientDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/**
 * Makes the agent an OAuth client, or changes its settings as a client. A client that goes on having a secret keeps it; to get
 * another, delete the settings first.
 * @throws BAD_REQUEST, INVALID_REDIRECT_URI, NOT_FOUND, AGENT_INACTIVE, CONFLICT without the key that it has to use
 */
export function putSettings(
  deps: ClientDeps,
  caller: Caller,
  agentId: string,
  { redirectUris, authMethod, dpopBound }: OAuthClientSettings,
): Promise<OAuthClient> {
  const wrong = redirectUris.findIndex((uri) => !isRedirectUri(uri));
  if (wrong >= 0) {
    const message = 'Register absolute https URLs, loopback addresses or app addresses.';
    const fields = [{ path: `redirectUris.${wrong}`, problem: 'format' }];
    throw new AppError('INVALID_REDIRECT_URI', message, { fields });
  }
  if (new Set(redirectUris).size < redirectUris.length) throw badField('redirectUris', 'not_allowed');
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const agent = await holdAgent(tx, caller, agentId);
    if (authMethod === 'private_key_jwt' && agent.publicKeyJwk === null) {
      const message = 'Register the `publicKeyJwk` of the agent first: the client authenticates with it.';
      throw new AppError('CONFLICT', message, { field: 'publicKeyJwk' });
    }
    const before = await lockClient(tx, caller.tenant, agentId);
    const needsSecret = authMethod === 'client_secret_basic' || authMethod === 'client_secret_post';
    const clientSecret = needsSecret && !before?.secretHash ? `bhs_${newSecret()}` : undefined;
    const kept = needsSecret ? (before?.secretHash ?? null) : null;
    const row = await putClient(tx, caller.tenant, {
      agentId,
      redirectUris,
      authMethod,
      secretHash: clientSecret === undefined ? kept : hashOf(clientSecret),
      dpopBound,
      createdAt: at,
      updatedAt: at,
    });
    await recordChange(tx, caller, agent, at);
    return { ...toRecord(row), ...(clientSecret !== undefined && { clientSecret }) };
  });
}

/** @throws NOT_FOUND */
export async function getSettings({ db }: ClientDeps, caller: Caller, agentId: string): Promise<OAuthClient> {
  const row = await findClientRow(db, caller.tenant, agentId);
  if (!row) throw notFound();
  return toRecord(row);
}

/** The agent's grants and their tokens stay. It cannot refresh them here any longer. @throws NOT_FOUND */
export function deleteSettings(deps: ClientDeps, caller: Caller, agentId: string): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    const agent = await holdAgent(tx, caller, agentId);
    if (!(await deleteClient(tx, caller.tenant, agentId))) throw notFound();
    await recordChange(tx, caller, agent, deps.clock());
  });
}

async function holdAgent(tx: Tx, { tenant }: Caller, agentId: string) {
  const agent = await heldAgent(tx, tenant, agentId);
  if (!agent) throw notFound();
  if (agent.status === 'revoked') {
    throw new AppError('AGENT_INACTIVE', 'A revoked agent cannot be changed.', { status: agent.status });
  }
  return agent;
}

interface Changed {
  readonly id: string;
  readonly did: string;
  readonly name: string;
}

const recordChange = (tx: Tx, caller: Caller, { id, did, name }: Changed, at: Date) =>
  recordActs(
    tx,
    caller,
    [{ type: 'agent.updated', agentId: id, agentDid: did, data: { name, changed: ['oauth'] } }],
    at,
  );

const toRecord = ({ agentId, redirectUris, authMethod, dpopBound, createdAt, updatedAt }: ClientRow) => ({
  clientId: agentId,
  redirectUris,
  authMethod,
  dpopBound,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});
