import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { grantTo } from '../../../apps/server/test/app/flow.ts';
import { blocksOf, listening } from '../steps.ts';
import { type Block, nameOf, sampleFaults, samplesOf } from './compile.ts';

const ROOT = join(import.meta.dirname, '../../..');
const samples = samplesOf(ROOT);
const inLanguage = (language: string) =>
  samples.filter((sample) => sample.language === language && !(sample.page in CHECKED_ELSEWHERE));

/** The address of a route in the commands of a page. */
const ROUTE =
  /(?<=:3001|\$BASE|\$BEHEST_URL|\.com|(?:post|get|patch|put|del|call "\$KEY") )\/(?:v1|scim)\/[^\s"'?\\]*/g;

test('every sample is in a language whose samples are checked, or is an outline with a reason', () => {
  const known = new Set(['ts', 'sh', 'python', 'json']);
  const others = samples.filter(({ language, page }) => !known.has(language) && !(page in CHECKED_ELSEWHERE));
  const named = Object.keys(OUTLINES);

  expect(samples.length).toBeGreaterThan(150);
  expect(others.map(nameOf).filter((name) => !named.includes(name))).toEqual([]);
  expect(named.filter((name) => !samples.some((sample) => nameOf(sample) === name))).toEqual([]);
});

test('the pages whose samples are checked elsewhere are followed by the files that are named', () => {
  for (const [page, file] of Object.entries(CHECKED_ELSEWHERE)) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const name = page.replace(/^.*\/(?!README)/, '').replace(/\.md$/, '');
    expect(text, `${file} follows ${page}`).toContain(name);
  }
});

describe('TypeScript', () => {
  const sources = globSync(['docs/guides/examples/*.ts', 'examples/*/*.ts'], { cwd: ROOT }).map((path) =>
    lined(readFileSync(join(ROOT, path), 'utf8')),
  );
  const isPart = ({ code }: Block) => sources.some((source) => source.includes(lined(code)));

  test('compiles, as a part of an example or by itself', () => {
    const all = inLanguage('ts').filter((sample) => !(nameOf(sample) in OUTLINES));

    expect(all.length).toBeGreaterThan(25);
    expect(
      sampleFaults(
        ROOT,
        all.filter((sample) => !isPart(sample)),
      ),
    ).toEqual([]);
  }, 120_000); // the compiler takes long on a busy machine

  test('would fail with a member that is not there', () => {
    const code = 'await behest.agents.registre({ name: "A" });\n';

    expect(sampleFaults(ROOT, [{ page: 'p.md', number: 1, language: 'ts', code }])).toEqual([
      expect.stringMatching(/^p\.md #1: Property 'registre' does not exist/),
    ]);
  }, 120_000);
});

test('JSON is JSON', () => {
  const all = inLanguage('json');

  expect(all.length).toBeGreaterThan(10);
  for (const sample of all) expect(() => JSON.parse(sample.code), nameOf(sample)).not.toThrow();
});

test('Python compiles', () => {
  const all = inLanguage('python');

  expect(all.length).toBeGreaterThan(1);
  for (const { code, ...sample } of all) {
    const { status, stderr } = spawnSync(
      'python3',
      ['-c', 'import sys; compile(sys.stdin.read(), "s", "exec")'],
      {
        input: code,
        encoding: 'utf8',
      },
    );
    if (status !== null) expect({ sample, status, stderr }).toEqual({ sample, status: 0, stderr: '' });
  }
});

describe('commands of a shell', () => {
  const all = inLanguage('sh').filter((sample) => !(nameOf(sample) in OUTLINES));

  test('are read by the shell', () => {
    for (const [page, own] of Map.groupBy(all, ({ page }) => page)) {
      const input = own.map(({ code }) => code).join('\n');
      expect(() => execFileSync('bash', ['-n'], { input }), page).not.toThrow();
    }
  });

  test('ask for routes that there are', () => {
    const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
    const known = Object.keys(paths).map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
    const asked = all.flatMap((sample) =>
      [...sample.code.matchAll(ROUTE)].map(([path]) => ({ sample: nameOf(sample), path })),
    );

    expect(asked.length).toBeGreaterThan(40);
    expect(asked.filter(({ path }) => !known.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  test('are run by a test, or are named with the reason why not', () => {
    const runners = globSync('{scripts,test}/**/*.test.ts', { cwd: ROOT })
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .filter((text) => text.includes("/steps.ts'"));
    const isRun = ({ page }: Block) => {
      const names = [page, page.replace(/^docs\/(?:guides\/)?(.*)\.md$/, '$1')];
      return runners.some((text) => names.some((name) => text.includes(`'${name}'`)));
    };

    expect(all.filter((sample) => !isRun(sample)).map(nameOf)).toEqual([]);
  });
});

function lined(code: string): string {
  return code
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .join('\n');
}

/** The picture that a guide sends. */
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4AWPgjsr4DwADDgHNwKIb1QAAAABJRU5ErkJggg==';
/** For the files that the commands read and write. */
const FOLDER = `cd "$(mktemp -d)"\necho ${LOGO} | base64 -d > logo.png\n`;
const commandsOf = (page: string) => `${FOLDER}${blocksOf(`docs/${page}.md`, 'sh').join('\n')}`;

test('the guides that set one thing of an account set it', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId, grantId } = await grantTo(acme, { principalId: 'user_42' });
  const env = { KEY: acme.apiKey, AGENT: agentId, GRANT: grantId, GRANT_ID: grantId };
  const told = (guide: string) => shell(commandsOf(`guides/${guide}`), env);

  expect(await told('let-people-approve-with-passkeys')).toContain('"fidoRpName":"Acme Bank"');
  const sent = await told('send-a-person-to-the-consent-page');
  expect(sent).toContain('"accentColor":"#7a1f5c"');
  expect(sent).toContain('"crv":"P-256"');
  expect(sent).toContain(`"replacesGrantId":"${grantId}"`);
  expect(await told('show-a-person-what-agents-may-do')).toMatch(
    /"dashboardUrl".*"auditPrivateKeys":\["margin"\]/s,
  );
  expect(await told('show-somebody-that-you-stopped-it')).toBe('behest.receipt/1\n');
});

test('a request is repeated by its key, as the page on errors says', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });

  const told = await shell(commandsOf('protocol/errors'), { KEY: acme.apiKey });

  expect(told).toMatch(/^HTTP\/1.1 201.*"role":"runtime"/s);
});

