import { describe, expect, test } from 'vitest';
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
  const rowsOf = async (table: string) =>
    (await client.query(`select count(*)::int as n from ${table}`)).rows[0].n;

  const session = await client.connect();
  await session.query('begin');
  await session.query('select from caps_counter for update');
  expect(await meter.prune()).toBe(1); // the call
  await session.query('rollback');
  session.release();
  while ((await meter.prune()) > 0);

  expect(await rowsOf('caps_slot')).toBe(0);
  expect(await rowsOf('caps_call')).toBe(0);
  now = Date.now();
  expect(await meter.usage(tenant, [counter, inCase])).toMatchObject([{ used: 0 }, { used: 1 }]);
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
