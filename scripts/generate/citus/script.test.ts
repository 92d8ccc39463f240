import { expect, test } from 'vitest';
import type { Catalogue } from './catalogue.ts';
import { citusScript } from './script.ts';

const indexOf = (name: string, target: string, columns: string[]) => ({
  name: `${name}_${columns.join('_')}_fkey`,
  table: name,
  columns,
  target,
  targetColumns: ['developer_id', 'id'],
});

/** A catalogue with everything that the script decides on, and no more. */
const catalogue: Catalogue = {
  tables: [
    { name: 'agent_index', columns: ['agent_id', 'developer_id'] },
    { name: 'api_key_index', columns: ['hash', 'developer_id', 'key_id'] },
    { name: 'agents', columns: ['developer_id', 'id', 'newest_grant'] },
    { name: 'email_verification_index', columns: ['hash', 'developer_id', 'verification_id'] },
    { name: 'verified_emails', columns: ['email', 'developer_id'] },
    { name: 'verified_domains', columns: ['domain', 'developer_id', 'domain_id'] },
    { name: 'billing_customers', columns: ['id', 'developer_id'] },
    { name: 'scim_token_index', columns: ['hash', 'developer_id', 'token_id'] },
    { name: 'ssf_receivers', columns: ['developer_id', 'id', 'audience'] },
    { name: 'ssf_tokens', columns: ['developer_id', 'hash'] },
    { name: 'resource_index', columns: ['resource', 'hash', 'developer_id', 'resource_id'] },
    { name: 'developers', columns: ['id', 'mode'] },
    { name: 'grants', columns: ['developer_id', 'id'] },
    { name: 'schema_functions', columns: ['name'] },
    { name: 'schema_migrations', columns: ['name'] },
  ],
  uniques: [
    { name: 'developers_seeded', table: 'developers', columns: ['mode'] },
    { name: 'grants_pkey', table: 'grants', columns: ['developer_id', 'id'] },
  ],
  foreignKeys: [
    indexOf('agent_index', 'agents', ['developer_id', 'agent_id']),
    indexOf('api_key_index', 'agents', ['developer_id', 'key_id']),
    indexOf('email_verification_index', 'agents', ['developer_id', 'verification_id']),
    indexOf('verified_emails', 'developers', ['developer_id']),
    indexOf('verified_domains', 'agents', ['developer_id', 'domain_id']),
    indexOf('billing_customers', 'developers', ['developer_id']),
    indexOf('scim_token_index', 'agents', ['developer_id', 'token_id']),
    indexOf('ssf_receivers', 'developers', ['developer_id']),
    indexOf('resource_index', 'agents', ['developer_id', 'resource_id']),
    indexOf('agents', 'grants', ['developer_id', 'newest_grant']),
  ],
  triggers: [],
  functions: [
    {
      name: 'queue',
      signature: 'queue(text)',
      argumentNames: ['p_developer_id'],
      body: 'pg_advisory_xact_lock(1)',
    },
    {
      name: 'append',
      signature: 'append(text)',
      argumentNames: ['p_developer_id'],
      body: 'perform queue(x)',
    },
    { name: 'read', signature: 'read(text)', argumentNames: ['p_developer_id'], body: 'select 1' },
  ],
};

test('tables that others refer to come first, and all are with the root', () => {
  const made = citusScript(catalogue).match(/create_\w+_table\('\w+'/g);

  expect(made).toStrictEqual([
    "create_distributed_table('developers'",
    "create_distributed_table('grants'",
    "create_distributed_table('agents'",
    "create_reference_table('api_key_index'",
    "create_reference_table('agent_index'",
    "create_reference_table('email_verification_index'",
    "create_reference_table('verified_emails'",
    "create_reference_table('billing_customers'",
    "create_reference_table('verified_domains'",
    "create_reference_table('scim_token_index'",
    "create_reference_table('ssf_receivers'",
    "create_reference_table('ssf_tokens'",
    "create_reference_table('tlog_index'",
    "create_reference_table('resource_index'",
  ]);
});

test('a function that takes an advisory lock, itself or by a call, is sent to no node', () => {
  const script = citusScript(catalogue);

  expect(script).toContain("create_distributed_function('queue(text)');");
  expect(script).toContain("create_distributed_function('append(text)');");
  expect(script).toContain(
    "create_distributed_function('read(text)', 'p_developer_id', colocate_with => 'developers');",
  );
});

test('an index that is unique over all developers stops the script until somebody decides on it', () => {
  const uniques = [...catalogue.uniques, { name: 'grants_code', table: 'grants', columns: ['code'] }];

  expect(() => citusScript({ ...catalogue, uniques })).toThrow('grants_code cannot be distributed');
});

test('a foreign key that leaves the shard stops the script', () => {
  const leaving = {
    name: 'far',
    table: 'grants',
    columns: ['id'],
    target: 'agents',
    targetColumns: ['developer_id'],
  };

  expect(() => citusScript({ ...catalogue, foreignKeys: [...catalogue.foreignKeys, leaving] })).toThrow(
    'far cannot be distributed',
  );
});

test('a table without a developer stops the script until it has a place', () => {
  const tables = [...catalogue.tables, { name: 'rumours', columns: ['id'] }];

  expect(() => citusScript({ ...catalogue, tables })).toThrow('rumours has no place');
});
