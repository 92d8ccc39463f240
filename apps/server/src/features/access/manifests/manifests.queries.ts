import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { developerOf } from '../../accounts/developers/developers.queries.ts';
import type { ConsentPins } from './manifests.pins.rules.ts';

/** The manifests of a developer as they are now, each with its text. */
export function currentManifests(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('manifests as current')
    .innerJoin('manifestVersions as stored', (join) =>
      join
        .onRef('stored.developerId', '=', 'current.developerId')
        .onRef('stored.connector', '=', 'current.connector')
        .onRef('stored.revision', '=', 'current.revision'),
    )
    .select(['current.connector', 'current.revision', 'current.version', 'current.sha256', 'stored.manifest'])
    .select(['stored.pins', 'current.createdAt', 'current.updatedAt'])
    .where('current.developerId', '=', developerId);
}

/** The developer's mode of pinning, and the current manifests of these connectors, in their order. */
export async function findPins(
  db: Executor,
  { developerId }: Tenant,
  connectors: readonly string[],
): Promise<ConsentPins> {
  const { mode } = await db
    .selectFrom(developerOf(db, { developerId }))
    .select('manifestPinning as mode')
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('manifests')
    .select(['connector', 'version', 'sha256'])
    .where('developerId', '=', developerId)
    .where('connector', 'in', connectors)
    .execute();
  const found = new Map(rows.map((row) => [row.connector, row]));
  return { mode, pins: connectors.flatMap((connector) => found.get(connector) ?? []) };
}
