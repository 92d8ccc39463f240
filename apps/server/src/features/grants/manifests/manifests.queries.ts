import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { ConsentPin, ConsentPins } from './manifests.rules.ts';
import { storedManifest } from './manifests.rules.ts';

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

interface CurrentPins extends Pick<ConsentPins, 'mode'> {
  readonly pins: readonly ConsentPin[] | null;
}

const currentPins = lookUp<CurrentPins, [developerId: string, connectors: readonly string[]]>(
  'find_pins',
  `select d.manifest_pinning as mode,
     (select jsonb_agg(jsonb_build_object('connector', m.connector, 'version', m.version, 'sha256', m.sha256))
      from manifests m where m.developer_id = $1 and m.connector = any ($2)) as pins
   from developers d where d.id = $1`,
);

/** The developer's mode of pinning, and the current manifests of these connectors, in their order. */
export async function findPins(
  db: Executor,
  { developerId }: Tenant,
  connectors: readonly string[],
): Promise<ConsentPins> {
  const [current] = await currentPins(db, developerId, connectors);
  if (!current) throw new Error('A caller has no developer.');
  const found = new Map(current.pins?.map((pin) => [pin.connector, pin]));
  return { mode: current.mode, pins: connectors.flatMap((connector) => found.get(connector) ?? []) };
}

/** The tools of these manifests as people agreed to them. A version that is no longer kept is left out. */
export async function findPinnedTools(db: Executor, { developerId }: Tenant, pins: readonly ConsentPin[]) {
  if (pins.length === 0) return new Map<string, ReturnType<typeof storedManifest>['tools']>();
  const rows = await db
    .selectFrom('manifestVersions')
    .select(['connector', 'manifest'])
    .where('developerId', '=', developerId)
    .where(({ or, and, eb }) =>
      or(
        pins.map(({ connector, sha256 }) =>
          and([eb('connector', '=', connector), eb('sha256', '=', sha256)]),
        ),
      ),
    )
    .execute();
  return new Map(rows.map((row) => [row.connector, storedManifest(row.manifest).tools]));
}

/** The tools of these connectors as they are now. A connector without a manifest is left out. */
export async function findCurrentTools(db: Executor, tenant: Tenant, connectors: readonly string[]) {
  const rows =
    connectors.length === 0
      ? []
      : await currentManifests(db, tenant).where('current.connector', 'in', connectors).execute();
  return new Map(rows.map((row) => [row.connector, storedManifest(row.manifest, row.pins).tools]));
}
