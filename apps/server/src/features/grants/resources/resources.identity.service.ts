import type { Executor } from '../../../platform/db/db.ts';
import { resourceServerAcrossTenants } from './resources.queries.ts';

/** The caller that a resource's credential proves. */
export async function identityOf({ db }: { readonly db: Executor }, hash: Buffer) {
  const found = await resourceServerAcrossTenants(db, hash);
  if (!found) return undefined;
  const { developerId, resourceId, resource, connectors, mode, plan } = found;
  const actor = `resource:${resourceId}`;
  const caller = { tenant: { developerId }, agentIds: null, actor, role: 'runtime', mode, plan } as const;
  return { ...caller, resource, connectors };
}
