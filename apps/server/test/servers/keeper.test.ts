import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

/** A run that starts a server and then waits until it is killed. */
async function startRun(module: string, start: string) {
  const path = JSON.stringify(join(import.meta.dirname, module));
  const script = `const { url } = await (await import(${path})).${start}(); console.log(url); setInterval(() => {}, 1000);`;
  const run = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, TEST_DATABASE_URL: '', TEST_REDIS_URL: '' },
  });
  const [output] = await once(run.stdout, 'data');
  return { run, url: new URL(String(output).trim()) };
}

function isUp({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const attempt = createConnection({ host: hostname, port: Number(port) });
    attempt.once('connect', () => resolve(true)).once('error', () => resolve(false));
    attempt.once('connect', () => attempt.destroy());
  });
}

test('Postgres ends with a run that is killed', async () => {
  const { run, url } = await startRun('postgres.ts', 'startPostgres');
  expect(await isUp(url)).toBe(true);

  run.kill('SIGKILL');

  while (await isUp(url)) await sleep(20);
});

test('Redis ends with a run that is killed', async () => {
  const { run, url } = await startRun('keeper.ts', 'startRedis');
  expect(await isUp(url)).toBe(true);

  run.kill('SIGKILL');

  while (await isUp(url)) await sleep(20);
});
