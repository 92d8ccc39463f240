import { isDeepStrictEqual } from 'node:util';
import { readRequestedDetails, type ToolsEntry } from '@behest/protocol/authorization-details';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { delegatedDetails } from '@behest/protocol/delegated-details';
import { parseDuration } from '@behest/protocol/durations';
import { distinctResources, namesResource } from '@behest/protocol/resource-uri';
import { uncovered } from '@behest/protocol/scopes';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, isTaken, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { admitClient } from '../../accounts/agents/index.ts';
import {
  acceptTokenScopes,
  boundedSeconds,
  mustBeWithin,
  pinsFor,
} from '../../grants/authorization/index.ts';
import { activeAmong } from '../../grants/grants/grants.queries.ts';
import { revokeGrantsWithin } from '../../grants/grants/index.ts';
import { namedResources } from '../../grants/resources/resources.queries.ts';
import { hasConnection } from '../../people/sso/sso.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  deleteRule,
  findRule,
  insertRule,
  isOAuthClient,
  listAssertionGrantIds,
  listRuleRows,
  lockRule,
  RULE_KEY,
  type RuleRow,
  updateRule,
} from './assertions.repo.ts';
import type {
  IdJagClientRule,
  IdJagClientRuleChange,
  IdJagClientRulePage,
  IdJagClientRuleQuery,
  NewIdJagClientRule,
} from './assertions.schema.ts';

export interface ClientDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly maxGrantLifetimeSeconds: number;
  readonly quotas: Quotas;
  /** The host in the DID of an agent. */
  readonly didHost: string;
}

/**
 * Lets the identity provider of a connection speak for its people to a client.
 * @throws NOT_FOUND, BAD_REQUEST, INVALID_SCOPE, CONFLICT when the client has a rule already
 */
export async function addRule(
  deps: ClientDeps,
  caller: Caller,
  connectionId: string,
  input: NewIdJagClientRule,
): Promise<IdJagClientRule> {
  const { tenant } = caller;
  const at = deps.clock();
  const { clientId } = input;
  if (!(await hasConnection(deps.db, tenant, connectionId))) throw notFound();
  const isDocument = isDocumentUrl(clientId);
  if (!isDocument && !(await isOAuthClient(deps.db, tenant, clientId))) {
    const message = 'Name an agent of yours that is an OAuth client, or the https address of a client.';
    throw badField('clientId', 'not_allowed', message);
  }
  const limits = await acceptedLimits(deps, tenant, input);
  try {
    return await inTransaction(deps.db, async (tx) => {
      const { agentId, acts } = isDocument
        ? await admitClient(tx, deps, caller, { clientId, name: hostOf(clientId), scopes: input.scopes }, at)
        : { agentId: clientId, acts: [] };
      const row = await insertRule(tx, tenant, {
        ...(await columnsOf(tx, tenant, limits)),
        ...{ id: newId('idc', at), connectionId, clientId, agentId },
        tokenSeconds: input.tokenTtlSeconds,
        maxAuthAgeSeconds: input.maxAuthAgeSeconds ?? null,
        requireAmr: input.requireAmr,
        allowPublic: input.allowPublic,
        status: input.status,
        version: 1,
        createdAt: at,
        updatedAt: at,
      });
      await recordActs(tx, caller, [...acts, { type: 'sso.client.created', data: named(row) }], at);
      return toRule(row);
    });
  } catch (error) {
    if (!isTaken(error, RULE_KEY)) throw error;
    throw new AppError('CONFLICT', 'This client has a rule at this connection already.', {
      field: 'clientId',
    });
  }
}

/** The address of a client's document (draft-ietf-oauth-client-id-metadata-document): it is read when the client comes. */
const isDocumentUrl = (clientId: string): boolean =>
  clientId.startsWith('https://') && URL.canParse(clientId) && new URL(clientId).href === clientId;

/** The agent has the host's name, the only party that answers for the client. */
const hostOf = (clientId: string): string => new URL(clientId).host;

/** @throws NOT_FOUND */
export async function getRule(
  { db }: Pick<ClientDeps, 'db'>,
  { tenant }: Caller,
  connectionId: string,
  ruleId: string,
): Promise<IdJagClientRule> {
  const row = await findRule(db, tenant, connectionId, ruleId);
  if (!row) throw notFound();
  return toRule(row);
}

/** @throws NOT_FOUND */
export async function listRules(
  { db }: Pick<ClientDeps, 'db'>,
  { tenant }: Caller,
  connectionId: string,
  query: IdJagClientRuleQuery,
): Promise<IdJagClientRulePage> {
  if (!(await hasConnection(db, tenant, connectionId))) throw notFound();
  const rows = await listRuleRows(db, tenant, connectionId, query);
  const { page, nextCursor } = pageOf(rows, byId, toRule);
  return { clients: page, nextCursor };
}

/**
 * Changes a rule. The grants that no longer fit end in the same transaction.
 * @throws NOT_FOUND, BAD_REQUEST, INVALID_SCOPE
 */
