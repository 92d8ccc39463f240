import type { Selectable } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { row } from '../../../platform/db/row.ts';
import type { VerifiableCredentials } from '../../../platform/db/types.gen.ts';

/** A credential that is signed, with the place that it names. */
export type NewCredentialRow = Omit<Selectable<VerifiableCredentials>, 'developerId'>;

/** A credential as `hold_status_place` and then `keep_credential` take it. */
export const newCredential = ({ developerId }: Tenant, credential: NewCredentialRow) =>
  row({ ...credential, developerId });

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