/** Pages whose samples a file of the repository follows in a way of its own. */
const CHECKED_ELSEWHERE: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'test/docs/worked-example.test.ts',
  'docs/worked-example.md': 'test/docs/worked-example.ts',
};

const DRAWING = 'a drawing';
const INSTALLS = 'it installs packages from a registry';
const OF_OPERATOR =
  'it needs a container engine or a cluster; test/deploy has tests of the files that it names';
const VALUES = 'values of settings, which the tests of the settings read';

/** Samples that are not run or compiled, with the reason. */
const OUTLINES: Readonly<Record<string, string>> = {
  'README.md #1': DRAWING,
  'README.md #2': 'the suite itself, and the service that it starts',
  'clients/python/README.md #1': INSTALLS,
  'clients/python/README.md #5': INSTALLS,
  'deploy/helm/behest/README.md #1': OF_OPERATOR,
  'docs/architecture.md #1': DRAWING,
  'docs/architecture.md #2': 'an outline of a service, with a gap',
  'examples/payments-agent/README.md #1': INSTALLS,
  'docs/configuration.md #1': VALUES,
  'docs/configuration.md #3': VALUES,
  'docs/configuration.md #4': 'deploy/make-secrets.sh makes keys with the same commands',
  'docs/guides/console.md #1': 'it opens a browser; test/cli/basics.test.ts runs the command',
  'docs/guides/deny-in-advance-with-policies.md #11': 'Cedar, which cedar.test.ts loads with the same rules',
  'docs/guides/deny-in-advance-with-policies.md #12': 'Cedar, as the sample before it',
  'docs/guides/deploy.md #1': OF_OPERATOR,
  'docs/guides/deploy.md #2': OF_OPERATOR,
  'docs/guides/deploy.md #3': OF_OPERATOR,
  'docs/guides/receive-events.md #10': 'lines of a stream, not a program',
  'docs/guides/receive-events.md #13': 'settings of nginx, which is not installed',
  'docs/guides/moving.md #3': 'variables to fill in',
  'docs/guides/write-a-manifest.md #2': 'it sends the sample above it, which rules-guides.test.ts sends',
  'docs/operations.md #1': 'it removes the packages of the toolchain',
  'docs/operations.md #2': 'it needs an account whose approvers lost their passkeys; its route is checked',
  'docs/operations.md #3':
    'it needs the key of an operator; its route is checked, and tests of members ask it',
  'docs/operations.md #4': 'it needs a log that is halted; its route is checked',
  'docs/protocol/audit-chain.md #1': 'a line that protocol-pages.test.ts compares',
  'examples/express-api/README.md #1': INSTALLS,
  'examples/mcp-server/README.md #1': INSTALLS,
  'examples/webhook-receiver/README.md #1': INSTALLS,
  'packages/cli/README.md #1': INSTALLS,
  'packages/sdk/README.md #1': INSTALLS,
};

/** The values that commands use, before a command sets them. */
function unsetIn(code: string, set: Set<string>): string[] {
  return code.split('\n').flatMap((line) => {
    const used = [...line.matchAll(/\$\{?([A-Z][A-Z_]+)(?![A-Z_]|:-)/g)].map(([, name = '']) => name);
    const unset = used.filter((name) => !set.has(name));
    for (const [, name = ''] of line.matchAll(/(?:^|[;\s])([A-Z][A-Z_]+)=/g)) set.add(name);
    return unset;
  });
}

const pages = globSync('docs/guides/*.md', { cwd: ROOT }).toSorted();

test.each(pages)('%s says where the values of its commands come from', (page) => {
  const prose = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const set = new Set<string>();
  const unset = samples
    .filter((sample) => sample.page === page && sample.language === 'sh')
    .flatMap(({ code }) => unsetIn(code, set));

  expect([...new Set(unset)].filter((name) => !new RegExp(`\\b${name}\\b`).test(prose))).toEqual([]);
});

test('a value that nothing sets would be found', () => {
  expect(unsetIn('A_KEY=1\ncurl "$A_KEY" "$OTHER"', new Set())).toEqual(['OTHER']);
});
