import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import { admitPrincipal, type OffboardDeps, offboardPrincipal } from '../scim/index.ts';
import { namesBySignOn } from '../sso/sso.queries.ts';
import { findOffboarding, getPrincipalFacts, listPrincipalRows } from './offboarding.repo.ts';
import type {
  OffboardInput,
  Offboarding,
  PrincipalPage,
  PrincipalQuery,
  PrincipalSummary,
} from './offboarding.schema.ts';
import { getOffboarding, keepEnding, type StatementDeps } from './statement.ts';

interface ShowDeps {
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
  const [facts, last] = await Promise.all([
    getPrincipalFacts(db, tenant, principalId, clock()),
    findOffboarding(db, tenant, { kind: 'principal', subjectId: principalId }),
  ]);
  const { activeGrants, grants, openRequests, sessions, passkeys, hasAddress, lastActivityAt } = facts;
  const { userId, userName, isActive } = facts;
  const services = [...facts.services];
  const counts = [activeGrants, grants, sessions, passkeys];
  const isKnown = counts.some((count) => count > 0) || openRequests > 0 || services.length > 0 || hasAddress;
  if (!isKnown && userId === null && lastActivityAt === null && !last) throw notFound();
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
    offboarding: last
      ? { offboardingId: last.id, endedAt: last.endedAt.toISOString(), isClosed: last.isClosed }
      : null,
    lastActivityAt: lastActivityAt?.toISOString() ?? null,
    truncated: counts.some((count) => count > MOST),
  };
}

export type OffboardingDeps = StatementDeps & OffboardDeps;

/**
 * Ends everything that agents hold of a person, as when a directory deletes the user, and closes every id of theirs: nothing is
 * given to one until the person is admitted again. With `keepCredentials` the person may give new grants at once, and there is
 * no statement. A repeated call changes nothing.
 * @throws NOT_FOUND when the account has nothing of the principal, and never had
 */
export async function offboard(
  deps: OffboardingDeps,
  caller: Caller,
  principalId: string,
  { keepCredentials }: OffboardInput,
): Promise<Offboarding> {
  await getPrincipal(deps, caller, principalId);
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const { acts, subjectId, ids, principalIds } = await offboardPrincipal(tx, caller, deps, principalId, {
      at,
      isForGood: !keepCredentials,
      namesBySignOn: (within, userId) => namesBySignOn(within, tenant, userId),
    });
    const chained = acts.length > 0 ? await recordActs(tx, caller, acts, at) : undefined;
    const ended = fallen(principalId, acts);
    if (keepCredentials) return { ...ended, statement: null };
    const subject = { kind: 'principal', subjectId } as const;
    const folded = ids.filter(({ isFolded }) => isFolded).map(({ id }) => id);
    const closed = ids.map(({ id }) => id);
    if (chained)
      await keepEnding(
        tx,
        tenant,
        { ...subject, closed, exact: principalIds, folded },
        { acts, chained, at },
      );
    return { ...ended, statement: (await getOffboarding({ ...deps, db: tx }, caller, subject)).statement };
  });
}

/** Lets agents ask a person again who was offboarded, under every id. @throws NOT_FOUND for one who is not closed */
export async function admit(
  { db, clock }: Pick<OffboardingDeps, 'db' | 'clock'>,
  caller: Caller,
  principalId: string,
): Promise<void> {
  const at = clock();
  await inTransaction(db, async (tx) => {
    const acts = await admitPrincipal(tx, caller, principalId, at);
    if (acts.length === 0) throw notFound();
    await recordActs(tx, caller, acts, at);
  });
}

function fallen(principalId: string, acts: readonly Act[]): Omit<Offboarding, 'statement'> {
  const count = (wanted: Act['type']) => acts.filter(({ type }) => type === wanted).length;
  return {
    principalId,
    grantsRevoked: count('grant.revoked'),
    requestsCancelled: count('authorization.cancelled'),
    sessionsEnded: count('principal.session_ended'),
    credentialsDeleted: count('vault.credential.deleted'),
    passkeysRemoved: count('fido.removed'),
    addressRemoved: count('principal.address_removed') > 0,
  };
}
