import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { openEnvelope } from '../../../platform/envelope.ts';
import type { OnAgentRevoked } from '../../accounts/agents/index.ts';
import type { PrincipalRights } from '../../people/scim/index.ts';
import { revokeTokens } from '../credentials/index.ts';
import type { OnProviderDeleted } from '../providers/index.ts';
import {
  cancelSessionsFor,
  cancelSessionsOf,
  changeSession,
  OPEN,
  principalsWithOpenSessions,
  type SessionRow,
} from './connections.repo.ts';
import type { ConnectDeps } from './deps.ts';
import type { Returned } from './show.ts';

interface Ending {
  readonly to: 'cancelled' | 'expired' | 'failed' | 'denied';
  readonly reason: string;
  readonly at: Date;
}

/** Ends an open session without a connection, and erases its tokens. @returns no act when it has ended before */
export async function endSession(
  tx: Tx,
  caller: Caller,
  id: string,
  { to, reason, at }: Ending,
): Promise<Act[]> {
  const ended = { status: to, reason, decidedAt: at, tokens: null, dataKey: null } as const;
  const row = await changeSession(tx, caller.tenant, id, { from: OPEN, to: ended });
  return row ? [failed(row, reason)] : [];
}

export const failed = (
  { id, service, principalId, agentId }: Pick<SessionRow, 'id' | 'service' | 'principalId' | 'agentId'>,
  reason: string,
): Act => ({
  type: 'vault.connection.failed',
  principalId,
  ...(agentId !== null && { agentId }),
  data: { connectSessionId: id, service, reason },
});

/** Nobody can go on with the sessions of a provider that is gone. */
export const cancelSessionsOfProvider: OnProviderDeleted = async (tx, caller, providerId, at) => {
  const rows = await cancelSessionsOf(tx, caller.tenant, providerId, at);
  return rows.map((row) => failed({ ...row, agentId: null }, 'provider_deleted'));
};

/** A person who is gone connects nothing more. */
export const openSessionsOfPrincipals: PrincipalRights = {
  listHolders: async (db, tenant, ids, { isForGood }) =>
    isForGood ? principalsWithOpenSessions(db, tenant, ids) : [],
  async revoke(tx, { tenant }, principalIds, { isForGood, at }) {
    if (!isForGood || principalIds.length === 0) return [];
    const rows = await cancelSessionsFor(tx, tenant, ['principalId', principalIds], at);
    return rows.map((row) => failed(row, 'offboarded'));
  },
};

/** Nothing is connected any more because a revoked agent has asked. */
export const cancelSessionsOfAgent: OnAgentRevoked = async (tx, { tenant }, { agentId, at }) => {
  const rows = await cancelSessionsFor(tx, tenant, ['agentId', [agentId]], at);
  return rows.map((row) => failed(row, 'agent_revoked'));
};

export const sessionOwner = ({ developerId, id }: Pick<SessionRow, 'developerId' | 'id'>) =>
  [developerId, id, 'connect_session'] as const;

/** The tokens of a session that came back. @returns undefined when there are none that open */
export function openTokens({ vault }: Pick<ConnectDeps, 'vault'>, row: SessionRow): Returned | undefined {
  if (row.tokens === null || row.dataKey === null) return undefined;
  const text = openEnvelope(vault, row.dataKey, sessionOwner(row))?.open('tokens', row.tokens);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Tells the upstream that the tokens of an abandoned session are not needed. */
export async function revokeReturned(deps: ConnectDeps, row: SessionRow): Promise<void> {
  const returned = openTokens(deps, row);
  if (!returned) return;
  const { frozen, tokens } = returned;
  const { developerId, providerId } = row;
  const revocable = {
    providerId,
    frozen,
    tokens: { refresh_token: tokens.refreshToken, access_token: tokens.accessToken },
  };
  await revokeTokens(deps, { developerId }, revocable);
}
