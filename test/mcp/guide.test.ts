import { Behest } from '@behest/sdk';
import { memoryMeter } from '@behest/sdk/enforce';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { protectedMcpServer } from '../../docs/guides/examples/protected-mcp-server.ts';
import { filesManifest, filesServer } from '../../packages/sdk/test/mcp-files.ts';
import { freePort } from '../../scripts/machine/ports.ts';
import { blocksOf, listening } from '../docs/steps.ts';
import { inSandbox, newProvider } from './peers.ts';

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
