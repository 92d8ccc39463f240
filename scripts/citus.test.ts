import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('a run that notices none of the planted breaches fails', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'behest-citus-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));

  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'citus.ts')], {
    cwd: checkout,
    encoding: 'utf8',
  });

  expect(stdout).toContain(
    'planted/citus: not noticed: lock_things.sql: rows are locked on more than one shard of t',
  );
  expect(status).toBe(1);
});
