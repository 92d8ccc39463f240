import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('a run that notices none of the planted breaches fails', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'behest-sql-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  mkdirSync(join(checkout, 'apps/server/test/planted'), { recursive: true });

  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'sql-owners.ts')], {
    cwd: checkout,
    encoding: 'utf8',
  });

  expect(stdout).toContain('not noticed: the function thing_count is in several files');
  expect(status).toBe(1);
});
