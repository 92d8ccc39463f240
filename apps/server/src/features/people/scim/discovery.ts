import { AppError, notFound } from '../../../platform/errors.ts';
import { isSameName } from './attributes.rules.ts';
import { serviceProviderConfig, shownResourceTypes, shownSchemas } from './discovery.rules.ts';
import { listResponse } from './users.rules.ts';

interface DiscoveryDeps {
  readonly publicBaseUrl: string;
}

const baseOf = ({ publicBaseUrl }: DiscoveryDeps) => `${publicBaseUrl}/scim/v2`;

export const getConfig = (deps: DiscoveryDeps) => serviceProviderConfig(baseOf(deps));

/** @throws FORBIDDEN for a filter */
export const listResourceTypes = (deps: DiscoveryDeps, query: object) =>
  listOf(shownResourceTypes(baseOf(deps)), query);

/** @throws FORBIDDEN for a filter */
export const listSchemas = (deps: DiscoveryDeps, query: object) => listOf(shownSchemas(baseOf(deps)), query);

/** @throws NOT_FOUND */
export const getResourceType = (deps: DiscoveryDeps, id: string) =>
  oneOf(shownResourceTypes(baseOf(deps)), id);

/** @throws NOT_FOUND */
export const getSchema = (deps: DiscoveryDeps, id: string) => oneOf(shownSchemas(baseOf(deps)), id);

/** RFC 7644 §4: a filter of these is forbidden, because an answer without some of them would mislead. */
function listOf(resources: readonly object[], query: object) {
  if ('filter' in query) throw new AppError('FORBIDDEN', 'These resources are not filtered.');
  return listResponse({ total: resources.length, resources, startIndex: 1 });
}

function oneOf<Found extends { readonly id: string }>(resources: readonly Found[], id: string): Found {
  const found = resources.find((each) => isSameName(each.id, id));
  if (!found) throw notFound();
  return found;
}

/** @throws NOT_SUPPORTED: a token is no person, so nobody is behind `/Me` (RFC 7644 §3.11) */
export function refuseMe(): never {
  throw new AppError('NOT_SUPPORTED', 'A SCIM token stands for no person.');
}
