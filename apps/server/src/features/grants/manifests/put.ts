import { setImmediate } from 'node:timers/promises';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { manifestSha256, widerTools } from '@behest/protocol/manifest/pins';
import { looksOf } from '@behest/protocol/tools-entry';
import { LRUCache } from 'lru-cache';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { lockOpenAccount, mustMayLoosen, needsTwo } from '../../accounts/developers/index.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  countDeletedConnectors,
  deleteManifestRow,
  deleteOldVersions,
  deleteVersionsOfDeleted,
  findManifest,
  findVersion,
  listManifestRows,
  listSimilar,
  listVersionRows,
  listVersions,
  type ManifestRow,
  writeVersion,
} from './manifests.repo.ts';
import { readManifest, storedManifest } from './manifests.rules.ts';
import type {
  ConnectorManifest,
  ManifestPage,
  ManifestQuery,
  ManifestVersionPage,
  ManifestVersionQuery,
  ManifestWithWarnings,
  NewManifest,
} from './manifests.schema.ts';

export interface ManifestDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
}

/** Versions before the new one, with which it is compared. */
const MAX_COMPARED = 50;
const MAX_SIMILAR = 20;
/** In the texts of a connector's versions. */
const MAX_BYTES = 4_194_304;
/** Connectors whose versions stay when their manifests are deleted, for grants that are pinned to them. */
const MAX_DELETED = 20;

interface Put {
  readonly manifest: ManifestWithWarnings;
  readonly isFirst: boolean;
}

/**
 * Makes this the manifest of a connector. A manifest that is the same text already is no new version.
 * @throws INVALID_MANIFEST with the first fault, BAD_REQUEST when it is the manifest of another connector
 */
export async function putManifest(
  { db, clock, quotas }: ManifestDeps,
  caller: Caller,
  connector: string,
  input: NewManifest,
): Promise<Put> {
  const manifest = readManifest(input);
  if (manifest.connector !== connector) {
    throw badField('connector', 'not_allowed', 'The manifest is of another connector than the path.');
  }
  const sha256 = await manifestSha256(manifest);
  const at = clock();
  const { tenant } = caller;
  const { version } = manifest;

  return inTransaction(db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    const before = await findManifest(tx, tenant, connector);
    const own = { connector, looks: looksOf(connector), version, sha256 };
    const similar = await listSimilar(
      tx,
      tenant,
      { ...own, revision: 0, createdAt: at, updatedAt: at },
      MAX_SIMILAR,
    );
    const warnings = similar.map((other) => ({ code: 'similar_connector' as const, ...other }));
    if (before && JSON.stringify(before.manifest) === JSON.stringify(input)) {
      return { manifest: { ...toManifest(before), warnings }, isFirst: false };
    }

    if (!before) await useQuota(tx, quotas, caller, 'manifests', at);
    const versions = await listVersions(tx, tenant, connector);
    const pins = await pinsOf(tx, tenant, { manifest, sha256 }, versions);
    const previous = before?.sha256 ?? null;
    // A manifest that was deleted and comes back is compared with what it was, or deleting it would loosen the next one.
    const last = previous ?? versions[0]?.sha256 ?? null;
    const wider = pins.find((pin) => pin.sha256 === last)?.wider ?? [];
    if (wider.length > 0 || (last === null && (await isCrowded(tx, caller)))) {
      const difference = { from: last, to: sha256, wider };
      await mustMayLoosen(tx, caller, { about: `manifest ${connector}`, difference });
    }
    const revision = (versions[0]?.revision ?? 0) + 1;
    const createdAt = before?.createdAt ?? at;
    const stored = { connector, revision, version, sha256, createdAt: at };
    await writeVersion(
      tx,
      tenant,
      { ...own, revision, createdAt, updatedAt: at },
      { ...stored, manifest: JSON.stringify(input), pins: JSON.stringify(pins), actor: caller.actor },
    );
    await deleteOldVersions(tx, tenant, connector, { versions: MAX_COMPARED + 1, bytes: MAX_BYTES });
    const data = { connector, version, sha256, previous, wider };
    await recordActs(tx, caller, [{ type: 'manifest.updated', data }], at);
    const row = { ...stored, manifest: input, pins, createdAt, updatedAt: at };
    return { manifest: { ...toManifest(row), warnings }, isFirst: !before };
  });
}

/**
 * Whether an account that asks for two people remembers as many removed connectors as it may. It forgets none, or one of them
 * could come back looser, and a second member agrees to each new one.
 */
async function isCrowded(tx: Tx, caller: Caller): Promise<boolean> {
  if (!(caller.agreed || (await needsTwo(tx, caller)))) return false;
  return (await countDeletedConnectors(tx, caller.tenant)) >= MAX_DELETED;
}

/**
 * Compares a manifest with the versions before it, one after the other, because a manifest may have a megabyte, and
 * lets other requests of the process go between.
 */
async function pinsOf(
  db: Executor,
  tenant: Tenant,
  { manifest, sha256 }: { readonly manifest: Manifest; readonly sha256: string },
  versions: readonly { readonly revision: number; readonly sha256: string }[],
) {
  const compared = new Set([sha256]);
  const pins: { sha256: string; wider: string[] }[] = [];
  for (const version of versions.slice(0, MAX_COMPARED)) {
    if (compared.has(version.sha256)) continue;
    compared.add(version.sha256);
    const older = await findVersion(db, tenant, manifest.connector, version.revision);
    if (older)
      pins.push({ sha256: version.sha256, wider: widerTools(storedManifest(older.manifest), manifest) });
    await setImmediate();
  }
  return pins;
}

