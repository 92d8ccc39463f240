import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, isPortFree, portOwner } from './ports.ts';

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
