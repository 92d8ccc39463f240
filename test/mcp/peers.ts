import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Behest } from '@behest/sdk';
import { memoryMeter } from '@behest/sdk/enforce';
import { type McpRequest, protectMcp, withToolEnforcement } from '@behest/sdk/mcp';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import certificate from '../../apps/server/test/app/localhost-certificate.json' with { type: 'json' };
import { toPresent } from '../../apps/server/test/app/oauth.ts';
import { linkParts, personOn } from '../../apps/server/test/app/person.ts';
import { besideClients } from '../../apps/server/test/app/published.ts';
import { startReceiver } from '../../apps/server/test/app/receiving.ts';
import { filesManifest, filesServer } from '../../packages/sdk/test/mcp-files.ts';

export const CALLBACK = 'http://127.0.0.1:49152/callback';

/** A service for the tests of a file, whose clients may have documents at addresses of this machine. */
export function useServiceForClients(): { now(): Listening } {
  let service: Listening;
  beforeAll(async () => {
    // The client of the official SDK names only documents at `https` addresses.
    setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
    service = await startListening({ env: besideClients, isShared: true });
    toPresent(service);
  });
  afterAll(() => service.stop());
  return { now: () => service };
}

type Listening = Awaited<ReturnType<typeof startListening>>;
/** Serves a request that was let through. */
type Serve = (behest: Behest, request: McpRequest, response: ServerResponse) => Promise<void>;

/** With the official SDK for revisions before 2026-07-28. */
const serveOlder: Serve = async (behest, request, response) => {
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  const options = { connector: 'files', list: 'all' } as const;
  await withToolEnforcement(filesServer().server, behest, options).connect(transport);
  await transport.handleRequest(request, response, request.body);
};

/** A protected MCP server of a new sandbox developer. */
export async function startProtected(service: Listening, serve: Serve = serveOlder) {
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
    const guarded = protectMcp((let_, answer) => serve(behest, let_, answer), {
      ...{ ...options, resource: address.resource, scopes: ['tool:files:read'] },
    });
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
export async function publish() {
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
export function newProvider(clientMetadataUrl?: string) {
  const kept = {
    link: undefined as URL | undefined,
    tokens: undefined as Tokens,
    client: undefined as Known,
  };
  let verifier = '';
  let discovered: Discovered;
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
    saveDiscoveryState(state) {
      discovered = state;
    },
    discoveryState: () => discovered,
    invalidateCredentials(which) {
      if (which === 'tokens') kept.tokens = undefined;
    },
  };
  return { provider, kept };
}
type Discovered = Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>;
export const withoutRefresh = ({ refresh_token: _, ...tokens }: NonNullable<Tokens>) => tokens;
type Known = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;

/** A browser follows the link. @returns the address to which the service sends it */
export async function inSandbox(link: URL): Promise<URL> {
  const answer = await fetch(link, { redirect: 'manual', headers: { accept: 'text/html' } });
  return new URL(answer.headers.get('location') ?? `about:${answer.status}`);
}

/** A person follows the link to the consent page, looks at the request, and approves it. */
export async function approved(service: Listening, link: URL): Promise<URL> {
  const page = await inSandbox(link);
  const person = personOn(service);
  const { request } = (await person.open(page.href)).json();
  expect(request).toMatchObject({ redirectHost: '127.0.0.1:49152', client: { resourceNames: ['Files'] } });
  return new URL((await person.approve(linkParts(page.href).id)).json().redirectTo);
}