export function changeRule(
  deps: ClientDeps,
  caller: Caller,
  { connectionId, ruleId }: { readonly connectionId: string; readonly ruleId: string },
  change: IdJagClientRuleChange,
): Promise<IdJagClientRule> {
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const before = await lockRule(tx, tenant, ruleId);
    if (before?.connectionId !== connectionId) throw notFound();
    const { tokenTtlSeconds, scopes, defaultScopes, resources, authorizationDetails, grantTtl, ...plain } =
      change;
    const limits = await acceptedLimits({ ...deps, db: tx }, tenant, {
      scopes: scopes ?? before.scopes,
      defaultScopes: defaultScopes ?? before.defaultScopes,
      resources: resources === undefined ? before.resources : resources,
      authorizationDetails: authorizationDetails ?? detailsOf(before),
      grantTtl: grantTtl ?? before.grantTtl,
    });
    const row = await updateRule(tx, tenant, ruleId, {
      ...(await columnsOf(tx, tenant, limits)),
      ...plain,
      ...(tokenTtlSeconds !== undefined && { tokenSeconds: tokenTtlSeconds }),
      updatedAt: at,
    });
    const ended = await endUnfit(tx, caller, row, at);
    const data = { ...named(row), changed: Object.keys(change) };
    await recordActs(tx, caller, [{ type: 'sso.client.updated', data }, ...ended], at);
    return toRule(row);
  });
}

const detailsOf = ({ authorizationDetails }: RuleRow): unknown[] =>
  Array.isArray(authorizationDetails) ? authorizationDetails : [];

/** Ends the grants of a rule that are wider than the rule is now, or last longer than it lets them. */
async function endUnfit(tx: Tx, caller: Caller, rule: RuleRow, at: Date): Promise<Act[]> {
  const ids = await listAssertionGrantIds(tx, caller.tenant, { ruleId: rule.id });
  const grants = await activeAmong(tx, caller.tenant, ids);
  const longest = (parseDuration(rule.grantTtl) ?? 0) * 1000;
  const limits = toolsEntries(storedEntries(rule.authorizationDetails));
  const unfit = grants.filter(({ scopes, audience, authorizationDetails, issuedAt, expiresAt }) => {
    const named = audience === null ? [] : audience.split(' ');
    const isAllowed = rule.resources === null || named.every((uri) => namesResource(rule.resources, uri));
    const hasLimits = isLimited(scopes, toolsEntries(storedEntries(authorizationDetails)), limits);
    const isLonger = expiresAt.getTime() - issuedAt.getTime() > longest;
    return uncovered(rule.scopes, scopes).length > 0 || !isAllowed || !hasLimits || isLonger;
  });
  const grantIds = unfit.map(({ id }) => id);
  return revokeGrantsWithin(tx, caller, grantIds, { reason: 'idp_rule' }, at);
}

/** Whether a grant has every limit of its rule, as far as its scopes reach. Groups may have made it narrower. */
function isLimited(
  scopes: readonly string[],
  entries: readonly ToolsEntry[],
  limits: readonly ToolsEntry[],
): boolean {
  const needed = delegatedDetails({ purpose: undefined, scopes, entries }, limits);
  return needed.ok && isDeepStrictEqual(byConnector(needed.entries), byConnector(entries));
}

const byConnector = (entries: readonly ToolsEntry[]) =>
  new Map(entries.map((entry) => [entry.connector, entry]));

/** Ends a rule with its grants. @throws NOT_FOUND */
export function removeRule(
  { db, clock }: Pick<ClientDeps, 'db' | 'clock'>,
  caller: Caller,
  { connectionId, ruleId }: { readonly connectionId: string; readonly ruleId: string },
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const rule = await lockRule(tx, caller.tenant, ruleId);
    if (rule?.connectionId !== connectionId) throw notFound();
    const ids = await listAssertionGrantIds(tx, caller.tenant, { ruleId });
    const ended = await revokeGrantsWithin(tx, caller, ids, { reason: 'idp_rule' }, at);
    await deleteRule(tx, caller.tenant, ruleId);
    await recordActs(tx, caller, [{ type: 'sso.client.deleted', data: named(rule) }, ...ended], at);
  });
}

const named = ({ connectionId, id, clientId }: RuleRow) => ({ connectionId, clientRuleId: id, clientId });

function toRule(row: RuleRow): IdJagClientRule {
  const { id, connectionId, clientId, agentId, scopes, defaultScopes, resources } = row;
  return {
    ...{ id, clientRuleId: id, connectionId, clientId, agentId, scopes, defaultScopes, resources },
    authorizationDetails: detailsOf(row),
    tokenTtlSeconds: row.tokenSeconds,
    grantTtl: row.grantTtl,
    maxAuthAgeSeconds: row.maxAuthAgeSeconds,
    requireAmr: row.requireAmr,
    allowPublic: row.allowPublic,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** The limits of a rule, whole and checked. */
interface Limits {
  readonly scopes: readonly string[];
  readonly defaultScopes: readonly string[];
  readonly resources: readonly string[] | null;
  readonly authorizationDetails: readonly unknown[];
  readonly grantTtl: string;
}

const MIN_GRANT = 3600; // seconds

/** Checks the limits of a rule, as they come from the administrator. @throws BAD_REQUEST, INVALID_SCOPE */
async function acceptedLimits(
  { db, maxGrantLifetimeSeconds }: { readonly db: Executor; readonly maxGrantLifetimeSeconds: number },
  tenant: Tenant,
  { scopes, defaultScopes, resources, authorizationDetails, grantTtl }: Limits,
): Promise<Limits & { readonly entries: readonly ToolsEntry[] }> {
  const ceiling = acceptTokenScopes(scopes);
  const defaults = defaultScopes.length > 0 ? acceptTokenScopes(defaultScopes) : [];
  mustBeWithin(ceiling, defaults);
  if (boundedSeconds('grantTtl', grantTtl, maxGrantLifetimeSeconds) < MIN_GRANT) {
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
async function columnsOf(
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
