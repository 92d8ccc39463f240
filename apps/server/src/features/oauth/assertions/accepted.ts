import { readRequestedDetails, type ToolsEntry } from '@behest/protocol/authorization-details';
import { distinctResources } from '@behest/protocol/resource-uri';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import {
  acceptTokenScopes,
  boundedSeconds,
  mustBeWithin,
  pinsFor,
} from '../../grants/authorization/index.ts';
import { namedResources } from '../../grants/resources/resources.queries.ts';

/** The limits of a rule, whole and checked. */
export interface Limits {
  readonly scopes: readonly string[];
  readonly defaultScopes: readonly string[];
  readonly resources: readonly string[] | null;
  readonly authorizationDetails: readonly unknown[];
  readonly grantTtl: string;
}

const SHORTEST_GRANT = 3600; // seconds

/** Checks the limits of a rule, as they come from the administrator. @throws BAD_REQUEST, INVALID_SCOPE */
export async function acceptedLimits(
  { db, maxGrantLifetimeSeconds }: { readonly db: Executor; readonly maxGrantLifetimeSeconds: number },
  tenant: Tenant,
  { scopes, defaultScopes, resources, authorizationDetails, grantTtl }: Limits,
): Promise<Limits & { readonly entries: readonly ToolsEntry[] }> {
  const ceiling = acceptTokenScopes(scopes);
  const defaults = defaultScopes.length > 0 ? acceptTokenScopes(defaultScopes) : [];
  mustBeWithin(ceiling, defaults);
  if (boundedSeconds('grantTtl', grantTtl, maxGrantLifetimeSeconds) < SHORTEST_GRANT) {
    throw badField('grantTtl', 'too_small');
  }
  const distinct = resources && distinctResources(resources);
  const known = distinct ? await namedResources(db, tenant, distinct) : [];
  if (distinct && known.length < distinct.length) {
    throw badField('resources', 'not_allowed', 'Register each of these resources first.');
  }
  const read = readRequestedDetails(authorizationDetails, ceiling);
  if (!read.ok) {
    throw new AppError('BAD_REQUEST', 'The authorization details are not valid.', { fields: read.faults });
  }
  const limits = {
    scopes: ceiling,
    defaultScopes: defaults,
    resources: distinct && known.map(({ resource }) => resource),
    grantTtl,
  };
  return { ...limits, authorizationDetails, entries: read.entries };
}

/** The manifests are pinned now: the administrator has seen these tools. */
export async function columnsOf(
  tx: Tx,
  tenant: Tenant,
  { scopes, defaultScopes, resources, entries, grantTtl }: Awaited<ReturnType<typeof acceptedLimits>>,
) {
  const pins = await pinsFor(tx, tenant, scopes);
  return {
    scopes: [...scopes],
    defaultScopes: [...defaultScopes],
    resources: resources && [...resources],
    authorizationDetails: entries.length > 0 ? JSON.stringify(entries) : null,
    manifests: pins && JSON.stringify(pins),
    grantTtl,
  };
}
