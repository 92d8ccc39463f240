import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readDescription } from '../../../../scripts/generate/description/resolve.ts';
import { startListening } from '../app/listening.ts';
import { startApp } from '../app/start-app.ts';

const LARGEST = '/docs/swagger-ui-bundle.js';
const CONNECTIONS = process.env.TEST_LONG ? 300 : 60;
/** Together more than the kernel holds for a connection of this machine. */
const ASKED_AT_ONCE = 6;

describe('P8: the page that shows the API', () => {
  test('and its files are sent with their types, from one copy', async () => {
    const { app } = await startApp();

    for (const [url, type] of [
      ['/docs', 'text/html'],
      ['/docs/docs.js', 'text/javascript'],
      ['/docs/swagger-ui.css', 'text/css'],
      [LARGEST, 'text/javascript'],
    ] as const) {
      const { statusCode, headers, rawPayload } = await app.inject({ url });
      expect([url, statusCode, headers['content-type']]).toEqual([url, 200, `${type}; charset=utf-8`]);
      expect(Number(headers['content-length'])).toBe(rawPayload.length);
    }
    expect((await app.inject({ url: '/docs/package.json' })).statusCode).toBe(404);
  });

  test('and its files are unknown paths without DOCS_ENABLED, and the description stays', async () => {
    const { app } = await startApp({ env: { DOCS_ENABLED: 'false' } });

    for (const url of ['/docs', '/docs/docs.js', LARGEST]) {
      const { statusCode, json } = await app.inject({ url });
      expect([url, statusCode, json()]).toMatchObject([url, 404, { message: 'No such route.' }]);
    }
    const description = await app.inject({ url: '/openapi.json' });
    expect(description.statusCode).toBe(200);
    expect(Object.keys(description.json().paths).filter((path) => path.startsWith('/docs'))).toEqual([]);
  });

  test('lets a client leave out what has a default, in queries and in bodies', async () => {
    const { app } = await startApp();

    const { paths } = readDescription((await app.inject({ url: '/openapi.json' })).body);

    const body = paths['/v1/signup']?.post?.requestBody?.content['application/json']?.schema;
    expect([body?.required, body?.properties?.mode?.default]).toEqual([['name'], 'live']);
    const parameters = paths['/v1/agents']?.get?.parameters;
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'limit', required: false }));
    const [id] = paths['/v1/agents/{id}']?.get?.parameters ?? [];
    expect(id).toMatchObject({ name: 'id', required: true });
  });

  test('is the committed description, with the address of this service, of exactly its routes', async () => {
    const { app, routes } = await startApp({ env: { PUBLIC_BASE_URL: 'https://auth.acme.example' } });

    const served = (await app.inject({ url: '/openapi.json' })).json();

    const file = join(import.meta.dirname, '../../../../openapi.json');
    const committed = JSON.parse(readFileSync(file, 'utf8'));
    expect(served).toEqual({ ...committed, servers: [{ url: 'https://auth.acme.example' }] });
    const described = Object.entries<object>(served.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    const mounted = routes
      .filter(({ schema }) => !schema?.hide)
      .map(({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(described.sort()).toEqual(mounted.sort());
  });

  test('costs less than a copy of its largest file for each client that does not read, for 30 s', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { app, url } = await startListening();
    const { rawPayload } = await app.inject({ url: LARGEST });
    const served: Socket[] = [];
    app.server.on('connection', (socket) => served.push(socket));
    const { port } = new URL(url);
    const before = process.memoryUsage().rss;

    for (let at = 0; at < CONNECTIONS; at += 1) {
      const client = connect(Number(port), '127.0.0.1');
      onTestFinished(() => void client.destroy());
      client.on('error', () => {}); // the service cuts it
      await once(client, 'connect');
      client.write(`GET ${LARGEST} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(ASKED_AT_ONCE));
    }
    await vi.waitUntil(() => served.filter((socket) => socket.writableLength > 0).length === CONNECTIONS, {
      timeout: 20_000,
    });
    const grown = process.memoryUsage().rss - before;

    expect(grown).toBeLessThan((CONNECTIONS * rawPayload.length) / 3);
    vi.advanceTimersByTime(35_000);
    expect(served.filter((socket) => !socket.destroyed)).toEqual([]);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });
});
