import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const BUILT = join(ROOT, 'apps/server/console');
const SOURCES = join(ROOT, 'apps/console/src');
const KB = 1000;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

const chunks: Readonly<Record<string, Chunk>> = JSON.parse(
  readFileSync(join(BUILT, 'manifest.json'), 'utf8'),
);

/** A chunk with all that is loaded with it. */
function loadedWith(name: string, known: ReadonlySet<string> = new Set()): Set<string> {
  const found = new Set<string>();
  const open = [name];
  for (const next of open) {
    if (known.has(next) || found.has(next)) continue;
    found.add(next);
    open.push(...(chunks[next]?.imports ?? []));
  }
  return found;
}

const compressed = (names: Iterable<string>) =>
  [...names].reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(BUILT, chunks[name]?.file ?? ''))).length,
    0,
  );

/** The document, and the page that it opens with. */
const first = new Set([...loadedWith('index.html'), ...loadedWith('src/pages/overview/overview.tsx')]);
const later = Object.keys(chunks).filter((name) => name.startsWith('src/') && !first.has(name));

describe('the built files', () => {
  test('take at most 180 kB of script for the first page', () => {
    expect(compressed(first)).toBeGreaterThan(50 * KB); // it is not the size of nothing
    expect(compressed(first)).toBeLessThan(180 * KB);
  });

  test('take at most 50 kB more for each other page', () => {
    expect(later).toContain('src/pages/agents/agents.tsx');
    for (const name of later)
      expect([name, compressed(loadedWith(name, first)) <= 50 * KB]).toEqual([name, true]);
  });

  test('hold no source map, and the licences of the packages in them', () => {
    expect(globSync('**/*.map', { cwd: BUILT })).toEqual([]);
    expect(readFileSync(join(BUILT, 'licenses.md'), 'utf8')).toMatch(/react-aria-components/);
  });
});

/** A call of the client, or of its hooks, with the method and the path that it names. */
const CALL =
  /\b(?:api\.(?<verb>GET|POST|PUT|PATCH|DELETE)\(|query\.\w+\(\s*'(?<method>get|post|put|patch|delete)',)\s*'(?<path>[^']+)'/g;

test('every call of the console is an operation of the published description', () => {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
  const calls = globSync('**/*.{ts,tsx}', { cwd: SOURCES })
    .filter((file) => !file.endsWith('.gen.ts'))
    .flatMap((file) => [...readFileSync(join(SOURCES, file), 'utf8').matchAll(CALL)])
    .map(({ groups = {} }) => ({
      method: (groups.verb ?? groups.method ?? '').toLowerCase(),
      path: groups.path ?? '',
    }));
  const elsewhere = globSync('**/*.{ts,tsx}', { cwd: SOURCES }).filter(
    (file) =>
      file !== join('api', 'client.ts') &&
      /\b(?:fetch|XMLHttpRequest|WebSocket|sendBeacon)\(/.test(readFileSync(join(SOURCES, file), 'utf8')),
  );

  expect(calls.length).toBeGreaterThan(15);
  expect(calls.filter(({ method, path }) => !paths[path]?.[method])).toEqual([]);
  expect(elsewhere).toEqual([]); // no other way to the network
});
