import { namedConnectors } from '@behest/protocol/tool-scopes';
import {
  type AuthorizationDeps,
  LATE_SECONDS,
  pinsFor,
  type ShownManifest,
  shownKey,
} from '../authorization/index.ts';
import type { ConsentPins } from '../manifests/index.ts';
import type { ShownRow } from './consent.repo.ts';

type Shown = Pick<ShownRow, 'id' | 'developerId' | 'scopes' | 'expiresAt'>;

/**
 * Reads the manifests for the page, and remembers them as shown. They have an entry of their own in the store, because a
 * proof that comes at the same time is written into the session.
 */
export async function showManifests(
  { db, store, clock }: AuthorizationDeps,
  row: Shown,
): Promise<ConsentPins | null> {
  const pins = await pinsFor(db, row, row.scopes);
  if (!pins) return null;
  const value = JSON.stringify(pins.pins.map(({ connector, sha256 }) => ({ connector, sha256 })));
  const seconds = Math.ceil((row.expiresAt.getTime() - clock().getTime()) / 1000) + LATE_SECONDS;
  await store.put([{ key: shownKey(row.id), value, seconds }]);
  return pins;
}

/**
 * The manifests under which the person decides, one for each connector: as the page says, and otherwise as the service
 * showed them last. Where the store has lost that, none counts as shown, and the person has to look again.
 */
export async function manifestsAsShown(
  { store }: Pick<AuthorizationDeps, 'store'>,
  { id, scopes }: Shown,
  said: readonly ShownManifest[] = [],
): Promise<ShownManifest[]> {
  const connectors = namedConnectors(scopes);
  if (connectors.length === 0) return [...said];
  const kept = await store.get(shownKey(id));
  const served: readonly ShownManifest[] = kept === undefined ? [] : JSON.parse(kept);
  const known = new Map([...served, ...said].map(({ connector, sha256 }) => [connector, sha256]));
  for (const connector of connectors) if (!known.has(connector)) known.set(connector, null);
  return [...known].map(([connector, sha256]) => ({ connector, sha256 }));
}
