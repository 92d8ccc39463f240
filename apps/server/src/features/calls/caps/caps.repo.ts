import type { CapsFunctions, ReserveAnswer } from '@behest/meter/postgres-calls';
import type { Usage } from '@behest/protocol/enforcement/meter';
import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { statement } from '../../../platform/db/statement.ts';

interface Answer<Value> {
  readonly answer: Value;
}

type Reserving = [
  ...[developerId: string, callId: string, fingerprint: string, counters: string],
  ...[epoch: string | null, mayBegin: boolean, atMs: number | null],
];

const reserve = statement<Answer<ReserveAnswer>, Reserving>(
  'caps_reserve',
  `select caps_reserve($1, $2, $3, $4::jsonb, $5, $6, $7::bigint) as answer`,
);

const sent = statement<Answer<string | null>, [developerId: string, callId: string]>(
  'caps_sent',
  `select caps_sent($1, $2) as answer`,
);

const refund = statement<Answer<string | null>, [developerId: string, callId: string]>(
  'caps_refund',
  `select caps_refund($1, $2) as answer`,
);

const usage = statement<
  Answer<readonly Usage[]>,
  [developerId: string, counters: string, atMs: number | null]
>('caps_usage', `select caps_usage($1, $2::jsonb, $3::bigint) as answer`);

const prune = statement<Answer<number>, [developerId: string, recordMs: number, batch: number]>(
  'caps_prune',
  `select caps_prune($1, $2, $3, null) as answer`,
);

const reset = statement<object, [developerId: string, epoch: string]>(
  'caps_reset',
  `select caps_reset($1, $2)`,
);

const version = statement<{ readonly version: string }, []>(
  'caps_version',
  `select current_setting('server_version') as version`,
);

/** The functions of the meter. A reservation is a transaction of its own, so `db` has to be the pool. */
export function capsFunctions(db: Executor): CapsFunctions {
  return {
    async reserve(developerId, { callId, fingerprint, counters, epoch, mayBegin, atMs }) {
      return answerOf(await reserve(db, developerId, callId, fingerprint, counters, epoch, mayBegin, atMs));
    },
    sent: async (developerId, callId) => answerOf(await sent(db, developerId, callId)),
    refund: async (developerId, callId) => answerOf(await refund(db, developerId, callId)),
    usage: async (developerId, counters, atMs) => answerOf(await usage(db, developerId, counters, atMs)),
    prune: async (developerId, recordMs, batch) => answerOf(await prune(db, developerId, recordMs, batch)),
    async reset(developerId, epoch) {
      await reset(db, developerId, epoch);
    },
    tenantsAfter: (developerId) => listMeteredAcrossTenants(db, developerId),
    async version() {
      const [row] = await version(db);
      return row?.version ?? '';
    },
  };
}

function answerOf<Value>([row]: readonly Answer<Value>[]): Value {
  if (!row) throw new Error('A function of the meter answered nothing.');
  return row.answer;
}

/** The developers that have counters or calls, at most a thousand, in order of id. */
async function listMeteredAcrossTenants(db: Executor, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('capsCounter')
    .select('developerId')
    .where('developerId', '>', after)
    .union((all) => all.selectFrom('capsCall').select('developerId').where('developerId', '>', after))
    .orderBy('developerId')
    .limit(1_000)
    .execute();
  return rows.map(({ developerId }) => developerId);
}

/**
 * Deletes the counters without a window whose keys end so. They are locked in the order of their keys, as a reservation
 * locks them. @returns their keys
 */
export async function deleteCaseCounters(tx: Tx, { developerId }: Tenant, end: string): Promise<string[]> {
  const counters = await tx
    .selectFrom('capsCounter')
    .select('key')
    .where('developerId', '=', developerId)
    .where('isTimed', '=', false)
    .where(sql`right(key, length(${end}))`, '=', end)
    .orderBy('key')
    .forUpdate()
    .execute();
  if (counters.length === 0) return [];
  const keys = counters.map(({ key }) => key);
  await tx
    .deleteFrom('capsCounter')
    .where('developerId', '=', developerId)
    .where('key', 'in', keys)
    .execute();
  return keys;
}

export const eraseCaps = eraserOf('caps_call', 'caps_slot', 'caps_counter', 'caps_epoch');

/** Whether a developer has counters in a store outside of the database. */
export async function hasEpoch(db: Executor, { developerId }: Tenant): Promise<boolean> {
  const row = await db
    .selectFrom('capsEpoch')
    .select('epoch')
    .where('developerId', '=', developerId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Two processes may do so at once. */
export async function insertEpoch(db: Executor, { developerId }: Tenant, epoch: string): Promise<void> {
  await db
    .insertInto('capsEpoch')
    .values({ developerId, epoch })
    .onConflict((conflict) => conflict.column('developerId').doNothing())
    .execute();
}
