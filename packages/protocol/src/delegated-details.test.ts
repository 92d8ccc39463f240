import { expect, test } from 'vitest';
import type { ToolsEntry } from './authorization-details.ts';
import { delegatedDetails } from './delegated-details.ts';

const type = 'urn:service:tools:v1';
const parent: ToolsEntry[] = [
  {
    type,
    connector: 'gmail',
    purpose: 'aml.screening',
    tools: ['send', 'get_*'],
    caps: { send: { per_day: 5 } },
    data_region: 'eu',
  },
  { type, connector: 'crm', purpose: 'aml.screening' },
];
const gmail: ToolsEntry = { type, connector: 'gmail' };

function delegated(scopes: string[], ...entries: ToolsEntry[]) {
  const result = delegatedDetails({ purpose: 'aml.screening', scopes, entries }, parent);
  return result.ok ? result.entries : result.faults.map(({ path, problem }) => `${path} ${problem}`);
}

test('the entries of the parent are copied while a scope reaches their connector', () => {
  expect(delegated(['tool:gmail:read'])).toEqual([parent[0]]);
  expect(delegated(['tool:*:read', 'tool:crm:read'])).toEqual([parent[1], parent[0]]);
  expect(delegated(['email:read'])).toEqual([]);
});

test('a requested entry makes them narrower', () => {
  const caps = { send: { per_day: 4, per_hour: 1 }, get_mail: { per_day: 9 } };

  expect(delegated(['tool:gmail:read'], { ...gmail, tools: ['get_mail'], caps })).toEqual([
    { ...parent[0], tools: ['get_mail'], caps },
  ]);
});

test('a cap that is not asked for is the parent’s', () => {
  expect(delegated(['tool:gmail:read'], { ...gmail, caps: { send: { per_hour: 1 } } })).toEqual([
    { ...parent[0], caps: { send: { per_day: 5, per_hour: 1 } } },
  ]);
});

test('a connector that the parent has without an entry may be described', () => {
  const slack: ToolsEntry = { type, connector: 'slack', tools: ['post'], data_region: 'us' };

  expect(delegated(['tool:slack:read'], slack)).toEqual([{ ...slack, purpose: 'aml.screening' }]);
});

test.each<[string, Partial<ToolsEntry>, string]>([
  ['another tool', { tools: ['send', 'drop'] }, 'tools.1 not_allowed'],
  ['a wider prefix', { tools: ['get*'] }, 'tools.0 not_allowed'],
  ['a higher cap', { caps: { send: { per_day: 6 } } }, 'caps.send.per_day too_large'],
  ['another region', { data_region: 'us' }, 'data_region not_allowed'],
])('%s is refused, never cut', (_, asked, fault) => {
  expect(delegated(['tool:gmail:read'], { ...gmail, ...asked })).toEqual([`authorizationDetails.0.${fault}`]);
});
