import type { ChainPosition, VerifierKey } from '@behest/protocol/revocation-statement';
import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';

/** Registrations of an account take turns, so that none is one too many. */
export async function lockRegistration(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`verifiers:${developerId}`}, 0))`.execute(tx);
}

export async function countVerifiers(tx: Tx, { developerId }: Tenant): Promise<number> {
  const counted = tx
    .selectFrom('verifiers')
    .select(({ fn }) => fn.countAll<string>().as('all'))
    .where('developerId', '=', developerId);
  return Number((await counted.executeTakeFirstOrThrow()).all);
}

/** Deletes verifiers whose lease ended before a time. */
export async function deleteVerifiersBefore(tx: Tx, { developerId }: Tenant, time: Date): Promise<void> {
  await tx
    .deleteFrom('verifiers')
    .where('developerId', '=', developerId)
    .where('leaseUntil', '<', time)
    .execute();
}

interface NewRow {
  readonly id: string;
  readonly name: string;
  readonly publicKey: VerifierKey;
  readonly registeredBy: string;
  readonly createdAt: Date;
  readonly leaseUntil: Date;
}

export async function insertVerifier(
  tx: Tx,
  { developerId }: Tenant,
  { publicKey, ...row }: NewRow,
): Promise<void> {
  await tx
    .insertInto('verifiers')
    .values({ ...row, developerId, publicKey: JSON.stringify(publicKey) })
    .execute();
}

/** A verifier as statements name it. */
export interface VerifierRow {
  readonly id: string;
  readonly name: string;
  readonly publicKey: VerifierKey;
  readonly leaseUntil: Date;
  readonly positionSeq: string;
  readonly position: string | null;
  readonly confirmedAt: Date | null;
}

const publicKey = sql<VerifierKey>`public_key`.as('publicKey'); // the schema has checked its members

/** A verifier, and the credential that registered it. */
export interface OwnVerifier {
  readonly id: string;
  readonly registeredBy: string;
}

export async function findVerifierKey(
  db: Executor,
  { developerId }: Tenant,
  { id, registeredBy }: OwnVerifier,
): Promise<VerifierKey | undefined> {
  const found = db
    .selectFrom('verifiers')
    .select(publicKey)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('registeredBy', '=', registeredBy);
  return (await found.executeTakeFirst())?.publicKey;
}

/** In the order of their registration. */
export const listVerifiers = (
  db: Executor,
  { developerId }: Tenant,
  ids: readonly string[],
): Promise<VerifierRow[]> =>
  db
    .selectFrom('verifiers')
    .select(['id', 'name', 'leaseUntil', 'positionSeq', 'position', 'confirmedAt', publicKey])
    .where('developerId', '=', developerId)
    .where(sql<boolean>`id = any(${ids})`)
    .orderBy('id')
    .execute();

interface RenewalOf {
  readonly at: Date;
  readonly leaseUntil: Date;
  readonly confirmed: (ChainPosition & { readonly position: string }) | undefined;
}

/** What a verifier owes after its renewal. */
export interface RenewedRow {
  readonly askedSeq: string;
  readonly askedHash: string | null;
  readonly positionSeq: string;
  /** Whether the position of this renewal is the one that is kept. */
  readonly isKept: boolean;
}

/** Keeps the position if it is the one that is owed. Renews the lease if nothing is owed then. */
export async function renewVerifier(
  db: Executor,
  { developerId }: Tenant,
  { id, registeredBy }: OwnVerifier,
  { at, leaseUntil, confirmed }: RenewalOf,
): Promise<RenewedRow | undefined> {
  const { seq = null, hash = null, position = null } = confirmed ?? {};
  const confirms = sql`(coalesce(v.asked_seq = ${seq}::bigint and v.asked_hash = ${hash}, false)
    and v.position_seq < v.asked_seq)`;
  const renewed = sql<RenewedRow>`
    update verifiers v set
      position_seq = case when ${confirms} then v.asked_seq else v.position_seq end,
      position = case when ${confirms} then ${position} else v.position end,
      confirmed_at = case when ${confirms} then ${at}::timestamptz else v.confirmed_at end,
      lease_until = case when ${confirms} or v.position_seq >= v.asked_seq then ${leaseUntil} else v.lease_until end
    where v.developer_id = ${developerId} and v.id = ${id} and v.registered_by = ${registeredBy}
    returning v.asked_seq, v.asked_hash, v.position_seq, coalesce(v.position = ${position}, false) as is_kept`;
  return (await renewed.execute(db)).rows[0];
}

/** From now on no verifier of the account gets a lease that has not confirmed the position. @returns their ids */
export async function askVerifiers(
  tx: Tx,
  { developerId }: Tenant,
  { seq, hash }: ChainPosition,
): Promise<string[]> {
  const asked = sql<{ id: string }>`
    with own as (
      select v.id from verifiers v where v.developer_id = ${developerId} order by v.id for update
    )
    update verifiers v set
      asked_hash = case when v.asked_seq < ${seq} then ${hash} else v.asked_hash end,
      asked_seq = greatest(v.asked_seq, ${seq})
    from own where v.developer_id = ${developerId} and v.id = own.id
    returning v.id`;
  return (await asked.execute(tx)).rows.map(({ id }) => id);
}

interface StatementRow {
  readonly grantId: string;
  readonly isComplete: boolean;
  readonly statement: string;
  readonly statedAt: Date;
}

/** Keeps the newest statement about a grant. A complete one stays. */
export async function keepStatement(
  tx: Tx,
  { developerId }: Tenant,
  { grantId, ...row }: StatementRow,
): Promise<void> {
  await tx
    .insertInto('revocationStatements')
    .values({ ...row, grantId, developerId })
    .onConflict((conflict) =>
      conflict
        .columns(['developerId', 'grantId'])
        .doUpdateSet(row)
        .where('revocationStatements.isComplete', '=', false),
    )
    .execute();
}

export const findStatement = (db: Executor, { developerId }: Tenant, grantId: string) =>
  db
    .selectFrom('revocationStatements')
    .select(['isComplete', 'statement'])
    .where('developerId', '=', developerId)
    .where('grantId', '=', grantId)
    .executeTakeFirst();

/** Erases rows of a closed account. */
export const eraseVerifiers = eraserOf('verifiers', 'revocation_statements');
