import type { ShownBranding } from '@behest/protocol/shapes';
import { sql } from 'kysely';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';

/** The developer's account as other features read it, to be joined by `developer.developerId`. */
export function developerOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('developers')
    .select(['id as developerId', 'name as developerName', 'mode', 'plan', 'consentMode', 'consentKeys'])
    .select(['emailVerified', 'scopeDescriptions', 'redirectUris', 'enforceAgentScopes', 'auditPrivateKeys'])
    .select(['manifestPinning', 'connectLoginUrl', 'accentColor', 'logoHash'])
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

type CallerParts = Pick<Caller, 'mode' | 'plan'>;

const callerParts = lookUp<CallerParts, [developerId: string]>(
  'caller_parts',
  'select mode, plan from developers where id = $1',
);

/** The parts of an account that a caller needs who brings no API key. @returns undefined for an unknown account */
export async function findCallerParts(
  db: Executor,
  { developerId }: Tenant,
): Promise<CallerParts | undefined> {
  return (await callerParts(db, developerId))[0];
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

interface BrandColumns {
  readonly developerId: string;
  readonly accentColor: string | null;
  readonly logoHash: string | null;
}

/** Where the logo of an account is served. Pages are at several hosts, so the path has none. */
export const logoPath = ({ developerId, logoHash }: Omit<BrandColumns, 'accentColor'>): string =>
  `/logos/${developerId}/${logoHash}`;

/** The part of an answer to a page that says how the account wants to be shown beside its name. */
export function brandingIn({ developerId, accentColor, logoHash }: BrandColumns): {
  readonly branding?: ShownBranding;
} {
  if (accentColor === null && logoHash === null) return {};
  return {
    branding: {
      ...(logoHash && { logoUrl: logoPath({ developerId, logoHash }) }),
      ...(accentColor && { accentColor }),
    },
  };
}

/** The account as the pages show it. */
export async function findBrand(
  db: Executor,
  { developerId }: Tenant,
): Promise<{ readonly developerName: string; readonly branding?: ShownBranding }> {
  const found = await db
    .selectFrom('developers')
    .select(['name', 'accentColor', 'logoHash'])
    .where('id', '=', developerId)
    .executeTakeFirst();
  return { developerName: found?.name ?? '', ...(found && brandingIn({ developerId, ...found })) };
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

/** Whether a second member has to agree to what weakens the account's enforcement. */
export async function findLooseningRule(db: Executor, { developerId }: Tenant): Promise<boolean> {
  const found = await db
    .selectFrom('developers')
    .select('requireTwoForLoosening')
    .where('id', '=', developerId)
    .executeTakeFirst();
  return found?.requireTwoForLoosening === true;
}

/** The demands on two people who approve one call. */
export interface FourEyesRule {
  readonly least: 'dual' | 'sso';
  /** Neither assurance nor device are looked at. Never in a live account. */
  readonly isRelaxed: boolean;
}

export async function findFourEyesRule(db: Executor, { developerId }: Tenant): Promise<FourEyesRule> {
  const found = await db
    .selectFrom('developers')
    .select(['mode', 'fourEyesAssurance', 'relaxFourEyes'])
    .where('id', '=', developerId)
    .executeTakeFirstOrThrow();
  return {
    least: found.fourEyesAssurance === 'sso' ? 'sso' : 'dual',
    isRelaxed: found.mode === 'sandbox' && found.relaxFourEyes,
  };
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

/** The accounts whose people prove themselves by a mailed code. */
export function byMailAcrossTenants(db: Executor) {
  return db.selectFrom('developers').select('id').where('consentMode', '=', 'email').as('developer');
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

/** Whether a key replaced another key by rotation, with any number of rotations in between. */
export async function isSuccessor(
  db: Executor,
  { developerId }: Tenant,
  keyId: string,
  formerId: string,
): Promise<boolean> {
  const asked = sql`
    select from api_keys k
    join api_keys former on former.developer_id = ${developerId} and former.id = ${formerId}
    where k.developer_id = ${developerId} and k.id = ${keyId}
      and k.lineage_id = coalesce(former.lineage_id, former.id) and k.generation > former.generation`;
  return (await asked.execute(db)).rows.length > 0;
}
