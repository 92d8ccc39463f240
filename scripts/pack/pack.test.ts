import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packPackages } from './pack.ts';
import { importsOf } from './sources.ts';

const ROOT = join(import.meta.dirname, '../..');
const INDEX = join(ROOT, 'node_modules/.cache/behest-packages/index.json');

test('a start loads these packages, and the others wait until something needs them', async () => {
  expect(await importsOf(ROOT, 'apps/server/src/main.ts')).toEqual({
    atStart: [
      '@noble/hashes/legacy.js',
      '@noble/hashes/sha2.js',
      '@noble/hashes/utils.js',
      '@redis/client',
      '@scure/base',
      'canonicalize',
      'cookie',
      'fast-json-stringify',
      'fastify',
      'http_ece',
      'ipaddr.js',
      'jose',
      'kysely',
      'lru-cache',
      'pg',
      'pg/lib/utils.js',
      'pino',
      'prom-client',
      'swagger-ui-dist/absolute-path.js',
      'tldts',
      'typebox',
      'typebox/compile',
      'typebox/format',
      'typebox/system',
      'typebox/value',
      'ws',
    ],
    later: [
      '@node-saml/node-saml',
      '@opentelemetry/api',
      '@opentelemetry/core',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
      '@simplewebauthn/server',
      '@simplewebauthn/server/helpers',
      'ldapts',
      'nodemailer',
      'stripe',
    ],
  });
});

test('each packed package exports what the installed one does', async () => {
  await packPackages(ROOT);
  const home = join(ROOT, 'node_modules/.cache/behest-packages');
  const { folder, files } = JSON.parse(readFileSync(join(home, 'index.json'), 'utf8'));
  const script = `
    const shape = (m) => Object.keys(m).filter((key) => key !== 'module.exports').map((key) => key + typeof m[key]).sort();
    for (const [specifier, file] of Object.entries(${JSON.stringify(files)})) {
      const [installed, packed] = [await import(specifier), await import(${JSON.stringify(join(home, folder))} + '/' + file)];
      for (const of of [(m) => shape(m), (m) => shape(m.default ?? {})])
        if (String(of(installed)) !== String(of(packed))) console.log(specifier);
    }
    console.log('compared');`;

  expect(Object.keys(files).length).toBeGreaterThan(20);
  expect(run(ROOT, [], script)).toBe('compared\n');
});

const whereTheServerIs = `
  const { sources } = await import('./packed.mjs');
  console.log(sources.folder.replace(/^.*[/]/, ''), sources.ending);`;

test('a start takes the packed sources, until a source or the lock file changes', async () => {
  await packPackages(ROOT);
  const { sources } = JSON.parse(readFileSync(INDEX, 'utf8'));
  const root = newCheckout();
  const [size, changed] = [7, 1_700_000_000];
  const place = join(root, 'apps/server/src/main.ts');
  const startOf = (packed: object) => {
    mkdirSync(join(root, 'apps/server/src'), { recursive: true });
    writeFileSync(place, 'start()');
    utimesSync(place, changed, changed);
    const index = JSON.parse(
      readFileSync(join(root, 'node_modules/.cache/behest-packages/index.json'), 'utf8'),
    );
    writeFileSync(
      join(root, 'node_modules/.cache/behest-packages/index.json'),
      JSON.stringify({
        ...index,
        sources: {
          folder: 'sources-abc',
          packedAt: changed * 1000 + 1000,
          inputs: { 'apps/server/src/main.ts': [size, changed] },
          ...packed,
        },
      }),
    );
    return run(join(root, 'apps/server'), [], whereTheServerIs);
  };

  expect(Object.keys(sources.inputs)).toEqual(
    expect.arrayContaining(['apps/server/src/main.ts', 'packages/protocol/src/manifest/tool-pins.ts']),
  );
  expect(startOf({})).toBe('sources-abc .mjs\n');
  expect(startOf({ packedAt: changed * 1000 + 999 })).toBe('src .ts\n'); // it may have changed after the packing
  expect(startOf({ inputs: { 'apps/server/src/main.ts': [size + 1, changed] } })).toBe('src .ts\n');
  expect(startOf({ inputs: { 'apps/server/src/main.ts': [size, changed - 1] } })).toBe('src .ts\n');
  expect(startOf({ inputs: { 'apps/server/src/gone.ts': [size, changed] } })).toBe('src .ts\n');
  writeFileSync(join(root, 'package-lock.json'), 'another');
  expect(startOf({})).toBe('src .ts\n');
});

test('packed sources find the files beside their own, and map their lines to them', async () => {
  await packPackages(ROOT);
  const { sources } = JSON.parse(readFileSync(INDEX, 'utf8'));
  const folder = join(INDEX, '..', sources.folder);
  const codeOf = (file: string) => readFileSync(join(folder, file), 'utf8');
  const pathsIn = (file: string) => [...codeOf(file).matchAll(/"(\/\.\.\/[^"]+)"/g)].length;
  // The entries share most of their code, which is in a file of its own. An entry may have a path too.
  const [shared = ''] = readdirSync(folder)
    .filter((file) => file.endsWith('.mjs'))
    .sort((one, other) => pathsIn(other) - pathsIn(one));
  const code = codeOf(shared);
  const map = new SourceMap(JSON.parse(codeOf(`${shared}.map`)));
  const lines = code.split('\n');
  const at = lines.findIndex((line) => line.includes('"/../'));
  const entry = map.findEntry(at, 1);
  const paths = [...code.matchAll(/"(\/\.\.\/[^"]+)"/g)].map(([, path]) => join(folder, String(path)));

  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !statSync(path).isDirectory())).toEqual([]);
  expect('originalSource' in entry && join(folder, entry.originalSource)).toMatch(
    /\/apps\/server\/src\/.+[.]ts$/,
  );
});

test('the modules of a start leave Node’s `fetch` and its patterns for file names unloaded', () => {
  const script = `
    const { importSource } = await import('./packed.mjs');
    const { start } = await importSource('main');
    console.log(typeof start, process.moduleLoadList.filter((name) => /undici|minimatch/.test(name)));`;

  expect(run(ROOT, [], script)).toBe('function []\n');
});

/** Makes a checkout whose packages were packed for its lock file. */
function newCheckout(): string {
  const root = mkdtempSync(join(tmpdir(), 'behest-pack-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, 'node_modules/.cache/behest-packages');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(root, 'package-lock.json'), 'that it was packed for');
  const hash = createHash('sha256').update('that it was packed for').digest('hex');
  const index = { lock: hash, folder: 'abc', files: { pg: 'pg.mjs' } };
  writeFileSync(join(home, 'index.json'), JSON.stringify(index));
  cpSync(join(ROOT, 'apps/server/packed.mjs'), join(root, 'apps/server/packed.mjs'));
  return root;
}

function run(cwd: string, flags: readonly string[], script: string): string {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', script],
    {
      cwd: cwd === ROOT ? join(ROOT, 'apps/server') : cwd,
      encoding: 'utf8',
    },
  );
  return stdout + stderr;
}
