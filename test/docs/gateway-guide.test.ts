import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createVerifier } from '@behest/sdk/verify';
import { expect, onTestFinished, test } from 'vitest';
import { entriesOf, grantTo } from '../../apps/server/test/app/flow.ts';
import { boundToken } from '../../apps/server/test/app/oauth.ts';
import { apiGateway, proofsAt, type Shown } from '../../docs/guides/examples/api-gateway.ts';
import { blocksOf, listening } from './steps.ts';

const PAGE = 'docs/guides/put-an-api-gateway-in-front.md';
const AUDIENCE = 'http://localhost:8080';
const post = { method: 'POST', body: 'Ada' };

async function started(audience = AUDIENCE) {
  const { shell, asDeveloper, baseUrl } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const commands = blocksOf(PAGE, 'sh').join('\n').replaceAll(AUDIENCE, audience);
  const { id, credential } = JSON.parse(await shell(commands, { KEY: acme.apiKey }));
  const { upstream, seen } = await startApi();
  const tools = {
    'GET /contacts': 'list_contacts',
    'POST /contacts': 'add_contact',
    'DELETE /contacts': 'add_contact',
  };
  const options = { credential, upstream, connector: 'crm', tools };
  const gateway = await addressOf(apiGateway({ service: baseUrl, ...options }));
  return { acme, baseUrl, id, options, gateway, seen };
}

async function addressOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${Object(server.address()).port}`;
}

/** The answer to bytes that no client of HTTP would send. */
async function sendRaw(address: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.write(lines.join('\r\n'));
  return text(socket);
}

/** The API behind the gateway. It says what it was sent. */
async function startApi() {
  const seen: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    seen.push({ url: request.url, headers: request.headers, body });
    response.writeHead(request.method === 'POST' ? 201 : 200).end('contacts');
  });
  return { upstream: await addressOf(server), seen };
}

test('the gateway of the guide sends on what the service permits, and nothing else', async () => {
  const { acme, id, options, gateway, seen } = await started();
  const ask = async (token: string, path = '/contacts', request: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${gateway}${path}`, { ...request, headers });
    const text = await answer.text();
    return answer.ok ? `${answer.status} ${text}` : `${answer.status} ${JSON.parse(text).reason}`;
  };
  const reader = await grantTo(acme, { scopes: ['tool:crm:read'], audience: AUDIENCE });
  const writer = await grantTo(acme, { scopes: ['tool:crm:write'], audience: AUDIENCE });
  const elsewhere = await grantTo(acme, { scopes: ['tool:crm:read'] });

  expect(await ask(reader.grantToken, '/contacts?page=2')).toBe('200 contacts');
  expect(await ask(writer.grantToken, '/contacts', post)).toBe('201 contacts');
  expect(seen.map(({ url, body }) => [url, body])).toEqual([
    ['/contacts?page=2', ''],
    ['/contacts', 'Ada'],
  ]);
  for (const { headers } of seen) expect(headers).not.toHaveProperty('authorization');
  expect(await ask(reader.grantToken, '/contacts', post)).toBe('403 permission_insufficient');
  expect(await ask('')).toBe('401 token_missing');
  expect(await ask(elsewhere.grantToken)).toBe('401 token_invalid');
  expect(await ask(reader.grantToken, '/secrets')).toBe('404 no_such_route');
  expect(await ask('a.e30.c')).toBe('401 token_invalid');
  expect(await ask('a.b.c')).toBe('401 token_invalid');
  await acme('DELETE', `/v1/grants/${reader.grantId}`);
  expect(await ask(reader.grantToken)).toBe('401 grant_revoked');
  const closed = await addressOf(apiGateway({ service: 'http://127.0.0.1:9', ...options }));
  const headers = { authorization: `Bearer ${writer.grantToken}` };
  const unanswered = await fetch(`${closed}/contacts`, { ...post, headers });
  expect(unanswered.status).toBe(503);
  expect(seen).toHaveLength(2);
  const marked = (await entriesOf(acme, 'tool.enforce')).filter(({ metadata }) => metadata.pep === id);
  expect(marked.map(({ metadata }) => metadata.via)).toContain('authzen');
});

test('no request ends the gateway, and none reaches the API as two', async () => {
  const audience = 'http://localhost:8081';
  const { acme, gateway, seen } = await started(audience);
  const { grantToken } = await grantTo(acme, { scopes: ['tool:crm:read', 'tool:crm:write'], audience });
  const authorization = `Authorization: Bearer ${grantToken}`;
  const ends = ['Host: gateway', 'Connection: close', '', ''];

  for (const target of ['//', 'http://a:99999/', 'http://[', '/\\']) {
    expect(await sendRaw(gateway, [`GET ${target} HTTP/1.1`, ...ends])).toMatch(/^HTTP\/1.1 40[04] /);
  }
  expect(seen).toEqual([]);
  const hidden = 'GET /secrets HTTP/1.1\r\nHost: api\r\n\r\n';
  const framed = [
    'Transfer-Encoding: chunked',
    'Connection: close, Transfer-Encoding, X-Hop',
    'X-Hop: 1',
    'TE: trailers',
  ];
  const body = [hidden.length.toString(16), hidden, '0', '', ''];
  const answer = await sendRaw(gateway, [
    'DELETE /contacts HTTP/1.1',
    ...['Host: gateway', authorization, ...framed, '', ...body],
  ]);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(seen.map(({ url, body: sent }) => [url, sent])).toEqual([['/contacts', hidden]]);
  expect(seen[0]?.headers).not.toHaveProperty('x-hop');
  expect(seen[0]?.headers).not.toHaveProperty('te');
});

test('a token that is bound to a key passes with its proof, where the gateway looks at proofs', async () => {
  const audience = 'http://localhost:8082';
  const { acme, baseUrl, options, gateway, seen } = await started(audience);
  const { token, show } = await boundToken(acme, baseUrl, { resource: audience, scope: 'tool:crm:read' });
  const verifier = createVerifier({
    jwksUri: `${baseUrl}/.well-known/jwks.json`,
    ...{ developerId: acme.developerId, audience, allowSandbox: true },
  });
  let proving = '';
  const used = new Set<string>();
  const isUsed = (id: string) => used.has(id) || !used.add(id);
  const isProved = (shown: Shown) => proofsAt(proving, verifier, isUsed)(shown);
  proving = await addressOf(apiGateway({ service: baseUrl, ...options, isProved }));
  const ask = async (address: string) => (await show(`${address}/contacts`)).status;

  expect(await ask(proving)).toBe(200);
  expect(await ask(gateway)).toBe(401);
  const bare = await fetch(`${proving}/contacts`, { headers: { authorization: `Bearer ${token}` } });
  expect([bare.status, await bare.json()]).toEqual([401, { reason: 'proof_missing' }]);
  expect(seen).toHaveLength(1);
});
