import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { acceptUrl, type UrlRules } from '../../../platform/egress/urls.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { currentManifests } from '../../grants/manifests/manifests.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type CallRow, listCallRows } from './calls.repo.ts';
import {
  deleteProfileRow,
  findProfileRow,
  listProfileRows,
  type ShownProfile,
  upsertProfile,
} from './profile.repo.ts';
import { mustBeProfile, type ProxyBounds } from './profile.rules.ts';
import type {
  NewProxyProfile,
  PassedQuery,
  ProfileQuery,
  ProxyCall,
  ProxyCallPage,
  ProxyProfile,
  ProxyProfilePage,
} from './proxy.schema.ts';

export interface ProfileDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly bounds: ProxyBounds;
  /** The addresses that a profile may name. */
  readonly urlRules: UrlRules;
}

/**
 * Stores the profile of a service, or a new version of it. Credentials that are stored already go to the origins that
 * they were stored with, and to no new one.
 * @throws BAD_REQUEST, PLAN_LIMIT_EXCEEDED
 */
export async function putProfile(
  { db, clock, quotas, bounds, urlRules }: ProfileDeps,
  caller: Caller,
  service: string,
  input: NewProxyProfile,
): Promise<ProxyProfile> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(service)) throw notFound();
  mustBeProfile(input, bounds, (text) => acceptUrl(text, urlRules) !== undefined);
  await mustShowDecided(db, caller.tenant, input);
  const at = clock();
  const { exchange } = input;
  return inTransaction(db, async (tx) => {
    if (!(await findProfileRow(tx, caller.tenant, service))) {
      await useQuota(tx, quotas, caller, 'proxy_profiles', at);
    }
    const row = { service, proxyOnly: exchange === 'proxy_only', profile: JSON.stringify(input) };
    const stored = await upsertProfile(tx, caller.tenant, { ...row, createdAt: at, updatedAt: at });
    const data = { service, version: stored.version, exchange };
    await recordActs(tx, caller, [{ type: 'vault.proxy_profile.updated', data }], at);
    return toProfile(stored);
  });
}

/** Nobody approves a body that nobody reads. @throws BAD_REQUEST */
async function mustShowDecided(db: Executor, tenant: Tenant, { rules }: NewProxyProfile): Promise<void> {
  for (const [place, { tool }] of rules.entries()) {
    if (tool?.body !== 'stream') continue;
    const current = await currentManifests(db, tenant)
      .where('current.connector', '=', tool.connector)
      .executeTakeFirst();
    const declared: unknown = Object(Object(current?.manifest).tools)[tool.tool];
    if (Object(declared).requires_decision !== true) continue;
    const message = 'A person decides about this tool, so its body has to be `json` or `none`.';
    throw badField(`rules[${place}].tool.body`, 'not_allowed', message);
  }
}

/** @throws NOT_FOUND */
export async function getProfile(
  { db }: ProfileDeps,
  { tenant }: Caller,
  service: string,
): Promise<ProxyProfile> {
  const row = await findProfileRow(db, tenant, service);
  if (!row) throw notFound();
  return toProfile(row);
}

export async function listProfiles(
  { db }: ProfileDeps,
  { tenant }: Caller,
  query: ProfileQuery,
): Promise<ProxyProfilePage> {
  const rows = await listProfileRows(db, tenant, query);
  const { page, nextCursor } = pageOf(rows, ({ service }) => service, toProfile);
  return { profiles: page, nextCursor };
}

/** Switches the proxy of the service off. @throws NOT_FOUND */
export function deleteProfile({ db, clock }: ProfileDeps, caller: Caller, service: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    if (!(await deleteProfileRow(tx, caller.tenant, service))) throw notFound();
    await freeQuota(tx, caller, 'proxy_profiles', 1);
    await recordActs(tx, caller, [{ type: 'vault.proxy_profile.deleted', data: { service } }], clock());
  });
}

/** The service stored the profile in this form. */
export const storedProfile = ({ profile }: Pick<ShownProfile, 'profile'>) =>
  Object(profile) as NewProxyProfile;

function toProfile(row: ShownProfile): ProxyProfile {
  const { service, version, createdAt, updatedAt } = row;
  const profile = storedProfile(row);
  const isInUrl = profile.inject.style === 'query';
  return {
    ...profile,
    service,
    version,
    warnings: isInUrl ? [{ code: 'credential_in_url' }] : [],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

export async function listCalls(
  { db }: { readonly db: Executor },
  { tenant }: Caller,
  query: PassedQuery,
): Promise<ProxyCallPage> {
  const rows = await listCallRows(db, tenant, query);
  const { page, nextCursor } = pageOf(rows, byId, toCall);
  return { calls: page, nextCursor };
}

function toCall({ id, developerId: _, responseBytes, createdAt, ...row }: CallRow): ProxyCall {
  const bytes = responseBytes === null ? null : Number(responseBytes);
  return { callId: id, ...row, responseBytes: bytes, createdAt: createdAt.toISOString() };
}
