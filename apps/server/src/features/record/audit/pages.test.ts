import { setImmediate as nextTurn } from 'node:timers/promises';
import { type KyselyPlugin, sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { grantTo, openSession } from '../../../../test/app/flow.ts';
import { tamper, withManyEntries } from '../../../../test/app/many-entries.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { openDatabase } from '../../../platform/db/open-database.ts';
import { listExportedEntries } from '../../extras/compliance/compliance.repo.ts';
import { listEntriesFrom } from './audit.queries.ts';
import { listEntryRows } from './audit.repo.ts';
import { listErasable } from './erase.repo.ts';

const LARGEST_BODY = 1_048_576;
const LARGEST_READ = 262_144;
const LARGEST_TURN = 131_072;
const LARGEST_ROW = 20_000; // with metadata of 16 KiB, and blanks
const OF_EACH = 50;

/** Metadata of 16 KiB: as it is sent, as the database keeps it, and nearly as many nodes as there may be. */
const large = [
  { text: 'é"'.repeat(4_000) },
  { numbers: Array(50).fill(5e-324) },
  { objects: Array(990).fill({}), text: 'x'.repeat(10_000) },
];

/** The bytes of the audit entries that each statement has read. */
const reads: number[] = [];
/** Statements that have read, and wait with their connections until the test lets them go on. */
let underWay = 0;
let hold = Promise.resolve();

const watchReads: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    const entries = result.rows.filter((row) => 'prevHash' in row);
    if (entries.length === 0) return result;
    reads.push(entries.reduce((bytes, { metadata }) => bytes + Buffer.byteLength(String(metadata)), 0));
    underWay += 1;
    await hold;
    underWay -= 1;
    return result;
  },
};

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, dbAs: (db) => db.withPlugin(watchReads) });
  return service.stop;
});

/** Lets reads wait until the returned function is called. */
function holdReads(): () => void {
  const gate = Promise.withResolvers<void>();
  hold = gate.promise;
  return gate.resolve;
}

/** A turn of the event loop in which `JSON` read or wrote texts: their bytes, and from when until when, in milliseconds. */
interface JsonTurn {
  bytes: number;
  readonly from: number;
  to: number;
}

/** Notes the turns of the event loop in which `JSON` reads or writes texts. */
async function jsonTurnsOf(work: () => Promise<unknown>): Promise<JsonTurn[]> {
  const turns: JsonTurn[] = [];
  let turn: JsonTurn | undefined;
  let isOver = false;
  const count = (text: string | undefined) => {
    if (text?.startsWith('{"entries":')) return; // the check of every answer in tests, which the service has not
    const now = performance.now();
    if (!turn) {
      turn = { bytes: 0, from: now, to: now };
      turns.push(turn);
    }
    turn.bytes += text?.length ?? 0;
    turn.to = now;
  };
  const { parse, stringify } = JSON;
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(JSON, 'parse').mockImplementation((...args) => {
    count(args[0]);
    return parse(...args);
  });
  vi.spyOn(JSON, 'stringify').mockImplementation((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args);
    count(text);
    return text;
  });
  const watch = async () => {
    for (; !isOver; turn = undefined) await nextTurn();
  };
  const watching = watch();
  await work();
  isOver = true;
  await watching;
  vi.restoreAllMocks();
  return turns;
}

const mostOf = (turns: readonly JsonTurn[]) => Math.max(...turns.map(({ bytes }) => bytes));

async function withEntries(ofEach = OF_EACH) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId, did: agentDid, grantId } = await grantTo(acme);
  const entry = { agentId, agentDid, grantId, principalId: 'user_42', action: 'file.read' };
  const appended: string[] = [];
  for (const metadata of large) {
    for (let time = 0; time < ofEach; time += 1) {
      const answer = await acme('POST', '/v1/audit/log', { ...entry, metadata });
      appended.push(answer.json().entryId);
    }
  }
  const { sessionToken } = (await openSession(acme)).json();
  return { acme, appended, asPerson: service.calling(String(sessionToken)) };
}

