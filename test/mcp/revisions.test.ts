import type { ServerResponse } from 'node:http';
import type { Behest } from '@behest/sdk';
import { type McpRequest, withToolEnforcement } from '@behest/sdk/mcp';
import * as newer from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as olderAuth from 'mcp-sdk-2025-06-18/client/auth.js';
import * as older from 'mcp-sdk-2025-06-18/client/index.js';
import * as olderTransport from 'mcp-sdk-2025-06-18/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { partsOf } from '../../apps/server/test/app/flow.ts';
import {
  approved,
  CALLBACK,
  inSandbox,
  newProvider,
  publish,
  startProtected,
  useServiceForClients,
  withoutRefresh,
} from './peers.ts';

const service = useServiceForClients();

const READ = { name: 'read_file', arguments: { path: '/data/reports/may.txt' } };
const DELETE = { ...READ, name: 'delete_file' };

/** A server of the official SDK that speaks 2026-07-28 and the revisions before. */
async function serveNewer(behest: Behest, request: McpRequest, response: ServerResponse): Promise<void> {
  const path = { path: z.string() };
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'files', version: '1.0.0' });
    for (const name of ['read_file', 'delete_file']) {
      server.registerTool(name, { description: name, inputSchema: z.object(path) }, () => ({
        content: [{ type: 'text', text: `${name} was called` }],
      }));
    }
    return withToolEnforcement(server, behest, { connector: 'files', list: 'all' });
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const asked = new Request(new URL(request.url ?? '/', 'http://127.0.0.1'), {
    ...{ method: request.method ?? 'GET', headers },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
  });
  const { auth } = request;
  const answer = await handler.fetch(asked, {
    ...(auth && { authInfo: { ...auth, extra: { ...auth.extra } } }),
  });
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}

describe.each([
  ['2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['2026-07-28, which finds out what the server speaks', { mode: 'auto' }],
  ['2025-11-25', { mode: 'legacy' }],
] as const)('a client of %s', (name, versionNegotiation) => {
  test.each([
    ['a document of its own', () => publish(), 'cimd'],
    ['a registration', async () => undefined, 'dcr'],
  ])('connects with %s, calls tools, and asks for more', async (_how, describedAt, origin) => {
    const { acme, resource } = await startProtected(service.now(), serveNewer);
    const { provider, kept } = newProvider(await describedAt());
    const transportOf = () =>
      new newer.StreamableHTTPClientTransport(new URL(resource), { authProvider: provider });
    const newClient = () => new newer.Client({ name: 'editor', version: '2.0.0' }, { versionNegotiation });
    const allow = async (transport: newer.StreamableHTTPClientTransport) => {
      const back = await approved(service.now(), kept.link ?? new URL('about:blank'));
      expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
      await transport.finishAuth(back.searchParams); // checks `iss` first
    };

    const first = transportOf();
    await expect(newClient().connect(first)).rejects.toThrow();
    await allow(first);
    const client = newClient();
    const second = transportOf();
    await client.connect(second);
    onTestFinished(() => client.close());

    expect(client.getNegotiatedProtocolVersion()).toBe(name.slice(0, 10));
    expect((await client.callTool(READ)).content).toEqual([{ type: 'text', text: 'read_file was called' }]);
    const { agents } = (await acme('GET', '/v1/agents')).json();
    expect(agents).toMatchObject([{ origin, clientId: kept.client?.client_id }]);
    expect(partsOf(kept.tokens?.access_token ?? '').payload.aud).toBe(resource);

    kept.link = undefined;
    kept.tokens = kept.tokens && withoutRefresh(kept.tokens);
    await expect(client.callTool(DELETE)).rejects.toThrow();
    expect(new URL(String(kept.link)).searchParams.get('scope')?.split(' ').sort()).toEqual(
      expect.arrayContaining(['tool:files:delete', 'tool:files:read']),
    );
    await allow(second);
    expect((await client.callTool(DELETE)).content).toEqual([
      { type: 'text', text: 'delete_file was called' },
    ]);
  });

  test('refuses an answer that names another issuer', async () => {
    const { resource } = await startProtected(service.now(), serveNewer);
    const { provider, kept } = newProvider();
    const transport = new newer.StreamableHTTPClientTransport(new URL(resource), { authProvider: provider });
    const client = new newer.Client({ name: 'editor', version: '2.0.0' }, { versionNegotiation });
    await expect(client.connect(transport)).rejects.toThrow();
    const { searchParams } = await approved(service.now(), kept.link ?? new URL('about:blank'));
    const good = new URLSearchParams(searchParams);
    searchParams.set('iss', 'https://evil.test');

    await expect(transport.finishAuth(searchParams)).rejects.toThrow(newer.IssuerMismatchError);
    await transport.finishAuth(good);
    expect(kept.tokens?.token_type).toBe('Bearer');
  });
});

test('a client of 2025-06-18 registers, connects, calls tools and refreshes', async () => {
  const { acme, resource } = await startProtected(service.now());
  const { provider, kept } = newProvider();
  const transportOf = () =>
    new olderTransport.StreamableHTTPClientTransport(new URL(resource), {
      authProvider: { ...provider, redirectUrl: CALLBACK },
    });
  const newClient = () => new older.Client({ name: 'editor', version: '1.0.0' });
  // This release's transport does not fit its own type where absent members may not be undefined.
  const connect = (client: older.Client, transport: unknown) => client.connect(transport as never);
  const first = transportOf();
  await expect(connect(newClient(), first)).rejects.toBeInstanceOf(olderAuth.UnauthorizedError);
  const back = await inSandbox(kept.link ?? new URL('about:blank'));
  await first.finishAuth(back.searchParams.get('code') ?? '');

  const client = newClient();
  const second = transportOf();
  await connect(client, second);
  onTestFinished(() => client.close());
  const called = await client.callTool(READ);
  const before = kept.tokens;
  kept.tokens = before && { ...before, access_token: `${before.access_token}x` };
  await client.callTool(READ);

  expect(second.protocolVersion).toBe('2025-06-18');
  expect(called.content).toEqual([{ type: 'text', text: 'read_file was called' }]);
  expect(kept.tokens?.refresh_token).not.toBe(before?.refresh_token);
  expect((await acme('GET', '/v1/agents')).json().agents).toMatchObject([{ origin: 'dcr' }]);
  expect(partsOf(kept.tokens?.access_token ?? '').payload.aud).toBe(resource);
});
