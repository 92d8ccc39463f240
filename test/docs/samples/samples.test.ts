import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Block, nameOf, samplesOf } from './blocks.ts';
import { sampleFaults } from './compile.ts';
import { CHECKED_ELSEWHERE, OUTLINES } from './reasons.ts';

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
