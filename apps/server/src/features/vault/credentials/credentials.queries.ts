import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { principalsIn } from '../../../platform/db/values.ts';

/** The principals of stored credentials who have one of these ids, in any case. */
export const principalsWithCredentials = principalsIn('vault_credentials');

/** The connected accounts of a principal that are not being disconnected. */
export function connectionsOfPrincipal(db: Executor, { developerId }: Tenant, principalId: string) {
  return db
    .selectFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .where('connection', 'is not', null)
    .where('disconnectingAt', 'is', null);
}
