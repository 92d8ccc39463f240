import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
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
