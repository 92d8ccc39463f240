import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';
import { noteRenewals } from '../grants/index.ts';
import type { HeldGrant } from './tokens.queries.ts';
import { invalidGrant } from './tokens.rules.ts';

/**
 * Refuses more tokens from a grant whose person has to consent again, and tells so. The grant stays, and its
 * tokens are good until they expire.
 * @throws INVALID_GRANT `reconsent_required`
 */
export async function mustBeConsented(
  deps: { readonly db: Executor; readonly clock: Clock },
  caller: Caller,
  grant: HeldGrant & { readonly renewalCauses: readonly RenewalCause[] },
): Promise<void> {
  const { renewalCauses: causes } = grant;
  if (causes.length === 0) return;
  await noteRenewals(deps, caller, grant, { causes });
  throw invalidGrant('reconsent_required');
}
