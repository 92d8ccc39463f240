import type { Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { lockDirectory } from './scim.repo.ts';

/** Keeps users as they are until the caller's transaction ends. */
export const lockPeople = (tx: Tx, tenant: Tenant): Promise<void> => lockDirectory(tx, tenant);
