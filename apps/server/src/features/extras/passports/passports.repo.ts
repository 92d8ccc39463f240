import { type Selectable, sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { Passports } from '../../../platform/db/types.gen.ts';
import { credentialRows, holdCredential } from '../verifiable-credentials/verifiable-credentials.queries.ts';
import type { PassportQuery } from './passports.schema.ts';

const passportsOf = (db: Executor, reach: Reach) =>
  db
    .selectFrom(credentialRows(db, reach).as('credential'))
    .innerJoin('passports as passport', (join) =>
      join
        .onRef('passport.developerId', '=', 'credential.developerId')
        .onRef('passport.id', '=', 'credential.id'),
    )
    .where('passport.developerId', '=', reach.tenant.developerId)
    .selectAll('credential')
    .select(['passport.categories', 'passport.amount', 'passport.currency', 'passport.proof']);

export type PassportRow = NonNullable<Awaited<ReturnType<typeof findPassport>>>;

export const findPassport = (db: Executor, reach: Reach, id: string) =>
  passportsOf(db, reach).where('credential.id', '=', id).executeTakeFirst();

/** A passport that stays as it is until the commit, since one below it is made. */
export async function holdPassport(tx: Tx, reach: Reach, id: string): Promise<PassportRow | undefined> {
  await holdCredential(tx, reach.tenant, id);
  return findPassport(tx, reach, id);
}

const MAX_LISTED = 100;

/** The newest first. */
export function listPassportRows(db: Executor, reach: Reach, query: PassportQuery, now: Date) {
  const { cursor, agentId, grantId, status } = query;
  let rows = passportsOf(db, reach);
  if (agentId) rows = rows.where('credential.agentId', '=', agentId);
  if (grantId) rows = rows.where('credential.grantId', '=', grantId);
  if (status === 'revoked') rows = rows.where('credential.revokedAt', 'is not', null);
  if (status === 'active' || status === 'expired') {
    rows = rows
      .where('credential.revokedAt', 'is', null)
      .where('credential.expiresAt', status === 'active' ? '>' : '<=', now);
  }
  if (cursor) rows = rows.where('credential.id', '<', cursor);
  return readPage<PassportRow>(db, rows.orderBy('credential.id', 'desc'), MAX_LISTED);
}

export async function insertPassport(
  tx: Tx,
  { developerId }: Tenant,
  { proof, ...row }: Omit<Selectable<Passports>, 'developerId' | 'proof'> & { readonly proof: object | null },
): Promise<void> {
  await tx
    .insertInto('passports')
    .values({ ...row, developerId, proof: proof && JSON.stringify(proof) })
    .execute();
}

/** The pseudonym of a principal, which is made once. */
export async function pseudonymOf(
  db: Executor,
  { developerId }: Tenant,
  { principalId, pseudonym }: { readonly principalId: string; readonly pseudonym: string },
): Promise<string> {
  await db
    .insertInto('principalPseudonyms')
    .values({ developerId, principalId, pseudonym })
    .onConflict((taken) => taken.doNothing())
    .execute();
  const row = await db
    .selectFrom('principalPseudonyms')
    .select(sql<string>`pseudonym`.as('pseudonym'))
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .executeTakeFirstOrThrow();
  return row.pseudonym;
}

export const erasePassports = eraserOf('passports', 'principal_pseudonyms');
