import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newDatabase } from '../../apps/server/test/app/start-app.ts';
import { redisUrl } from '../../apps/server/test/servers/start-server.ts';
import { crash } from './run-crash.ts';

test('nothing acknowledged is lost, and no event invented, when the server is killed under load', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'behest-crash-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));

  const { broken, grants, events, permits, signals } = await crash({
    databaseUrl: await newDatabase(),
    redisUrl: redisUrl(),
    rounds: 1, // `.ci/run` has more
    folder,
    say: () => {},
  });

  expect(broken).toEqual([]);
  expect(Math.min(grants, events, permits, signals.pushed, signals.polled)).toBeGreaterThan(0);
}, 120_000);
