import { Behest } from '@behest/sdk';
import { memoryMeter } from '@behest/sdk/enforce';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { protectedMcpServer } from '../../docs/guides/examples/protected-mcp-server.ts';
import { filesManifest, filesServer } from '../../packages/sdk/test/mcp-files.ts';
import { freePort } from '../../scripts/machine/ports.ts';
import { blocksOf, listening } from '../docs/steps.ts';
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

/** The consent page is asked for, looked at, and approved. */
function onThePage(link: URL): Promise<URL> {
  const asked = new URL(link);
  asked.searchParams.set('prompt', 'consent');
  return approved(service.now(), asked);
}

describe.each([
  ['a document of its own', () => publish(), 'cimd'],
  ['a registration', async () => undefined, 'dcr'],
])('an MCP client of 2025-11-25 with %s', (_name, describedAt, origin) => {
  test.each([
    ['in the sandbox', inSandbox],
    ['through the consent page', onThePage],
  ])('connects, calls tools, refreshes, asks for more, and is revoked: %s', async (_where, browser) => {
    const { acme, resource, seen } = await startProtected(service.now());
    const { provider, kept } = newProvider(await describedAt());
    const transportOf = () =>
      new StreamableHTTPClientTransport(new URL(resource), { authProvider: provider });
    const newClient = () => new Client({ name: 'editor', version: '1.0.0' });
    const allow = async (transport: StreamableHTTPClientTransport) => {
      const back = await browser(kept.link ?? new URL('about:blank'));
      expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
      expect(back.searchParams.get('iss')).toBe(service.now().url);
      expect(back.searchParams.get('state')).toBe('state-of-the-client');
      await transport.finishAuth(back.searchParams.get('code') ?? '');
    };

    // The server's challenge leads to the service, where the client describes itself and a person approves.
    const first = transportOf();
    await expect(newClient().connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
    await allow(first);
    const client = newClient();
    const second = transportOf();
    await client.connect(second);
    onTestFinished(() => client.close());
    const good = await client.callTool({ name: 'read_file', arguments: { path: '/data/reports/may.txt' } });
    expect(good.content).toEqual([{ type: 'text', text: 'read_file was called' }]);
    const { agents } = (await acme('GET', '/v1/agents')).json();
    expect(agents).toMatchObject([{ origin, clientId: kept.client?.client_id, status: 'active' }]);

    // A token that the server does not take any longer is refreshed.
    const before = kept.tokens;
    kept.tokens = before && { ...before, access_token: `${before.access_token}x` };
    await client.callTool({ name: 'read_file', arguments: { path: '/data/reports/may.txt' } });
    expect(kept.tokens?.refresh_token).not.toBe(before?.refresh_token);

    // A tool beyond the scopes makes the client ask the person for them.
    // (Where it has a refresh token, this release of the SDK refreshes, which widens nothing, and gives up.)
    kept.link = undefined;
    kept.tokens = kept.tokens && withoutRefresh(kept.tokens);
    const remove = () =>
      client.callTool({ name: 'delete_file', arguments: { path: '/data/reports/may.txt' } });
    await expect(remove()).rejects.toBeInstanceOf(UnauthorizedError);
    expect(kept.link).toBeInstanceOf(URL);
    expect(new URL(String(kept.link)).searchParams.get('scope')?.split(' ')).toContain('tool:files:delete');
    await allow(second);
    expect((await remove()).content).toEqual([{ type: 'text', text: 'delete_file was called' }]);
    expect(seen.every((authorization) => authorization === undefined || /^Bearer /.test(authorization))).toBe(
      true,
    );

    // The client ends its grant, and cannot refresh it.
    const form = { client_id: kept.client?.client_id ?? '', token: kept.tokens?.refresh_token ?? '' };
    const revoked = await fetch(`${service.now().url}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    expect(revoked.status).toBe(200);
    kept.tokens = kept.tokens && { ...kept.tokens, access_token: 'ended' };
    kept.link = undefined;
    await expect(newClient().connect(transportOf())).rejects.toBeInstanceOf(UnauthorizedError);
    expect(kept.link).toBeInstanceOf(URL);
  });
});

test('a program connects to the server of the guide, step by step, until its agent is revoked', async () => {
  const { shell, asDeveloper, baseUrl } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const page = 'docs/guides/protect-an-mcp-server.md';
  const [register = '', look = '', stop = ''] = blocksOf(page, 'sh');
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const behest = new Behest({
    ...{ apiKey: null, baseUrl, developerId: acme.developerId, allowSandbox: true },
    ...{ manifests: [filesManifest], meter: memoryMeter() },
  });
  const newServer = () => filesServer().server;
  const options = { behest, resource, authorizationServer: baseUrl, connector: 'files', newServer };
  const server = protectedMcpServer(options).listen(port, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { provider, kept } = newProvider();
  const transportOf = () => new StreamableHTTPClientTransport(new URL(resource), { authProvider: provider });

  await shell(register, { KEY: acme.apiKey, MCP: resource });
  const first = transportOf();
  await expect(new Client({ name: 'editor', version: '1.0.0' }).connect(first)).rejects.toThrow();
  const back = await inSandbox(kept.link ?? new URL('about:blank'));
  await first.finishAuth(back.searchParams.get('code') ?? '');
  const client = new Client({ name: 'editor', version: '1.0.0' });
  await client.connect(transportOf());
  onTestFinished(() => client.close());

  const call = { name: 'read_file', arguments: { path: '/data/reports/may.txt' } };
  expect((await client.callTool(call)).content).toEqual([{ type: 'text', text: 'read_file was called' }]);
  const { agents } = JSON.parse(await shell(look, { KEY: acme.apiKey }));
  expect(agents).toMatchObject([{ origin: 'dcr', clientId: kept.client?.client_id }]);
  await shell(stop, { KEY: acme.apiKey, AGENT: agents[0].agentId });
  const form = { grant_type: 'refresh_token', refresh_token: kept.tokens?.refresh_token ?? '' };
  const body = new URLSearchParams({ ...form, client_id: kept.client?.client_id ?? '' });
  expect((await fetch(`${baseUrl}/oauth/token`, { method: 'POST', body })).status).toBe(400);
});
