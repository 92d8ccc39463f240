import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { memoryMeter } from '@behest/sdk/enforce';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { dispatcherOf } from '../../apps/server/test/app/deliveries.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { firstGrant } from '../../docs/guides/examples/first-grant.ts';
import { calendarApi } from '../../examples/express-api/app.ts';
import { notesOverHttp } from '../../examples/mcp-server/server.ts';
import { limits, type Payment, paymentTool } from '../../examples/payments-agent/agent.ts';
import { webhookReceiver } from '../../examples/webhook-receiver/receiver.ts';
import { freePort } from '../../scripts/machine/ports.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' };
  service = await startListening({ isShared: true, startsAt: new Date().toISOString(), env });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

async function newClient(more: object = {}) {
  const account = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  const settings = { apiKey: account.apiKey, baseUrl: service.url, allowSandbox: true };
  const behest = new Behest({ ...settings, ...more });
  onTestFinished(() => behest.close());
  return { behest, developerId: account.developerId };
}

interface PageOptions {
  readonly scopes: string[];
  readonly [member: string]: unknown;
}

async function newGrant(behest: Behest, wish: PageOptions, userId = 'user_42') {
  const agent = await behest.agents.register({ name: 'Agent', scopes: wish.scopes });
  const { code = '' } = await behest.authorize({ agentId: agent.id, userId, ...wish });
  return behest.tokens.exchange({ code, agentId: agent.id });
}

async function serving(server: Server, port: number) {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

test('each example has a page that names its file', () => {
  const folders = globSync('*/', { cwd: EXAMPLES });
  expect(folders.length).toBe(4);
  for (const folder of folders) {
    const page = readFileSync(join(EXAMPLES, folder, 'README.md'), 'utf8');
    for (const name of globSync('*.{ts,json}', { cwd: join(EXAMPLES, folder) }))
      expect(page).toContain(`](${name})`);
  }
});

test('an MCP client sees and calls what the grant allows', async () => {
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const { behest } = await newClient({ audience: resource });
  const notes = new Map([['n1', 'Buy milk']]);
  await serving(notesOverHttp({ behest, notes, resource, authorizationServer: service.url }), port);
  const { grantToken } = await newGrant(behest, { scopes: ['tool:notes:read'], audience: resource });
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${grantToken}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { requestInit }));
  onTestFinished(() => client.close());
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });

  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['read_note']);
  expect((await call('read_note', { id: 'n1' })).content).toMatchObject([{ text: 'Buy milk' }]);
  await expect(call('write_note', { id: 'n1', text: 'Buy gold' })).rejects.toThrow('SCOPE_INSUFFICIENT');
  expect(await call('read_note', { id: 'n1', as: 'admin' })).toMatchObject({ isError: true });
  expect(notes.get('n1')).toBe('Buy milk');
  expect((await fetch(resource, { method: 'POST' })).headers.get('www-authenticate')).toContain(
    'resource_metadata',
  );
});

test('the Express API serves the person of the token, and refuses what the grant does not allow', async () => {
  const audience = 'https://calendar.example.com';
  const { behest, developerId } = await newClient({ audience });
  const app = calendarApi({ behest, issuer: service.url, developerId, audience, allowSandbox: true });
  const port = await freePort();
  const listening = app.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => void listening.close());
  const scopes = ['calendar:read', 'tool:calendar:write'];
  const ada = await newGrant(behest, { scopes, audience }, 'ada');
  const bob = await newGrant(behest, { scopes: ['calendar:read'], audience }, 'bob');
  const asked = async (token: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    const answer = await fetch(`http://127.0.0.1:${port}/events`, init);
    return [answer.status, await answer.json()];
  };

  const event = { title: 'Dentist', day: '2026-12-01' };
  expect(await asked(ada.grantToken, event)).toEqual([201, event]);
  expect(await asked(ada.grantToken)).toEqual([200, [event]]);
  expect(await asked(bob.grantToken)).toEqual([200, []]);
  expect(await asked(bob.grantToken, event)).toMatchObject([403, { reason_code: 'tool_not_granted' }]);
  expect(await asked(ada.grantToken, { ...event, person: 'bob' })).toMatchObject([403, {}]);
  expect(await asked('no-token')).toMatchObject([401, { code: 'TOKEN_INVALID' }]);
});