describe('I16: large entries', () => {
  test('are listed to the end in pages of at most 1 MiB, each once, to developers and to people', async () => {
    const { acme, appended, asPerson } = await withEntries();
    const lists = [
      { list: acme, url: '/v1/audit/entries?action=file.read&limit=500', expected: appended },
      {
        list: acme,
        url: '/v1/audit/entries?action=file.read&order=desc&limit=70',
        expected: appended.toReversed(),
      },
      { list: asPerson, url: '/v1/principal/audit?limit=100', expected: appended.toReversed() },
    ];
    reads.length = 0;

    for (const { list, url, expected } of lists) {
      const listed: string[] = [];
      let pages = 0;
      for (let cursor = ''; cursor !== 'null'; pages += 1) {
        const { body, json } = await list('GET', `${url}${cursor && `&cursor=${cursor}`}`);
        expect(Buffer.byteLength(body)).toBeLessThanOrEqual(LARGEST_BODY);
        for (const { entryId, action } of json().entries) if (action === 'file.read') listed.push(entryId);
        cursor = String(json().nextCursor);
      }
      expect(listed).toEqual(expected);
      expect(pages).toBeGreaterThan(2);
    }
    expect(Math.max(...reads)).toBeLessThan(LARGEST_BODY + 2 * LARGEST_ROW);
  });

  test('are verified in portions of at most 256 KiB', async () => {
    const { acme } = await withEntries();
    reads.length = 0;

    const verdict = (await acme('GET', '/v1/audit/verify')).json();

    expect(verdict).toMatchObject({ valid: true, problem: null, checkedEntries: verdict.head.seq });
    expect(reads.length).toBeGreaterThan(2);
    expect(Math.max(...reads)).toBeLessThan(LARGEST_READ + 2 * LARGEST_ROW);
  });

  test.each([
    ['listed', '/v1/audit/entries?limit=500&order=desc'],
    ['listed to their person', '/v1/principal/audit?limit=100'],
    ['verified', '/v1/audit/verify'],
    ['exported', '/v1/compliance/export/audit?format=csv'],
    ['exported as events of OCSF', '/v1/compliance/export/audit?format=ocsf'],
    ['packed as evidence', '/v1/compliance/evidence-pack?framework=soc2'],
  ])('hold up nobody while they are %s: a turn of the event loop reads few of them', async (_, url) => {
    const { acme, asPerson } = await withEntries();
    const ask = url.startsWith('/v1/principal') ? asPerson : acme;
    let [status, length] = [0, 0];

    const turns = await jsonTurnsOf(async () => {
      const { statusCode, body } = await ask('GET', url);
      [status, length] = [statusCode, body.length];
    });

    expect(status).toBe(200);
    if (url !== '/v1/audit/verify') expect(length).toBeGreaterThan(900_000);
    expect(mostOf(turns)).toBeLessThan(LARGEST_TURN);
  });

  test('leave half of the time to others, also while one developer asks for them twice at once', async () => {
    const { acme } = await withEntries();

    for (const url of ['/v1/audit/verify', '/v1/compliance/export/audit?format=ocsf']) {
      const turns = await jsonTurnsOf(async () => {
        const answers = await Promise.all([acme('GET', url), acme('GET', url)]);
        expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
      });

      expect(mostOf(turns)).toBeLessThan(LARGEST_TURN);
      const portions = turns.filter(({ bytes }) => bytes > 10_000);
      const before = portions.slice(0, -1);
      const worked = before.reduce((sum, { from, to }) => sum + to - from, 0);
      const rested = before.reduce((sum, { to }, each) => sum + (portions[each + 1]?.from ?? to) - to, 0);
      expect(portions.length).toBeGreaterThan(100);
      // The last rest may be 2 ms shorter, and a busy machine may stop the process between two looks at the clock.
      expect(rested).toBeGreaterThan(0.8 * worked - 2);
    }
  });

  test('take two connections when one developer verifies them ten times at once, and others are served', async () => {
    const { acme } = await withEntries(1);
    const { acme: other, asPerson } = await withEntries(1);
    const go = holdReads();

    const attack = Array.from({ length: 10 }, () => acme('GET', '/v1/audit/verify'));
    await vi.waitFor(() => expect(underWay).toBe(2));
    const first = other('GET', '/v1/audit/entries');
    await vi.waitFor(() => expect(underWay).toBe(3));
    const second = asPerson('GET', '/v1/principal/audit');
    const light = await other('GET', '/v1/audit/head');
    const held = underWay;
    go();

    expect([light.statusCode, held]).toEqual([200, 3]);
    const statuses = (await Promise.all(attack)).map(({ statusCode }) => statusCode);
    expect(statuses.toSorted()).toEqual([200, 200, ...Array(8).fill(429)]);
    expect([(await first).statusCode, (await second).statusCode]).toEqual([200, 200]);
  });
});

const ENTRIES = 400;
/** As many texts of 32 characters as have about 16 KiB, which Postgres stores beside the row. */
const TEXTS = 490;

/** The blocks of large values that were read so far. */
async function blocksRead(db: Executor): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const counted = sql<{ blocks: string }>`
    select toast_blks_hit + toast_blks_read as blocks from pg_statio_user_tables where relname = 'audit_entries'`;
  return Number((await counted.execute(db)).rows[0]?.blocks);
}

async function blocksOf(db: Executor, read: () => Promise<unknown>): Promise<number> {
  const before = await blocksRead(db);
  await read();
  return (await blocksRead(db)) - before;
}

async function withLargeEntries(service: Service): Promise<Tenant> {
  const { developerId } = await withManyEntries(service, ENTRIES, 0);
  const changed = await tamper(
    service.databaseUrl,
    `update audit_entries set metadata = jsonb_build_object('text',
       (select string_agg(md5(seq::text || n), '') from generate_series(1, $2::int) n))
     where developer_id = $1 and action = 'file.read'`,
    [developerId, TEXTS],
  );
  expect(changed).toBe(ENTRIES);
  await tamper(service.databaseUrl, 'analyze audit_entries');
  return { developerId };
}

test('I16: Postgres reads the large values of the entries that a reader gets, and of hardly any other', async () => {
  const service = await startApp(); // a database of its own, because Postgres counts reads by table
  const tenant = await withLargeEntries(service);
  const db = openDatabase({ connectionString: service.databaseUrl }, 1); // one session, which tells what it has read
  onTestFinished(() => db.destroy());
  const range = { fromSeq: 1, toSeq: ENTRIES + 1 };
  const page = { order: 'desc', limit: 500 } as const;
  const all = await blocksOf(db, () =>
    sql`select sum(length(metadata::text)) from audit_entries where developer_id = ${tenant.developerId}`.execute(
      db,
    ),
  );
  expect(all).toBeGreaterThanOrEqual(ENTRIES);

  const listed = await blocksOf(db, () => listEntryRows(db, { tenant, agentIds: null }, page, []));
  const toErase = await blocksOf(db, () => listErasable(db, tenant, range, null, 500));
  const verified = await blocksOf(db, () => listEntriesFrom(db, tenant, 1, ENTRIES));
  const exported = await blocksOf(db, () => listExportedEntries(db, tenant, {}, range));

  // A page of 1 MiB has a sixth of the entries, and a portion of 256 KiB a twenty-fourth.
  for (const blocks of [listed, toErase]) expect(blocks).toBeLessThan(all / 2);
  for (const blocks of [verified, exported]) expect(blocks).toBeLessThan(all / 20);
});
