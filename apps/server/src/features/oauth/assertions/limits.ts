import {
  issuedDetails,
  readDelegationDetails,
  type ToolsEntry,
} from '@behest/protocol/authorization-details';
import { type IssuedEntry, storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { delegatedDetails } from '@behest/protocol/delegated-details';
import { parseDuration } from '@behest/protocol/durations';
import { isSameResource, namesResource } from '@behest/protocol/resource-uri';
import { distinctScopes } from '@behest/protocol/scopes';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { storedPins } from '../../grants/manifests/index.ts';
import { type LimitingResource, limitingResources } from '../../grants/resources/resources.queries.ts';
import type { AssertedGrant } from '../../grants/tokens/index.ts';
import { groupsOfUser } from '../../people/scim/scim.queries.ts';
import {
  claimAt,
  groupsOfClaims,
  type MeantPerson,
  mappedScopes,
  membersOf,
} from '../../people/sso/index.ts';
import { bad, type Claims, resourcesIn } from './jwt.rules.ts';
import { common, within } from './scopes.rules.ts';
import type { Trusted } from './trust.ts';

/** The parts of a token request beside the assertion. */
export interface RequestedLimits {
  readonly scope?: string | undefined;
  readonly resources?: readonly string[] | undefined;
}

/** Row 13: the resources of the token, all of them registered and allowed. @throws invalid_grant, invalid_target */
export async function resourcesFor(
  db: Executor,
  tenant: Tenant,
  { rule }: Pick<Trusted, 'rule'>,
  claims: Claims,
  requested: RequestedLimits,
): Promise<readonly LimitingResource[]> {
  const claimed = resourcesIn(claims);
  const asked = requested.resources ?? claimed ?? [];
  const named = [...(claimed ?? []), ...asked];
  const known = named.length === 0 ? [] : await limitingResources(db, tenant, named);
  const isGood = (uri: string) =>
    known.some(({ resource }) => isSameResource(resource, uri)) &&
    (rule.resources === null || namesResource(rule.resources, uri));
  if (claimed && !claimed.every(isGood)) throw bad('resource');
  const isAsked = (uri: string) => isGood(uri) && (!claimed || namesResource(claimed, uri));
  if (!asked.every(isAsked)) throw oauthRefusal('invalid_target', 'resource');
  return known.filter(({ resource }) => namesResource(asked, resource));
}

/**
 * The scopes that the groups of the person give; null where the connection maps no groups.
 * @throws invalid_grant where the assertion says that the person has groups that it does not name
 */
export async function scopesOfGroups(
  db: Executor,
  tenant: Tenant,
  { connection }: Pick<Trusted, 'connection'>,
  claims: Claims,
  { person }: MeantPerson,
): Promise<readonly string[] | null> {
  const members = membersOf(connection);
  if (Object.keys(members.groupMappings).length === 0) return null;
  const { groupAttribute } = members;
  const read = groupAttribute === null ? undefined : groupsOfClaims([claims.all], groupAttribute);
  if (read && 'fault' in read) throw bad('groups_unreadable');
  const isNamed = groupAttribute !== null && claimAt(claims.all, groupAttribute) !== undefined;
  const groups = isNamed && read ? read.groups : await groupsOfUser(db, tenant, person.userId);
  return mappedScopes(members, groups);
}

interface Narrowing {
  readonly trusted: Trusted;
  readonly claims: Claims;
  readonly requested: RequestedLimits;
  readonly groups: readonly string[] | null;
  readonly resources: readonly LimitingResource[];
  /** The scopes that the agent declares; null where they are not enforced. */
  readonly agentScopes: readonly string[] | null;
}

/** The limits of one token, and of the standing grant that it is counted against. */
export interface Narrowed {
  readonly ceiling: Pick<AssertedGrant, 'scopes' | 'details' | 'manifests' | 'seconds'>;
  readonly scopes: readonly string[];
  /** The entries of this token, where the assertion narrows those of the grant. */
  readonly details: readonly IssuedEntry[] | undefined;
}

const TOO_MANY =
  "The tool scopes of the rule and of the person's groups overlap in too many ways. Map the groups to fewer or wider ones.";

/** Row 15: what every side allows. @throws invalid_scope, invalid_authorization_details */
export function narrowed({
  trusted,
  claims,
  requested,
  groups,
  resources,
  agentScopes,
}: Narrowing): Narrowed {
  const { rule } = trusted;
  const ceiling = groups === null ? rule.scopes : common(rule.scopes, groups);
  if (!ceiling) throw oauthRefusal('invalid_scope', TOO_MANY);
  const own = toolsEntries(storedEntries(rule.authorizationDetails));
  const details = issuedDetails(undefined, ceiling, own);
  const claimed = scopesIn(claims.all.scope);
  const asked = scopesIn(requested.scope) ?? claimed ?? rule.defaultScopes;
  const scopes = within(asked, [
    claimed ?? null,
    ceiling,
    ...resources.map((resource) => (resource.scopes.length > 0 ? resource.scopes : null)),
    agentScopes,
  ]);
  if (scopes.length === 0) throw oauthRefusal('invalid_scope', 'scope');
  const pins = storedPins(rule.manifests) ?? null;
  const seconds = parseDuration(rule.grantTtl) ?? 0;
  return {
    ceiling: { scopes: ceiling, details, manifests: pins, seconds },
    scopes,
    details: detailsFor(claims, scopes, details),
  };
}

/** @throws invalid_authorization_details */
function detailsFor(
  { all }: Claims,
  scopes: readonly string[],
  above: readonly ToolsEntry[],
): readonly IssuedEntry[] | undefined {
  if (all.authorization_details === undefined) return undefined;
  const read = readDelegationDetails(all.authorization_details, scopes);
  const made = read.ok
    ? delegatedDetails({ purpose: undefined, scopes, entries: read.entries }, above)
    : read;
  if (!made.ok) throw oauthRefusal('invalid_authorization_details', 'authorization_details');
  return made.entries;
}

/** @returns undefined where nothing was said; an empty list where nothing that is said is a scope */
function scopesIn(text: unknown): string[] | undefined {
  if (text === undefined) return undefined;
  const words = typeof text === 'string' ? text.split(' ') : [];
  return distinctScopes(words.filter((word) => word !== '' && word !== 'offline_access'));
}
