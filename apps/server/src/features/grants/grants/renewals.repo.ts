import type { Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';

interface NewRenewals {
  readonly grantId: string;
  readonly causes: readonly RenewalCause[];
  readonly at: Date;
}

/** Keeps why a grant's consent has to be renewed. @returns the causes that were not kept before */
export async function keepRenewals(
  tx: Tx,
  { developerId }: Tenant,
  { grantId, causes, at }: NewRenewals,
): Promise<RenewalCause[]> {
  if (causes.length === 0) return [];
  const rows = await tx
    .insertInto('grantRenewals')
    .values(causes.map((cause) => ({ developerId, grantId, cause, foundAt: at })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('cause')
    .execute();
  return rows.map(({ cause }) => cause);
}

/** Erases rows of a closed account. */
export const eraseRenewals = eraserOf('grant_renewals');
