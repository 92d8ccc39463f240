import { spawn } from 'node:child_process';
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { lockProblems } from './lock-check.ts';

const NOBODY = 2 ** 22 + 1; // above the highest process number of Linux

/** Makes a checkout of one package, and an npm that takes a moment to unpack it and records that. */
function newCheckout(
  npm = "fs.appendFileSync('runs', 'npm ' + process.argv[2] + '\\n'); setTimeout(unpack, 300);",
) {
  const root = fs.mkdtempSync(join(tmpdir(), 'behest-install-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const packages = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' } };
  fs.writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
  const script = `const fs = require('node:fs');
    const unpack = () => fs.cpSync('package-lock.json', 'node_modules/.package-lock.json');
    ${npm}`;
  fs.writeFileSync(join(root, 'npm-cli.js'), script);
  const runs = () => fs.readFileSync(join(root, 'runs'), { encoding: 'utf8', flag: 'a+' });
  return { root, runs, ensureInstalled: () => ensureInstalled(root) };
}

/** Runs in its own process, as every command does. */
function ensureInstalled(root: string): Promise<{ status: number | null; said: string }> {
  const module = pathToFileURL(join(import.meta.dirname, 'install.mjs')).href;
  const script = `const { ensureInstalled } = await import('${module}'); await ensureInstalled('${root}');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, npm_execpath: join(root, 'npm-cli.js') },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
    if (said.includes('Another command is installing')) fs.writeFileSync(join(root, 'waits'), '');
  });
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, said })));
}

test('two commands started together install once, and the waiting one says so', async () => {
  // It is done when the other command waits.
  const { ensureInstalled, runs } = newCheckout(
    "fs.appendFileSync('runs', 'npm ' + process.argv[2] + '\\n'); const wait = setInterval(() => fs.existsSync('waits') && (clearInterval(wait), unpack()), 20);",
  );

  const both = await Promise.all([ensureInstalled(), ensureInstalled()]);

  expect(both.map(({ status }) => status)).toEqual([0, 0]);
  expect(runs()).toBe('npm ci\n');
  expect(both.map(({ said }) => said).join('')).toContain('Another command is installing');
});

test('packages are installed once for each lock file', async () => {
  const { root, ensureInstalled, runs } = newCheckout();
  await ensureInstalled();
  await ensureInstalled();
  const packages = { 'node_modules/a': { version: '2.0.0', integrity: 'sha512-y' } };
  fs.writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));

  await ensureInstalled();

  expect(runs()).toBe('npm ci\nnpm ci\n');
});

test('the turn of a command that was killed is taken over', async () => {
  const { root, ensureInstalled, runs } = newCheckout();
  fs.mkdirSync(join(root, '.install-lock'));
  fs.writeFileSync(join(root, '.install-lock/pids'), `${NOBODY} ${NOBODY + 1}`);

  const { status } = await ensureInstalled();

  expect(status).toBe(0);
  expect(runs()).toBe('npm ci\n');
  expect(fs.existsSync(join(root, '.install-lock'))).toBe(false);
});

test('a failed install shows npm’s output, and the next command tries again', async () => {
  const { root, ensureInstalled } = newCheckout("console.error('EINTEGRITY'); process.exit(3);");

  const { status, said } = await ensureInstalled();

  expect(status).toBe(1);
  expect(said).toContain('npm ci ended with 3\nEINTEGRITY');
  expect(fs.existsSync(join(root, '.install-lock'))).toBe(false);
});

test.each([
  ['a complete one', { 'node_modules/a': { integrity: 'sha512-x' }, 'node_modules/b': { link: true } }, []],
  [
    'a platform that could not be fetched',
    { 'node_modules/a': { integrity: 'sha512-x', optionalDependencies: { 'a-darwin': '1.0.0' } } },
    ['package-lock.json: node_modules/a: optional a-darwin has no entry'],
  ],
  ['no integrity', { 'node_modules/a': {} }, ['package-lock.json: node_modules/a: has no integrity']],
  [
    'the address of a mirror',
    { 'node_modules/a': { integrity: 'sha512-x', resolved: 'https://registry.example.test/a.tgz' } },
    ['package-lock.json: node_modules/a: names a host'],
  ],
])('P7: a lock file with %s', (_, packages, problems) => {
  const folder = mkdtempSync(join(tmpdir(), 'behest-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'package-lock.json');
  writeFileSync(file, JSON.stringify({ packages }));

  const found = lockProblems(file);

  expect(found).toEqual(problems);
});