/** The manifests of a connector before and after a draft becomes its manifest. Before may be none. */
export interface ManifestDraft {
  readonly before: Manifest | undefined;
  readonly after: Manifest;
}

/**
 * Reads a draft as if it were put, and changes nothing.
 * @throws INVALID_MANIFEST with the first fault, BAD_REQUEST when it is the manifest of another connector
 */
export async function draftOf(
  db: Executor,
  tenant: Tenant,
  connector: string,
  input: NewManifest,
): Promise<ManifestDraft> {
  const manifest = readManifest(input);
  if (manifest.connector !== connector) {
    throw badField('candidate.connector', 'not_allowed', 'The draft is of another connector than the path.');
  }
  const sha256 = await manifestSha256(manifest);
  const current = await findManifest(db, tenant, connector);
  const pins = await pinsOf(db, tenant, { manifest, sha256 }, await listVersions(db, tenant, connector));
  const before = current && storedManifest(current.manifest, current.pins);
  return { before, after: storedManifest(input, pins) };
}

/** @throws NOT_FOUND */
export async function getManifest(
  { db }: ManifestDeps,
  { tenant }: Caller,
  connector: string,
): Promise<ConnectorManifest> {
  const row = await findManifest(db, tenant, connector);
  if (!row) throw notFound();
  return toManifest(row);
}

/** What the manifest was after each change, the newest first, also of one that is deleted. @throws NOT_FOUND */
export async function listManifestVersions(
  { db }: ManifestDeps,
  { tenant }: Caller,
  connector: string,
  query: ManifestVersionQuery,
): Promise<ManifestVersionPage> {
  const rows = await listVersionRows(db, tenant, connector, query);
  if (rows.rows.length === 0 && query.cursor === undefined) throw notFound();
  const { page, nextCursor } = pageOf(
    rows,
    ({ revision }) => String(revision),
    ({ manifest, createdAt, ...row }) => ({
      ...row,
      createdAt: createdAt.toISOString(),
      manifest: Object(manifest),
    }),
  );
  return { versions: page, nextCursor };
}

export async function listManifests(
  { db }: ManifestDeps,
  { tenant }: Caller,
  query: ManifestQuery,
): Promise<ManifestPage> {
  const rows = await listManifestRows(db, tenant, query);
  const { page, nextCursor } = pageOf(
    rows,
    ({ connector }) => connector,
    ({ updatedAt, ...row }) => ({ ...row, updatedAt: updatedAt.toISOString() }),
  );
  return { manifests: page, nextCursor };
}

/** Calls of the connector's tools are denied from now on. @throws NOT_FOUND */
export function deleteManifest(
  { db, clock }: ManifestDeps,
  caller: Caller,
  connector: string,
): Promise<void> {
  const at = clock();

  return inTransaction(db, async (tx) => {
    await lockOpenAccount(tx, caller.tenant);
    const deleted = await deleteManifestRow(tx, caller.tenant, connector);
    if (!deleted) throw notFound();
    await freeQuota(tx, caller, 'manifests', 1);
    if (!(await needsTwo(tx, caller))) await deleteVersionsOfDeleted(tx, caller.tenant, MAX_DELETED);
    await recordActs(tx, caller, [{ type: 'manifest.deleted', data: { connector, ...deleted } }], at);
  });
}

type ManifestColumns = Pick<ManifestRow, 'connector' | 'version' | 'sha256' | 'createdAt' | 'updatedAt'> & {
  readonly manifest: unknown;
  readonly pins: unknown;
};

/** The columns `manifest` and `pins` hold what this feature wrote, which Postgres' type `json` does not say. */
function toManifest({
  connector,
  version,
  sha256,
  manifest,
  pins,
  createdAt,
  updatedAt,
}: ManifestColumns): ConnectorManifest {
  return {
    connector,
    version,
    sha256,
    pins: pins as ConnectorManifest['pins'],
    manifest: Object(manifest),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

const MAX_CHARACTERS = 32_000_000; // in the texts of all manifests; a loaded manifest takes several times as many bytes

interface ManifestVersionKey extends Tenant {
  readonly db: Executor;
  readonly connector: string;
  readonly revision: number;
}

/** Finds a version of a manifest, as it was loaded before if this process has. */
export type FindManifest = (asked: ManifestVersionKey) => Promise<Manifest | undefined>;

/**
 * Remembers loaded manifests by developer, connector and number. A version never changes, and the caller reads the
 * number of the current one together with the facts of the call, so nothing here goes out of date.
 */
export function manifestLibrary(): FindManifest {
  const loaded = new LRUCache<string, Loaded, ManifestVersionKey>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ characters }) => characters,
    async fetchMethod(_key, _stale, { context: { db, developerId, connector, revision } }) {
      const row = await findVersion(db, { developerId }, connector, revision);
      if (!row) return undefined;
      const characters = JSON.stringify(row.manifest).length;
      return { manifest: storedManifest(row.manifest, row.pins), characters };
    },
  });
  return async (asked) => {
    const key = `${asked.developerId} ${asked.revision} ${asked.connector}`;
    return (await loaded.fetch(key, { context: asked }))?.manifest;
  };
}

interface Loaded {
  readonly manifest: Manifest;
  readonly characters: number;
}
