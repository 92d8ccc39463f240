import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { SsfReceivers, SsfTokens } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import type { ReceiverQuery } from './transmitter.schema.ts';

export type ReceiverRow = Selectable<SsfReceivers>;

/** Lets the registrations of a developer take turns, so that their number is exact. */
export async function lockReceivers(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select lock_receivers(${developerId})`.execute(tx);
}

/** How many receivers there are. The caller holds `lockReceivers`. */
export async function countReceivers(tx: Tx, { developerId }: Tenant): Promise<number> {
  const { count } = await tx
    .selectFrom('ssfReceivers')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** @returns undefined when another receiver, of whichever developer, has the audience */
export function insertReceiver(
  tx: Tx,
  { developerId }: Tenant,
  receiver: Omit<Insertable<SsfReceivers>, 'developerId'>,
): Promise<ReceiverRow | undefined> {
  return tx
    .insertInto('ssfReceivers')
    .values({ ...receiver, developerId })
    .onConflict((conflict) => conflict.column('audience').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findReceiver(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('ssfReceivers')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Newest first. */
export function listReceiverRows(db: Executor, { developerId }: Tenant, { limit, cursor }: ReceiverQuery) {
  const all = db.selectFrom('ssfReceivers').selectAll().where('developerId', '=', developerId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage<ReceiverRow>(db, page.orderBy('id', 'desc'), limit);
}

/** Locks the row, so that changes of a receiver and of its streams take turns. */
export function lockReceiver(tx: Tx, { developerId }: Tenant, id: string) {
  return tx
    .selectFrom('ssfReceivers')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export function updateReceiver(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<SsfReceivers>,
): Promise<ReceiverRow> {
  return tx
    .updateTable('ssfReceivers')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Its tokens go with it. */
export async function deleteReceiverRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('ssfReceivers').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** Erases rows of a closed account. */
export const eraseTransmitter = eraserOf('ssf_tokens', 'ssf_streams', 'ssf_receivers');

type NewToken = Omit<Selectable<SsfTokens>, 'developerId'>;

export async function insertToken(db: Executor, { developerId }: Tenant, token: NewToken): Promise<void> {
  await db
    .insertInto('ssfTokens')
    .values({ ...token, developerId })
    .execute();
}

/** A token of a secret, and the end that it has while the secret is the current one. */
export type IssuedToken = Pick<NewToken, 'hash' | 'scopes' | 'expiresAt'>;

/**
 * Stores a token, if the receiver still has the secret that was shown. One statement under the lock of the receiver, so
 * that no rotation comes between: a token of a former secret ends with it.
 * @returns when the token ends, or undefined for a secret that is of no use any longer
 */
export async function insertIssuedToken(
  db: Executor,
  { developerId, id, shownHash }: ProvedClient,
  { hash, scopes, expiresAt }: IssuedToken,
  at: Date,
): Promise<Date | undefined> {
  const stored = await db
    .insertInto('ssfTokens')
    .columns(['developerId', 'hash', 'receiverId', 'scopes', 'isStatic', 'expiresAt'])
    .expression((eb) =>
      eb
        .selectFrom('ssfReceivers')
        .select(({ ref, val }) => [
          'developerId',
          val(hash).as('hash'),
          'id',
          val(scopes).as('scopes'),
          val(false).as('isStatic'),
          sql<Date>`case when ${ref('secretHash')} = ${shownHash} then ${expiresAt}::timestamptz
            else least(${expiresAt}, ${ref('previousSecretExpiresAt')}) end`.as('expiresAt'),
        ])
        .where('developerId', '=', developerId)
        .where('id', '=', id)
        .where(({ and, eb: is, or }) =>
          or([
            is('secretHash', '=', shownHash),
            and([is('previousSecretHash', '=', shownHash), is('previousSecretExpiresAt', '>', at)]),
          ]),
        )
        .forShare(),
    )
    .returning('expiresAt')
    .executeTakeFirst();
  return stored?.expiresAt;
}

interface HeldToken extends Pick<Selectable<SsfTokens>, 'hash' | 'developerId' | 'receiverId' | 'scopes'> {}

const held = lookUp<HeldToken, [hash: Buffer, at: Date]>(
  'ssf_token',
  `select hash, developer_id as "developerId", receiver_id as "receiverId", scopes from ssf_tokens
   where hash = $1 and expires_at > $2`,
);

/** The token, which names its developer. */
export async function findTokenAcrossTenants(db: Executor, hash: Buffer, at: Date) {
  return (await held(db, hash, at))[0];
}

/** A receiver as a client of OAuth, with the account that it belongs to. */
export type ReceiverClient = Pick<
  ReceiverRow,
  'developerId' | 'id' | 'secretHash' | 'previousSecretHash' | 'previousSecretExpiresAt'
> &
  Pick<Caller, 'mode' | 'plan'> & { readonly closedAt: Date | null };

/** A receiver that showed a secret, which was its own at that moment. */
export type ProvedClient = ReceiverClient & { readonly shownHash: Buffer };

export function findReceiverAcrossTenants(
  db: Executor,
  clientId: string,
): Promise<ReceiverClient | undefined> {
  return db
    .selectFrom('ssfReceivers as receiver')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'receiver.developerId')
    .select(['receiver.developerId', 'receiver.id', 'receiver.secretHash', 'receiver.previousSecretHash'])
    .select(['receiver.previousSecretExpiresAt', 'developer.mode', 'developer.plan', 'developer.closedAt'])
    .where('receiver.id', '=', clientId)
    .executeTakeFirst();
}

/** Ends the tokens of a former secret, at a time that is no later than their own. */
export async function endTokens(
  tx: Tx,
  { developerId }: Tenant,
  receiverId: string,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('ssfTokens')
    .set({ expiresAt: at })
    .where('developerId', '=', developerId)
    .where('receiverId', '=', receiverId)
    .where('expiresAt', '>', at)
    .execute();
}

/** @returns the token, or undefined where the receiver has no such token that holds */
export function deleteToken(
  tx: Tx,
  { developerId }: Tenant,
  { receiverId, hash }: Pick<NewToken, 'receiverId' | 'hash'>,
  at: Date,
): Promise<Pick<NewToken, 'isStatic'> | undefined> {
  return tx
    .deleteFrom('ssfTokens')
    .where('developerId', '=', developerId)
    .where('receiverId', '=', receiverId)
    .where('hash', '=', hash)
    .where('expiresAt', '>', at)
    .returning('isStatic')
    .executeTakeFirst();
}

/** @returns the number of deleted tokens, at most `limit` */
export async function deleteOldTokensAcrossTenants(db: Executor, at: Date, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('ssfTokens')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('developerId', 'hash'),
        'in',
        selectFrom('ssfTokens')
          .select(['developerId', 'hash'])
          .where('expiresAt', '<=', at)
          .orderBy('expiresAt')
          .limit(limit)
          .$asTuple('developerId', 'hash'),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
