import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('a run that notices no planted fault fails, and names a fault with its place', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'behest-english-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  mkdirSync(join(checkout, 'tools/english'), { recursive: true });
  writeFileSync(join(checkout, 'tools/english/page.md'), '# A page\n\nOf two rows the first counts.\n');

  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'english.ts')], {
    cwd: checkout,
    encoding: 'utf8',
  });

  expect(stdout).toContain('tools/english/page.md:3: opens with "Of": Of two rows the first counts.');
  expect(stdout).toContain('not noticed in tools/english/planted: planted.md:3: opens with "What"');
  expect(stdout).toContain('looked at 2 sentences in 1 files');
  expect(status).toBe(1);
});
