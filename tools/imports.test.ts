import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('a run that notices none of the planted breaches fails', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'behest-imports-'));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  mkdirSync(join(checkout, 'apps/server/test/planted'), { recursive: true });
  mkdirSync(join(checkout, 'packages/protocol/src'), { recursive: true });

  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'imports.ts')], {
    cwd: checkout,
    encoding: 'utf8',
  });

  expect(stdout).toContain('not noticed in apps/server/test/planted: routes-call-services');
  expect(status).toBe(1);
});
