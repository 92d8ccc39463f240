import { isDeepStrictEqual } from 'node:util';
import { uncovered } from '@behest/protocol/scopes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { heldAgent } from '../../accounts/agents/agents.queries.ts';
import { findGrant, type GrantRow } from '../../grants/grants/grants.queries.ts';
import { revokeGrantWithin } from '../../grants/grants/index.ts';
import {
  type Assertable,
  heldAsserted,
  type PreparedAssertion,
  writeAsserted,
} from '../../grants/tokens/index.ts';
import { lockPeople } from '../../people/scim/index.ts';
import { type Asserted, findAsserted, type MeantPerson, settleAsserted } from '../../people/sso/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  type AssertionGrantRow,
  findAssertionGrant,
  isStopped,
  lockRule,
  putAssertionGrant,
  shareRule,
  shareTrust,
  useOnce,
} from './assertions.repo.ts';
import type { AssertionDeps } from './issue.ts';
import { bad, type Timely } from './jwt.rules.ts';
import type { Narrowed } from './limits.ts';
import type { Trusted } from './trust.ts';

/** The facts as they were read, and the token that was signed with them. */
interface Writing {
  readonly trusted: Trusted;
  readonly asserted: Asserted;
  readonly meant: MeantPerson;
  readonly timely: Timely;
  readonly place: Place;
  readonly held: CurrentGrant;
  readonly grant: Assertable;
  readonly prepared: PreparedAssertion;
}

/**
 * Row 18: one transaction uses the assertion, links the person where that is needed, finds or makes the grant, and writes
 * token and entries. Locks are taken in one order: people, agent, trust, rule, and then those of every grant.
 * @returns whether it was written: not, when a fact is no longer as it was read
 */
export function writeAssertion(
  deps: AssertionDeps,
  caller: Caller,
  writing: Writing,
  at: Date,
): Promise<boolean> {
  const { tenant } = caller;
  const { trusted, asserted, meant, timely, place, held, grant, prepared } = writing;
  const { connection, trust, rule } = trusted;
  return inTransaction(deps.db, async (tx) => {
    const used = { connectionId: connection.id, jti: timely.jti, expiresAt: timely.expiresAt };
    if (!(await useOnce(tx, tenant, used, at))) throw bad('replayed');
    const acts: Act[] = [];
    if (meant.needs !== 'nothing') {
      await lockPeople(tx, tenant);
      const now = await findAsserted(tx, tenant, connection, asserted);
      if (!isDeepStrictEqual(now, meant)) throw CHANGED;
      acts.push(
        ...(await settleAsserted(tx, caller, connection, { asserted, meant, quotas: deps.quotas }, at)),
      );
    }
    await heldAgent(tx, tenant, place.agentId);
    // The end of a trust revokes the grants that it finds, so a grant that is made comes before it or not at all.
    if (!isDeepStrictEqual(await shareTrust(tx, tenant, connection.id), trust)) throw CHANGED;
    const current = await (held.grant ? shareRule : lockRule)(tx, tenant, rule.id);
    const standing = await findAssertionGrant(tx, tenant, place);
    if (current?.version !== rule.version || standing?.grantId !== held.row?.grantId) throw CHANGED;
    const isStoppedNow = await isStopped(tx, tenant, place);
    if (isStoppedNow) throw oauthRefusal('access_denied', 'stopped');
    if (held.superseded) {
      const why = { reason: 'superseded' } as const;
      acts.push(...(await revokeGrantWithin(tx, caller, held.superseded.id, why, at)));
    }
    if (!(await writeAsserted(tx, caller, prepared, at))) throw CHANGED;
    if (!held.grant) {
      const id = newId('ids', at);
      await putAssertionGrant(tx, tenant, {
        ...place,
        id,
        ruleId: rule.id,
        grantId: grant.id,
        createdAt: at,
      });
    }
    await recordActs(tx, caller, [...acts, ...prepared.acts], at);
    return true;
  }).catch((error: unknown) => {
    if (error === CHANGED) return false; // nothing was written
    throw error;
  });
}

/** Rolls a write back that has to be prepared again. */
const CHANGED = new Error('A fact changed between the read and the write of an assertion.');

/** The standing grant of a place, as it was read. */
interface CurrentGrant {
  readonly row: AssertionGrantRow | undefined;
  /** Absent where there is none, where it ended, and where the ceiling has changed since. */
  readonly grant: Assertable | undefined;
  /** The grant that a new one takes the place of. */
  readonly superseded: GrantRow | undefined;
}

/** The assertions of one place share one grant. */
type Place = Pick<AssertionGrantRow, 'connectionId' | 'agentId' | 'principalId' | 'audience'>;

/** @returns the grant in force at a place, as far as its ceiling is still the same */
export async function currentGrantAt(
  { db }: { readonly db: Executor },
  { tenant }: Caller,
  place: Place,
  ceiling: Narrowed['ceiling'],
  at: Date,
): Promise<CurrentGrant> {
  const row = await findAssertionGrant(db, tenant, place);
  const found = row && (await findGrant(db, { tenant, agentIds: null }, row.grantId));
  const live = found?.status === 'active' && found.expiresAt > at ? found : undefined;
  const fits = live && isCeiling(live, ceiling);
  return {
    row,
    grant: fits ? heldAsserted(live) : undefined,
    superseded: fits ? undefined : live,
  };
}

const isCeiling = (
  { scopes, authorizationDetails, manifests }: GrantRow,
  ceiling: Narrowed['ceiling'],
): boolean =>
  uncovered(scopes, ceiling.scopes).length === 0 &&
  uncovered(ceiling.scopes, scopes).length === 0 &&
  isDeepStrictEqual(authorizationDetails ?? [], ceiling.details) &&
  isDeepStrictEqual(manifests ?? null, ceiling.manifests);
