import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { entriesOf, grantTo } from '../apps/server/test/app/flow.ts';
import { boundToken } from '../apps/server/test/app/oauth.ts';
import { apiGateway } from '../docs/guides/examples/api-gateway.ts';
import { blocksOf, listening } from './docs-steps.ts';

const PAGE = 'docs/guides/put-an-api-gateway-in-front.md';
const AUDIENCE = 'http://localhost:8080';
const post = { method: 'POST', body: 'Ada' };

async function addressOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${Object(server.address()).port}`;
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
  const { shell, asDeveloper, baseUrl } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { id, credential } = JSON.parse(await shell(blocksOf(PAGE, 'sh').join('\n'), { KEY: acme.apiKey }));
  const { upstream, seen } = await startApi();
  const tools = { 'GET /contacts': 'list_contacts', 'POST /contacts': 'add_contact' };
  const options = { credential, upstream, connector: 'crm', tools };
  const gateway = await addressOf(apiGateway({ service: baseUrl, ...options }));
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
  expect(await ask(await boundToken(acme, baseUrl, { resource: AUDIENCE, scope: 'tool:crm:read' }))).toBe(
    '401 proof_missing',
  );
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
