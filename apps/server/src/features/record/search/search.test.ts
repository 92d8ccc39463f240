import { expect, test } from 'vitest';
import { possessionsOf } from '../../../../test/app/every-route.ts';
import { grantTo, partsOf, refusalOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Call } from '../../../../test/app/start-app.ts';

const start = sharedSandbox();

const found = async (call: Call, q: string) =>
  (await call('GET', `/v1/search?q=${encodeURIComponent(q)}`)).json().results;
const kindsOf = async (call: Call, q: string) =>
  (await found(call, q)).map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`);

/** By the names of the samples. */
const KINDS = {
  agentId: 'agent',
  grantId: 'grant',
  tokenId: 'token',
  authRequestId: 'request',
  decisionId: 'decision',
  entryId: 'entry',
  keyId: 'key',
  policyId: 'policy',
  webhookId: 'webhook',
  deliveryId: 'delivery',
  credentialId: 'credential',
  alertId: 'anomaly',
  approverId: 'approver',
  ssoConnectionId: 'connection',
  scimUserId: 'user',
} as const;

test('an id of any kind is found by one key, and never one of another developer', async () => {
  const { service, acme } = await start();
  const eve = await service.asDeveloper({ mode: 'sandbox' });
  const its = await possessionsOf(acme);
  const known = Object.entries(KINDS).filter(([name]) => its[name] !== undefined);
  expect(known.length).toBeGreaterThan(11);

  for (const [name, kind] of known) {
    const id = String(its[name]);
    expect((await kindsOf(acme, id))[0], name).toBe(`${kind} ${id}`); // a user's id is a principal's too
    expect(await kindsOf(eve, id), name).toEqual([]);
  }
});

test('agents are found by the beginning of a name or by a DID, people by that of an id, entries by their request', async () => {
  const { service, acme } = await start();
  const { agentId, did } = await registerAgent(acme, 'Travel booker');
  await grantTo(acme, { principalId: 'traveller@acme.test' });
  const headers = { authorization: `Bearer ${acme.apiKey}`, 'x-request-id': 'trip-17' };
  await service.app.inject({ method: 'POST', url: '/v1/agents', headers, body: { name: 'Hotels' } });

  const agents = (await found(acme, 'travel b')).filter(({ id }: { id: string }) => id === agentId);
  expect(agents).toEqual([{ kind: 'agent', id: agentId, title: 'Travel booker', hint: 'active' }]);
  expect(await kindsOf(acme, did)).toEqual([`agent ${agentId}`]);
  expect(await found(acme, 'TRAVELLER')).toEqual([
    { kind: 'principal', id: 'traveller@acme.test', title: 'traveller@acme.test', hint: 'grants' },
  ]);
  expect(await found(acme, 'trip-17')).toEqual([
    { kind: 'entry', id: expect.stringMatching(/^alog_/), title: 'agent.created', hint: 'success' },
  ]);
  expect(await found(acme, 'nothing of the kind')).toEqual([]);
});

test('at most twenty results are answered, and no text breaks the search', async () => {
  const { acme } = await start();
  for (let n = 0; n < 12; n += 1) {
    await registerAgent(acme, `crowd ${n}`);
  }

  expect(await found(acme, 'crowd')).toHaveLength(10);
  for (const q of ['%', '_', "'", '\\', 'ag_', 'ag_%', 'did:', '💥', '__proto___1', 'constructor_1']) {
    expect((await acme('GET', `/v1/search?q=${encodeURIComponent(q)}`)).statusCode, q).toBe(200);
  }
  expect(refusalOf(await acme('GET', '/v1/search?q='))).toBe('400 BAD_REQUEST');
  expect(refusalOf(await acme('GET', '/v1/search?q=%00'))).toBe('400 BAD_REQUEST');
});

test('a bound key finds what concerns its agents, and a `runtime` key nothing that it may not read', async () => {
  const { acme } = await start();
  const own = await grantTo(acme);
  const other = await grantTo(acme);
  const jti = String(partsOf(other.grantToken).payload.jti);
  const bound = await acme.asRuntime(own.agentId);
  const runtime = await acme.asRuntime();

  expect(await kindsOf(bound, own.grantId)).toEqual([`grant ${own.grantId}`]);
  expect(await kindsOf(bound, 'travel')).toEqual([`agent ${own.agentId}`]);
  for (const id of [other.agentId, other.did, other.grantId, jti, runtime.keyId, 'user_42']) {
    expect(await kindsOf(bound, id), id).toEqual([]);
  }
  expect(await kindsOf(runtime, jti)).toEqual([`token ${jti}`]);
  expect(await kindsOf(runtime, runtime.keyId)).toEqual([]);
  expect(await kindsOf(runtime, 'user_42')).toEqual([]);
});
