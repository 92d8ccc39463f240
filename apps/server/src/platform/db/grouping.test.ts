import { setImmediate } from 'node:timers/promises';
import { type CompiledQuery, RawNode } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newDatabase } from '../../../test/app/start-app.ts';
import { isDatabaseAway } from './db.ts';
import { grouping } from './grouping.ts';
import { createLanes, queryDescribed } from './lanes.ts';
import { openDatabase } from './open-database.ts';

interface Member {
  readonly owner: string;
  readonly name: string;
  readonly size?: number;
}

/** Groups that end when the test says so. Nothing connects to the database. */
function groups({ mayMix = async () => false }: { mayMix?: () => Promise<boolean> } = {}) {
  const db = openDatabase({ connectionString: 'postgres://127.0.0.1:1/none' });
  onTestFinished(() => db.destroy());
  const begun: { names: string[]; end: (failure?: Error, of?: string) => Promise<void> }[] = [];
  const alone: string[] = [];
  const write = grouping<Member, string>({
    ownerOf: ({ owner }) => owner,
    patience: 250,
    mayMix,
    alone: async (_db, { name }) => {
      alone.push(name);
      if (name === 'b') throw new Error('division by zero');
      return `${name} is written alone`;
    },
    sizeOf: ({ size = 1 }) => size,
    together: (_db, members) =>
      new Promise((resolve, reject) => {
        const names = members.map(({ name }) => name);
        const end = (failure?: Error, of?: string) => {
          if (failure && of === undefined) reject(failure);
          else
            resolve(
              members.map(({ owner, name }) => (failure && owner === of ? failure : `${name} is written`)),
            );
          return setImmediate();
        };
        begun.push({ names, end });
      }),
  });
  const askRaw = (owner: string, name: string, size?: number) =>
    write(db, { owner, name, ...(size !== undefined && { size }) });
  const ask = (owner: string, name: string, size?: number) => askRaw(owner, name, size).catch(String);
  return { ask, askRaw, alone, begun, namesOf: () => begun.map(({ names }) => names) };
}

test('the first of an owner goes at once, and those that come meanwhile go together', async () => {
  const { ask, begun, namesOf } = groups();
  const answers = ['a', 'b', 'c'].map((name) => ask('acme', name));
  expect(namesOf()).toEqual([['a']]);

  await begun[0]?.end();
  expect(namesOf()).toEqual([['a'], ['b', 'c']]);
  await begun[1]?.end();

  expect(await Promise.all(answers)).toEqual(['a is written', 'b is written', 'c is written']);
  ask('acme', 'd');
  expect(namesOf().at(-1)).toEqual(['d']);
});

test('a group has at most 64 members, and a megabyte', async () => {
  const { ask, begun, namesOf } = groups();
  for (let n = 0; n <= 100; n += 1) ask('acme', String(n));
  for (const name of ['large', 'larger', 'largest']) ask('globex', name, 600_000);
  await begun[0]?.end();
  await begun[1]?.end();

  expect(namesOf().map(({ length }) => length)).toEqual([1, 1, 64, 1]);
  expect(namesOf()[3]).toEqual(['larger']);
});

test('owners take turns: a busy one does not hold up the others', async () => {
  const { ask, begun, namesOf } = groups();
  const busy = Array.from({ length: 6 }, (_, n) => `busy ${n}`);
  for (const owner of busy) for (const name of ['first', 'second']) ask(owner, `${owner} ${name}`);
  expect(namesOf()).toHaveLength(6); // as many as may be under way
  ask('late', 'late');
  expect(namesOf()).toHaveLength(6);

  await begun[0]?.end();
  expect(namesOf().at(-1)).toEqual(['late']);
  await begun[1]?.end();
  expect(namesOf().at(-1)).toEqual(['busy 0 second']);
});

const failureOf = (code: string) => Object.assign(new pg.DatabaseError('no', 0, 'error'), { code });

test('a slow group holds up the next ones of its owner for 250 ms, and three slow ones hold them up until one ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ask, begun, namesOf } = groups();
  const answers = ['a', 'b'].map((name) => ask('acme', name));
  vi.advanceTimersByTime(249);
  expect(namesOf()).toEqual([['a']]);

  vi.advanceTimersByTime(1);
  expect(namesOf()).toEqual([['a'], ['b']]);
  answers.push(ask('acme', 'c'));
  vi.advanceTimersByTime(250);
  answers.push(ask('acme', 'd'));
  vi.advanceTimersByTime(10_000);
  expect(namesOf()).toEqual([['a'], ['b'], ['c']]);

  await begun[1]?.end();
  expect(namesOf()).toEqual([['a'], ['b'], ['c'], ['d']]);
  for (const each of [0, 2, 3]) await begun[each]?.end();
  expect(await Promise.all(answers)).toEqual([
    'a is written',
    'b is written',
    'c is written',
    'd is written',
  ]);
});

