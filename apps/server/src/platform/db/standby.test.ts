import { once } from 'node:events';
import { createServer } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { newDatabase, startApp } from '../../../test/app/start-app.ts';
import { openPool, requirePrimary } from './open-database.ts';

test('a connection to a standby is refused, and a connection to a primary is taken', async () => {
  const clientOf = (isStandby: boolean) =>
    Object.assign(new pg.Client(), { query: async () => ({ rows: [{ isStandby }] }) });

  await expect(requirePrimary(clientOf(true))).rejects.toMatchObject({ code: '25006' });
  await expect(requirePrimary(clientOf(false))).resolves.toBeUndefined();
});

test('a server that falls silent before it says what it is counts as away, and keeps no place in the pool', async () => {
  const port = await silentServer();
  const pool = openPool({ connectionString: `postgres://behest@127.0.0.1:${port}/behest` }, 1, {
    silence: 100,
  });
  onTestFinished(() => pool.end());

  await expect(pool.connect()).rejects.toThrow('Postgres does not answer');
  await expect(pool.connect()).rejects.toThrow('Postgres does not answer');
});

/** Lets anybody in, says that it is a primary, and answers no query. @returns its port */
async function silentServer(): Promise<number> {
  const message = (type: string, content: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length + 4);
    return Buffer.concat([Buffer.from(type), length, content]);
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(message('R', Buffer.alloc(4)));
      socket.write(message('S', Buffer.from('in_hot_standby\0off\0')));
      socket.write(message('Z', Buffer.from('I')));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

test('a database that takes no writes counts as away', async () => {
  const url = new URL(await newDatabase());
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const { app } = await startApp({ databaseUrl: url.href });

  const answer = await app.inject({ method: 'POST', url: '/v1/signup', body: { name: 'Acme' } });

  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { dependency: 'db' } });
});
