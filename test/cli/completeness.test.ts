import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BY_HAND, EXEMPT, NAMINGS } from '../../packages/cli/src/api/naming.ts';
import { OPERATIONS } from '../../packages/cli/src/api/operations.gen.ts';
import { commandOf, isOfTable } from '../../packages/cli/src/api/specs.ts';
import { allCommands, GROUPS } from '../../packages/cli/src/program/groups.ts';
import { rootHelp } from '../../packages/cli/src/program/help.ts';
import type { CommandSpec, OptionSpec } from '../../packages/cli/src/program/spec.ts';
import { VERSION } from '../../packages/cli/src/version.ts';
import { OF_BROWSERS } from '../../scripts/generate/sdk/names.ts';
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
    const isOfBrowser = OF_BROWSERS.has(credential ?? '');
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

describe('dry runs', async () => {
  const SECRET = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2VjcmV0';
  const KEY = 'bh_test_of_an_account_that_is_no_secret_here';

  /** A value for an option, which is a secret where the option may take one. */
  function wordsOf({ flags, choices }: OptionSpec): string[] {
    const [long = ''] = /--[\w-]+/.exec(flags) ?? [];
    const [kind = ''] = /<[^>]+>$/.exec(flags) ?? [];
    if (kind === '') return [long];
    if (kind === '<name>' && /-?env$/.test(long)) return [long, 'SECRET'];
    if (kind === '<file>' || kind === '<path>') return [long, 'body.json'];
    if (/url/i.test(`${kind}${long}`)) return [long, 'https://app.example.com/x'];
    return [long, choices?.[0] ?? (/<n>|<seconds>/.test(kind) ? '1' : 'crm')];
  }

  /** Options without which a command says that something is missing, and those that hold secrets. */
  const isTaken = ({ flags, isRequired, about }: OptionSpec) =>
    isRequired === true || about.includes('(required)') || /--(?:[\w-]+-)?env </.test(flags);

  /** Arguments that are no id. */
  const WORDS: Readonly<Record<string, string>> = {
    ...{ method: 'GET', path: '/v1/me', page: 'health', url: 'https://app.example.com/mcp', topic: 'auth' },
    ...{ manifest: 'crm.json', old: 'crm.json', file: 'crm.json', connector: 'github' },
  };

  const commands = (await allCommands()).map(({ name, args = [], options = [] }) => ({
    name,
    argv: [
      ...name.split(' '),
      ...args.filter(({ isOptional }) => !isOptional).map((each) => WORDS[each.name] ?? 'x'),
      ...options.filter(isTaken).flatMap(wordsOf),
      ...(options.some(({ flags }) => flags.startsWith('-f, --body')) ? ['-f', 'body.json'] : []),
    ],
  }));

  /** A body with a secret under each name that one has, at any depth. */
  const BODY = {
    ...{
      name: 'crm',
      connector: 'crm',
      tool: 'lookup',
      scopes: ['crm:read'],
      cases: [],
      tools: { lookup: 'read' },
    },
    ...{ code: SECRET, refreshToken: SECRET, grantToken: SECRET, clientSecret: SECRET, apiKey: SECRET },
    ...{ decisionGrants: [SECRET], passport: SECRET, authorization: SECRET, sdJwt: SECRET },
    config: { webhookUrl: `https://hooks.example.com/${SECRET}`, secret: SECRET },
    auth: { type: 'bearer', token: SECRET },
    tokenPointers: { accessToken: '/access_token' },
  };

  /** A command prints its request, or says what is wrong. Two answer from this machine alone. */
  const ENDS = ['0', '2', 'dev status 1'];

  test.each(commands)('$name sends, writes and shows nothing in a dry run', async ({ name, argv }) => {
    const { run, folder } = newMachine({ BEHEST_API_KEY: KEY, SECRET });
    writeFileSync(join(folder, 'body.json'), JSON.stringify(BODY));
    writeFileSync(join(folder, 'crm.json'), JSON.stringify({ connector: 'crm', tools: { lookup: 'read' } }));
    const before = readdirSync(folder);
    let sent = 0;

    const { code, out, err } = await run([...argv, '--dry-run', '--url', 'http://127.0.0.1:9'], {
      input: SECRET,
      fetch: async () => {
        sent += 1;
        throw new TypeError('sent');
      },
    });

    expect(sent).toBe(0);
    expect(`${out}${err}`).not.toContain('eyJ');
    expect(`${out}${err}`).not.toContain(KEY);
    expect(readdirSync(folder)).toEqual(before);
    expect(JSON.parse(readFileSync(join(folder, 'body.json'), 'utf8'))).toEqual(BODY);
    expect(ENDS, `${code}: ${err}`).toContain(`${name} ${code}`.replace(/^.* ([02])$/, '$1'));
  });

  test('most commands print the request that they would send', async () => {
    const { run } = newMachine({ BEHEST_API_KEY: KEY, SECRET });
    const printed: string[] = [];
    for (const { argv } of commands) {
      const { out } = await run([
        ...argv.filter((word) => word !== 'body.json' && word !== '-f'),
        '--dry-run',
      ]);
      if (out.startsWith('curl -sS ')) printed.push(argv.join(' '));
    }

    expect(printed.length).toBeGreaterThan(commands.length / 2);
  });
});

