import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Approvers } from '../../../platform/db/types.gen.ts';

export type ApproverRow = Selectable<Approvers>;

export const approversOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('approvers').selectAll().where('developerId', '=', developerId);

const MOST = 1000; // approvers of a developer

/** Every approver who was not removed, oldest first. */
export const listAllApprovers = (db: Executor, tenant: Tenant): Promise<ApproverRow[]> =>
  approversOf(db, tenant).where('status', '<>', 'removed').orderBy('id').limit(MOST).execute();

export const findApprover = (db: Executor, tenant: Tenant, id: string): Promise<ApproverRow | undefined> =>
  approversOf(db, tenant).where('id', '=', id).executeTakeFirst();
