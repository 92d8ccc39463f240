import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, mustBeSpan, pageOf } from '../../../platform/paging.ts';
import { type Budgets, findBudgets } from '../budgets/budgets.queries.ts';
import { shownBudget } from '../budgets/index.ts';
import { storedPins } from '../manifests/index.ts';
import { listTokensOfGrant } from '../tokens/tokens.queries.ts';
import { findGrant, type GrantRow } from './grants.queries.ts';
import { listGrantRows } from './grants.repo.ts';
import { grantStatus, tokenStatus } from './grants.rules.ts';
import type { Grant, GrantPage, GrantQuery, TokenPage, TokenQuery } from './grants.schema.ts';

export interface GrantDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** @throws NOT_FOUND for an unknown grant and for a foreign one alike. */
export async function getGrant(deps: GrantDeps, caller: Caller, grantId: string): Promise<Grant> {
  const [row, budgets] = await Promise.all([
    findGrant(deps.db, caller, grantId),
    findBudgets(deps.db, caller.tenant, [grantId]),
  ]);
  if (!row) throw notFound();
  return toGrant(row, caller, deps.clock(), budgets);
}

export async function listGrants(deps: GrantDeps, caller: Caller, query: GrantQuery): Promise<GrantPage> {
  mustBeSpan(query);
  const now = deps.clock();
  const rows = await listGrantRows(deps.db, caller, query, now);
  const ids = rows.rows.map(({ id }) => id);
  const budgets = await findBudgets(deps.db, caller.tenant, ids);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toGrant(row, caller, now, budgets));
  return { grants: page, nextCursor };
}

/** @throws NOT_FOUND */
export async function listTokens(
  deps: GrantDeps,
  caller: Caller,
  grantId: string,
  query: TokenQuery,
): Promise<TokenPage> {
  const grant = await findGrant(deps.db, caller, grantId);
  if (!grant) throw notFound();
  const rows = await listTokensOfGrant(deps.db, caller.tenant, grantId, query);
  const now = deps.clock();
  const { page, nextCursor } = pageOf(rows, byId, (token) => {
    const { status, revokedAt } = tokenStatus(token, grant.revokedAt, now);
    return {
      tokenId: token.id,
      issuedAt: token.issuedAt.toISOString(),
      expiresAt: token.expiresAt.toISOString(),
      status,
      ...(revokedAt && { revokedAt: revokedAt.toISOString() }),
    };
  });
  return { tokens: page, nextCursor };
}

function toGrant(row: GrantRow, { mode }: Caller, now: Date, budgets: Budgets): Grant {
  const { id, revokedAt, revokedReason, parentGrantId, parentTokenId, audience, purpose } = row;
  const entries = storedEntries(row.authorizationDetails);
  const pins = storedPins(row.manifests);
  return {
    grantId: id,
    id,
    agentId: row.agentId,
    agentDid: row.agentDid,
    principalId: row.principalId,
    developerId: row.developerId,
    scopes: row.scopes,
    status: grantStatus(row, now),
    issuedAt: row.issuedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    ...(revokedAt && { revokedAt: revokedAt.toISOString() }),
    ...(revokedReason && { revokedReason }),
    ...(parentGrantId && { parentGrantId }),
    ...(parentTokenId && { parentTokenId }),
    rootGrantId: row.rootGrantId,
    delegationDepth: row.delegationDepth,
    ...(audience && { audience }),
    ...(purpose && { purpose }),
    ...(entries.length > 0 && { authorizationDetails: toolsEntries(entries) }),
    ...(pins && pins.pins.length > 0 && { manifests: [...pins.pins] }),
    ...shownBudget(budgets.get(id)),
    consentMethod: row.consentMethod,
    ...(row.policyId !== null && { policyId: row.policyId }),
    ...(row.isUnverified && { unverified: true as const }),
    ...(row.authRequestId && { authRequestId: row.authRequestId }),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    ...(mode === 'sandbox' && { sandbox: true as const }),
  };
}
