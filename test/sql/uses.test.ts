import { describe, expect, test } from 'vitest';
import { type Uses, usesIn, usesOfFunctions } from './uses.ts';

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
