import { afterAll, describe, expect, test, vi } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, putProfile, through } from '../../../../test/app/proxy.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

let started: Promise<Service> | undefined;
afterAll(async () => (await started)?.stop());
const start = async () => {
  started ??= startApp({ isShared: true, env: onThisMachine });
  const service = await started;
  return { service, acme: await service.asDeveloper({ mode: 'sandbox' }) };
};

const manifest = {
  $schema: 'https://behest.dev/schemas/manifest-0.6.json',
  connector: 'github',
  tools: {
    read_issue: 'read',
    add_issue: { permission: 'write', caps: { per_day: 5 } },
    case_issue: { permission: 'write', caps: { per_case: 5 } },
    upload: { permission: 'write', requires_decision: true },
  },
};
const tool = (name: string, members: object = {}) => ({ connector: 'github', tool: name, ...members });
const post = { methods: ['POST'] };
const rules = [
  { id: 'read', methods: ['GET'], path: '/issues/{id}', tool: tool('read_issue', { resource: '{id}' }) },
  { id: 'add', ...post, path: '/issues', tool: tool('add_issue', { body: 'json', amount: '/price' }) },
  { id: 'case', ...post, path: '/cases', tool: tool('case_issue', { body: 'none' }) },
  { id: 'stars', methods: ['GET'], path: '/stars', unmapped: true },
];
const ALL = ['vault:github:proxy', 'tool:github:write'];

async function withTools(acme: Developer, request: object = {}) {
  await acme('PUT', '/v1/manifests/github', manifest);
  return proxied(acme, { profile: { rules }, request: { scopes: ALL, ...request } });
}

const add = (service: Service, token: string, body: string, headers: Record<string, string> = {}) =>
  through(service, token, '/issues', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

const usedOf = async (acme: Developer, grantId: string) =>
  (await acme('GET', `/v1/enforce/usage?grantId=${grantId}&connector=github&tool=add_issue`)).json()
    .counters[0].used;

describe('V11: a request that stands for a tool', () => {
  test('is enforced first, and its checked bytes are sent', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await withTools(acme);

    const answer = await add(service, grantToken, '{ "title": "a" }');

    expect(answer.statusCode).toBe(200);
    expect(receiver.received[0]?.body).toBe('{ "title": "a" }');
    const [ruling] = await entriesOf(acme, 'tool.enforce');
    const [called] = await entriesOf(acme, 'vault.proxy.called');
    expect(ruling).toMatchObject({ status: 'success', metadata: { connector: 'github', tool: 'add_issue' } });
    expect(called?.metadata).toMatchObject({ tool: 'github/add_issue', callId: ruling?.metadata.callId });
  });

  test.each([
    ['the vault alone', ['vault:github:proxy'], 'tool_not_granted'],
    ['a level below', ['vault:github:proxy', 'tool:github:read'], 'permission_insufficient'],
    ['another resource', ['vault:github:proxy', 'tool:github:write:other'], 'tool_not_granted'],
  ])('is refused with scopes for %s', async (_, scopes, reasonCode) => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await withTools(acme, { scopes });
    const answer = await add(service, grantToken, '{}');
    expect(refusalOf(answer)).toBe('403 PROXY_DENIED enforcement');
    expect(answer.json().details.details.reason_code).toBe(reasonCode);
    expect(receiver.received).toEqual([]);
  });

  test('is held to the resource in its path, in its decoded form', async () => {
    const { acme, service } = await start();
    const scopes = ['vault:github:proxy', 'tool:github:read:seven'];
    const { grantToken, receiver } = await withTools(acme, { scopes });
    expect((await through(service, grantToken, '/issues/seve%6E')).statusCode).toBe(200);
    expect((await through(service, grantToken, '/issues/eight')).statusCode).toBe(403);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/issues/seve%6E']);
  });

  test('is held to the amount in its body', async () => {
    const { acme, service } = await start();
    const scopes = ['vault:github:proxy', 'tool:github:write:*:capped:100'];
    const { grantToken, receiver } = await withTools(acme, { scopes });
    expect((await add(service, grantToken, '{"price":100}')).statusCode).toBe(200);
    for (const body of ['{"price":101}', '{"price":"1"}', '{}', '{"Price":1}', '{"price":1e2000}', '']) {
      expect((await add(service, grantToken, body)).statusCode, body).toBeGreaterThanOrEqual(400);
    }
    for (const body of ['{"price":1,"price":1000}', '{"price":1,"\\u0070rice":1000}', '{"price":100}}']) {
      expect(refusalOf(await add(service, grantToken, body)), body).toBe('400 BAD_REQUEST');
    }
    expect(receiver.received).toHaveLength(1);
  });

  test('is refused as a form, which the upstream would read differently', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await withTools(acme);
    const body = '{"a":"&price=1000&"}';
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'application/json; charset=utf-16',
      '',
    ]) {
      const answer = await add(service, grantToken, body, { 'content-type': type });
      expect(refusalOf(answer), type).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    }
    expect((await add(service, grantToken, body)).statusCode).toBe(200);
    expect(receiver.received).toHaveLength(1);
  });

  test('has no body where the rule reads none, and no case of its own choice', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await withTools(acme);
    const call = (headers: Record<string, string>, body?: string) =>
      through(service, grantToken, '/cases', { method: 'POST', headers, ...(body && { body }) });
    expect(refusalOf(await call({ 'content-type': 'application/json' }, '{}'))).toBe('400 BAD_REQUEST');
    const answer = await call({ 'behest-case': 'case-of-the-agent' });
    expect(answer.json().details.details).toMatchObject({ sub_reason: 'invalid_case_id' });
    expect(receiver.received).toEqual([]);
  });

  test('and needs a decision is refused, and no rule may stream its body', async () => {
    const { acme, service } = await start();
    const upload = { id: 'up', ...post, path: '/files', tool: tool('upload', { body: 'json' }) };
    const { grantToken, receiver, origin } = await withTools(acme);
    await putProfile(acme, origin, { rules: [upload] });
    const answer = await through(service, grantToken, '/files', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'behest-decision-grant': 'a.b.c' },
      body: '{}',
    });
    expect(answer.json().details.details.reason_code).toBe('decision_required');
    expect(receiver.received).toEqual([]);
    const streamed = { ...upload, tool: tool('upload', { body: 'stream' }) };
    expect(refusalOf(await putProfile(acme, origin, { rules: [streamed] }))).toBe('400 BAD_REQUEST');
  });
});

