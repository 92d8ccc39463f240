import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeThrowAway, memoryFolder, sweepThrowAways } from './folders.ts';
import { freePort, isPortFree, portOwner } from './ports.ts';

test('the leftovers of a killed run are ended and removed, and a folder in use stays', async () => {
  const place = mkdtempSync(join(tmpdir(), 'behest-place-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const used = makeThrowAway('thing', place);
  const left = join(place, 'behest-thing-4194305-AAAAAA'); // a number that no process can have
  const other = join(place, 'behest-other-4194305-AAAAAA');
  mkdirSync(left);
  mkdirSync(other);
  const ended: string[] = [];

  await sweepThrowAways('thing', {
    place,
    end: async (folder) => {
      ended.push(folder);
    },
  });

  expect(ended).toEqual([left]);
  expect([used, left, other].map((folder) => existsSync(folder))).toEqual([true, false, true]);
});

test('a folder in memory is used only where it has the room', () => {
  const folder = memoryFolder(0);

  expect(memoryFolder(1_000_000)).toBeUndefined();
  if (folder) expect(statfsSync(folder).type).toBe(0x01021994); // tmpfs
});

test.each(['127.0.0.1', '0.0.0.0'])('the process that listens on %s is named', async (host) => {
  const port = await freePort();
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });

  expect(portOwner(port)).toBe(process.pid);
  expect(await isPortFree(port, '127.0.0.1')).toBe(false);
});

test('a free port has no owner', async () => {
  const port = await freePort();

  expect(portOwner(port)).toBeUndefined();
  expect(await isPortFree(port, '127.0.0.1')).toBe(true);
});
