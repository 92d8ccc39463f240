import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRequestedDetails } from '@behest/protocol/authorization-details';
import { denialKeys } from '@behest/protocol/enforcement/sentences';
import { Behest } from '@behest/sdk';
import {
  checkArguments,
  ManifestValidationError,
  manifestFromJsonText,
  manifestFromObject,
} from '@behest/sdk/enforce';
import { withToolEnforcement } from '@behest/sdk/mcp';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { approverBrowser, enrolApprover, enrolWith, payer } from '../../apps/server/test/app/approving.ts';
import { ownDomain, startAssertingProvider } from '../../apps/server/test/app/asserting.ts';
import { authenticator } from '../../apps/server/test/app/authenticator.ts';
import { grantTo, partsOf } from '../../apps/server/test/app/flow.ts';
import { besideProvider, registerAt } from '../../apps/server/test/app/signing-on.ts';
import { afterDenial } from '../../docs/guides/examples/after-a-denial.ts';
import { payOnceApproved } from '../../docs/guides/examples/ask-before-paying.ts';
import { checkArchive, checkPack } from '../../docs/guides/examples/check-pack.ts';
import { blocksOf, listening } from './steps.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const guide = (name: string) => textOf(`docs/guides/${name}.md`);
const blocksIn = (name: string, language: string) => blocksOf(`docs/guides/${name}.md`, language);

/** The cells of the table below a heading cell. */
const rowsOf = (name: string, heading: string) => {
  const [, table = ''] =
    new RegExp(`^\\| ${heading} \\|.*\n\\|[-|]+\n((?:\\|.*\n)+)`, 'm').exec(guide(name)) ?? [];
  return table
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll(/^`|`$/g, '')),
    );
};

test('the manifest of the guide loads, and has every key that the guide explains by example', () => {
  const manifest = manifestFromJsonText(blocksIn('write-a-manifest', 'json')[0] ?? '');

  expect(manifest.connector).toBe('acme_pay');
  expect([...manifest.tools.keys()]).toEqual(['get_balance', 'transfer', 'close_account']);
  expect(manifest.warnings).toEqual([]);
});

test('the words of the guide are those of a tool', () => {
  const tool = JSON.parse(blocksIn('write-a-manifest', 'json')[1] ?? '');

  const manifest = manifestFromObject({
    $schema: 'x',
    connector: 'register',
    tools: { lookup_person: tool },
  });

  expect(manifest.tools.get('lookup_person')).toMatchObject(tool);
});

const mistakes = rowsOf('write-a-manifest', 'Mistake');

test.each(mistakes)('the mistake %s is named as the guide says', (mistake, code, path) => {
  const { $schema, connector, tools } = JSON.parse(blocksIn('write-a-manifest', 'json')[0] ?? '');
  const wrong = { ...tools.transfer, ...JSON.parse(`{${mistake}}`) };
  const load = () => manifestFromObject({ $schema, connector, tools: { transfer: wrong } });

  expect(load).toThrow(ManifestValidationError);
  expect(load).toThrow(expect.objectContaining({ code, path }));
});

const calls = rowsOf('write-a-manifest', 'Arguments of the call');

test.each(calls)('the call with %s is answered %s', (sent, answer) => {
  const rules = JSON.parse(blocksIn('write-a-manifest', 'json')[2] ?? '');

  const checked = checkArguments(rules, JSON.parse(sent ?? ''));

  expect(checked.ok ? 'allowed' : checked.subReason).toBe(answer);
});

test('the entry of the guide is one that the service takes', () => {
  const entry = JSON.parse(blocksIn('write-a-manifest', 'json')[3] ?? '');

  expect(readRequestedDetails([entry], ['tool:acme_pay:write'])).toMatchObject({ ok: true });
});

test('the guides have tables for these tests', () => {
  expect([mistakes.length, calls.length]).toEqual([6, 5]);
});

test('F3: the guide to denials and the Python client know every denial of the engine', () => {
  let code = '';
  const inGuide = guide('understand-a-denial')
    .split('\n')
    .flatMap((line) => {
      const [, named = '', subReasons] = /^\| (?:`(\w+)` )?\|([^|]*)\|/.exec(line) ?? [];
      if (subReasons === undefined || named === 'reason_code') return [];
      code = named || code;
      const subs = [...subReasons.matchAll(/`(\w+)`/g)].map(([, sub = '']) => `${code}/${sub}`);
      return subs.length > 0 ? subs : [named].filter(Boolean);
    });
  const python = [
    '_checks',
    '_denials',
    '_arguments',
    '_counting',
    '_details',
    '_narrower',
    '_rules',
    'decisions',
    'enforce',
    'meter',
  ]
    .map((module) => textOf(`clients/python/behest/${module}.py`))
    .join('\n');
  const words = new Set([...python.matchAll(/"(\w+)"/g)].map(([, word]) => word));

  expect(inGuide.sort()).toEqual([...denialKeys].sort());
  const ofService = 'policy_denied'; // the engine in Python asks no policies of the service
  expect(
    denialKeys.flatMap((key) => key.split('/')).filter((word) => !words.has(word) && word !== ofService),
  ).toEqual([]);
});