test('the payments agent pays within the limits of its grant', async () => {
  const { behest } = await newClient({ meter: memoryMeter() });
  const { grantToken } = await newGrant(behest, limits);
  const paid: Payment[] = [];
  const pay = paymentTool(
    behest,
    async () => grantToken,
    async (payment) => {
      paid.push(payment);
      return 'paid';
    },
  );
  const payment = { to: 'DE02120300000000202051', amount: '499.99', currency: 'EUR' };
  const refusal = (change: object) => pay({ ...payment, ...change }).catch((error: unknown) => Object(error));

  expect(await pay(payment)).toBe('paid');
  expect(await refusal({ amount: '500.01' })).toMatchObject({ details: { scope: 'grant', path: '/amount' } });
  expect(await refusal({ to: 'GB33BUKB20201555555555' })).toMatchObject({
    details: { scope: 'manifest', path: '/to' },
  });
  expect(await refusal({ currency: 'USD' })).toMatchObject({ details: { path: '/currency' } });
  expect(await refusal({ memo: 'x' })).toMatchObject({ details: { rule: 'unlisted' } });
  expect(await pay({ ...payment, amount: '1.00' })).toBe('paid');
  expect(await refusal({})).toMatchObject({
    reasonCode: 'cap_exceeded',
    details: { scope: 'grant', limit: 2 },
  });
  expect(paid).toHaveLength(2);
  const { grantToken: aimless } = await newGrant(behest, { scopes: ['tool:bank:write'] });
  const without = paymentTool(
    behest,
    async () => aimless,
    async () => 'paid',
  );
  await expect(without(payment)).rejects.toMatchObject({ reasonCode: 'purpose_not_allowed' });
});

test('the receiver takes an event of the service once, and nothing that others send', async () => {
  const { behest } = await newClient();
  const events = new Map<string, { type: string }>();
  const [port, secrets] = [await freePort(), [] as string[]];
  const store = (event: { id: string; type: string }) => void events.set(event.id, event);
  const url = await serving(webhookReceiver({ secret: secrets, seen: (id) => events.has(id), store }), port);
  const webhook = await behest.webhooks.create({ url, events: ['grant.revoked'] });
  secrets.push(String(webhook.secret));
  const { grantId } = await newGrant(behest, { scopes: ['calendar:read'] });

  await behest.grants.revoke(grantId);
  await dispatcherOf(service).deliver();

  await vi.waitUntil(() => events.size > 0);
  expect([...events.values()]).toMatchObject([{ type: 'grant.revoked', data: { grantId } }]);
  const forged = { 'webhook-id': 'evt_1', 'webhook-timestamp': `${Math.floor(Date.now() / 1_000)}` };
  const body = JSON.stringify({ id: 'evt_1', type: 'grant.revoked' });
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: { ...forged, 'webhook-signature': 'v1,AAAA' },
  });
  expect([answer.status, events.size]).toEqual([401, 1]);
});

const GUIDES = join(import.meta.dirname, '../../docs/guides');
const linesOf = (code: string) => code.split('\n').map((line) => line.trim());

afterEach(() => void vi.unstubAllEnvs());

test('the lines of the guide bring an agent its first grant', async () => {
  const guide = readFileSync(join(GUIDES, 'quickstart.md'), 'utf8');
  const example = linesOf(readFileSync(join(GUIDES, 'examples/first-grant.ts'), 'utf8')).join('\n');
  const shown = linesOf(/^```ts\n(.*?)\n```/ms.exec(guide)?.[1] ?? '');
  expect(shown.length).toBeGreaterThan(5);
  expect(shown.length).toBeLessThanOrEqual(10);
  expect(example).toContain(shown.join('\n'));

  const service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
  onTestFinished(async () => {
    service.app.server.closeAllConnections();
    await service.stop();
  });
  const { apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  vi.stubEnv('BEHEST_API_KEY', apiKey);
  vi.stubEnv('BEHEST_URL', service.url);
  const decided: Promise<unknown>[] = [];

  const { grant } = await firstGrant((url) => {
    const id = new URL(url).searchParams.get('req') ?? '';
    decided.push(new Behest().authorizations.approve(id));
  });
  await Promise.all(decided);

  expect(grant).toMatchObject({ principalId: 'user_42', scopes: ['calendar:read'], sandbox: true });
});
