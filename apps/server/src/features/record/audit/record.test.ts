import { auditLineParts } from '@behest/protocol/audit-line';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { authorize, registerAgent } from '../../../../test/app/flow.ts';
import { type Developer, newDatabase, startApp } from '../../../../test/app/start-app.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { newRecords } from '../../../platform/db/hot-writes.ts';
import { openDatabase } from '../../../platform/db/open-database.ts';
import { insertHead, writeActs } from './audit.repo.ts';

const developerId = 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B03';
const about = {
  agentId: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01',
  agentDid: 'did:web:behest.example:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01',
  grantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B02',
  principalId: 'user_42',
  developerId,
};
const payment = {
  tags: ['a', null, true],
  amount: 420.5,
  merchant: 'Café "Ünder"',
  '€': 1,
  currency: 'EUR',
  '': {},
};
const keyId = 'key_01K9Z3QW5M8T2V4X6Y7Z8A9B04';

/** The protocol publishes these lines with their format, so that anybody can test a reader of them. */
const published = [
  {
    facts: {
      id: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
      ...about,
      action: 'payment.initiated',
      metadata: payment,
    },
    status: 'success',
    at: '2026-02-01T12:34:56.789Z',
    hash: 'c23b2ee6267b885957ec6a9195a33392c3c63dde291ad03077b027fa7d2cd460',
  },
  {
    facts: {
      id: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0D',
      ...about,
      action: 'screening.run',
      metadata: {},
      purpose: 'aml.screening',
    },
    status: 'blocked',
    at: '2026-02-01T12:34:57.000Z',
    hash: 'c69bfb336cdc3f2bb026e232f6871ad9cd30c1cbba46a4dec1610f2ad0e91306',
  },
  {
    facts: {
      id: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0E',
      developerId,
      action: 'apikey.rotated',
      metadata: { keyId },
    },
    status: 'success',
    at: '2026-02-01T12:34:58.000Z',
    hash: '41b40a76fabba1d71e18e39f5cbbde95c6ca422db438b30858995d9ee6e66557',
  },
] as const;

test('the database computes the published hashes of entries', async () => {
  const db = openDatabase({ connectionString: await newDatabase() }, 1);
  const tenant = { developerId };
  await inTransaction(db, (tx) => insertHead(tx, tenant));

  for (const { facts, status, at, hash } of published) {
    const line = auditLineParts({ ...facts, status });
    const [recorded] = await writeActs(
      db,
      tenant,
      new Date(at),
      newRecords(JSON.stringify([{ ...line, requestId: 'req_1' }]), { tallies: [] }),
    );
    expect(recorded).toMatchObject({ timestamp: at, hash });
  }
  await db.destroy();
});

describe('refused attempts', () => {
  const blocked = async (developer: Developer) => {
    const { entries } = (await developer('GET', '/v1/audit/entries?status=blocked')).json();
    return entries.map(({ action, timestamp, metadata }: Record<string, unknown>) => ({
      action,
      timestamp,
      previousMinute: Object(metadata).previousMinute,
    }));
  };

  test('make one entry a minute with the number of attempts in the minute before, and no event', async () => {
    const { asDeveloper, advance, db } = await startApp({ startsAt: '2026-01-01T00:00:40Z' });
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { agentId } = await registerAgent(acme);
    const spent = String((await authorize(acme, agentId)).code);
    const exchange = async (code: string) => (await acme('POST', '/v1/token', { code, agentId })).statusCode;
    expect(await exchange(spent)).toBe(201);

    for (let call = 0; call < 3; call += 1) expect(await exchange(spent)).toBe(400);
    advance(20); // the next minute
    expect(await exchange(spent)).toBe(400);
    expect(await exchange(spent)).toBe(400);
    advance(180);
    const other = String((await authorize(acme, agentId)).code);
    expect(await exchange(other)).toBe(201);
    expect(await exchange(other)).toBe(400);

    const action = 'token.reuse_detected';
    expect(await blocked(acme)).toEqual([
      { action, timestamp: '2026-01-01T00:00:40.000Z', previousMinute: 0 },
      { action, timestamp: '2026-01-01T00:01:00.000Z', previousMinute: 3 },
      { action, timestamp: '2026-01-01T00:04:00.000Z', previousMinute: 0 },
    ]);
    const events = db.selectFrom('outboxEvents').select('type').where('developerId', '=', acme.developerId);
    expect((await events.execute()).map(({ type }) => type)).not.toContain(action);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test('make one entry when many happen at once', async () => {
    const { asDeveloper } = await startApp();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { agentId } = await registerAgent(acme);
    const { code } = await authorize(acme, agentId);
    await acme('POST', '/v1/token', { code, agentId });

    const again = await Promise.all(
      Array.from({ length: 20 }, () => acme('POST', '/v1/token', { code, agentId })),
    );

    expect(new Set(again.map(({ statusCode }) => statusCode))).toEqual(new Set([400]));
    expect(await blocked(acme)).toHaveLength(1);
  });
});

test('events are numbered in the order of their commits, without a gap, also when many happen at once', async () => {
  const { db, asDeveloper } = await startApp();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const before = await acme('GET', '/v1/audit/head');

  await Promise.all(Array.from({ length: 30 }, (_, n) => registerAgent(acme, `Agent ${n}`)));

  const { rows: events } = await sql<{ seq: string; entrySeq: string }>`
    select o.seq, e.seq as entry_seq from outbox_events o
    join audit_entries e using (developer_id)
    where developer_id = ${acme.developerId} and e.agent_id = o.envelope::jsonb -> 'data' ->> 'agentId'
    order by o.seq`.execute(db);
  const first = Number(before.json().seq) + 1; // each entry so far has an event
  expect(events.map(({ seq }) => Number(seq))).toEqual(Array.from({ length: 30 }, (_, n) => first + n));
  expect(events.map(({ entrySeq }) => entrySeq)).toEqual(events.map(({ seq }) => seq));
});
