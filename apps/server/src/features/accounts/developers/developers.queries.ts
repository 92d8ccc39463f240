import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** The developer's account as other features read it, to be joined by `developer.developerId`. */
export function developerOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('developers')
    .select(['id as developerId', 'name as developerName', 'mode', 'plan', 'consentMode', 'consentKeys'])
    .select(['emailVerified', 'scopeDescriptions', 'redirectUris', 'enforceAgentScopes', 'auditPrivateKeys'])
    .select('manifestPinning')
    .where('id', '=', developerId)
    .as('developer');
}

/**
 * The columns of every developer that a caller needs, for jobs that act for one developer after the other.
 */
export function developersAcrossTenants(db: Executor) {
  return db.selectFrom('developers').select(['id as developerId', 'mode', 'plan']).as('developer');
}
