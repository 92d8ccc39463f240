import { describe, expect, test, vi } from 'vitest';
import { connectPostgres, counterOf, EPOCH, newDatabase, newTenant } from '../test/stores.ts';
import { postgresMeter } from './postgres-meter.ts';

const counter = counterOf();

async function open() {
  const client = connectPostgres(await newDatabase());
  const make = (epoch = EPOCH, clock?: () => number) =>
    postgresMeter({ client, epoch, timeoutMs: 20_000, callRecordSeconds: 60 }, clock);
  await make().install();
  return { client, make, meter: make(), tenant: newTenant() };
}

test('several processes install at once, and again, and lose nothing', async () => {
  const client = connectPostgres(await newDatabase());
  const meter = postgresMeter({ client, epoch: EPOCH, timeoutMs: 20_000 });

  await Promise.all(Array.from({ length: 5 }, () => meter.install()));
  await meter.reserve('dev_1', 'call-1', [counter]);
  await meter.install();

  expect(await meter.usage('dev_1', [counter])).toMatchObject([{ used: 1 }]);
});

describe('lost data', () => {
  const lost = { name: 'MeterError', problem: 'data_loss' };

  test('is noticed when the tables were emptied, and when processes disagree about the epoch', async () => {
    const { client, make, meter, tenant } = await open();
    await meter.reserve(tenant, 'call-1', [counter]);

    await expect(make('e2').reserve(tenant, 'call-2', [counter])).rejects.toMatchObject(lost);
    await client.query('truncate caps_epoch, caps_counter, caps_slot, caps_call');
    await expect(meter.reserve(tenant, 'call-2', [counter])).rejects.toMatchObject(lost);

    const next = make('e2');
    await next.reset(tenant);
    expect(await next.reserve(tenant, 'call-2', [counter])).toMatchObject({ used: [1] });
    await expect(meter.reserve(tenant, 'call-3', [counter])).rejects.toMatchObject(lost);
  });

  test('leaves nothing that would free units of the next counters', async () => {
    const { make, tenant } = await open();
    let now = Date.now();
    await make(EPOCH, () => now).reserve(tenant, 'call-1', [counter]);
    const next = make('e2', () => now);
    await next.reset(tenant);
    now += counter.windowMs / 2;
    await next.reserve(tenant, 'call-2', [counter]);

    now += counter.windowMs / 2 + counter.grainMs;

    expect(await next.reserve(tenant, 'call-3', [counter])).toMatchObject({ used: [2] });
  });
});