test('a write whose turn does not come for ten seconds is never made, and counts as one without a database', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ask, askRaw, begun, namesOf } = groups();
  const answers = ['a', 'b', 'c'].map((name) => {
    const answer = ask('acme', name);
    vi.advanceTimersByTime(250);
    return answer;
  });
  let failure: unknown;
  askRaw('acme', 'late').catch((error) => {
    failure = error;
  });
  vi.advanceTimersByTime(5_000);
  answers.push(ask('acme', 'in time'));
  vi.advanceTimersByTime(4_000);
  await setImmediate();
  expect(failure).toBeUndefined();

  vi.advanceTimersByTime(2_000);
  await setImmediate();
  expect(isDatabaseAway(failure)).toBe(true);

  for (const each of [0, 1, 2, 3]) await begun[each]?.end();
  expect(namesOf().flat()).toEqual(['a', 'b', 'c', 'in time']);
  expect(await Promise.all(answers)).toEqual([
    'a is written',
    'b is written',
    'c is written',
    'in time is written',
  ]);
});

test('the slow groups of two owners leave room for others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ask, begun, namesOf } = groups();
  for (let turn = 0; turn < 4; turn += 1) {
    for (const owner of ['acme', 'globex']) ask(owner, `${owner} ${turn}`);
    vi.advanceTimersByTime(250);
  }
  expect(namesOf().flat()).toEqual(['acme 0', 'globex 0', 'acme 1']);

  for (const owner of ['third', 'fourth', 'fifth']) ask(owner, owner);
  expect(namesOf().flat().slice(3)).toEqual(['third', 'fourth', 'fifth']);

  for (const each of [3, 4, 5]) await begun[each]?.end();
  expect(namesOf()).toHaveLength(6);
  await begun[0]?.end();
  expect(namesOf().flat().slice(6)).toEqual(['globex 1', 'globex 2', 'globex 3']);
});

test('when Postgres refuses a group, each of its members is written alone', async () => {
  const { ask, alone, begun, namesOf } = groups();
  const answers = ['a', 'b', 'c'].map((name) => ask('acme', name));
  await begun[0]?.end();
  await begun[1]?.end(failureOf('22012'));

  const expected = ['a is written', 'Error: division by zero', 'c is written alone'];
  expect(await Promise.all(answers)).toEqual(expected);
  expect(namesOf()).toEqual([['a'], ['b', 'c']]);
  expect(alone).toEqual(['b', 'c']);
});

test.each([
  ['55P03', 'a is written alone'], // no lock in time
  ['40P01', 'a is written alone'], // the loser of a race
  ['22012', 'error: no'],
])('a group of one that fails with %s: %s', async (code, expected) => {
  const { ask, begun } = groups();
  const answer = ask('acme', 'a');
  await begun[0]?.end(failureOf(code));

  expect(await answer).toBe(expected);
});

test('a group that lost its connection is not tried again, since it may have been committed', async () => {
  const { ask, begun, namesOf } = groups();
  const answers = ['a', 'b', 'c'].map((name) => ask('acme', name));
  await begun[0]?.end();
  await begun[1]?.end(new Error('Connection terminated unexpectedly'));

  const lost = 'Error: Connection terminated unexpectedly';
  expect(await Promise.all(answers)).toEqual(['a is written', lost, lost]);
  expect(namesOf()).toHaveLength(2);
});

/** Groups of several owners, two of which are under way: the first of `acme` and the first of `globex`. */
async function mixedGroups() {
  const made = groups({ mayMix: async () => true });
  const { ask, begun, namesOf } = made;
  ask('acme', 'first');
  ask('globex', 'first');
  await setImmediate();
  for (const { end } of [...begun]) await end();
  begun.length = 0;
  ask('acme', 'acme 1');
  ask('globex', 'globex 1');
  expect(namesOf()).toEqual([['acme 1'], ['globex 1']]);
  return made;
}

