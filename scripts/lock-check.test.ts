import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockProblems } from './lock-check.ts';

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
