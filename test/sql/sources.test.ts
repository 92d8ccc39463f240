import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { usesInSource } from './sources.ts';

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