describe('where owners may share a group', () => {
  test('two are under way, and what waits goes together in the third, whosever it is', async () => {
    const { ask, begun, namesOf } = await mixedGroups();
    const answers = ['acme', 'third', 'fourth', 'third'].map((owner, n) => ask(owner, `${owner} ${n}`));
    expect(namesOf()).toHaveLength(2);

    await begun[1]?.end();
    expect(namesOf().slice(2)).toEqual([['third 1', 'fourth 2', 'third 3']]); // acme has one under way
    await begun[0]?.end();
    expect(namesOf().slice(3)).toEqual([['acme 0']]);
    for (const { end } of begun.slice(2)) await end();

    expect(await Promise.all(answers)).toEqual(
      ['acme 0', 'third 1', 'fourth 2', 'third 3'].map((name) => `${name} is written`),
    );
  });

  test('a busy owner does not fill the group while others wait, and each owner has its order', async () => {
    const { ask, begun, namesOf } = await mixedGroups();
    for (let n = 0; n < 100; n += 1) ask('busy', `busy ${n}`);
    for (const owner of ['late', 'later']) for (const n of [0, 1]) ask(owner, `${owner} ${n}`);

    await begun[0]?.end();

    const group = namesOf()[2] ?? [];
    expect(group).toHaveLength(64);
    expect(group.slice(0, 6)).toEqual(['busy 0', 'late 0', 'later 0', 'busy 1', 'late 1', 'later 1']);
    expect(group.slice(6)).toEqual(Array.from({ length: 58 }, (_, n) => `busy ${n + 2}`));
    await begun[2]?.end();
    expect(namesOf()[3]?.[0]).toBe('busy 60');
  });

  test('a group has a megabyte of all owners', async () => {
    const { ask, begun, namesOf } = await mixedGroups();
    for (const owner of ['third', 'fourth']) ask(owner, owner, 600_000);

    await begun[0]?.end();
    await begun[1]?.end();

    expect(namesOf().slice(2)).toEqual([['third'], ['fourth']]);
  });

  test('what fails for one owner is written alone, and costs the others nothing', async () => {
    const { ask, alone, begun } = await mixedGroups();
    const answers = ['third', 'fourth'].map((owner) => ask(owner, owner));
    await begun[0]?.end();

    await begun[2]?.end(failureOf('22012'), 'fourth');

    expect(await Promise.all(answers)).toEqual(['third is written', 'fourth is written alone']);
    expect(alone).toEqual(['fourth']);
  });

  test('a lost connection undoes nothing for certain, so nobody is tried again', async () => {
    const { ask, alone, begun } = await mixedGroups();
    const answers = ['third', 'fourth'].map((owner) => ask(owner, owner));
    await begun[0]?.end();

    await begun[2]?.end(new Error('Connection terminated unexpectedly'));

    const lost = 'Error: Connection terminated unexpectedly';
    expect(await Promise.all(answers)).toEqual([lost, lost]);
    expect(alone).toEqual([]);
  });

  test('an owner that could not get a lock has groups of its own for five seconds, beside those of others', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { ask, begun, namesOf } = await mixedGroups();
    for (const owner of ['slow', 'third']) ask(owner, owner);
    await begun[0]?.end();
    await begun[2]?.end(failureOf('55P03'), 'slow');
    expect(namesOf()).toHaveLength(3);

    ask('acme', 'acme 2'); // two of several owners are under way again
    ask('third', 'third 2');
    ask('slow', 'slow 2');
    expect(namesOf().slice(3)).toEqual([['acme 2'], ['slow 2']]);
    for (const each of [1, 3, 4, 5]) await begun[each]?.end();

    vi.advanceTimersByTime(5_000);
    for (const owner of ['acme', 'globex', 'slow', 'third']) ask(owner, `${owner} 3`);
    await begun[6]?.end();
    expect(namesOf().at(-1)).toEqual(['slow 3', 'third 3']);
  });

  test('a slow group leaves its place to the next after 250 ms', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { ask, namesOf } = await mixedGroups();
    for (const owner of ['third', 'fourth']) ask(owner, owner);
    expect(namesOf()).toHaveLength(2);

    vi.advanceTimersByTime(250);

    expect(namesOf().slice(2)).toEqual([['third', 'fourth']]);
  });

  test('the database is asked once whether they may, and again when it did not answer', async () => {
    const mayMix = vi.fn(async () => true).mockRejectedValueOnce(new Error('away'));
    const { ask } = groups({ mayMix });
    ask('acme', '1');
    expect(mayMix).toHaveBeenCalledTimes(0);
    for (const owner of ['globex', 'third', 'fourth']) {
      ask(owner, owner);
      await setImmediate();
    }
    expect(mayMix).toHaveBeenCalledTimes(2);
  });
});

const look: CompiledQuery = {
  query: RawNode.createWithSql('look'),
  queryId: { queryId: 'look' },
  sql: 'look',
  parameters: [],
};

