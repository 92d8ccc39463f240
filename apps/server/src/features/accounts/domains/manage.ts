import type { Act } from '../../../platform/acts.ts';
import { type Caller, systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { ReadTxt } from '../../../platform/egress/dns.ts';
import { domainName } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId, newSecret } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { OnAccountClosed } from '../developers/index.ts';
import { freeQuota, useQuota } from '../quotas/index.ts';
import { isVerifiedAcrossTenants } from './domains.queries.ts';
import {
  deleteDomainRow,
  findDomain,
  insertDomain,
  listDomainIds,
  listDomainRows,
  listForgottenAcrossTenants,
  lockDomain,
} from './domains.repo.ts';
import { pendingSince, toAddedDomain, toDomain } from './domains.rules.ts';
import type { CreatedDomain, Domain, DomainPage, DomainQuery, NewDomain } from './domains.schema.ts';

export interface DomainDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly isProduction: boolean;
  /** Without a trailing slash. Its host is nobody's to register. */
  readonly publicBaseUrl: string;
  readonly readTxt: ReadTxt;
}

/**
 * Another developer's pending registration of the domain is no hindrance, so nobody can keep a name from its owner.
 * @throws BAD_REQUEST, CONFLICT, PLAN_LIMIT_EXCEEDED
 */
export function addDomain(deps: DomainDeps, caller: Caller, input: NewDomain): Promise<CreatedDomain> {
  const domain = domainName(input.domain, { allowsSpecialUse: !deps.isProduction });
  if (domain === undefined || domain === new URL(deps.publicBaseUrl).hostname) {
    throw badField('domain', 'format', 'Send the name of a domain of your own, such as `acme.com`.');
  }
  const at = deps.clock();
  const row = {
    id: newId('dom', at),
    domain,
    token: `behest-verify-${newSecret()}`,
    status: 'pending',
    createdAt: at,
    verifiedAt: null,
    lastCheckedAt: null,
    missingSince: null,
  } as const;
  return inTransaction(deps.db, async (tx) => {
    await useQuota(tx, deps.quotas, caller, 'domains', at);
    if (!(await insertDomain(tx, caller.tenant, row))) {
      throw new AppError('CONFLICT', 'This domain is registered already.', { field: 'domain' });
    }
    const data = { domainId: row.id, domain };
    await recordActs(tx, caller, [{ type: 'domain.created', data }], at);
    return toAddedDomain(row);
  });
}

export async function listDomains(
  { db }: DomainDeps,
  caller: Caller,
  query: DomainQuery,
): Promise<DomainPage> {
  const rows = await listDomainRows(db, caller.tenant, query);
  const { page, nextCursor } = pageOf(rows, byId, toDomain);
  return { domains: page, nextCursor };
}

/** @throws NOT_FOUND */
export async function getDomain({ db }: DomainDeps, caller: Caller, id: string): Promise<Domain> {
  const row = await findDomain(db, caller.tenant, id);
  if (!row) throw notFound();
  return toDomain(row);
}

/** @throws NOT_FOUND for an unknown domain and for a foreign one alike */
export function deleteDomain(
  { db, clock }: Pick<DomainDeps, 'db' | 'clock'>,
  caller: Caller,
  id: string,
): Promise<void> {
  return inTransaction(db, async (tx) => {
    const acts = await remove(tx, caller, id);
    if (acts.length === 0) throw notFound();
    await recordActs(tx, caller, acts, clock());
  });
}

/** Whether pages of the service may come from this host. */
export const servesHost = ({ db }: Pick<DomainDeps, 'db'>, host: string): Promise<boolean> =>
  isVerifiedAcrossTenants(db, host);

/** A domain of a closed account is free for others. */
export const removeDomains: OnAccountClosed = async (tx, caller) => {
  const acts: Act[] = [];
  for (const id of await listDomainIds(tx, caller.tenant)) acts.push(...(await remove(tx, caller, id)));
  return acts;
};

async function remove(tx: Tx, caller: Caller, id: string): Promise<Act[]> {
  const found = await lockDomain(tx, caller.tenant, id);
  if (!found) return [];
  await deleteDomainRow(tx, caller.tenant, id);
  await freeQuota(tx, caller, 'domains', 1);
  return [{ type: 'domain.deleted', data: { domainId: id, domain: found.domain } }];
}

const BATCH = 200;

/** Deletes registrations that nobody verified in 30 days. @returns 0 when the last are deleted */
export async function deleteForgotten({ db, clock }: Pick<DomainDeps, 'db' | 'clock'>): Promise<number> {
  const at = clock();
  const forgotten = await listForgottenAcrossTenants(db, pendingSince(at), BATCH);
  for (const domain of forgotten) {
    const caller = systemCaller({ developerId: domain.developerId }, domain, 'domains');
    await inTransaction(db, async (tx) => {
      const acts = await remove(tx, caller, domain.id);
      if (acts.length > 0) await recordActs(tx, caller, acts, at);
    });
  }
  return forgotten.length < BATCH ? 0 : forgotten.length;
}
