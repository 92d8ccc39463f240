import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** Whether a key replaced another key by rotation, with any number of rotations in between. */
export async function isSuccessor(
  db: Executor,
  { developerId }: Tenant,
  keyId: string,
  formerId: string,
): Promise<boolean> {
  const asked = sql`
    select from api_keys k
    join api_keys former on former.developer_id = ${developerId} and former.id = ${formerId}
    where k.developer_id = ${developerId} and k.id = ${keyId}
      and k.lineage_id = coalesce(former.lineage_id, former.id) and k.generation > former.generation`;
  return (await asked.execute(db)).rows.length > 0;
}
