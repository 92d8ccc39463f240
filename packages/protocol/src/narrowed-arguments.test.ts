import { expect, test } from 'vitest';
import { narrowArguments } from './narrowed-arguments.ts';
import { TOOLS_TYPE } from './tools-entry.ts';

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
