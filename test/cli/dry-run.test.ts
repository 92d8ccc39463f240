import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allCommands } from '../../packages/cli/src/program/groups.ts';
import type { OptionSpec } from '../../packages/cli/src/program/options.ts';
import { newMachine } from './program.ts';

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
    const { out } = await run([...argv.filter((word) => word !== 'body.json' && word !== '-f'), '--dry-run']);
    if (out.startsWith('curl -sS ')) printed.push(argv.join(' '));
  }

  expect(printed.length).toBeGreaterThan(commands.length / 2);
});
