import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';
import { recordActs } from '../../record/audit/index.ts';
import { insertRenewals } from './grants.repo.ts';

interface RenewableGrant {
  readonly id: string;
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly purpose: string | null;
}

interface RenewalReasons {
  readonly causes: readonly RenewalCause[];
  /** The tools that are wider than the person agreed to. */
  readonly tools?: readonly string[];
}

/** Records that a grant's consent has to be renewed, once for each cause. */
export function requireNewConsent(
  { db, clock }: { readonly db: Executor; readonly clock: Clock },
  caller: Caller,
  grant: RenewableGrant,
  { causes, tools }: RenewalReasons,
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const added = await insertRenewals(tx, caller.tenant, { grantId: grant.id, causes, at });
    if (added.length === 0) return;
    const about = concerning({ ...grant, grantId: grant.id });
    const acts = added.map(
      (cause): Act => ({
        type: 'grant.reconsent_required',
        ...about,
        data: { cause, ...(tools && { tools }) },
      }),
    );
    await recordActs(tx, caller, acts, at);
  });
}
