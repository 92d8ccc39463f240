import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { byId, mustBeSpan, pageOf } from '../../../platform/paging.ts';
import { storedPins } from '../manifests/index.ts';
import { type RevocationStatement, showStatement } from '../verifiers/index.ts';
import { findGrant, findShownGrant, type ShownGrantRow } from './grants.queries.ts';
import { listGrantRows } from './grants.repo.ts';
import type { Grant, GrantPage, GrantQuery } from './grants.schema.ts';

export interface GrantDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

type AddedMembers = ReadonlyMap<string, Pick<Grant, 'budget'>>;

/** Finds members that another feature adds to grants in answers, by the ids of the grants. */
export type OnGrantsRead = (
  db: Executor,
  tenant: Tenant,
  grantIds: readonly string[],
) => Promise<AddedMembers>;

export const grantsRead = hook<OnGrantsRead>('grants read');

export interface ReadDeps extends GrantDeps {
  readonly onGrantsRead: readonly OnGrantsRead[];
}

async function addedMembers(
  { db, onGrantsRead }: ReadDeps,
  { tenant }: Caller,
  grantIds: readonly string[],
): Promise<AddedMembers> {
  const found = await Promise.all(onGrantsRead.map((find) => find(db, tenant, grantIds)));
  return new Map(found.flatMap((members) => [...members]));
}

/** @throws NOT_FOUND for an unknown grant and for a foreign one alike. */
export async function getGrant(deps: ReadDeps, caller: Caller, grantId: string): Promise<Grant> {
  const [row, added] = await Promise.all([
    findShownGrant(deps.db, caller, grantId),
    addedMembers(deps, caller, [grantId]),
  ]);
  if (!row) throw notFound();
  return toGrant(row, caller, deps.clock(), added);
}

/** @throws NOT_FOUND without a statement, and for an unknown grant and a foreign one alike */
export async function getRevocation(
  deps: GrantDeps,
  caller: Caller,
  grantId: string,
): Promise<RevocationStatement> {
  if (!(await findGrant(deps.db, caller, grantId))) throw notFound();
  return showStatement(deps, caller, grantId);
}

export async function listGrants(deps: ReadDeps, caller: Caller, query: GrantQuery): Promise<GrantPage> {
  mustBeSpan(query);
  const now = deps.clock();
  const rows = await listGrantRows(deps.db, caller, query, now);
  const ids = rows.rows.map(({ id }) => id);
  const added = await addedMembers(deps, caller, ids);
  const { page, nextCursor } = pageOf(rows, byId, (row) => toGrant(row, caller, now, added));
  return { grants: page, nextCursor };
}

function toGrant(row: ShownGrantRow, { mode }: Caller, now: Date, added: AddedMembers): Grant {
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
    agentStatus: row.agentStatus,
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
    ...added.get(id),
    consentMethod: row.consentMethod,
    ...(row.policyId !== null && { policyId: row.policyId }),
    ...(row.isUnverified && { unverified: true as const }),
    ...(row.authRequestId && { authRequestId: row.authRequestId }),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    ...(mode === 'sandbox' && { sandbox: true as const }),
  };
}

interface Lifetime {
  readonly status: 'active' | 'revoked';
  readonly expiresAt: Date;
}

/** The row says whether the grant was revoked. Expiry follows from the clock. */
export function grantStatus({ status, expiresAt }: Lifetime, now: Date): Grant['status'] {
  if (status === 'revoked') return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}
