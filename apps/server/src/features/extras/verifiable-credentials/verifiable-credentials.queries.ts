import { type Selectable, sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { VerifiableCredentials } from '../../../platform/db/types.gen.ts';
import { row } from '../../../platform/db/values.ts';

/** A credential that is signed, with the place that it names. */
export type NewCredentialRow = Omit<Selectable<VerifiableCredentials>, 'developerId'>;

/** A credential as `hold_status_place` and then `keep_credential` take it. */
export const newCredential = ({ developerId }: Tenant, credential: NewCredentialRow) =>
  row({ ...credential, developerId });

/**
 * Holds the place of a credential that is about to be kept, for a transaction that ends credentials before. All others
 * take this lock before that of the counter of grants.
 */
export async function holdStatusPlace(
  tx: Tx,
  tenant: Tenant,
  credential: NewCredentialRow,
  at: Date,
): Promise<void> {
  const asked = JSON.stringify(newCredential(tenant, credential));
  await sql`select hold_status_place(${tenant.developerId}, ${at}, ${asked})`.execute(tx);
}

/** Credentials within reach. */
export function credentialRows(db: Executor, { tenant, agentIds }: Reach) {
  const all = db
    .selectFrom('verifiableCredentials')
    .selectAll()
    .where('developerId', '=', tenant.developerId);
  return agentIds ? all.where('agentId', 'in', agentIds) : all;
}

/** Keeps a credential as it is until the commit. */
export async function holdCredential(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx
    .selectFrom('verifiableCredentials')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forShare()
    .execute();
}
