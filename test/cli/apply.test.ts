import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { describe, expect, test } from 'vitest';
import { newMachine, useService } from './program.ts';

const service = useService();

/** A machine with an account of its own. */
async function newAccount() {
  const { apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  return newMachine({ BEHEST_URL: service.url, BEHEST_API_KEY: apiKey });
}

const FILE = `agents:
  - {name: Travel, scopes: [tool:calendar:read, calendar:read]}
manifests: [calendar.yaml]
policies:
  - {name: No deletes, effect: deny, connector: calendar, tools: [delete_event]}
webhooks:
  - {url: 'https://app.example.com/hook', events: [grant.created]}
`;
const MANIFEST =
  'connector: calendar\ntools:\n  list_events: {permission: read}\n  delete_event: {permission: delete}\n';

/** Nine levels of nine aliases each. */
const BOMB = Array.from(
  { length: 9 },
  (_, at) =>
    `a${at}: &a${at} [${Array.from({ length: 9 }, () => (at === 0 ? 'x' : `*a${at - 1}`)).join(', ')}]`,
).join('\n');

describe('apply', () => {
  test('plans, makes, finds no drift, changes, and prunes what the file no longer names', async () => {
    const { run, folder } = await newAccount();
    const write = (text: string) => writeFileSync(join(folder, 'behest.yaml'), text);
    writeFileSync(join(folder, 'calendar.yaml'), MANIFEST);
    write(FILE);
    const apply = (...more: string[]) => run(['apply', '-f', 'behest.yaml', ...more]);

    const plan = await apply('--dry-run');
    expect(plan).toEqual({
      code: 0,
      out: '+ create agents Travel\n+ create manifests calendar\n+ create webhooks https://app.example.com/hook\n+ create policies No deletes\n',
      err: '4 to do, 0 as the file says\n',
    });
    expect((await run(['agents', 'list', '--json'])).out).toBe('[]\n');
    expect((await apply()).code).toBe(2);
    const made = await apply('--yes');
    expect(made).toMatchObject({
      code: 0,
      err: expect.stringMatching(/secret of https:\/\/app\.example\.com\/hook: whsec_\S+ \(shown once\)/),
    });
    expect(await apply('--check')).toEqual({ code: 0, out: '', err: '0 to do, 4 as the file says\n' });

    write(
      FILE.replace('[tool:calendar:read, calendar:read]', '[calendar:read]').replace(
        / {2}- \{name: No[^\n]*\n/,
        '  []\n',
      ),
    );
    const drift = await apply('--check', '--prune');
    expect(drift).toMatchObject({
      code: 1,
      out: '~ change agents Travel: scopes\n- delete policies No deletes\n',
    });
    expect((await apply('--yes', '--prune')).code).toBe(0);
    expect((await apply('--check', '--prune')).code).toBe(0);
    expect(JSON.parse((await run(['agents', 'list', '--json'])).out)[0].scopes).toEqual(['calendar:read']);
  });

  test.each([
    ['agents: {}', '`agents` of behest.yaml has to be a list'],
    ['grants: []', 'behest.yaml has grants. It may have: agents, manifests, webhooks, policies.'],
    ['agents: [{scopes: []}]', 'has to have a text `name`'],
    ['agents: [{name: a}, {name: a}]', 'has "a" twice'],
    ['agents: [{name: a, scope: [b]}]', '`agents` of behest.yaml, "a": unknown member scope.'],
    ['webhooks: [{url: "https://a.example/h", event: [x]}]', 'unknown member event.'],
    ['policies: [{name: a, effect: deny, __proto__: {priority: 1}}]', 'unknown member __proto__.'],
    ['agents: []\n---\nagents: []', 'multiple documents'],
    ['agents: [{name: a, name: b}]', 'must be unique'],
    [BOMB, 'Excessive alias count'],
    [`agents: ${'['.repeat(100_000)}`, 'is neither JSON nor YAML'],
    ['agents: [{name: "a", <<: *b}]', 'is neither JSON nor YAML'],
    ['- agents', 'has to have some of'],
    ['', 'has to have some of'],
    ['manifests: [../../../../etc/hostname]', 'has to have a text `connector`'],
  ])('refuses %s', async (text, message) => {
    const { run, folder } = newMachine({ BEHEST_API_KEY: 'bh_test_1' });
    writeFileSync(join(folder, 'behest.yaml'), text);

    expect(await run(['apply', '-f', 'behest.yaml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(message),
    });
  });

  test('finds no drift in a manifest that is written shorter than the service keeps it', async () => {
    const { run, folder } = await newAccount();
    writeFileSync(
      join(folder, 'behest.yaml'),
      'manifests: [{connector: crm, tools: {lookup: read, pay: {permission: write}}}]',
    );

    expect((await run(['apply', '-f', 'behest.yaml', '--yes'])).code).toBe(0);
    expect(await run(['apply', '-f', 'behest.yaml', '--check'])).toMatchObject({ code: 0, out: '' });
    writeFileSync(join(folder, 'behest.yaml'), 'manifests: [{connector: crm, tools: {lookup: write}}]');
    expect(await run(['apply', '-f', 'behest.yaml', '--check'])).toMatchObject({
      code: 1,
      out: '~ change manifests crm\n',
    });
  });

  test('makes nothing where a manifest of the file has a fault', async () => {
    const { run, folder } = await newAccount();
    writeFileSync(
      join(folder, 'behest.yaml'),
      'agents: [{name: Travel}]\nmanifests: [{connector: crm, tools: {pay: writ}}]',
    );

    expect(await run(['apply', '-f', 'behest.yaml', '--yes'])).toMatchObject({
      ...{ code: 1, out: '', err: expect.stringMatching(/\ntry: behest manifest check\n$/) },
    });
    expect((await run(['agents', 'list', '--json'])).out).toBe('[]\n');
  });

  test('takes a renamed agent for a new one, and says that the grants of the old one end', async () => {
    const { run, folder } = await newAccount();
    const write = (name: string) => writeFileSync(join(folder, 'behest.yaml'), `agents: [{name: ${name}}]`);
    write('Travel');
    await run(['apply', '-f', 'behest.yaml', '--yes']);
    write('Trips');

    expect((await run(['apply', '-f', 'behest.yaml', '--dry-run'])).out).toBe('+ create agents Trips\n');
    expect((await run(['apply', '-f', 'behest.yaml', '--dry-run', '--prune'])).out).toBe(
      '+ create agents Trips\n- delete agents Travel: its grants end\n',
    );
  });

  test('changes nothing where two things of the account have the name', async () => {
    const { run, folder } = await newAccount();
    for (const _ of [1, 2]) await run(['agents', 'register', '--name', 'Travel']);
    writeFileSync(join(folder, 'behest.yaml'), 'agents: [{name: Trips}, {name: Travel, scopes: [a:b]}]');

    const { code, err } = await run(['apply', '-f', 'behest.yaml', '--yes']);

    expect(code).toBe(6);
    expect(err).toMatch(
      /^error: The account has two agents with the name "Travel"[\s\S]*\ntry: behest agents list\n$/,
    );
    expect(JSON.parse((await run(['agents', 'list', '--json'])).out)).toHaveLength(2);
  });

  test('shows control characters of a name as what they are', async () => {
    const { run, folder } = await newAccount();
    writeFileSync(join(folder, 'behest.yaml'), 'agents: [{name: "a\\u001b[2Jb"}]');

    expect((await run(['apply', '-f', 'behest.yaml', '--dry-run'])).out).toBe(
      '+ create agents a\ufffd[2Jb\n',
    );
  });
});

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