/** Connections that say one process id at their beginning, and another when they are asked. */
function lanesOver({ said, real }: { said: number; real: number }) {
  let most = 0;
  const connect = async () => {
    const client = Object.assign(new pg.Client(), { processID: said, release: vi.fn() });
    let underWay = 0;
    vi.spyOn(client, 'query').mockImplementation(async (query: unknown) => {
      if (typeof query === 'string') return { rows: [{ pid: real }] };
      underWay += 1;
      most = Math.max(most, underWay);
      await setImmediate();
      underWay -= 1;
      return { rows: [] };
    });
    return client;
  };
  const lanes = createLanes({ connect }, ({ sql }) => ({ text: sql }));
  const lookAll = () => Promise.all(Array.from({ length: 5 }, () => lanes.run(look)));
  return { lookAll, most: () => most };
}

describe('a connection', () => {
  test('to Postgres has several look-ups under way', async () => {
    const { lookAll, most } = lanesOver({ said: 7, real: 7 });

    expect(await lookAll()).toHaveLength(5);
    expect(most()).toBe(5);
  });

  test('to a pooler has one under way, from the first on', async () => {
    const { lookAll, most } = lanesOver({ said: 7, real: 8 });

    for (const _ of ['first', 'second']) expect(await lookAll()).toHaveLength(5);

    expect(most()).toBe(1);
  });
});

let pool: pg.Pool;
let client: pg.PoolClient;
let descriptions = 0;

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await newDatabase(), max: 1, pipeline: true });
  client = await pool.connect();
  client.connection.on('rowDescription', () => {
    descriptions += 1;
  });
});
afterAll(async () => {
  client.release();
  await pool.end();
});

const VALUES = `select $1::integer as "whole", 1.50::numeric as "exact", true as "isSo", null as "none", 'a'::text as "word",
  array['a', null] as "words", '{"b": [1]}'::jsonb as "json", '\\x01ff'::bytea as "bytes",
  '2026-01-02 03:04:05+00'::timestamptz as "at"`;

describe('a named statement', () => {
  test('gives the same rows after its columns were described, one by one and together', async () => {
    const values = (whole: number) =>
      queryDescribed(client, { name: 'values', text: VALUES, values: [whole] });
    descriptions = 0;

    const [first] = (await values(1)).rows;
    expect(first).toEqual((await client.query(VALUES, [1])).rows[0]);
    expect(descriptions).toBe(2);

    expect((await values(2)).rows).toEqual([{ ...first, whole: 2 }]);
    const together = await Promise.all([3, 4, 5].map(values));
    expect(together.map(({ rows }) => rows)).toEqual([3, 4, 5].map((whole) => [{ ...first, whole }]));
    expect(descriptions).toBe(2);
  });

  test('has no rows, or many', async () => {
    const text = 'select each from generate_series(1, $1::integer) each';
    const rowsOf = async (count: number) =>
      (await queryDescribed(client, { name: 'series', text, values: [count] })).rows;

    expect(await rowsOf(0)).toEqual([]);
    expect(await rowsOf(0)).toEqual([]);
    expect(await rowsOf(2)).toEqual([{ each: 1 }, { each: 2 }]);
  });

  test('fails alone, among others on its connection', async () => {
    const divide = (by: number) =>
      queryDescribed(client, { name: 'divide', text: 'select 6 / $1::integer as "part"', values: [by] });
    await divide(1);

    const [two, none, three] = await Promise.allSettled([divide(2), divide(0), divide(3)]);

    expect(two).toMatchObject({ value: { rows: [{ part: 3 }] } });
    expect(none).toMatchObject({ reason: { code: '22012' } });
    expect(three).toMatchObject({ value: { rows: [{ part: 2 }] } });
  });

  test('is refused when its columns have changed, and gives no row of another form', async () => {
    await client.query('create table changing as select 1 as a, 2 as b');
    const read = () => queryDescribed(client, { name: 'changing', text: 'select * from changing' });
    expect((await read()).rows).toEqual([{ a: 1, b: 2 }]);
    expect((await read()).rows).toEqual([{ a: 1, b: 2 }]);

    await client.query('alter table changing drop column a');

    await expect(read()).rejects.toMatchObject({ code: '0A000' });
  });
});

test('a statement without a name is described each time', async () => {
  descriptions = 0;

  for (const text of ['select 1 as a', 'select 2 as b']) {
    expect((await queryDescribed(client, { text, values: [] })).rows).toHaveLength(1);
  }

  expect(descriptions).toBe(2);
});
