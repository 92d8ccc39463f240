import { isScope } from '@behest/protocol/scopes';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, isTaken } from '../../../platform/db/db.ts';
import { AppError, badField, malformedScopes, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { isRedirectUri } from '../../accounts/developers/index.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  deleteResourceRow,
  findResource,
  insertResource,
  listResourceRows,
  type ResourceRow,
  URI_INDEX,
  updateResource,
} from './resources.repo.ts';
import { mustBeReadable } from './resources.rules.ts';
import type {
  CreatedResource,
  NewResource,
  Resource,
  ResourceChange,
  ResourcePage,
  ResourceQuery,
} from './resources.schema.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether the server runs on the machine of its clients. */
const isLoopback = (resource: string): boolean => LOOPBACK.has(new URL(resource).hostname);

/** The host of the URI and the names above it, the nearest first. A top-level domain belongs to no developer. */
function domainsAbove(resource: string): string[] {
  const labels = new URL(resource).hostname.split('.');
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
}

/** @throws INVALID_SCOPE */
function mustBeScopes(scopes: readonly string[]): void {
  const wrong = scopes.filter((scope) => !isScope(scope));
  if (wrong.length > 0) throw malformedScopes(wrong);
}

export interface ResourceDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  /** Whether a URI need not be under a verified domain of its developer. */
  readonly allowsUnverified: boolean;
}

/** @throws BAD_REQUEST, PLAN_LIMIT_EXCEEDED, CONFLICT when the URI is registered already */
export async function addResource(
  deps: ResourceDeps,
  caller: Caller,
  input: NewResource,
): Promise<CreatedResource> {
  mustBeUsable(input);
  await mustOwn(deps, caller, input.resource);
  const at = deps.clock();
  const credential = `bh_res_${newSecret()}`;
  const { loginUrl = null, connectors, scopeWords = {}, ...others } = input;
  const row = {
    ...others,
    connectors: connectors ?? [],
    scopeWords: JSON.stringify(scopeWords),
    loginUrl,
    id: newId('res', at),
    createdAt: at,
    updatedAt: at,
  };
  try {
    return await inTransaction(deps.db, async (tx) => {
      await useQuota(tx, deps.quotas, caller, 'resources', at);
      const stored = await insertResource(tx, caller.tenant, row, hashOf(credential));
      await recordActs(tx, caller, [{ type: 'resource.created', data: named(stored) }], at);
      return { ...toResource(stored), credential };
    });
  } catch (error) {
    if (!isTaken(error, URI_INDEX)) throw error;
    throw new AppError('CONFLICT', 'This URI is registered already.', { field: 'resource' });
  }
}

export async function listResources(
  { db }: ResourceDeps,
  caller: Caller,
  query: ResourceQuery,
): Promise<ResourcePage> {
  const rows = await listResourceRows(db, caller.tenant, query);
  const { page, nextCursor } = pageOf(rows, byId, toResource);
  return { resources: page, nextCursor };
}

/** @throws NOT_FOUND */
export async function getResource({ db }: ResourceDeps, caller: Caller, id: string): Promise<Resource> {
  const row = await findResource(db, caller.tenant, id);
  if (!row) throw notFound();
  return toResource(row);
}

/** @throws BAD_REQUEST, NOT_FOUND */
export function changeResource(
  deps: ResourceDeps,
  caller: Caller,
  id: string,
  change: ResourceChange,
): Promise<Resource> {
  mustBeUsable(change);
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const { connectors, scopeWords, ...others } = change;
    const row = await updateResource(tx, caller.tenant, id, {
      ...others,
      ...(connectors !== undefined && { connectors: connectors ?? [] }),
      ...(scopeWords && { scopeWords: JSON.stringify(scopeWords) }),
      updatedAt: at,
    });
    if (!row) throw notFound();
    await recordActs(tx, caller, [{ type: 'resource.updated', data: named(row) }], at);
    return toResource(row);
  });
}

/** Tokens for the resource stay good until their end; it has no credential to ask about them. @throws NOT_FOUND */
export function removeResource(deps: ResourceDeps, caller: Caller, id: string): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    const row = await deleteResourceRow(tx, caller.tenant, id);
    if (!row) throw notFound();
    await freeQuota(tx, caller, 'resources', 1);
    await recordActs(tx, caller, [{ type: 'resource.deleted', data: named(row) }], deps.clock());
  });
}

/** @throws BAD_REQUEST */
function mustBeUsable({ scopes = [], scopeWords = {}, loginUrl }: NewResource | ResourceChange): void {
  mustBeScopes(scopes);
  mustBeReadable(scopeWords);
  if (loginUrl && !(isRedirectUri(loginUrl) && /^https?:/i.test(loginUrl))) {
    throw badField('loginUrl', 'format', 'Send an absolute https URL, or null.');
  }
}

/** A URI decides whose tokens its server gets, so a developer registers only URIs of their own. @throws BAD_REQUEST */
async function mustOwn(
  { db, allowsUnverified }: ResourceDeps,
  { tenant, mode }: Caller,
  resource: string,
): Promise<void> {
  if (!isRedirectUri(resource) || !/^https?:/.test(resource)) {
    throw badField('resource', 'format', 'Send an absolute https URI without a fragment.');
  }
  if (allowsUnverified || (mode === 'sandbox' && isLoopback(resource))) return;
  for (const domain of domainsAbove(resource)) if (await isVerifiedBy(db, tenant, domain)) return;
  const message =
    'The URI has to be under a domain that you have verified; in the sandbox it may be loopback.';
  throw badField('resource', 'not_allowed', message);
}

const named = ({ id: resourceId, resource }: ResourceRow) => ({ resourceId, resource });

function toResource({ developerId: _, createdAt, updatedAt, scopeWords, ...row }: ResourceRow): Resource {
  return {
    ...row,
    scopeWords: Object(scopeWords),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