test.each([
  ['tool_not_granted', 'argument_missing', 'other arguments'],
  ['tool_not_granted', 'tool_scope_missing', 'ask the person'],
  ['cap_exceeded', 'limit_reached', 'wait'],
  ['region_mismatch', null, 'fix'],
  ['token_invalid', null, 'refresh'],
] as const)('after %s %s the program of the guide says %s', (reason_code, sub_reason, step) => {
  expect(afterDenial({ allowed: false, reason_code, sub_reason, details: {} })).toBe(step);
  expect(afterDenial({ allowed: true, reason_code: null, sub_reason: null, details: {} })).toBeUndefined();
  expect(textOf('docs/guides/examples/after-a-denial.ts')).toContain(
    (blocksIn('understand-a-denial', 'ts')[0] ?? 'none').trim(),
  );
});

test('an audit, step by step, is counted, exported and proved on another machine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  await grantTo(acme);

  const steps = blocksOf('docs/guides/show-an-auditor-what-happened.md', 'sh').join('\n');
  const told = await shell(`cd "$FOLDER"\n${steps}`, { KEY: acme.apiKey, FOLDER: folder });

  expect(told.trim().split(/\r?\n/)).toEqual([
    '{"total":1,"active":1,"revoked":0,"expired":0}',
    '0',
    'id,grantId,agentId,agentDid',
    'end',
    'whole',
    '1.6.0',
    'ocsf',
    'Entity Management: Create',
    'end',
    'Case 7',
    'erasure',
    '[true,5]',
    '[{"principalId":"user_42"},true]',
  ]);
  const pack = readFileSync(join(folder, 'pack.json'));
  const jwks = JSON.parse(readFileSync(join(folder, 'jwks.json'), 'utf8'));
  expect(checkPack(pack, jwks)).toMatchObject({ isGenuine: true, problem: null, chain: { valid: true } });
  const archive = readFileSync(join(folder, 'evidence.zip'));
  expect(checkArchive(archive, jwks)).toMatchObject({ isGenuine: true, chain: { valid: true } });
  expect(checkArchive(archive.subarray(1), jwks)).toMatchObject({ isGenuine: false, problem: 'malformed' });
  expect(checkPack(pack.subarray(1), jwks)).toMatchObject({ isGenuine: false, problem: 'malformed' });
});

const DOMAIN = 'upstream.test';

test('an identity provider decides, step by step, until somebody here ends the grant', async () => {
  const { shell, asDeveloper, baseUrl, ...service } = await listening(besideProvider().env);
  const acme = await asDeveloper();
  const provider = await startAssertingProvider({ ...service, asDeveloper });
  await ownDomain({ ...service, asDeveloper }, acme, DOMAIN);
  const client = await registerAt(provider, baseUrl);
  const env = { BASE: baseUrl, KEY: acme.apiKey, ISSUER: provider.issuer, DOMAIN, ...client };
  const [trust = '', list = '', show = ''] = blocksOf(
    'docs/guides/let-your-identity-provider-decide.md',
    'sh',
  );

  const [enabled, status, named = ''] = (await shell(`${trust}\n${list}`, env)).trim().split('\n');
  const [AGENT = '', SECRET = ''] = named.split(' ');
  const answerTo = async (ASSERTION: string) =>
    JSON.parse(await shell(show, { BASE: baseUrl, AGENT, SECRET, ASSERTION }));
  const assertion = (claims = {}) => provider.assert(baseUrl, AGENT, { claims });
  const once = await assertion({ scope: 'calendar:read calendar:write mail:send' });
  const token = await answerTo(once);

  expect([enabled, status]).toEqual(['true', 'active']);
  expect(token.scope).toBe('calendar:read calendar:write');
  expect(token.expires_in).toBeGreaterThan(600); // the time is real here
  expect(token.expires_in).toBeLessThanOrEqual(900);
  expect(token).not.toHaveProperty('refresh_token');
  expect(partsOf(token.access_token).payload).toMatchObject({ sub: 'ada@upstream.test', client_id: AGENT });
  expect((await answerTo(await assertion())).scope).toBe('calendar:read');
  expect(await answerTo(once)).toMatchObject({ error: 'invalid_grant', error_description: 'replayed' });
  expect((await answerTo(await provider.assert(baseUrl, 'ag_other'))).error_description).toBe('client');

  const { grantId } = (await acme('GET', '/v1/grants')).json().grants[0];
  await acme('DELETE', `/v1/grants/${grantId}`);
  expect(await answerTo(await assertion())).toMatchObject({
    error: 'access_denied',
    error_description: 'stopped',
  });
  const [stop] = (await acme('GET', '/v1/sso/id-jag/stops')).json().stops;
  expect((await acme('DELETE', `/v1/sso/id-jag/stops/${stop.id}`)).statusCode).toBe(204);
  expect((await answerTo(await assertion())).scope).toBe('calendar:read');
});

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
