import { expect, test } from 'vitest';
import type { ToolsEntry } from './authorization-details.ts';
import { capsLineage, type IssuedEntry, storedEntries, toolsEntries } from './caps-lineage.ts';
import { delegatedDetails } from './delegated-details.ts';
import { narrowArguments } from './narrowed-arguments.ts';
import { TOOLS_TYPE } from './tools-entry.ts';

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

const tools = { type: 'urn:service:tools:v1', connector: 'gmail' } as const;
const lineage = { type: 'urn:service:caps-lineage:v1', connector: 'gmail' } as const;
const caps = (count: number) => ({ send: { per_day: count } });

test('the caps of the parent come after those above it', () => {
  const above = [{ grant: 'grnt_root', caps: caps(9) }];
  const entries: IssuedEntry[] = [
    { ...tools, caps: caps(5) },
    { ...lineage, ancestors: above },
  ];

  expect(capsLineage([tools], { grantId: 'grnt_parent', entries })).toEqual([
    { ...lineage, ancestors: [...above, { grant: 'grnt_parent', caps: caps(5) }] },
  ]);
});

test('a parent without caps adds nothing, and keeps what is above it', () => {
  const ancestors = [{ grant: 'grnt_root', caps: caps(9) }];

  const inherited = capsLineage([tools], { grantId: 'grnt_2', entries: [tools, { ...lineage, ancestors }] });

  expect(inherited).toEqual([{ ...lineage, ancestors }]);
  expect(capsLineage([tools], { grantId: 'grnt_2', entries: [tools] })).toEqual([]);
});

test('a connector that no scope reaches is not counted', () => {
  const entries = [{ ...tools, caps: caps(5) }];

  expect(capsLineage([], { grantId: 'grnt_1', entries })).toEqual([]);
  expect(capsLineage([{ ...tools, connector: 'crm' }], { grantId: 'grnt_1', entries })).toEqual([]);
});

test('developers are shown what was asked for', () => {
  const stored: unknown = [tools, { ...lineage, ancestors: [] }];

  expect(storedEntries(stored)).toEqual(stored);
  expect(toolsEntries(storedEntries(stored))).toEqual([tools]);
  expect(storedEntries(null)).toEqual([]);
});

const entry = {
  type: TOOLS_TYPE,
  connector: 'pay',
  tools: ['transfer', 'refund'],
  arguments: {
    transfer: { '/amount': { max: '500' }, '/currency': { in: ['EUR', 'USD'] } },
    refund: { '/amount': { max: '50' } },
  },
} as const;

test('the rules of a tool are replaced by narrower ones, and others stay', () => {
  const rules = { '/amount': { min: '1', max: '100' }, '/currency': { in: ['EUR'] } };

  const narrowed = narrowArguments([entry], { pay: { transfer: rules } });

  expect(narrowed).toEqual({
    ok: true,
    entries: [{ ...entry, arguments: { transfer: rules, refund: entry.arguments.refund } }],
  });
  expect(narrowArguments([entry], {})).toEqual({ ok: true, entries: [entry] });
});

test.each([
  ['a higher amount', { transfer: { '/amount': { max: '501' }, '/currency': { in: ['EUR'] } } }, 'transfer'],
  ['another currency', { transfer: { '/amount': { max: '5' }, '/currency': { in: ['GBP'] } } }, 'transfer'],
  ['a further argument', { refund: { '/amount': { max: '5' }, '/memo': {} } }, 'refund'],
  ['rules that cannot be read', { refund: { '/amount': { max: 5 } } }, 'refund'],
  ['a tool that had none', { balance: { '/amount': { max: '5' } } }, 'balance'],
  ['a name that every object has', { toString: { '/amount': { max: '5' } } }, 'toString'],
])('%s is refused', (_, tools, tool) => {
  const path = `arguments.pay.${tool}`;

  expect(narrowArguments([entry], { pay: tools })).toEqual({
    ok: false,
    faults: [{ path, problem: 'not_allowed' }],
  });
});

test('a connector without an entry is refused', () => {
  expect(narrowArguments([entry], { mail: { send: { '/to': {} } } })).toMatchObject({ ok: false });
});
