import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BY_HAND, EXEMPT, NAMINGS } from '../../packages/cli/src/api/naming.ts';
import { OPERATIONS } from '../../packages/cli/src/api/operations.gen.ts';
import { commandOf, isOfTable } from '../../packages/cli/src/api/specs.ts';
import { allCommands, GROUPS } from '../../packages/cli/src/program/groups.ts';
import { rootHelp } from '../../packages/cli/src/program/help.ts';
import { VERSION } from '../../packages/cli/src/version.ts';
import { exemptionOf } from '../../scripts/generate/sdk/operations.ts';
import { newMachine } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

interface Described {
  readonly operationId: string;
  readonly security?: readonly object[];
}

test('each operation has a command, or a listed reason to have none', async () => {
  const names = new Set((await allCommands()).map(({ name }) => name));
  const described = Object.values<Record<string, Described>>(readJson('openapi.json').paths).flatMap(
    (verbs) => Object.values(verbs),
  );
  const ofTable = new Map(OPERATIONS.map((row) => [row.id, row]));

  const faults = described.flatMap(({ operationId: id, security = [] }) => {
    const credential = Object.keys(security[0] ?? {})[0];
    const isOfBrowser = ['consent', 'connect', 'approver'].includes(credential ?? '');
    if (isOfBrowser || exemptionOf(id, credential) || EXEMPT[id]) return [];
    const row = ofTable.get(id);
    return row && names.has(commandOf(row)) ? [] : [`${id} has no command`];
  });

  expect(described.length).toBeGreaterThan(300);
  expect(faults).toEqual([]);
});

test('every name, hand-written command and exemption is of an operation', () => {
  const ids = new Set(OPERATIONS.map(({ id }) => id));

  for (const table of [NAMINGS, BY_HAND, EXEMPT])
    expect(Object.keys(table).filter((id) => !ids.has(id))).toEqual([]);
});

test('no two commands have one name, and each belongs to a group', async () => {
  const names = (await allCommands()).map(({ name }) => name);
  const groups = new Set(GROUPS.map(({ name }) => name));

  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(names.filter((name) => !groups.has(name.split(' ')[0] ?? ''))).toEqual([]);
  expect(OPERATIONS.filter(isOfTable).length).toBeGreaterThan(150);
});

test('each command prints its help, with a sentence and an example that names it', async () => {
  const { run } = newMachine();
  const commands = await allCommands();

  for (const { name, summary, examples } of commands) {
    const { code, out } = await run([...name.split(' '), '--help']);
    expect({ name, code }).toEqual({ name, code: 0 });
    expect(out).toContain(summary.slice(0, 40));
    expect(out).toContain('Examples:\n  ');
    expect(examples.every((example) => example.includes(`behest ${name}`) || example.includes(name))).toBe(
      true,
    );
  }
});

test('no option of a command takes a secret from the command line', async () => {
  const commands = await allCommands();
  const flags = commands.flatMap(({ name, options = [] }) =>
    options.map(({ flags: each }) => `${name} ${each}`),
  );
  const secrets = flags.filter((each) =>
    /--[\w-]*(token|secret|password|api-key|credential|sd-jwt)[\w-]* <(?!file|name)/.test(each),
  );

  // A pointer, a type, a time, a format and a yes or no are no secrets.
  expect(
    secrets.filter(
      (each) => !/-(pointers|type|at|in|seconds|endpoint|format|type-hint) <|<true\|false>/.test(each),
    ),
  ).toEqual([]);
});

test('an operation keeps its own option where the program has one of that name', async () => {
  const { run } = newMachine({ BEHEST_API_KEY: 'bh_test_1' });

  const { out } = await run([
    ...['--url', 'https://auth.example', 'webhooks', 'create', '--url', 'https://app.example/hook'],
    ...['--events', 'grant.created', '--dry-run'],
  ]);

  expect(out).toContain("curl -sS -X POST 'https://auth.example/v1/webhooks'");
  expect(out).toContain('"url":"https://app.example/hook"');
});

test('the help of the program fits a screen, and names every group', () => {
  const help = rootHelp();

  expect(help.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  expect(GROUPS.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(help))).toEqual([]);
});

test('the version is that of the package', async () => {
  const { run } = newMachine();

  expect(VERSION).toBe(readJson('packages/cli/package.json').version);
  expect(JSON.parse((await run(['--version', '--json'])).out)).toEqual({
    ...{
      cli: VERSION,
      sdk: readJson('packages/sdk/package.json').version,
      node: process.versions.node,
      protocol: '0.6',
    },
  });
});

test.each(['bash', 'zsh', 'fish'])(
  'the completion of %s knows the commands and their options',
  async (shell) => {
    const { out } = await newMachine().run(['completion', shell]);

    expect(out).toContain('authorize');
    expect(out).toMatch(/agents register.*--scopes/);
  },
);
