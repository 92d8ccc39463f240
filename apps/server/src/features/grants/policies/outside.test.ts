import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { entriesOf, registerAgent } from '../../../../test/app/flow.ts';
import { countOpen, send } from '../../../../test/app/repeating.ts';
import { newDatabase, startApp } from '../../../../test/app/start-app.ts';
import { loadConfig } from '../../../config.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

/** A decision point on this machine. @returns its address, the questions it got, and a way to change its answer */
async function startPoint(first: Answer) {
  let answer = first;
  const asked: { url: string | undefined; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    asked.push({ url: request.url, body: JSON.parse(await text(request)) });
    await answer(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${Object(server.address()).port}`;
  const answerWith = (next: Answer) => {
    answer = next;
  };
  return { url, asked, answerWith };
}

const saying =
  (body: unknown, status = 200): Answer =>
  (response) =>
    void response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));

async function sandboxOf(env: Readonly<Record<string, string>>) {
  const service = await startApp({ env });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  const ask = () => acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['a:b'] });
  return { acme, agentId, ask };
}

test('OPA is asked after the policies of the developer, and can deny what they allow', async () => {
  const point = await startPoint(saying({ result: { allow: false, reason: 'too late' } }));
  const { acme, agentId, ask } = await sandboxOf({ POLICY_BACKEND: 'opa', OPA_URL: point.url });

  const refused = await ask();
  expect(refused.json()).toMatchObject({ code: 'POLICY_DENIED', details: { policyId: null } });
  expect(point.asked).toEqual([
    {
      url: '/v1/data/behest/authz',
      body: {
        input: {
          agent_id: agentId,
          principal_id: 'user_42',
          scopes: ['a:b'],
          developer_id: acme.developerId,
          operation: 'authorize',
          time: '2026-01-01T00:00:00.000Z',
        },
      },
    },
  ]);
  expect(await entriesOf(acme, 'authorization.blocked')).toMatchObject([
    { metadata: { backend: 'opa', reason: 'too late', policyId: null } },
  ]);

  for (const undecided of [{}, { result: {} }, { result: { allow: true } }]) {
    point.answerWith(saying(undecided));
    expect((await ask()).statusCode).toBe(201);
  }
  const before = point.asked.length;
  await acme('POST', '/v1/policies', { name: 'No', effect: 'deny' });
  expect((await ask()).statusCode).toBe(403);
  expect(point.asked).toHaveLength(before);
});

test('P3: an error, a redirect, a malformed and a large answer deny, unless the operator falls back', async () => {
  const point = await startPoint(saying({}));
  const strict = await sandboxOf({ POLICY_BACKEND: 'opa', OPA_URL: point.url, OPA_PATH: 'a/b' });
  const lenient = await sandboxOf({
    POLICY_BACKEND: 'opa',
    OPA_URL: point.url,
    OPA_FALLBACK_TO_BUILTIN: 'true',
  });
  const troubles: Record<string, Answer> = {
    error: saying({ result: { allow: true } }, 500),
    redirect: (response) => void response.writeHead(302, { location: point.url }).end(),
    'no JSON': saying('allow'),
    'no boolean': saying({ result: { allow: 'true' } }),
    'no object': saying({ result: true }),
    large: saying({ result: { allow: true, reason: 'x'.repeat(262_144) } }),
    'a lost connection': (_, request) => void request.socket.destroy(),
  };

  for (const [trouble, answer] of Object.entries(troubles)) {
    point.answerWith(answer);
    expect({ trouble, status: (await strict.ask()).statusCode }).toEqual({ trouble, status: 403 });
    expect({ trouble, status: (await lenient.ask()).statusCode }).toEqual({ trouble, status: 201 });
  }
  expect(point.asked[0]?.url).toBe('/v1/data/a/b');
  expect((await entriesOf(strict.acme, 'authorization.blocked'))[0]?.metadata).toMatchObject({
    reason: 'backend_unavailable',
  });
});

test('P3: a request with an `Idempotency-Key` waits for the decision point without a database connection', async () => {
  const databaseUrl = await newDatabase();
  const seen: number[] = [];
  const point = await startPoint(async (response) => {
    seen.push(await countOpen(service));
    saying({ result: { allow: false, reason: 'no' } })(response, response.req);
  });
  const env = { POLICY_BACKEND: 'opa', OPA_URL: point.url };
  const service = await startApp({ env, databaseUrl });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  const body = { agentId, principalId: 'user_42', scopes: ['a:b'] };
  const ask = () => send(service, { url: '/v1/authorize', apiKey: acme.apiKey, body });

  expect((await ask()).json().code).toBe('POLICY_DENIED');
  point.answerWith(saying({ result: { allow: true } }));
  const [first, again] = [await ask(), await ask()];

  expect(seen).toEqual([0]);
  expect(first.statusCode).toBe(201);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.body).toBe(first.body);
  expect(point.asked).toHaveLength(2);
  expect(await entriesOf(acme, 'authorization.requested')).toHaveLength(1);
});

test('nothing but a denial of the decision point overrules a policy that requires approval', async () => {
  const point = await startPoint(saying({ result: { allow: true } }));
  const { acme, ask } = await sandboxOf({ POLICY_BACKEND: 'opa', OPA_URL: point.url });
  await acme('POST', '/v1/policies', { name: 'Ask', effect: 'require_approval' });

  expect((await ask()).json()).toMatchObject({ status: 'pending' });
  point.answerWith(saying({ result: { allow: false } }));
  expect((await ask()).json().code).toBe('POLICY_DENIED');
});

test('Cedar is asked with its nouns, and its denials deny', async () => {
  const point = await startPoint(saying({ decision: 'Allow' }));
  const { acme, agentId, ask } = await sandboxOf({ POLICY_BACKEND: 'cedar', CEDAR_URL: point.url });

  expect((await ask()).statusCode).toBe(201);
  expect(point.asked).toMatchObject([
    {
      url: '/v1/is_authorized',
      body: {
        principal: { type: 'Behest::Agent', id: agentId },
        action: { type: 'Behest::Action', id: 'authorize' },
        resource: { type: 'Behest::Grant' },
        context: { principal_id: 'user_42', scopes: ['a:b'] },
      },
    },
  ]);
  point.answerWith(saying({ decision: 'Deny', diagnostics: { reason: ['policy0', 'policy1'] } }));
  expect((await ask()).statusCode).toBe(403);
  const question = { agentId, principalId: 'user_42', scopes: ['a:b'] };
  expect((await acme('POST', '/v1/policies/evaluate', question)).json()).toMatchObject({
    effect: 'deny',
    policyId: null,
    backend: 'cedar',
    reason: 'policy0, policy1',
  });
});

test('the service does not start with a decision point that has no address, or is unknown', () => {
  const start = (env: Readonly<Record<string, string>>) => () =>
    loadConfig({ NODE_ENV: 'test', DATABASE_URL: 'postgres://localhost/x', REDIS_URL: 'memory:', ...env });

  expect(start({ POLICY_BACKEND: 'opa' })).toThrow('POLICY_BACKEND=opa requires OPA_URL');
  expect(start({ POLICY_BACKEND: 'cedar' })).toThrow('POLICY_BACKEND=cedar requires CEDAR_URL');
  expect(start({ POLICY_BACKEND: 'rego' })).toThrow('POLICY_BACKEND must be');
  expect(start({ POLICY_BACKEND: 'opa', OPA_URL: 'http://opa/' })).toThrow(
    'OPA_URL must not end with a slash',
  );
  expect(start({ OPA_PATH: '/behest' })).toThrow('OPA_PATH must be');
});