describe('a grant with entries for tools', () => {
  const details = (connector: string) => ({
    authorizationDetails: [{ type: 'urn:service:tools:v1', connector, caps: { add_issue: { per_day: 2 } } }],
  });

  test('uses mapped rules of the connectors that it names, and no others', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await withTools(acme, details('github'));
    expect(refusalOf(await through(service, grantToken, '/stars'))).toBe('403 PROXY_DENIED unmapped');
    expect((await add(service, grantToken, '{}')).statusCode).toBe(200);
    const other = await withTools(acme, {
      scopes: [...ALL, 'tool:acme_mail:write'],
      ...details('acme_mail'),
    });
    expect(refusalOf(await add(service, other.grantToken, '{}'))).toBe('403 PROXY_DENIED unmapped');
    expect([receiver.received.length, other.receiver.received.length]).toEqual([1, 0]);
    const free = await withTools(acme);
    expect((await through(service, free.grantToken, '/stars')).statusCode).toBe(200);
  });

  test('is held to its caps, also by one `Idempotency-Key` for all calls', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await withTools(acme, details('github'));
    const headers = { 'idempotency-key': 'the-same-for-all' };
    const answers = [];
    for (let each = 0; each < 4; each += 1) answers.push(await add(service, grantToken, '{}', headers));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 403, 403]);
    expect(receiver.received).toHaveLength(2);
  });

  test('passes its limits on to a delegated grant', async () => {
    const { acme, service } = await start();
    const { grantToken } = await withTools(acme, details('github'));
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'Sub' })).json();
    const body = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ALL };
    const child = (await acme('POST', '/v1/grants/delegate', body)).json();
    expect(refusalOf(await through(service, child.grantToken, '/stars'))).toBe('403 PROXY_DENIED unmapped');
    const answers = [];
    for (let each = 0; each < 3; each += 1) answers.push(await add(service, child.grantToken, '{}'));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 403]);
  });
});

describe('units', () => {
  test('twenty calls at once against a cap of five send five', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver, grantId } = await withTools(acme);
    const answers = await Promise.all(Array.from({ length: 20 }, () => add(service, grantToken, '{}')));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(5);
    expect(receiver.received).toHaveLength(5);
    expect(await usedOf(acme, grantId)).toBe(5);
  });

  test('are given back when no connection was made, and kept after a connection', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver, grantId } = await withTools(acme);
    receiver.answer((request) => request.socket.destroy());
    expect(refusalOf(await add(service, grantToken, '{}'))).toBe('502 UPSTREAM_ERROR connect');
    expect(await usedOf(acme, grantId)).toBe(1);
    receiver.server.close();
    expect(refusalOf(await add(service, grantToken, '{}'))).toBe('502 UPSTREAM_ERROR connect');
    expect(await usedOf(acme, grantId)).toBe(1);
    const { calls } = (await acme('GET', '/v1/vault/proxy/calls')).json();
    await vi.waitFor(async () => expect(calls).toHaveLength(2));
  });
});
