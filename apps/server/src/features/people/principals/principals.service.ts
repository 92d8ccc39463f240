import { purposeLabel, scopeInWords } from '@behest/protocol/words';
import type { Caller, PrincipalSession } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { grantStatus, revokeGrant, revokeGrantsOfPrincipal } from '../../access/grants/index.ts';
import {
  findSession,
  listOwnEntryRows,
  listOwnGrantRows,
  type OwnEntryRow,
  type OwnGrantRow,
} from './principals.repo.ts';
import { withoutPrivate } from './principals.rules.ts';
import type {
  OwnEntry,
  OwnEntryPage,
  OwnEntryQuery,
  OwnGrant,
  OwnGrantPage,
  OwnGrantQuery,
} from './principals.schema.ts';
import { type PrincipalDeps, sessionEnded } from './principals.session.service.ts';

/** @throws UNAUTHORIZED when the session has ended */
export async function listOwnGrants(
  deps: PrincipalDeps,
  session: PrincipalSession,
  query: OwnGrantQuery,
): Promise<OwnGrantPage> {
  const now = deps.clock();
  const found = await listOwnGrantRows(deps.db, session, query, now);
  if (!found) throw sessionEnded();
  const { page, nextCursor } = pageOf(found.grants, query.limit, byId);
  return {
    grants: page.map((row) => toOwnGrant(row, Object(found.scopeDescriptions), now)),
    principalId: session.principalId,
    developerName: found.developerName,
    sandbox: found.mode === 'sandbox',
    sessionExpiresAt: found.sessionExpiresAt.toISOString(),
    nextCursor,
  };
}

/** @throws UNAUTHORIZED when the session has ended */
export async function listOwnEntries(
  deps: PrincipalDeps,
  session: PrincipalSession,
  query: OwnEntryQuery,
): Promise<OwnEntryPage> {
  const found = await listOwnEntryRows(deps.db, session, query, deps.clock());
  if (!found) throw sessionEnded();
  const { page, nextCursor } = pageOf(found.entries, query.limit, byId);
  const { principalId } = session;
  return {
    entries: page.map((row) => toOwnEntry(row, principalId, found.auditPrivateKeys)),
    nextCursor,
  };
}

/** @throws UNAUTHORIZED when the session has ended, NOT_FOUND for a grant of another principal */
export async function revokeOwnGrant(
  deps: PrincipalDeps,
  session: PrincipalSession,
  grantId: string,
): Promise<void> {
  const found = await findSession(deps.db, session, deps.clock(), grantId);
  if (!found) throw sessionEnded();
  if (found.grantId === null) throw notFound();
  await revokeGrant(deps, personIn(session, found), grantId, { reason: 'principal' });
}

/** Revokes every active grant, or on failure no grant. @throws UNAUTHORIZED when the session has ended */
export async function revokeOwnGrants(
  deps: PrincipalDeps,
  session: PrincipalSession,
): Promise<{ revoked: number }> {
  const found = await findSession(deps.db, session, deps.clock());
  if (!found) throw sessionEnded();
  const caller = personIn(session, found);
  return {
    revoked: await revokeGrantsOfPrincipal(deps, caller, session.principalId, { reason: 'principal' }),
  };
}

/** The principal as caller. */
function personIn(
  { tenant, requestId }: PrincipalSession,
  { mode, plan }: Pick<Caller, 'mode' | 'plan'>,
): Caller {
  return { tenant, actor: 'principal', role: 'runtime', mode, plan, requestId };
}

function toOwnGrant(row: OwnGrantRow, own: Readonly<Record<string, string>>, now: Date): OwnGrant {
  const { revokedAt, revokedReason, parentGrantId, audience, purpose } = row;
  const isThere = row.agentStatus !== 'revoked';
  return {
    grantId: row.id,
    agentId: row.agentId,
    agentName: isThere ? row.agentName : null,
    agentDescription: isThere ? row.agentDescription : null,
    agentDid: isThere ? row.agentDid : null,
    scopes: row.scopes,
    scopeDescriptions: row.scopes.map((scope) => scopeInWords(scope, own)),
    status: grantStatus(row, now),
    issuedAt: row.issuedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    ...(revokedAt && { revokedAt: revokedAt.toISOString() }),
    ...(revokedReason && { revokedReason }),
    delegationDepth: row.delegationDepth,
    ...(parentGrantId && { parentGrantId }),
    ...(purpose && { purpose, purposeLabel: purposeLabel(purpose) }),
    ...(audience && { audience }),
    ...(row.isUnverified && { unverified: true as const }),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}

/** Leaves the salt out, because only a reader of everything that was hashed may have it. */
function toOwnEntry(row: OwnEntryRow, principalId: string, privateKeys: readonly string[]): OwnEntry {
  return {
    entryId: row.id,
    agentId: row.agentId,
    agentDid: row.agentDid,
    agentName: row.agentName,
    grantId: row.grantId,
    principalId,
    action: row.action,
    metadata: withoutPrivate(Object(row.metadata), privateKeys),
    status: row.status,
    purpose: row.purpose,
    timestamp: row.at.toISOString(),
    hash: row.hash.toString('hex'),
  };
}
