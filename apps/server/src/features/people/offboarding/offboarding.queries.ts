import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { listPrincipalRows } from './offboarding.repo.ts';

/** The first principals who hold something and whose id begins so in any case. */
export const listPrincipalsNamed = async (db: Executor, tenant: Tenant, prefix: string, most: number) =>
  (await listPrincipalRows(db, tenant, { query: prefix, limit: most })).slice(0, most);
