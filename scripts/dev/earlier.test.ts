import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endEarlier, ownProcesses, takeOver } from './earlier.ts';
import { CHECKOUT, type Home } from './home.ts';

function newHome(): Home {
  const root = fs.mkdtempSync(join(tmpdir(), 'behest-earlier-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  fs.mkdirSync(join(root, '.behest'));
  return { root, folder: join(root, '.behest'), programs: CHECKOUT };
}

/** Starts a program at this path that runs until it is stopped. */
async function run(path: string) {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, "setInterval(() => {}, 1000); console.log('up');");
  const child = spawn(process.execPath, [path]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return child;
}

test('the server of a start that was killed is ended', async () => {
  const home = newHome();
  const { server } = ownProcesses(home);
  const orphan = await run(server.mark);
  const ended = once(orphan, 'exit');
  fs.writeFileSync(server.file, String(orphan.pid));

  const words = await endEarlier(home);

  expect(words).toEqual([`the earlier server (pid ${orphan.pid})`]);
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(fs.existsSync(server.file)).toBe(false);
});

test('a foreign process with the same number keeps running', async () => {
  const home = newHome();
  const { server } = ownProcesses(home);
  const stranger = await run(join(home.root, 'another-program.mjs'));
  fs.writeFileSync(server.file, String(stranger.pid));

  const words = await endEarlier(home);

  expect(words).toEqual([]);
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
});

test.each(['', 'nonsense', '4194305'])('a file that says "%s" does not stop a start', async (text) => {
  const home = newHome();
  const { start } = ownProcesses(home);
  fs.writeFileSync(start.file, text);

  const words = await takeOver(home);

  expect(words).toEqual([]);
  expect(fs.readFileSync(start.file, 'utf8')).toBe(String(process.pid));
});
