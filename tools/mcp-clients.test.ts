import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Behest } from '@behest/sdk';
import { memoryMeter } from '@behest/sdk/enforce';
import { protectMcp, withToolEnforcement } from '@behest/sdk/mcp';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startListening } from '../apps/server/test/app/listening.ts';
import certificate from '../apps/server/test/app/localhost-certificate.json' with { type: 'json' };
import { toPresent } from '../apps/server/test/app/oauth.ts';
import { linkParts, personOn } from '../apps/server/test/app/person.ts';
import { besideClients } from '../apps/server/test/app/published.ts';
import { startReceiver } from '../apps/server/test/app/receiver.ts';
import { filesManifest, filesServer } from '../packages/sdk/test/mcp-files.ts';

const CALLBACK = 'http://127.0.0.1:49152/callback';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  // The client of the official SDK names only documents at `https` addresses.
  setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
  service = await startListening({ env: besideClients, isShared: true });
  toPresent(service);
});
afterAll(() => service.stop());

/** A protected MCP server of a new sandbox developer. */
async function startProtected() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const behest = new Behest({
    ...{ apiKey: null, baseUrl: service.url, developerId: acme.developerId, allowSandbox: true },
    ...{ manifests: [filesManifest], meter: memoryMeter() },
  });
  const address = { resource: '' };
  const seen: (string | undefined)[] = [];
  const http = createServer((request, response) => {
    seen.push(request.headers.authorization);
    const options = { behest, connector: 'files', authorizationServer: service.url };
    const guarded = protectMcp(
      async (let_, answer) => {
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
        await withToolEnforcement(filesServer().server, behest, { connector: 'files', list: 'all' }).connect(
          transport,
        );
        await transport.handleRequest(let_, answer, let_.body);
      },
      { ...options, resource: address.resource, scopes: ['tool:files:read'] },
    );
    void guarded(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  // A server that listens on a port has an address with a port.
  address.resource = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const { resource } = address;
  const added = await acme('POST', '/v1/resources', {
    ...{ resource, name: 'Files', scopes: ['tool:files:read', 'tool:files:delete'] },
  });
  expect(added.statusCode).toBe(201);
  return { acme, resource, seen };
}

/** The document of a client, at an `https` address. */
async function publish() {
  const receiver = await startReceiver({ tls: certificate });
  const clientId = `https://localhost:${receiver.port}/client.json`;
  const document = {
    ...{ client_id: clientId, client_name: 'Editor', redirect_uris: ['http://127.0.0.1/callback'] },
    ...{ grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none' },
  };
  receiver.answer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  return clientId;
}

/** The memory of an MCP client, and the link that it opens in a browser. */
function newProvider(clientMetadataUrl?: string) {
  const kept = {
    link: undefined as URL | undefined,
    tokens: undefined as Tokens,
    client: undefined as Known,
  };
  let verifier = '';
  const provider: OAuthClientProvider = {
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl: CALLBACK,
    clientMetadata: {
      ...{ redirect_uris: [CALLBACK], client_name: 'Old editor', token_endpoint_auth_method: 'none' },
      grant_types: ['authorization_code', 'refresh_token'],
    },
    state: () => 'state-of-the-client',
    clientInformation: () => kept.client,
    saveClientInformation(client) {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens(tokens) {
      kept.tokens = tokens;
    },
    redirectToAuthorization(link) {
      kept.link = link;
    },
    saveCodeVerifier(made) {
      verifier = made;
    },
    codeVerifier: () => verifier,
    invalidateCredentials(which) {
      if (which === 'tokens') kept.tokens = undefined;
    },
  };
  return { provider, kept };
}
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>;
const withoutRefresh = ({ refresh_token: _, ...tokens }: NonNullable<Tokens>) => tokens;
type Known = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;

/** A browser follows the link. @returns the address to which the service sends it */
async function inSandbox(link: URL): Promise<URL> {
  const answer = await fetch(link, { redirect: 'manual', headers: { accept: 'text/html' } });
  return new URL(answer.headers.get('location') ?? `about:${answer.status}`);
}

/** A person opens the consent page, looks at the request, and approves it. */
async function onThePage(link: URL): Promise<URL> {
  const asked = new URL(link);
  asked.searchParams.set('prompt', 'consent');
  const page = await inSandbox(asked);
  const person = personOn(service);
  const { request } = (await person.open(page.href)).json();
  expect(request).toMatchObject({ redirectHost: '127.0.0.1:49152', client: { resourceNames: ['Files'] } });
  return new URL((await person.approve(linkParts(page.href).id)).json().redirectTo);
}

describe.each([
  ['a document of its own', () => publish(), 'cimd'],
  ['a registration', async () => undefined, 'dcr'],
])('an MCP client of 2025-11-25 with %s', (_name, describedAt, origin) => {
  test.each([
    ['in the sandbox', inSandbox],
    ['through the consent page', onThePage],
  ])('connects, calls tools, refreshes, asks for more, and is revoked: %s', async (_where, browser) => {
    const { acme, resource, seen } = await startProtected();
    const { provider, kept } = newProvider(await describedAt());
    const transportOf = () =>
      new StreamableHTTPClientTransport(new URL(resource), { authProvider: provider });
    const newClient = () => new Client({ name: 'editor', version: '1.0.0' });
    const allow = async (transport: StreamableHTTPClientTransport) => {
      const back = await browser(kept.link ?? new URL('about:blank'));
      expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
      expect(back.searchParams.get('iss')).toBe(service.url);
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
    const revoked = await fetch(`${service.url}/oauth/revoke`, {
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
