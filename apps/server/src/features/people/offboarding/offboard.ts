import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type OffboardDeps, offboardPrincipal } from '../scim/index.ts';
import type { OffboardInput, Offboarding } from './offboarding.schema.ts';
import { getPrincipal, type ShowDeps } from './show.ts';

export type OffboardingDeps = ShowDeps & OffboardDeps;

/**
 * Ends everything that agents hold of a principal, as when a directory deletes the user. The principal may give new grants
 * afterwards: only a directory makes somebody inactive. A repeated call changes nothing.
 * @throws NOT_FOUND when the account has nothing of the principal, and never had
 */
export async function offboard(
  deps: OffboardingDeps,
  caller: Caller,
  principalId: string,
  { keepCredentials }: OffboardInput,
): Promise<Offboarding> {
  await getPrincipal(deps, caller, principalId);
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const ending = { at, isForGood: !keepCredentials };
    const acts = await offboardPrincipal(tx, caller, deps, principalId, ending);
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
    return fallen(principalId, acts);
  });
}

function fallen(principalId: string, acts: readonly Act[]): Offboarding {
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
