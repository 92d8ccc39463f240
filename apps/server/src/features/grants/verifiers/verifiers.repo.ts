import type { ChainPosition, VerifierKey } from '@behest/protocol/revocation-statement';
import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Records } from '../../../platform/db/hot-writes.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';

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

const keyOf = lookUp<{ publicKey: VerifierKey }, [developerId: string, id: string, registeredBy: string]>(
  'verifier_key',
  `select public_key as "publicKey" from verifiers where developer_id = $1 and id = $2 and registered_by = $3`,
);

export async function findVerifierKey(
  db: Executor,
  { developerId }: Tenant,
  { id, registeredBy }: OwnVerifier,
): Promise<VerifierKey | undefined> {
  return (await keyOf(db, developerId, id, registeredBy))[0]?.publicKey;
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

const CONFIRMS =
  '(coalesce(v.asked_seq = $6::bigint and v.asked_hash = $7::text, false) and v.position_seq < v.asked_seq)';

const renewal = statement<
  RenewedRow,
  [
    string,
    string,
    string,
    at: Date,
    until: Date,
    seq: number | null,
    hash: string | null,
    signed: string | null,
  ]
>(
  'verifier_renewal',
  `update verifiers v set
     position_seq = case when ${CONFIRMS} then v.asked_seq else v.position_seq end,
     position = case when ${CONFIRMS} then $8::text else v.position end,
     confirmed_at = case when ${CONFIRMS} then $4::timestamptz else v.confirmed_at end,
     lease_until = case when ${CONFIRMS} or v.position_seq >= v.asked_seq then $5::timestamptz else v.lease_until end
   where v.developer_id = $1 and v.id = $2 and v.registered_by = $3
   returning v.asked_seq as "askedSeq", v.asked_hash as "askedHash", v.position_seq as "positionSeq",
     coalesce(v.position = $8::text, false) as "isKept"`,
);

/** Keeps the position if it is the one that is owed. Renews the lease if nothing is owed then. */
export async function renewVerifier(
  db: Executor,
  { developerId }: Tenant,
  { id, registeredBy }: OwnVerifier,
  { at, leaseUntil, confirmed }: RenewalOf,
): Promise<RenewedRow | undefined> {
  const { seq = null, hash = null, position = null } = confirmed ?? {};
  return (await renewal(db, developerId, id, registeredBy, at, leaseUntil, seq, hash, position))[0];
}

/**
 * One statement, which commits: from now on no verifier of the account gets a lease that has not confirmed the position, and
 * those that there are hear of it.
 * @returns their ids
 */
export async function askVerifiers(
  db: Executor,
  { developerId }: Tenant,
  { seq, hash }: ChainPosition,
  { at, event }: { readonly at: Date; readonly event: Records },
): Promise<string[]> {
  const rows = await event.write(
    db,
    (json) => sql<{ ids: string[] | null }>`
      with own as (
        select v.id from verifiers v where v.developer_id = ${developerId} order by v.id for update
      ), asked as (
        update verifiers v set
          asked_hash = case when v.asked_seq < ${seq} then ${hash} else v.asked_hash end,
          asked_seq = greatest(v.asked_seq, ${seq})
        from own where v.developer_id = ${developerId} and v.id = own.id
        returning v.id
      ), listed as materialized (select array_agg(asked.id) as ids from asked)
      select ids, case when ids is not null
        then (select count(*) from record_acts(${developerId}, ${at}, ${json}::jsonb)) end as told
      from listed`,
  );
  return rows[0]?.ids ?? [];
}

interface StatementRow {
  readonly grantId: string;
  readonly isComplete: boolean;
  readonly statement: string;
  readonly statedAt: Date;
}

/** Keeps the newest statement about a grant, and records it: one statement, which commits. A complete one stays. */
export async function keepStatement(
  db: Executor,
  { developerId }: Tenant,
  { grantId, isComplete, statement: jws, statedAt }: StatementRow,
  records: Records,
): Promise<void> {
  await records.write(
    db,
    (json) => sql`
      with kept as (
        insert into revocation_statements as s (developer_id, grant_id, is_complete, statement, stated_at)
        values (${developerId}, ${grantId}, ${isComplete}, ${jws}, ${statedAt})
        on conflict (developer_id, grant_id) do update
          set is_complete = excluded.is_complete, statement = excluded.statement, stated_at = excluded.stated_at
          where not s.is_complete
      )
      select count(*) from record_acts(${developerId}, ${statedAt}, ${json}::jsonb)`,
  );
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
