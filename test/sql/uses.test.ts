import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Uses, usesIn, usesInSource, usesOfFunctions } from './uses.ts';

const seen = ({ reads, writes, calls }: Uses) => ({
  reads: [...reads].sort(),
  writes: [...writes].sort(),
  calls: [...calls].sort(),
});

describe('a statement', () => {
  test.each([
    [
      'select a.id from agents a left join lateral (select 1 from grants) g on true',
      ['agents', 'grants'],
      [],
    ],
    [
      'select 1 where exists (select from agents) union select count(*) from grants',
      ['agents', 'grants'],
      [],
    ],
    ['insert into grants select * from agents on conflict do nothing', ['agents'], ['grants']],
    ['update grants g set id = a.id from agents a where a.id = g.id', ['agents'], ['grants']],
    ['delete from grants using agents where agents.id = grants.id', ['agents'], ['grants']],
    ['with due as (delete from grants returning id) select * from due', [], ['grants']],
    ['with agents as (select 1) select * from agents', [], []],
    ['select * from grants g where id = $1 for update of g', ['grants'], []],
  ])('names its tables: %s', (text, reads, writes) => {
    expect(seen(usesIn(text))).toMatchObject({ reads, writes });
  });

  test('names the functions that it calls, wherever they stand', () => {
    const text = 'select * from grant_tree($1) t where t.id = any(array(select public.found(lower($2))))';

    expect(seen(usesIn(text)).calls).toEqual(['found', 'grant_tree', 'lower']);
  });

  test('text that is no SQL is refused', () => {
    expect(() => usesIn('select from where')).toThrow('syntax error');
  });
});

describe('a function', () => {
  const inPlpgsql = `
    create function f(p_id text, p_status grant_status default 'active')
      returns table (held grants, grant_status grant_status) language plpgsql stable as
    $$
    declare
      head  audit_heads;
      other grant_status := first_status(p_id);
    begin
      select * into held from grants where id = p_id;
      select g.status into grant_status from grants g;
      if exists (select from agents) then return; end if;
      for head in select * from audit_heads loop
        head.seq := next_seq(head.seq);
        perform record(head.seq) from outbox_events;
      end loop;
      insert into tokens select held.*;
      return query select * from developers;
    end
    $$`;

  test('in PL/pgSQL names the tables and calls of all its statements, and no type of a variable', () => {
    expect(seen(usesOfFunctions(inPlpgsql, new Set(['grant_status'])))).toEqual({
      reads: ['agents', 'audit_heads', 'developers', 'grants', 'outbox_events'],
      writes: ['tokens'],
      calls: ['first_status', 'next_seq', 'record'],
    });
  });

  test('in SQL does too', () => {
    const text =
      "create function f() returns void language sql as 'delete from grants; select g(id) from agents'";

    expect(seen(usesOfFunctions(text, new Set()))).toEqual({
      reads: ['agents'],
      writes: ['grants'],
      calls: ['g'],
    });
  });

  test('a trigger function is told from other functions', () => {
    const text = `create function t() returns trigger language plpgsql as $$ begin return null; end $$;
      create function f() returns text language sql as $$ select '' $$`;

    const { functions, triggers } = usesOfFunctions(text, new Set()).creates;

    expect([functions, triggers]).toEqual([['f'], ['t']]);
  });
});

const tables = ['agents', 'auth_requests', 'grants', 'schema_migrations'];

function usesOf(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sources-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'some.repo.ts');
  writeFileSync(path, text);
  const uses = usesInSource(path, (name) => tables.includes(name));
  return (
    uses && { reads: [...uses.reads].sort(), writes: [...uses.writes].sort(), calls: [...uses.calls].sort() }
  );
}

test.each([
  ["db.selectFrom('authRequests as request').innerJoin('agents', 'a', 'b')", ['agents', 'auth_requests'], []],
  ["db.selectFrom(['agents', 'grants as grant'])", ['agents', 'grants'], []],
  ["db.selectFrom(inner.as('agents')).leftJoinLateral(() => 1)", [], []],
  ["db.with('due', () => 1).selectFrom('due')", [], []],
  ["eraserOf('grants', 'agents')", [], ['agents', 'grants']],
  ["tx.insertInto('grants').expression((from) => from.selectFrom('agents'))", ['agents'], ['grants']],
  ["tx.updateTable('grants').from('agents')", ['agents'], ['grants']],
  ["tx.deleteFrom('grants').using('agents'); Buffer.from('selectFrom')", ['agents'], ['grants']],
])('calls of the query builder name their tables: %s', (text, reads, writes) => {
  expect(usesOf(text)).toMatchObject({ reads, writes });
});

test('texts after `sql` are read with all inserted values', () => {
  const text = `
    sql<Row>\`select find(\${id}), \${at}::date from agents where id = any(\${ids})\`;
    sql\`select * from \${lastOf(db)} as last join \${other} on true\`;
    sql\`coalesce(grants_end(), \${at})\`;
    sql\`savepoint \${name}\`;`;

  expect(usesOf(text)).toEqual({
    reads: ['agents', 'named_elsewhere'],
    writes: [],
    calls: ['find', 'grants_end'],
  });
});

test('declared statements are read with all inserted texts', () => {
  const text = `
    import { lookUp, statement } from './statement.ts';
    const one = lookUp<Row, [id: string]>('find', \`select \${columns}, did from agents where id = $1\`);
    const other = statement('end_all', \`update grants set ended = $1 where finished($2)\`);
    lookUp(deps, caller, token);`;

  expect(usesOf(text)).toEqual({ reads: ['agents'], writes: ['grants'], calls: ['finished'] });
});

test('plain texts are read in a file that imports `pg`', () => {
  const text = "client.query('insert into schema_migrations values (1)'); log('select from where');";

  expect(usesOf(text)).toBeUndefined();
  expect(() => usesOf(`import pg from 'pg';\n${text}`)).toThrow('some.repo.ts:2: ');
  expect(usesOf(`import pg from 'pg';\n${text.replace('select from where', '')}`)?.writes).toEqual([
    'schema_migrations',
  ]);
});

test('an error names the place of a text that is not SQL', () => {
  expect(() => usesOf('\nsql`select from where`;')).toThrow('some.repo.ts:2: ');
});
