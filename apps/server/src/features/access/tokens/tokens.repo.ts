import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Records } from '../../../platform/db/records.ts';
import { row } from '../../../platform/db/row.ts';
import type { AuthRequests, Grants, RefreshTokens, Tokens } from '../../../platform/db/types.gen.ts';
import { sharedAgents } from '../../accounts/agents/agents.queries.ts';
import { grantsWithAgent } from '../grants/grants.queries.ts';

export type AgentStatus = 'active' | 'suspended' | 'revoked';
export type NewGrant = Omit<Selectable<Grants>, 'developerId'>;
export type NewToken = Omit<Insertable<Tokens>, 'developerId'> & { readonly expiresAt: Date };
export type NewRefreshToken = Omit<Insertable<RefreshTokens>, 'developerId'>;

export type Redeemable = Selectable<AuthRequests> & {
  readonly agentDid: string;
  readonly agentStatus: AgentStatus;
  /** The grant that was made from the request, if any. */
  readonly grantId: string | null;
  readonly grantStatus: 'active' | 'revoked' | null;
  readonly grantIssuedAt: Date | null;
};

/** The facts that decide an exchange, in one read. */
export async function findRedeemable(
  db: Executor,
  { developerId }: Tenant,
  requestId: string,
): Promise<Redeemable | undefined> {
  const call = sql<Redeemable>`
    select (f.request).*, f.agent_did, f.agent_status, f.grant_id, f.grant_status, f.grant_issued_at
    from find_redeemable(${developerId}, ${requestId}) f`;
  return (await call.execute(db)).rows[0];
}

export interface Redemption {
  readonly grant: NewGrant;
  readonly token: NewToken;
  readonly refresh: NewRefreshToken;
  readonly grantLimit: number | null;
  readonly maxWrongVerifiers: number;
  readonly records: Records;
}

export type RedemptionRefusal =
  | 'agent_inactive'
  | 'code_unknown'
  | 'code_used'
  | 'code_expired'
  | 'over_quota'
  | null;

/** A hot write. @returns the reason when nothing was written, else null */
export function redeemCode(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { grant, token, refresh, grantLimit, maxWrongVerifiers, records }: Redemption,
): Promise<RedemptionRefusal> {
  const { developerId } = tenant;
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: sql<NonNullable<RedemptionRefusal>>`write_redemption(${developerId}, ${at},
      ${row({ ...grant, developerId })}, ${row({ ...token, developerId })}, ${row({ ...refresh, developerId })},
      ${grantLimit}, ${maxWrongVerifiers})`,
    locks: [[sharedAgents, [grant.agentId]]],
    turn: `quota ${grant.authRequestId}`,
  });
}

export type Refreshable = Selectable<Grants> & {
  readonly agentDid: string;
  readonly agentStatus: AgentStatus;
  readonly refreshId: string;
  readonly refreshHash: Buffer;
  readonly refreshExpiresAt: Date;
  readonly refreshSpentAt: Date | null;
};

/** A refresh token with its grant and agent, in one read. */
export async function findRefreshable(
  db: Executor,
  { developerId }: Tenant,
  refreshId: string,
): Promise<Refreshable | undefined> {
  const call = sql<Refreshable>`
    select (f.held).*, f.agent_did, f.agent_status, (f.refresh).id as refresh_id, (f.refresh).hash as refresh_hash,
      (f.refresh).expires_at as refresh_expires_at, (f.refresh).spent_at as refresh_spent_at
    from find_refreshable(${developerId}, ${refreshId}) f`;
  return (await call.execute(db)).rows[0];
}

export type Rotation = Pick<Redemption, 'token' | 'refresh' | 'records'> & { readonly agentId: string };

export type RotationRefusal = 'agent_inactive' | 'grant_revoked' | 'refresh_reused' | null;

/** A hot write. @returns the reason when nothing was written, else null */
export function rotateRefreshToken(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { agentId, token, refresh, records }: Rotation,
): Promise<RotationRefusal> {
  const { developerId } = tenant;
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: sql<NonNullable<RotationRefusal>>`write_rotation(${developerId}, ${at},
      ${row({ ...token, developerId })}, ${row({ ...refresh, developerId })})`,
    locks: [[sharedAgents, [agentId]]],
    turn: `grant ${refresh.predecessorId}`,
  });
}

export type TokenRow = Selectable<Grants> & {
  readonly tokenId: string;
  readonly tokenIssuedAt: Date;
  readonly tokenExpiresAt: Date;
  readonly tokenRevokedAt: Date | null;
  readonly agentDid: string;
  readonly agentStatus: AgentStatus;
};

/** A token with its grant and agent as they are now. Sets the grant's last use when the token is valid. */
export async function findUsedToken(
  db: Executor,
  { developerId }: Tenant,
  tokenId: string,
  at: Date,
): Promise<TokenRow | undefined> {
  const call = sql<TokenRow>`
    select (f.held).*, f.agent_did, f.agent_status, (f.token).id as token_id, (f.token).issued_at as token_issued_at,
      (f.token).expires_at as token_expires_at, (f.token).revoked_at as token_revoked_at
    from use_token(${developerId}, ${tokenId}, ${at}) f`;
  return (await call.execute(db)).rows[0];
}

/** Locks the token, so that the second of two simultaneous revocations sees the first. Joins its grant. */
export function lockToken(tx: Tx, tenant: Tenant, tokenId: string) {
  return tx
    .selectFrom('tokens as token')
    .innerJoin(grantsWithAgent(tx, tenant).as('grant'), 'grant.id', 'token.grantId')
    .select([
      'token.revokedAt',
      'token.grantId',
      'grant.status as grantStatus',
      'grant.agentId',
      'grant.principalId',
      'grant.purpose',
      'grant.agentDid',
    ])
    .where('token.developerId', '=', tenant.developerId)
    .where('token.id', '=', tokenId)
    .forUpdate('token')
    .executeTakeFirst();
}

export async function markTokenRevoked(tx: Tx, { developerId }: Tenant, tokenId: string, at: Date) {
  await tx
    .updateTable('tokens')
    .set({ revokedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', tokenId)
    .execute();
}
