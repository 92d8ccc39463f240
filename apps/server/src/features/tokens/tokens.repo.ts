import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../platform/caller.ts';
import { type Executor, repeating, row, type Tx } from '../../platform/db/db.ts';
import type { Grants, RefreshTokens, Tokens } from '../../platform/db/types.gen.ts';

type AgentStatus = 'active' | 'suspended' | 'revoked';
export type NewGrant = Omit<Selectable<Grants>, 'developerId'>;
export type NewToken = Omit<Insertable<Tokens>, 'developerId'> & { readonly expiresAt: Date };
export type NewRefreshToken = Omit<Insertable<RefreshTokens>, 'developerId'>;

/**
 * What an exchange has to know, in one read: the request, its agent, and the grant that was made of it if there is
 * one. Reads authorization requests, agents and grants.
 */
export function findRedeemable(db: Executor, { developerId }: Tenant, requestId: string) {
  return db
    .selectFrom('authRequests as request')
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.developerId', '=', 'request.developerId').onRef('agent.id', '=', 'request.agentId'),
    )
    .leftJoin('grants as grant', (join) =>
      join
        .onRef('grant.developerId', '=', 'request.developerId')
        .onRef('grant.authRequestId', '=', 'request.id'),
    )
    .selectAll('request')
    .select([
      'agent.did as agentDid',
      'agent.status as agentStatus',
      'grant.id as grantId',
      'grant.status as grantStatus',
      'grant.issuedAt as grantIssuedAt',
    ])
    .where('request.developerId', '=', developerId)
    .where('request.id', '=', requestId)
    .executeTakeFirst();
}

export interface Redemption {
  readonly grant: NewGrant;
  readonly token: NewToken;
  readonly refresh: NewRefreshToken;
  readonly grantLimit: number | null;
  readonly maxWrongVerifiers: number;
  readonly records: readonly object[];
}

export type RedemptionRefusal =
  | 'agent_inactive'
  | 'code_unknown'
  | 'code_used'
  | 'code_expired'
  | 'over_quota'
  | null;

/** A hot write. @returns why nothing was written, or null. */
export async function redeemCode(
  db: Executor,
  { developerId }: Tenant,
  at: Date,
  { grant, token, refresh, grantLimit, maxWrongVerifiers, records }: Redemption,
): Promise<RedemptionRefusal> {
  const call = sql<{ refusal: RedemptionRefusal }>`select redeem_code(${developerId}, ${at},
    ${row({ ...grant, developerId })}, ${row({ ...token, developerId })}, ${row({ ...refresh, developerId })},
    ${grantLimit}, ${maxWrongVerifiers}, ${JSON.stringify(records)}) as refusal`;
  return (await repeating(() => call.execute(db))).rows[0]?.refusal ?? null;
}

/** A refresh token with its grant and agent, in one read. Reads grants and agents. */
export function findRefreshable(db: Executor, { developerId }: Tenant, refreshId: string) {
  return db
    .selectFrom('refreshTokens as refresh')
    .innerJoin('grants as grant', (join) =>
      join.onRef('grant.developerId', '=', 'refresh.developerId').onRef('grant.id', '=', 'refresh.grantId'),
    )
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.developerId', '=', 'grant.developerId').onRef('agent.id', '=', 'grant.agentId'),
    )
    .selectAll('grant')
    .select([
      'agent.did as agentDid',
      'agent.status as agentStatus',
      'refresh.id as refreshId',
      'refresh.hash as refreshHash',
      'refresh.expiresAt as refreshExpiresAt',
      'refresh.spentAt as refreshSpentAt',
    ])
    .where('refresh.developerId', '=', developerId)
    .where('refresh.id', '=', refreshId)
    .executeTakeFirst();
}

export type RotationRefusal = 'agent_inactive' | 'grant_revoked' | 'refresh_reused' | null;

/** A hot write. @returns why nothing was written, or null. */
export async function rotateRefreshToken(
  db: Executor,
  { developerId }: Tenant,
  at: Date,
  { token, refresh, records }: Pick<Redemption, 'token' | 'refresh' | 'records'>,
): Promise<RotationRefusal> {
  const call = sql<{ refusal: RotationRefusal }>`select rotate_refresh_token(${developerId}, ${at},
    ${row({ ...token, developerId })}, ${row({ ...refresh, developerId })}, ${JSON.stringify(records)}) as refusal`;
  return (await repeating(() => call.execute(db))).rows[0]?.refusal ?? null;
}

export type TokenRow = Selectable<Grants> & {
  readonly tokenId: string;
  readonly tokenIssuedAt: Date;
  readonly tokenExpiresAt: Date;
  readonly tokenRevokedAt: Date | null;
  readonly agentDid: string;
  readonly agentStatus: AgentStatus;
};

/**
 * A token with its grant and agent as they are now. When it is good, notes the grant's use in the same statement,
 * once a minute at most: verifying is one round trip. It waits for nobody who holds the grant, since the note is
 * worth no waiting. Reads agents and writes the grant's `last_used_at`.
 */
export async function findUsedToken(
  db: Executor,
  { developerId }: Tenant,
  tokenId: string,
  at: Date,
): Promise<TokenRow | undefined> {
  const call = sql<TokenRow>`
    with found as (
      select g.*, t.id as token_id, t.issued_at as token_issued_at, t.expires_at as token_expires_at,
        t.revoked_at as token_revoked_at, a.did as agent_did, a.status as agent_status
      from tokens t
      join grants g on g.developer_id = t.developer_id and g.id = t.grant_id
      join agents a on a.developer_id = g.developer_id and a.id = g.agent_id
      where t.developer_id = ${developerId} and t.id = ${tokenId}
    ), noting as (
      select g.developer_id, g.id from found
      join grants g on g.developer_id = found.developer_id and g.id = found.id
      where found.status = 'active' and found.agent_status = 'active'
        and found.token_revoked_at is null and found.token_expires_at > ${at}
        and (found.last_used_at is null or found.last_used_at <= ${at}::timestamptz - interval '1 minute')
      for no key update of g skip locked
    ), noted as (
      update grants g set last_used_at = ${at} from noting
      where g.developer_id = noting.developer_id and g.id = noting.id
    )
    select * from found`;
  return (await call.execute(db)).rows[0];
}

/** Locks the token, so that of two revocations at once the second sees what the first has done. Joins its grant. */
export function lockToken(tx: Tx, { developerId }: Tenant, tokenId: string) {
  return tx
    .selectFrom('tokens as token')
    .innerJoin('grants as grant', (join) =>
      join.onRef('grant.developerId', '=', 'token.developerId').onRef('grant.id', '=', 'token.grantId'),
    )
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.developerId', '=', 'grant.developerId').onRef('agent.id', '=', 'grant.agentId'),
    )
    .select([
      'token.revokedAt',
      'token.grantId',
      'grant.status as grantStatus',
      'grant.agentId',
      'grant.principalId',
      'grant.purpose',
      'agent.did as agentDid',
    ])
    .where('token.developerId', '=', developerId)
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