describe('errors', async () => {
  const commands = await allCommands();

  test('the help of the program is as it was, and each command has the arguments and options that it had', async () => {
    const lines = commands.map(({ name, args = [], options = [] }) => {
      const words = args.map(({ name: word, isOptional }) => (isOptional ? `[${word}]` : `<${word}>`));
      const flags = options.map(({ flags: text, isRequired }) => (isRequired ? text : `[${text}]`));
      return [name, ...words, ...flags].join(' ');
    });

    await expect(`${rootHelp()}\n${lines.join('\n')}\n`).toMatchFileSnapshot('commands.txt');
  });

  test('the help of a group lists its commands with what they do', async () => {
    const { run } = newMachine();

    for (const { name } of GROUPS.filter(({ hasOperations }) => hasOperations)) {
      const { out } = await run([name, '--help']);
      for (const { name: command, summary } of commands) {
        const [group, word, ...deeper] = command.split(' ');
        if (group !== name || word === undefined || deeper.length > 0) continue;
        expect(out).toContain(`\n  ${word}`);
        expect(out.replaceAll(/\s+/g, ' ')).toContain(summary);
      }
    }
  });

  const demands = ({ options = [] }: CommandSpec) => options.some(({ isRequired }) => isRequired);

  /** A missing option is told of first. */
  const lenient = commands.filter((command) => !demands(command));

  test.each(lenient.map(({ name }) => [name]))('%s refuses an option that it does not have', async (name) => {
    const { code, out, err } = await newMachine().run([...name.split(' '), '--no-such-option']);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(`error: Unknown option '--no-such-option'.\ntry: behest ${name} --help\n`);
  });

  const isNeeded = (command: CommandSpec) =>
    demands(command) || (command.args ?? []).some(({ isOptional }) => !isOptional);

  // `help` alone lists its topics.
  const needy = commands.filter((command) => isNeeded(command) && command.name !== 'help');

  test.each(needy.map(({ name }) => [name]))('%s says what is missing', async (name) => {
    const { code, err } = await newMachine({ BEHEST_API_KEY: 'bh_test_1' }).run(name.split(' '));

    expect(code).toBe(2);
    expect(err).toMatch(/missing/i);
    expect(err).toContain(`\ntry: behest ${name} --help\n`);
  });

  /** Commands of one operation, with a word for each argument and each option that they need. */
  const calls = commands
    .filter(
      ({ operation, options = [] }) =>
        operation !== undefined &&
        operation !== 'events.stream' && // it connects again until it is stopped
        !options.some(({ flags }) => /-(file|env) /.test(flags)),
    )
    .map(({ name, args = [], options = [] }) => ({
      name,
      argv: [
        ...name.split(' '),
        ...args.filter(({ isOptional }) => !isOptional).map(() => 'x'),
        ...options
          .filter(({ isRequired }) => isRequired)
          .flatMap(({ flags, choices }) => [String(/--[\w-]+/.exec(flags)), choices?.[0] ?? '1']),
        '--yes',
      ],
    }));

  test.each(calls)(
    '$name ends with 4 where the service refuses, and with 8 where there is none',
    async ({ argv }) => {
      const { run } = newMachine({ BEHEST_API_KEY: 'bh_test_1' });
      const refuses = async () => Response.json({ code: 'FORBIDDEN', message: 'Not you.' }, { status: 403 });
      const isAway = async () =>
        Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }));

      const refused = await run([...argv, '--json'], { fetch: refuses });
      const away = await run([...argv, '--retries', '0'], { fetch: isAway });

      if (refused.code === 2) return expect(refused.err).toContain('"USAGE"'); // it takes a body from a file
      expect(refused).toMatchObject({ code: 4, out: '' });
      expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'FORBIDDEN', exitCode: 4 } });
      expect(away).toMatchObject({
        code: 8,
        err: expect.stringMatching(/ECONNREFUSED[\s\S]*\ntry: behest doctor\n$/),
      });
    },
  );
});
