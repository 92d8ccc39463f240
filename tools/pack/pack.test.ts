import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { importsOf } from './imports.ts';
import { packPackages } from './pack.ts';

const ROOT = join(import.meta.dirname, '../..');

test('a start loads these packages, and the others wait until something needs them', async () => {
  expect(await importsOf(ROOT, 'apps/server/src/main.ts')).toEqual({
    atStart: [
      '@fastify/swagger',
      '@noble/hashes/legacy.js',
      '@noble/hashes/sha2.js',
      '@noble/hashes/utils.js',
      '@redis/client',
      'canonicalize',
      'cookie',
      'fast-json-stringify',
      'fastify',
      'ipaddr.js',
      'jose',
      'kysely',
      'lru-cache',
      'pg',
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

const resolvePg = `
  const at = (name) => { try { return import.meta.resolve(name) } catch ({ message, code }) { return code ?? message } };
  console.log(at('pg'), at('pg/lib/query'));`;

test('the sources import packed packages, and never a part of one beside it', () => {
  const root = newCheckout({ lock: 'that it was packed for' });

  const said = run(root, ['--import', join(root, 'apps/server/packed.mjs')], resolvePg);

  expect(said).toContain('/node_modules/.cache/behest-packages/abc/pg.mjs pg/lib/query is new to the packed');
});

test('the modules of a start leave Node’s `fetch` and its patterns for file names unloaded', () => {
  const script = `
    const { start } = await import('./src/main.ts');
    console.log(typeof start, process.moduleLoadList.filter((name) => /undici|minimatch/.test(name)));`;

  expect(run(ROOT, ['--import', './packed.mjs'], script)).toBe('function []\n');
});

test('packages that were packed for another lock file are left alone', () => {
  const root = newCheckout({ lock: 'another' });

  const said = run(root, ['--import', join(root, 'apps/server/packed.mjs')], resolvePg);

  expect(said).toBe('ERR_MODULE_NOT_FOUND ERR_MODULE_NOT_FOUND\n'); // since nothing is installed there
});

/** Makes a checkout whose packages were packed for a lock file with one text. */
function newCheckout({ lock }: { lock: string }): string {
  const root = mkdtempSync(join(tmpdir(), 'behest-pack-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, 'node_modules/.cache/behest-packages');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(root, 'package-lock.json'), lock);
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
