import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rotateUnderLoad } from '../../../../test/rotation/run-rotation.ts';
import { newDatabase } from '../app/start-app.ts';
import { redisUrl } from '../servers/start-server.ts';

test('three instances rotate every ten seconds, and no verifier refuses a good token', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'behest-rotation-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stores = { databaseUrl: await newDatabase(), redisUrl: redisUrl() };

  const outcome = await rotateUnderLoad({ ...stores, folder, seconds: 75, everySeconds: 10 });

  expect(outcome.faults).toEqual([]);
  expect(outcome.rotations).toBeGreaterThanOrEqual(7);
  expect(outcome.signingKeys).toBeGreaterThanOrEqual(4); // three rotations were over their delay
  expect(outcome.tokens).toBeGreaterThan(0);
}, 180_000);
