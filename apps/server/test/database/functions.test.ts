import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { limits } from '../../src/features.ts';
import { readFunctions } from '../../src/platform/db/functions.ts';
import { MIGRATION_LOCK, migrate } from '../../src/platform/db/migrate.ts';
import { VERSION } from '../../src/platform/version.ts';
import { newDatabase } from '../app/start-app.ts';

const sources = join(import.meta.dirname, '../../src');
const files = globSync('**/*.sql', { cwd: sources });
const functions = readFunctions(sources);
const names = functions.map(({ name }) => name).sort();

/** The functions, in a folder that a test may change, and a database that has them. */
async function copiedFunctions() {
  const folder = mkdtempSync(join(tmpdir(), 'functions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of files) cpSync(join(sources, file), join(folder, file));
  const url = await newDatabase();
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());

  return {
    start: (release = VERSION) => migrate({ connectionString: url }, { functions: folder, release }),
    write: (name: string, text: string) => writeFileSync(join(folder, `${name}.sql`), text),
    remove: (name: string) => rmSync(join(folder, `${name}.sql`)),
    rows: async (statement: string) => (await client.query(statement)).rows,
  };
}

/** Begins a start, and runs these statements as another one would, which got the lock first. */
async function behindAnother(
  { rows, start }: Awaited<ReturnType<typeof copiedFunctions>>,
  release: string,
  statements: string,
) {
  await rows(`begin; select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  const started = Promise.allSettled([start(release)]);
  const waiting = `select from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and locktype = 'advisory' and not granted`;
  await vi.waitFor(async () => expect(await rows(waiting)).toHaveLength(1), 20_000);
  await rows(`${statements}; commit`);
  return (await started)[0];
}

const one = 'create or replace function counted() returns integer language sql as $$ select 1 $$;';

test('each resource of a plan has the function that counts it when the plan is full', () => {
  const byTime = ['audit_appends', 'consent_mails']; // counted by month or day, as they are made
  const counted = Object.keys(limits.quotas).filter((name) => !byTime.includes(name));

  expect(counted.length).toBeGreaterThan(2);
  expect(counted.filter((name) => !names.includes(`count_${name}`))).toEqual([]);
});

test('each function is remembered with the release that brought it', async () => {
  const { rows } = await copiedFunctions();

  const journal = await rows('select name, release, left_by from schema_functions order by name');

  expect(journal).toEqual(names.map((name) => ({ name, release: VERSION, left_by: null })));
  expect(names.length).toBeGreaterThan(25);
});

test('each function passes the check that Postgres makes when all others are there', async () => {
  const { rows } = await copiedFunctions();

  for (const { text } of functions) await rows(text);

  await expect(
    rows('create function careless() returns int language sql as $$ select nothing() $$'),
  ).rejects.toThrow('nothing() does not exist');
});

test('a function whose text was changed is replaced at the next start, and keeps its identity', async () => {
  const { start, write, rows } = await copiedFunctions();
  write('counted', one);
  await start();
  const [{ oid }] = await rows("select 'counted'::regproc::oid as oid");

  write('counted', one.replace('select 1', 'select 2'));
  await start();

  expect(await rows("select counted(), 'counted'::regproc::oid as oid")).toEqual([{ counted: 2, oid }]);
});

test.each([
  ['another result', "create or replace function counted() returns text language sql as $$ select 'two' $$;"],
  [
    'another name of a column',
    "create or replace function counted(out two text) language sql as $$ select 'two' $$;",
  ],
  [
    'a parameter more',
    "create or replace function counted(p_more text default '')\n  returns text language sql as $$ select 'two' $$;",
  ],
])('a function with %s takes the place of the one before it', async (_, changed) => {
  const { start, write, rows } = await copiedFunctions();
  write('counted', one);
  await start();

  write('counted', changed);
  await start();

  expect((await rows('select * from counted()')).map(Object.values)).toEqual([['two']]);
  expect(await rows("select from pg_proc where proname = 'counted'")).toHaveLength(1);
});

test('functions may call each other, whichever file comes first', async () => {
  const { start, write, rows } = await copiedFunctions();
  write(
    'a_caller',
    'create or replace function a_caller() returns int language sql as $$ select z_called() $$;',
  );
  write('z_called', 'create or replace function z_called() returns int language sql as $$ select 3 $$;');

  await start();

  expect(await rows('select a_caller()')).toEqual([{ a_caller: 3 }]);
});

test('processes that start at once change a function once', async () => {
  const { start, write, rows } = await copiedFunctions();
  write('counted', one);
  await start();
  const versions = () => rows("select xmin from pg_proc where proname = 'counted'");
  const before = await versions();

  write('counted', one.replace('select 1', 'select 2'));
  await Promise.all([start(), start(), start()]);
  const after = await versions();
  await start();

  expect(after).not.toEqual(before);
  expect(await versions()).toEqual(after);
  expect(await rows('select counted()')).toEqual([{ counted: 2 }]);
});

test('a start that waited for another one changes nothing again', async () => {
  const copied = await copiedFunctions();
  copied.write('counted', one);

  const started = await behindAnother(
    copied,
    '1.0.0',
    `${one} insert into schema_functions (name, sha256, signature, release, applied_at)
      values ('counted', encode(sha256('${one}'), 'hex'), '() returns integer', '1.0.0', 'epoch')`,
  );

  expect(started).toMatchObject({ status: 'fulfilled' });
  const applied = "select from schema_functions where name = 'counted' and applied_at = 'epoch'";
  expect(await copied.rows(applied)).toHaveLength(1); // the row of the other start
});

test('a start that waited for a later release changes nothing', async () => {
  const copied = await copiedFunctions();
  copied.write('counted', one);

  const started = await behindAnother(
    copied,
    '1.9.0',
    `insert into schema_functions (name, sha256, signature, release) values ('later', '', '()', '1.10.0')`,
  );

  expect(started).toMatchObject({ reason: { message: 'database is newer than this release' } });
  expect(await copied.rows("select from pg_proc where proname = 'counted'")).toEqual([]);
});

test('a function that a release left out serves the release before it, and the next release drops it', async () => {
  const { start, write, remove, rows } = await copiedFunctions();
  const isThere = async () => (await rows("select from pg_proc where proname = 'counted'")).length === 1;
  write('counted', one);
  await start('1.0.0');

  remove('counted');
  await start('1.9.0');
  expect(await isThere()).toBe(true);
  await start('1.9.0');
  expect(await isThere()).toBe(true);
  await start('1.10.0');

  expect(await isThere()).toBe(false);
  expect(await rows("select name from schema_functions where name = 'counted'")).toEqual([]);
});

test('a function that comes back is made again', async () => {
  const { start, write, remove, rows } = await copiedFunctions();
  write('counted', one);
  await start('1.0.0');
  remove('counted');
  await start('1.1.0');

  write('counted', one);
  await start('1.1.0');
  const journal = await rows("select release, left_by from schema_functions where name = 'counted'");
  await start('1.2.0');

  expect(journal).toEqual([{ release: '1.1.0', left_by: null }]); // else a release between would drop it
  expect(await rows('select counted()')).toEqual([{ counted: 1 }]);
});

test.each([
  ['changed', (write: (name: string, text: string) => void) => write('counted', `${one} -- later`)],
  ['left out', (_: unknown, remove: (name: string) => void) => remove('counted')],
])('a release does not start where a later one has %s a function', async (_, change) => {
  const { start, write, remove, rows } = await copiedFunctions();
  write('counted', one);
  await start('1.9.0');
  change(write, remove);
  await start('1.10.0');

  write('counted', one);

  await expect(start('1.9.0')).rejects.toThrow('database is newer than this release');
  expect(await rows("select release, left_by from schema_functions where name = 'counted'")).not.toEqual([
    { release: '1.9.0', left_by: null },
  ]);
});

test('a release starts after a later one that changed nothing', async () => {
  const { start } = await copiedFunctions();
  await start('1.9.0');
  await start('1.10.0');

  await expect(start('1.9.0')).resolves.toBeUndefined();
});

test('all functions stay as they were when the database refuses any of them', async () => {
  const { start, write, rows } = await copiedFunctions();
  write('counted', one);
  await start();

  write('counted', one.replace('select 1', 'select 2'));
  write('unfinished', 'create or replace function unfinished() returns no_such_type language sql as $$ $$;');

  await expect(start()).rejects.toThrow('no_such_type');
  expect(await rows('select counted()')).toEqual([{ counted: 1 }]);
});

test('a file that holds anything but functions stops the start', async () => {
  const { start, write } = await copiedFunctions();

  write('other', `${one}\n\nselect 1;\n`);

  await expect(start()).rejects.toThrow('other.sql may hold only functions');
});

test('a file may hold several functions', async () => {
  const { start, write, rows } = await copiedFunctions();

  write('other', `${one}\n\n-- Twice that.\n${one.replace('counted', 'counted_twice').replace('1', '2')}\n`);
  await start();

  expect(await rows('select counted() + counted_twice() as sum')).toEqual([{ sum: 3 }]);
});
