import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hotCall, writeHot } from '../../../platform/db/hot-writes.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { SsfReceivers, SsfTokens } from '../../../platform/db/types.gen.ts';
import { row } from '../../../platform/db/values.ts';
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

/** A token that a receiver gets for its secret. */
export type IssuedToken = Pick<NewToken, 'hash' | 'scopes' | 'expiresAt'>;

/**
 * Stores a token, if the receiver still has the secret that was shown, and a former one does not end before the token: a
 * hot write, because receivers of a developer ask for tokens at the same time.
 * @returns whether it was stored
 */
export async function insertIssuedToken(
  db: Executor,
  { developerId, id, shownHash }: ProvedClient,
  token: IssuedToken,
  at: Date,
): Promise<boolean> {
  const { refusal } = await writeHot(db, {
    tenant: { developerId },
    at,
    fact: hotCall('write_receiver_token', {
      token: row({ ...token, developerId, receiverId: id, isStatic: false }),
      ...row({ shownHash }),
    }),
    acts: '[]',
    turn: `client ${id}`,
  });
  return refusal === null;
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
export type ProvedClient = ReceiverClient & {
  readonly shownHash: Buffer;
  /** When a former secret ends; null for the current one. */
  readonly shownUntil: Date | null;
};

const clientById = lookUp<ReceiverClient, [clientId: string]>(
  'find_receiver_client',
  `select r.developer_id as "developerId", r.id, r.secret_hash as "secretHash",
     r.previous_secret_hash as "previousSecretHash", r.previous_secret_expires_at as "previousSecretExpiresAt",
     d.mode, d.plan, d.closed_at as "closedAt"
   from ssf_receivers r join developers d on d.id = r.developer_id
   where r.id = $1`,
);

/** It takes no tenant by design: the id of a receiver names it. */
export async function findReceiverAcrossTenants(
  db: Executor,
  clientId: string,
): Promise<ReceiverClient | undefined> {
  return (await clientById(db, clientId))[0];
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