describe('two calls that meet in the middle', () => {
  /** Does `one` until it waits for rows of `table`, begins `other` meanwhile, and lets both end. */
  async function meeting<Answer>(
    { client }: { client: ReturnType<typeof connectPostgres> },
    table: string,
    { one, other }: Record<'one' | 'other', () => Promise<Answer>>,
  ): Promise<Answer[]> {
    const session = await client.connect();
    await session.query('begin');
    await session.query(`select from ${table} for update`);
    const areWaiting = async (most: number) => {
      const { rows } = await client.query(`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
      return rows.length >= most;
    };
    const often = { timeout: 10_000, interval: 5 };
    const first = one();
    await vi.waitUntil(() => areWaiting(1), often);
    let isDone = false;
    const second = other().finally(() => {
      isDone = true;
    });
    await vi.waitUntil(async () => isDone || (await areWaiting(2)), often);
    await session.query('rollback');
    session.release();
    return Promise.all([first, second]);
  }

  test('are a refund and a note that the call was sent, and only one of them holds', async () => {
    const opened = await open();
    const { meter, tenant } = opened;
    await meter.reserve(tenant, 'call-1', [counter]);

    const answers = await meeting<boolean | string>(opened, 'caps_slot', {
      one: () => meter.refundUnsent(tenant, 'call-1'),
      other: () => meter.sent(tenant, 'call-1').then(String, () => 'refunded before'),
    });

    expect(answers).toEqual([true, 'refunded before']);
    expect(await meter.usage(tenant, [counter])).toMatchObject([{ used: 0 }]);
  });

  test('are reservations under one id with counters of their own, and one is charged', async () => {
    const opened = await open();
    const { make, tenant } = opened;
    const [at, inOneSlot] = [Date.now(), { grainMs: counter.windowMs }];
    const meter = make(EPOCH, () => at);
    const [mine, theirs] = [
      counterOf({ key: 'mine', ...inOneSlot }),
      counterOf({ key: 'theirs', ...inOneSlot }),
    ];
    await meter.reserve(tenant, 'call-0', [mine]);
    const reserve = (counters: (typeof counter)[]) => () =>
      meter.reserve(tenant, 'call-1', counters).then(Object.keys, ({ name }) => [String(name)]);

    await meeting(opened, 'caps_slot', { one: reserve([mine]), other: reserve([theirs]) });

    const used = (await meter.usage(tenant, [mine, theirs])).map((each) => each.used);
    expect(used).toEqual([2, 0]);
  });
});

test('refuses a transaction that could see counters as they were before its lock', async () => {
  const { client, meter, tenant } = await open();
  await meter.reserve(tenant, 'call-1', [counter]);
  const session = await client.connect();
  const stale = postgresMeter({ client: session, epoch: EPOCH, timeoutMs: 20_000 });
  for (const act of [
    () => stale.reserve(tenant, 'call-2', [counter]),
    () => stale.refundUnsent(tenant, 'call-1'),
  ]) {
    await session.query('begin isolation level repeatable read');
    const failing = expect(act()).rejects;
    await failing.toMatchObject({ problem: 'unreachable', cause: { code: '25001' } });
    await session.query('rollback');
  }
  session.release();
});

test('pruning deletes what no longer matters, and passes by what a call has locked', async () => {
  const { client, make, tenant } = await open();
  let now = Date.now() - 3 * 86_400_000;
  const meter = make(EPOCH, () => now);
  const inCase = counterOf({ key: 'case', windowMs: 0, grainMs: 0 });
  await meter.reserve(tenant, 'call-1', [counter, inCase]);
  for (const [id, seconds] of Object.entries({ 'call-old': 61, 'call-lately': 30 })) {
    await meter.reserve(tenant, id, [inCase]);
    const at = Date.now() - seconds * 1000;
    await client.query('update caps_call set created_ms = $1 where id = $2', [at, id]);
  }
  const rowsOf = async (table: string) =>
    (await client.query(`select count(*)::int as n from ${table}`)).rows[0].n;

  const session = await client.connect();
  await session.query('begin');
  await session.query('select from caps_counter for update');
  expect(await meter.prune()).toBe(2); // calls
  await session.query('rollback');
  session.release();
  while ((await meter.prune()) > 0);

  expect(await rowsOf('caps_slot')).toBe(0);
  expect(await rowsOf('caps_call')).toBe(1); // call-lately
  now = Date.now();
  expect(await meter.usage(tenant, [counter, inCase])).toMatchObject([{ used: 0 }, { used: 3 }]);
  await meter.reserve(tenant, 'call-2', [counter]);
  expect(await meter.prune()).toBe(0);
  expect(await meter.usage(tenant, [counter])).toMatchObject([{ used: 1 }]);
});

test('says whether it can be used, and by which server', async () => {
  const { meter } = await open();
  const broken = postgresMeter({
    client: { query: () => Promise.reject(new Error('ECONNREFUSED')) },
    epoch: 'e',
  });
  const old = postgresMeter({ client: { query: async () => ({ rows: [{ answer: '12.4' }] }) }, epoch: 'e' });

  expect(await meter.health()).toMatchObject({ ok: true, backend: 'postgres', epoch: EPOCH, problems: [] });
  expect(await broken.health()).toMatchObject({ ok: false });
  expect(await old.health()).toMatchObject({ ok: false, problems: ['PostgreSQL 12.4 is older than 13'] });
  await expect(broken.reserve('dev_1', 'call-1', [counter])).rejects.toMatchObject({
    problem: 'unreachable',
  });
});
