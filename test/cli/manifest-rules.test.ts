import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newMachine } from './program.ts';

/** Checks a manifest of one tool with these rules beside the kept definition of that tool. */
async function checked(rules: object, inputSchema: unknown) {
  const { run, folder } = newMachine();
  const tools = { pay: { permission: 'write', arguments: rules } };
  writeFileSync(join(folder, 'bank.json'), JSON.stringify({ connector: 'bank', version: '1.0.0', tools }));
  const kept = { format: 'behest.tool-definitions/1', connector: 'bank' };
  const definition = { name: 'pay', inputSchema };
  writeFileSync(
    join(folder, 'bank.json.tools.json'),
    JSON.stringify({ ...kept, tools: { pay: definition } }),
  );
  const { code, out } = await run(['manifest', 'check', 'bank.json', '--format', 'json']);
  const problems: { rule: string; path: string; line: number; column: number }[] = JSON.parse(out);
  const places = problems.map(({ line, column }) => column > 1 || line > 1);
  return { code, found: problems.map(({ rule, path }) => `${rule} ${path}`), places };
}

const text = { type: 'string' };
const money = { type: 'number' };
const schema = { type: 'object', properties: { amount: money, to: text }, required: ['amount', 'to'] };

test('rules that fit the kept definition are no fault', async () => {
  const rules = { '/amount': { max: '50' }, '/to': { in: ['ann'] } };

  expect(await checked(rules, schema)).toEqual({ code: 0, found: [], places: [] });
  expect((await checked({ '/amount': { max: '50' }, '': { open: true } }, schema)).code).toBe(0);
});

test('a pointer that names nothing in the input schema is a fault, at its place', async () => {
  const rules = { '/amount': { max: '50' }, '/to': {}, '/ammount': { max: '50', optional: true } };

  expect(await checked(rules, schema)).toEqual({
    ...{ code: 1, found: ['argument_not_in_schema tools.pay.arguments./ammount'], places: [true] },
  });
});

test.each([
  ['takes members beyond those it names', { ...schema, additionalProperties: true }],
  ['has members by pattern', { ...schema, patternProperties: { '^x': text } }],
  ['is composed of others', { oneOf: [schema] }],
  ['refers to another document', { $ref: 'https://schemas.example/pay.json' }],
  ['refers to itself without end', { $ref: '#' }],
  ['is no schema', 'object'],
])('an input schema that %s is not judged', async (_, inputSchema) => {
  const rules = { '/amount': {}, '/to': {}, '/other': {} };

  expect(await checked(rules, inputSchema)).toEqual({ code: 0, found: [], places: [] });
});

test('closed rules that leave out a required argument, or forbid it, are a fault', async () => {
  const required = 'required_argument_unlisted tools.pay.arguments';

  expect((await checked({ '/amount': { max: '50' } }, schema)).found).toEqual([required]);
  expect((await checked({ '/amount': {}, '/to': { absent: true } }, schema)).found).toEqual([required]);
  expect((await checked({ '': { open: true }, '/to': { absent: true } }, schema)).found).toEqual([required]);
});

test('an optional argument whose default the rule would refuse is a fault', async () => {
  const inputSchema = {
    properties: { amount: { type: 'number', default: 500 }, memo: { default: 'x' }, to: { default: {} } },
    required: ['memo'],
  };
  const found = async (rules: object) => (await checked(rules, inputSchema)).found;

  expect(await found({ '/amount': { max: '50', optional: true }, '/memo': {} })).toEqual([
    'default_outside_rule tools.pay.arguments./amount',
  ]);
  expect(await found({ '/amount': { max: '500', optional: true }, '/memo': {} })).toEqual([]);
  expect(await found({ '/amount': { absent: true }, '/memo': {} })).toEqual([]); // it may not be given at all
  expect(await found({ '/amount': { max: '50' }, '/memo': { in: ['y'] } })).toEqual([]); // they are always given
  expect(await found({ '/memo': {}, '/to': { optional: true }, '/to/name': { in: ['ann'] } })).toEqual([
    'default_outside_rule tools.pay.arguments./to',
    'argument_not_in_schema tools.pay.arguments./to/name',
  ]);
});

test('objects, the elements of lists and local references are followed', async () => {
  const inputSchema = {
    properties: {
      payee: { $ref: '#/$defs/a~1party' },
      lines: { type: 'array', items: { properties: { cents: money }, required: ['cents', 'unit'] } },
    },
    $defs: { 'a/party': { properties: { iban: text }, required: ['iban'] } },
  };
  const rules = {
    '/payee': { optional: true },
    '/payee/bic': {},
    '/lines': { each: { '/cents': {}, '/units': {} } },
  };

  expect((await checked(rules, inputSchema)).found.sort()).toEqual([
    'argument_not_in_schema tools.pay.arguments./lines.each./units',
    'argument_not_in_schema tools.pay.arguments./payee/bic',
    'required_argument_unlisted tools.pay.arguments./lines.each.',
    'required_argument_unlisted tools.pay.arguments./payee',
  ]);
});

test('tools and connectors whose names look alike draw a warning, which --strict takes for a fault', async () => {
  const { run, folder } = newMachine();
  const manifest = (connector: string, tools: string[]) =>
    `connector: ${connector}\nversion: 1.0.0\ntools:\n${tools.map((tool) => `  ${tool}: read\n`).join('')}`;
  writeFileSync(join(folder, 'a.yaml'), manifest('acme_pay', ['list1', 'listl', 'other']));
  writeFileSync(join(folder, 'b.yaml'), manifest('Acme-pay', ['list1'])); // another connector may have the tool
  const check = (...more: string[]) => run(['manifest', 'check', 'a.yaml', 'b.yaml', ...more]);

  const { code, out } = await check();

  expect(code).toBe(0);
  expect(out).toBe(
    [
      'a.yaml:5:3  warning  similar_names  tools.listl: the name looks like list1',
      'b.yaml:1:1  warning  similar_names  connector: Acme-pay looks like acme_pay in a.yaml\n',
    ].join('\n'),
  );
  expect((await check('--strict')).code).toBe(1);
});
