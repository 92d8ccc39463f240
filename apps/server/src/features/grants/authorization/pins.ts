import { namedConnectors } from '@behest/protocol/tool-scopes';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import type { ConsentPins } from '../manifests/index.ts';
import { findPins } from '../manifests/manifests.queries.ts';

/** A manifest as a person was shown it; null where the connector had none. */
export interface ShownManifest {
  readonly connector: string;
  readonly sha256: string | null;
}

/** The manifests under which these scopes are given; null where no scope names a connector. */
export async function pinsFor(
  db: Executor,
  tenant: Tenant,
  scopes: readonly string[],
): Promise<ConsentPins | null> {
  const connectors = namedConnectors(scopes);
  return connectors.length === 0 ? null : findPins(db, tenant, connectors);
}

/** The pins of the connectors that these scopes name. */
export function pinsWithin({ mode, pins }: ConsentPins, scopes: readonly string[]): ConsentPins | null {
  const named = namedConnectors(scopes);
  return named.length === 0
    ? null
    : { mode, pins: pins.filter(({ connector }) => named.includes(connector)) };
}

/** @throws CONFLICT when a manifest has another version than the person was shown */
export function mustBeAsShown(pins: ConsentPins | null, shown: readonly ShownManifest[]): void {
  const current = new Map(pins?.pins.map(({ connector, sha256 }) => [connector, sha256]));
  if (shown.every(({ connector, sha256 }) => (current.get(connector) ?? null) === sha256)) return;
  throw new AppError('CONFLICT', 'A tool of this request has changed meanwhile; look at the request again.', {
    field: 'manifests',
  });
}
