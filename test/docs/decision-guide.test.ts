import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { withToolEnforcement } from '@behest/sdk/mcp';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { approverBrowser, enrolApprover, enrolWith, payer } from '../../apps/server/test/app/approving.ts';
import { authenticator } from '../../apps/server/test/app/authenticator.ts';
import { payOnceApproved } from '../../docs/guides/examples/ask-before-paying.ts';
import { blocksOf, listening } from './steps.ts';

const GUIDE = 'docs/guides/ask-a-person-before-the-money-leaves.md';
const passkeys = { FIDO_RP_ID: 'auth.test', FIDO_ORIGIN: 'https://auth.test' };

async function started() {
  const service = await listening(passkeys);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const [manifest = ''] = blocksOf(GUIDE, 'json');
  const { baseUrl } = service;
  const settings = { apiKey: acme.apiKey, baseUrl, allowSandbox: true };
  const behest = new Behest({ ...settings, manifests: [JSON.parse(manifest)] });
  onTestFinished(() => behest.close());
  return { service, acme, agent, ada, behest, manifest };
}

test('the example asks people, pays once they approved, and repeats the payment under its id without asking again', async () => {
  const { acme, agent, ada, behest, manifest } = await started();
  expect((await acme('PUT', '/v1/manifests/acme_bank', JSON.parse(manifest))).statusCode).toBe(200);
  const paid: string[] = [];
  const { grantToken } = agent;
  const payment = { grantToken, callId: 'payment-0001', arguments: { to: 'ACME Ltd' }, summary: 'Rent' };
  const pay = async (_: object, callId: string) => void paid.push(callId);

  const url = await payOnceApproved(behest, payment, pay);
  expect([paid, await payOnceApproved(behest, payment, pay)]).toEqual([[], url]);
  await ada.approve(String(url).split('#decision=')[1] ?? '');
  expect(await payOnceApproved(behest, payment, pay)).toBeUndefined();
  expect(paid).toEqual(['payment-0001']);

  expect(await payOnceApproved(behest, payment, pay)).toBeUndefined(); // as if the bank's answer was lost
  expect(paid).toEqual(['payment-0001', 'payment-0001']);
  const other = await payOnceApproved(behest, { ...payment, callId: 'payment-0002' }, pay);
  expect([other === undefined, other === url, paid.length]).toEqual([false, false, 2]);
  await ada.deny(String(other).split('#decision=')[1] ?? '');
  const refused = payOnceApproved(behest, { ...payment, callId: 'payment-0002' }, pay);
  await expect(refused).rejects.toThrow('The request to approve this payment is denied.');
  const call = { connector: 'acme_bank', tool: 'pay', grantToken, arguments: { to: 'Mallory' } };
  const denied = await behest.enforce({ ...call, decisionGrants: ['x.y.z'] });
  expect([denied.allowed, denied.subReason]).toEqual([false, 'malformed']);
});

test('the commands of the guide register the tool, and invite a person who can enrol', async () => {
  const { service, acme, manifest } = await started();
  const folder = await mkdtemp(join(tmpdir(), 'decision-guide-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'acme_bank.json'), manifest);
  const [register = '', invite = ''] = blocksOf(GUIDE, 'sh');
  const asTold = (commands: string) => service.shell(`cd ${folder}\n${commands}`, { KEY: acme.apiKey });

  expect(JSON.parse(await asTold(register))).toMatchObject({ connector: 'acme_bank', warnings: [] });
  const invited = JSON.parse(await asTold(invite.replace('ada@', 'bob@')));
  const { answer } = await enrolWith(
    approverBrowser(service),
    authenticator({ origin: passkeys.FIDO_ORIGIN, rpId: passkeys.FIDO_RP_ID }),
    invited.link,
  );
  expect(answer.json().approver).toMatchObject({ email: 'bob@example.org', status: 'active' });
});

test('an MCP server asks its client to open the page, runs the same call once it is approved, and does not ask after a refusal', async () => {
  const { agent, ada, behest } = await started();
  const calls: unknown[] = [];
  const server = new Server({ name: 'bank', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [{ name: 'pay', inputSchema: { type: 'object' as const } }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    calls.push(params.arguments);
    return { content: [{ type: 'text', text: 'paid' }] };
  });
  const { grantToken } = agent;
  const decisions = { key: Buffer.alloc(32, 7) };
  withToolEnforcement(server, behest, { connector: 'acme_bank', grantToken, decisions });
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { capabilities: { elicitation: { url: {} } } },
  );
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  const call = () => client.callTool({ name: 'pay', arguments: { to: 'ACME Ltd', amount: '1' } });

  const asked = await call().catch((error: unknown) => Object(error));
  expect(asked).toMatchObject({ code: -32042 });
  const [{ url }] = asked.data.elicitations;
  expect(calls).toEqual([]);
  await ada.approve(String(url).split('#decision=')[1] ?? '');

  expect(await call()).toMatchObject({ content: [{ text: 'paid' }] });
  expect(calls).toEqual([{ to: 'ACME Ltd', amount: '1' }]);
  const second = await call().catch((error: unknown) => Object(error)); // another call, as far as anybody knows
  expect(second).toMatchObject({ code: -32042 });
  await ada.deny(String(second.data.elicitations[0].url).split('#decision=')[1] ?? '');
  const refused = await call();
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.stringify(refused.content)).toContain('A person refused this call.');
  expect([calls.length, (await behest.decisions.list()).decisions.length]).toEqual([1, 2]);
});

test('the guide names the example that it shows', () => {
  const [, shown = ''] = blocksOf(GUIDE, 'ts').join().split('await ');
  const example = readFileSync(
    join(import.meta.dirname, '../../docs/guides/examples/ask-before-paying.ts'),
    'utf8',
  );
  expect(example).toContain(`function ${shown.split('(')[0]}(`);
});
