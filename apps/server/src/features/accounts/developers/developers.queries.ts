import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** The developer's account as other features read it, to be joined by `developer.developerId`. */
export function developerOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('developers')
    .select(['id as developerId', 'name as developerName', 'mode', 'plan', 'consentMode', 'consentKeys'])
    .select(['emailVerified', 'scopeDescriptions', 'redirectUris', 'enforceAgentScopes', 'auditPrivateKeys'])
    .select(['manifestPinning', 'connectLoginUrl'])
    .where('id', '=', developerId)
    .as('developer');
}

/** The settings of an account that decide how its people prove who they are, and where they return. */
export function findAccount(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('developers')
    .select(['mode', 'consentMode', 'consentKeys', 'connectLoginUrl', 'redirectUris'])
    .where('id', '=', developerId)
    .executeTakeFirstOrThrow();
}

/** The parts of an account that a caller needs who brings no credential. @returns undefined for an unknown account */
export function findCallerParts(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('developers')
    .select(['mode', 'plan'])
    .where('id', '=', developerId)
    .executeTakeFirst();
}

/** The name that authenticators show in place of the operator's. */
export async function findFidoRpName(db: Executor, { developerId }: Tenant): Promise<string | undefined> {
  const found = await db
    .selectFrom('developers')
    .select('fidoRpName')
    .where('id', '=', developerId)
    .executeTakeFirst();
  return found?.fidoRpName ?? undefined;
}

/** The name of the account, as people and upstreams read it. */
export async function findDeveloperName(db: Executor, { developerId }: Tenant): Promise<string> {
  const found = await db
    .selectFrom('developers')
    .select('name')
    .where('id', '=', developerId)
    .executeTakeFirst();
  return found?.name ?? '';
}

/**
 * The columns of every developer that a caller needs, for jobs that act for one developer after the other.
 */
export function developersAcrossTenants(db: Executor) {
  return db
    .selectFrom('developers')
    .select(['id as developerId', 'mode', 'plan', 'closedAt'])
    .as('developer');
}

/** The accounts whose entries lose their personal content after a number of days. */
export function retentionAcrossTenants(db: Executor) {
  return db
    .selectFrom('developers')
    .select(['id as developerId'])
    .select(({ fn }) => fn.coalesce('auditRetentionDays', sql<number>`0`).as('days'))
    .where('auditRetentionDays', 'is not', null)
    .as('retention');
}
