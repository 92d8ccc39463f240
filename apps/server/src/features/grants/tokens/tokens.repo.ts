import { type Insertable, type Selectable, sql } from 'kysely';
import { isWithin, type Mode, type Plan, type Reach, type Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { mayMixDevelopers } from '../../../platform/db/hot-writes.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { gathering, lookUp, type Placed } from '../../../platform/db/statement.ts';
import type {
  AuthRequests,
  Grants,
  RefreshTokens,
  RenewalCause,
  Tokens,
} from '../../../platform/db/types.gen.ts';
import { grantsWithAgent, renewalCauses } from '../grants/grants.queries.ts';
import { type AgentStatus, type HeldGrant, heldGrant, heldToken, type TokenRow } from './tokens.queries.ts';

/** The agents to which a read is restricted; null for all. */
export type Within = Reach['agentIds'];

export type NewGrant = Omit<Selectable<Grants>, 'developerId'>;
export type NewToken = Omit<Insertable<Tokens>, 'developerId'> & { readonly expiresAt: Date };
export type NewRefreshToken = Omit<Insertable<RefreshTokens>, 'developerId'>;

type Requested = Pick<
  Selectable<AuthRequests>,
  | 'id'
  | 'agentId'
  | 'principalId'
  | 'scopes'
  | 'audience'
  | 'purpose'
  | 'authorizationDetails'
  | 'manifests'
  | 'expiresIn'
  | 'tokenSeconds'
  | 'redirectUri'
  | 'codeChallenge'
  | 'keyThumbprint'
  | 'client'
  | 'codeExpiresAt'
  | 'status'
  | 'consentMethod'
  | 'policyId'
  | 'wrongVerifiers'
  | 'budgetCurrency'
  | 'replacesGrantId'
  | 'authenticatedAt'
  | 'authMethods'
>;

export type Redeemable = Requested & {
  /** In billionths. */
  readonly budgetInitial: string | null;
  readonly agentDid: string;
  readonly agentStatus: AgentStatus;
  /** The grant that was made from the request, if any. */
  readonly grantId: string | null;
  readonly grantStatus: 'active' | 'revoked' | null;
  readonly grantIssuedAt: Date | null;
  readonly policiesVersion: string;
  readonly isPrincipalActive: boolean;
};

const redeemed = (
  developerId: string,
) => `(f.request).id, (f.request).agent_id as "agentId", (f.request).principal_id as "principalId",
     (f.request).scopes, (f.request).audience, (f.request).purpose,
     (f.request).authorization_details as "authorizationDetails", (f.request).manifests, (f.request).expires_in as "expiresIn",
     (f.request).token_seconds as "tokenSeconds", (f.request).redirect_uri as "redirectUri",
     (f.request).code_challenge as "codeChallenge", (f.request).client, (f.request).key_thumbprint as "keyThumbprint", (f.request).code_expires_at as "codeExpiresAt",
     (f.request).status, (f.request).consent_method as "consentMethod", (f.request).policy_id as "policyId",
     (f.request).wrong_verifiers as "wrongVerifiers", 
     coalesce((f.request).budget_units, (f.request).budget_amount * 100000::numeric) as "budgetInitial",
     (f.request).budget_currency as "budgetCurrency", (f.request).replaces_grant_id as "replacesGrantId",
     (f.request).authenticated_at as "authenticatedAt",
     (f.request).auth_methods as "authMethods", f.agent_did as "agentDid", f.agent_status as "agentStatus",
     f.grant_id as "grantId", f.grant_status as "grantStatus", f.grant_issued_at as "grantIssuedAt",
     f.policies_version as "policiesVersion",
     principal_active(${developerId}, (f.request).principal_id) as "isPrincipalActive"`;

type Kept = readonly [developerId: string, id: string];

const redeemable = lookUp<Redeemable, Kept>(
  'find_redeemable',
  `select ${redeemed('$1')} from find_redeemable($1, $2) f`,
);

const redeemables = lookUp<Redeemable & Placed, [developerIds: string[], requestIds: string[]]>(
  'find_redeemables',
  `select k.place, ${redeemed('k.developer_id')}
   from unnest($1::text[], $2::text[]) with ordinality k (developer_id, id, place)
     cross join lateral find_redeemable(k.developer_id, k.id) f`,
);

const redeemableInTurn = gathering<Kept, Redeemable>(
  (db, all) =>
    redeemables(
      db,
      all.map(([developerId]) => developerId),
      all.map(([, id]) => id),
    ),
  mayMixDevelopers,
);

/** The facts that decide an exchange, in one read, together with those of other exchanges of the turn. */
export async function findRedeemable(
  db: Executor,
  { tenant: { developerId }, agentIds }: Reach,
  requestId: string,
): Promise<Redeemable | undefined> {
  const kept = [developerId, requestId] as const;
  const found = await redeemableInTurn(db, kept, async () => (await redeemable(db, ...kept))[0]);
  return found && isWithin({ agentIds }, found.agentId) ? found : undefined;
}

/** The money that the grant may still spend, in billionths; null without a budget. */
export interface HeldBudget {
  readonly budgetRemaining: string | null;
  readonly budgetCurrency: string | null;
  /** The amount of its own allocation at first; null when it has none of its own. */
  readonly budgetInitial: string | null;
}

export const heldBudget = `f.budget_units as "budgetRemaining", f.budget_currency as "budgetCurrency",
  f.budget_initial_units as "budgetInitial"`;

export type Refreshable = HeldGrant &
  HeldBudget & {
    readonly refreshId: string;
    readonly refreshHash: Buffer;
    readonly refreshExpiresAt: Date;
    readonly refreshSpentAt: Date | null;
    readonly refreshKeyThumbprint: string | null;
    readonly policiesVersion: string;
    readonly isPrincipalActive: boolean;
    /** Why the person has to consent again. */
    readonly renewalCauses: readonly RenewalCause[];
  };

const refreshed = (
  developerId: string,
  at: string,
) => `${heldGrant}, ${heldBudget}, (f.refresh).id as "refreshId", (f.refresh).hash as "refreshHash",
     (f.refresh).expires_at as "refreshExpiresAt", (f.refresh).spent_at as "refreshSpentAt",
     (f.refresh).key_thumbprint as "refreshKeyThumbprint",
     f.policies_version as "policiesVersion",
     principal_active(${developerId}, (f.held).principal_id) as "isPrincipalActive", ${renewalCauses(at, developerId)}`;

type KeptAt = readonly [developerId: string, id: string, at: Date];

const refreshable = lookUp<Refreshable, KeptAt>(
  'find_refreshable',
  `select ${refreshed('$1', '$3')} from find_refreshable($1, $2) f`,
);

const refreshables = lookUp<
  Refreshable & Placed,
  [developerIds: string[], refreshIds: string[], times: Date[]]
>(
  'find_refreshables',
  `select k.place, ${refreshed('k.developer_id', 'k.at')}
   from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality k (developer_id, id, at, place)
     cross join lateral find_refreshable(k.developer_id, k.id) f`,
);

const refreshableInTurn = gathering<KeptAt, Refreshable>(
  (db, all) =>
    refreshables(
      db,
      all.map(([developerId]) => developerId),
      all.map(([, id]) => id),
      all.map(([, , at]) => at),
    ),
  mayMixDevelopers,
);

/** A refresh token with its grant and agent, in one read, together with those of other rotations of the turn. */
export async function findRefreshable(
  db: Executor,
  { tenant: { developerId }, agentIds }: Reach,
  refreshId: string,
  at: Date,
): Promise<Refreshable | undefined> {
  const kept = [developerId, refreshId, at] as const;
  const found = await refreshableInTurn(db, kept, async () => (await refreshable(db, ...kept))[0]);
  return found && isWithin({ agentIds }, found.agentId) ? found : undefined;
}

const successor = lookUp<{ readonly id: string }, [developerId: string, refreshId: string]>(
  'find_successor',
  'select id from refresh_tokens where developer_id = $1 and predecessor_id = $2',
);

/** The refresh token for which another one was spent. */
export async function findSuccessorId(
  db: Executor,
  { developerId }: Tenant,
  refreshId: string,
): Promise<string | undefined> {
  return (await successor(db, developerId, refreshId))[0]?.id;
}

/** A token that is being used. */
export type UsedToken = TokenRow & Pick<Refreshable, 'renewalCauses'>;

/** A token with its developer, for the agent that shows the token itself. */
export type HeldTokenRow = TokenRow & { readonly mode: Mode; readonly plan: Plan };

type Use = readonly [developerId: string, tokenId: string, at: Date];

const usedToken = lookUp<UsedToken, Use>(
  'use_token',
  `select ${heldToken}, f.renewal_causes::text[] as "renewalCauses" from use_token($1, $2, $3) f`,
);

const usedGrantToken = lookUp<HeldTokenRow, Use>(
  'use_grant_token',
  `select ${heldToken}, f.mode, f.plan from use_grant_token($1, $2, $3) f`,
);

type Together = UsedToken & HeldTokenRow;

const usedTokens = lookUp<Together & Placed, [developerIds: string[], tokenIds: string[], at: Date[]]>(
  'use_tokens',
  `select f.place, ${heldToken}, f.renewal_causes::text[] as "renewalCauses", f.mode, f.plan
   from use_tokens($1, $2, $3) f`,
);

/** Uses of one turn are one statement, whosever they are: the function finds each by its own developer. */
const useInTurn = gathering<Use, Together>(
  (db, uses) =>
    usedTokens(
      db,
      uses.map(([developerId]) => developerId),
      uses.map(([, tokenId]) => tokenId),
      uses.map(([, , at]) => at),
    ),
  mayMixDevelopers,
);

/** A token with its grant and agent as they are now. Sets the grant's last use when the token is valid. */
export async function findUsedToken(
  db: Executor,
  { tenant: { developerId }, agentIds }: Reach,
  tokenId: string,
  at: Date,
): Promise<UsedToken | undefined> {
  const use = [developerId, tokenId, at] as const;
  const row = await useInTurn(db, use, async () => (await usedToken(db, ...use))[0]);
  return row && isWithin({ agentIds }, row.agentId) ? row : undefined;
}

/** As `findUsedToken`, with the developer, for the agent that shows the token itself. */
export function findHeldToken(
  db: Executor,
  { developerId }: Tenant,
  tokenId: string,
  at: Date,
): Promise<HeldTokenRow | undefined> {
  const use = [developerId, tokenId, at] as const;
  return useInTurn(db, use, async () => (await usedGrantToken(db, ...use))[0]);
}

/** Locks the token, so that the second of two simultaneous revocations sees the first. Joins its grant. */
export function lockToken(tx: Tx, { tenant, agentIds }: Reach, tokenId: string) {
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
    .$if(agentIds !== null, (tokens) => tokens.where('grant.agentId', 'in', agentIds ?? []))
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

/** Erases rows of a closed account. */
export const eraseTokens = eraserOf('refresh_tokens', 'tokens');

/**
 * The living grants that an exchange ends, whose request names this grant to be replaced. The caller holds the lock of
 * delegations, so that no other exchange ends them too.
 */
export async function listReplaced(
  tx: Tx,
  { developerId }: Tenant,
  grantId: string,
  at: Date,
): Promise<string[]> {
  const asked = sql<{ id: string }>`select id from find_replaced(${developerId}, ${grantId}, ${at})`;
  return (await asked.execute(tx)).rows.map(({ id }) => id);
}
