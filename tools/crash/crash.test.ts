import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { newDatabase } from '../../apps/server/test/start-app.ts';
import { crash } from './run-crash.ts';

test('nothing acknowledged is lost, and no event invented, when the server is killed under load', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'behest-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));

  const { broken, grants, entries, events } = await crash({
    databaseUrl: await newDatabase(),
    redisUrl: inject('redisUrl'),
    rounds: 3,
    folder,
    say: () => {},
  });

  expect(broken).toEqual([]);
  expect(Math.min(grants, entries, events)).toBeGreaterThan(0);
}, 120_000);
