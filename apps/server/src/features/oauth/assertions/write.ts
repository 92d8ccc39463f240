import { isDeepStrictEqual } from 'node:util';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { heldAgent } from '../../accounts/agents/agents.queries.ts';
import { revokeGrantWithin } from '../../grants/grants/index.ts';
import { type Assertable, type PreparedAssertion, writeAsserted } from '../../grants/tokens/index.ts';
import { lockPeople } from '../../people/scim/index.ts';
import { type Asserted, findAsserted, type MeantPerson, settleAsserted } from '../../people/sso/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockRule, shareRule, shareTrust, useOnce } from './assertions.repo.ts';
import type { AssertionDeps } from './deps.ts';
import { findStanding, isStopped, putStanding } from './grants.repo.ts';
import { bad, type Timely } from './jwt.rules.ts';
import type { Held, Place } from './standing.ts';
import type { Trusted } from './trusted.ts';

/** The facts as they were read, and the token that was signed with them. */
export interface Writing {
  readonly trusted: Trusted;
  readonly asserted: Asserted;
  readonly meant: MeantPerson;
  readonly timely: Timely;
  readonly place: Place;
  readonly held: Held;
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
    const standing = await findStanding(tx, tenant, place);
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
      await putStanding(tx, tenant, { ...place, id, ruleId: rule.id, grantId: grant.id, createdAt: at });
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
