import type { Mode, Plan, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';

/** A resource that a client names. */
export interface NamedResource {
  readonly resource: string;
  readonly resourceId: string;
}

const named = lookUp<NamedResource, [developerId: string, resources: readonly string[]]>(
  'find_named_resources',
  `select resource, resource_id as "resourceId" from resource_index where resource = any ($2) and developer_id = $1`,
);

/** Those of the URIs that this developer has registered, in no order. */
export const namedResources = (db: Executor, { developerId }: Tenant, resources: readonly string[]) =>
  named(db, developerId, resources);

/** A resource that has shown its credential. */
export interface ResourceServer {
  readonly developerId: string;
  readonly resourceId: string;
  readonly resource: string;
  /** The connectors that it serves; none for any. */
  readonly connectors: string[];
  readonly mode: Mode;
  readonly plan: Plan;
}

const byCredential = lookUp<ResourceServer, [hash: Buffer]>(
  'find_resource_server',
  `select i.developer_id as "developerId", i.resource_id as "resourceId", i.resource, r.connectors, d.mode, d.plan
   from resource_index i
     join developers d on d.id = i.developer_id
     join resources r on r.developer_id = i.developer_id and r.id = i.resource_id
   where i.hash = $1 and d.closed_at is null`,
);

/** It takes no tenant by design: the credential names the developer. */
export async function resourceServerAcrossTenants(
  db: Executor,
  hash: Buffer,
): Promise<ResourceServer | undefined> {
  return (await byCredential(db, hash))[0];
}
