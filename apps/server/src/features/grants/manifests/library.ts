import type { Manifest } from '@behest/protocol/manifest/manifest';
import { LRUCache } from 'lru-cache';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { findVersion } from './manifests.repo.ts';
import { storedManifest } from './manifests.rules.ts';

const MOST_CHARACTERS = 32_000_000; // in the texts of all manifests; a loaded manifest takes several times as many bytes

interface Asked extends Tenant {
  readonly db: Executor;
  readonly connector: string;
  readonly revision: number;
}

/** Finds a version of a manifest, as it was loaded before if this process has. */
export type FindLoaded = (asked: Asked) => Promise<Manifest | undefined>;

/**
 * Remembers loaded manifests by developer, connector and number. A version never changes, and the caller reads the
 * number of the current one together with the facts of the call, so nothing here goes out of date.
 */
export function manifestLibrary(): FindLoaded {
  const loaded = new LRUCache<string, Loaded, Asked>({
    maxSize: MOST_CHARACTERS,
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
