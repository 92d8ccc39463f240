import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { getPrincipalFacts, listPrincipalRows } from './offboarding.repo.ts';
import type { PrincipalPage, PrincipalQuery, PrincipalSummary } from './offboarding.schema.ts';

export interface ShowDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** Lists the principals who hold something: grants that nobody revoked, passkeys, credentials, a place in the directory. */
export async function listPrincipals(
  { db }: Pick<ShowDeps, 'db'>,
  { tenant }: Caller,
  query: PrincipalQuery,
): Promise<PrincipalPage> {
  const rows = await listPrincipalRows(db, tenant, query);
  const principals = rows
    .slice(0, query.limit)
    .map(({ principalId, holds }) => ({ principalId, holds: [...holds] }));
  const last = principals.at(-1);
  return { principals, nextCursor: rows.length > query.limit && last ? last.principalId : null };
}

const MOST = 1000;
const bounded = (count: number) => Math.min(count, MOST);

/** @throws NOT_FOUND when the account has nothing of the principal, and never had */
export async function getPrincipal(
  { db, clock }: ShowDeps,
  { tenant }: Caller,
  principalId: string,
): Promise<PrincipalSummary> {
  const facts = await getPrincipalFacts(db, tenant, principalId, clock());
  const { activeGrants, grants, openRequests, sessions, passkeys, hasAddress, lastActivityAt } = facts;
  const { userId, userName, isActive } = facts;
  const services = [...facts.services];
  const counts = [activeGrants, grants, sessions, passkeys];
  const isKnown = counts.some((count) => count > 0) || openRequests > 0 || services.length > 0 || hasAddress;
  if (!isKnown && userId === null && lastActivityAt === null) throw notFound();
  return {
    principalId,
    grants: {
      active: bounded(activeGrants),
      revoked: bounded(facts.revokedGrants),
      expired: bounded(facts.expiredGrants),
    },
    openRequests,
    sessions: bounded(sessions),
    services,
    passkeys: bounded(passkeys),
    hasAddress,
    directory: userId === null ? null : { userId, userName: userName ?? '', active: isActive === true },
    lastActivityAt: lastActivityAt?.toISOString() ?? null,
    truncated: counts.some((count) => count > MOST),
  };
}
