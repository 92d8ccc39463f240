import { expect, test } from 'vitest';
import { problemsIn } from './owners.ts';
import { tenantFaults } from './tenants.ts';

const ground = {
  columns: new Map([
    ['grants', 'developer_id'],
    ['agents', 'developer_id'],
    ['developers', 'id'],
  ]),
  takers: new Set(['grant_tree']),
  tenant: 'p_developer_id',
};
const faultsOf = (sql: string) => tenantFaults(sql, ground);

test.each([
  'select id from grants where developer_id = p_developer_id and id = p_id',
  'select 1 from grants g where p_developer_id = g.developer_id and (g.id = p_id or g.id is null)',
  'select 1 from developers d where d.id = p_developer_id',
  `select 1 from grant_tree(p_developer_id, p_ids) tree
   join grants g on g.developer_id = p_developer_id and g.id = tree.id
   left join (select id from agents where developer_id = p_developer_id) a on a.id = g.agent_id`,
  'update grants set status = 1 where developer_id = p_developer_id and id = p_id',
  'insert into grants (id, developer_id) values (1, p_developer_id), (2, p_developer_id)',
  'insert into grants (developer_id, id) select p_developer_id, n from unnest(p_ids) n',
  'insert into grants select (jsonb_populate_record(null::grants, p_write)).*',
  "select pg_advisory_xact_lock(hashtextextended('grants:' || p_developer_id, 0))",
  'with due as (select id from agents where developer_id = p_developer_id) select id from due',
])('a statement that stays with its developer passes: %s', (sql) => {
  expect(faultsOf(sql)).toEqual([]);
});

const open = (table: string) => `does not compare the developer of ${table} with p_developer_id`;

test.each([
  ['select id from grants where id = p_id', [open('grants')]],
  ['select p_developer_id from grants where id = p_id', [open('grants')]],
  ['select id from grants where p_developer_id = p_developer_id and id = p_id', [open('grants')]],
  ['select id from grants where developer_id = developer_id and id = p_id', [open('grants')]],
  ['select id from grants where developer_id >= p_developer_id', [open('grants')]],
  ['select id from grants where developer_id = p_developer_id or id = p_id', [open('grants')]],
  ['select id from grants where not (developer_id = p_developer_id)', [open('grants')]],
  ['select id from grants where agent_id = p_developer_id', [open('grants')]],
  [
    'select 1 from grants g join agents a on a.id = g.agent_id where g.developer_id = p_developer_id',
    [open('agents')],
  ],
  [
    `select 1 from grants g left join agents a on a.developer_id = p_developer_id and a.id = g.agent_id
     where g.developer_id = p_developer_id`,
    [open('agents')], // in a subquery, this condition would have to be met
  ],
  [
    `select 1 from grants where developer_id = p_developer_id
     and exists (select from agents where id = grants.agent_id and grants.developer_id = p_developer_id)`,
    [open('agents')],
  ],
  ['update grants g set status = 1 from agents a where a.developer_id = p_developer_id', [open('grants')]],
  ['delete from grants where id = p_id', [open('grants')]],
  [
    `with recursive tree as (
       select id from grants where id = p_id
       union select g.id from tree join grants g on g.parent_grant_id = tree.id
     ) select * from tree`,
    [open('grants'), open('grants')],
  ],
  ['select 1 from developers where id = p_id', [open('developers')]],
  [
    'insert into grants (id, developer_id) values (p_developer_id, p_id)',
    ['inserts rows into grants that are not of p_developer_id'],
  ],
  ['insert into grants values (p_id, 1)', ['inserts rows into grants that are not of p_developer_id']],
  ['select 1 from grant_tree(p_id, p_ids)', ['calls grant_tree without p_developer_id']],
  ['select hashtextextended(p_id, 0)', ['takes a lock without p_developer_id']],
])('a statement that leaves its developer is reported: %s', (sql, faults) => {
  expect(faultsOf(sql)).toEqual(faults);
});

test('every noun uses the tables that it declares, and every SQL function stays with its developer', async () => {
  const problems = await problemsIn({ sources: 'apps/server/src', migrations: 'apps/server/migrations' });

  expect(problems).toEqual([
    // The job of deliveries goes from developer to developer, and this finds the next one.
    'due_webhook_developers does not compare the developer of webhook_deliveries with dev',
  ]);
});
