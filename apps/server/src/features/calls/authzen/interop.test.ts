import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { grantTo, partsOf, startSandbox, usedOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { askWith, discover, follow, newClient, newResource, toPresent } from '../../../../test/app/oauth.ts';

const manifest = {
  $schema: 'x',
  connector: 'acme_mail',
  version: '7',
  tools: { list: 'read', send: { permission: 'write', caps: { per_day: 100 } } },
};

const questionOf = (token: string) => ({
  subject: { type: 'token', id: String(partsOf(token).payload.jti) },
  action: { name: 'send' },
  resource: { type: 'connector', id: 'acme_mail' },
});

/**
 * The questions of the public interoperability scenario of the AuthZEN working group, a list of tasks, with people whom
 * the service does not know. The names of types and actions are those of the scenario.
 */
const PEOPLE = ['rick', 'morty', 'summer', 'beth', 'jerry'];
const UPDATE = 'can_update_todo';
const TASK = UPDATE.slice('can_update_'.length); // the type of a resource, with which the names of its actions end
const tasks = PEOPLE.map((owner) => ({
  type: TASK,
  id: `task-of-${owner}`,
  properties: { ownerID: `${owner}@family.test` },
}));
const asSingle = PEOPLE.flatMap((id) => {
  const subject = { type: 'user', id };
  const of = (name: string, resource: object) => ({ subject, action: { name }, resource });
  return [
    of('can_read_user', { type: 'user', id: 'beth@family.test' }),
    of('can_read_todos', { type: TASK, id: 'task-1' }),
    of('can_create_todo', { type: TASK, id: 'task-1' }),
    ...tasks.flatMap((task) => [of(UPDATE, task), of('can_delete_todo', task)]),
  ];
});
const asGateway = ['GET', 'POST', 'PUT', 'DELETE'].map((name) => ({
  subject: { type: 'identity', id: 'rick', properties: { roles: ['admin'] } },
  action: { name },
  resource: { type: 'route', id: '/todos', properties: {} },
}));

test('the questions of the public scenario are read, and people without a grant are denied', async () => {
  const { acme } = await startSandbox();
  const denied = { decision: false, context: expect.objectContaining({ reason_code: 'token_invalid' }) };

  for (const question of [...asSingle, ...asGateway]) {
    const answer = await acme('POST', '/access/v1/evaluation', question);
    expect([answer.statusCode, answer.json()]).toEqual([200, denied]);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  }
  const [first] = asSingle;
  const together = await acme('POST', '/access/v1/evaluations', {
    subject: first?.subject,
    action: { name: 'can_update_todo' },
    evaluations: tasks.map((resource) => ({ resource })),
  });
  expect([together.statusCode, together.json()]).toEqual([200, { evaluations: tasks.map(() => denied) }]);
  for (const kind of ['subject', 'resource', 'action']) {
    expect((await acme('POST', `/access/v1/search/${kind}`, first)).statusCode).toBe(404);
  }
});

/** The roles of the scenario as scopes: an administrator deletes, editors write, viewers read. */
const ROLES = { rick: 'delete', morty: 'write', summer: 'write', beth: 'read', jerry: 'read' } as const;
const EDITORS = ['rick', 'morty', 'summer'];
const PERMITTED: Readonly<Record<string, readonly string[]>> = {
  can_read_user: PEOPLE,
  can_read_todos: PEOPLE,
  can_create_todo: EDITORS,
  can_update_todo: EDITORS,
  can_delete_todo: ['rick'],
};

test('a point that reads the metadata gets the permits and denials of the scenario, one by one and together', async () => {
  const service = await startListening();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const tools = {
    ...{ can_read_user: 'read', can_read_todos: 'read' },
    ...{ can_create_todo: 'write', can_update_todo: 'write', can_delete_todo: 'delete' },
  };
  await acme('PUT', '/v1/manifests/tasks', { $schema: 'x', connector: 'tasks', tools });
  const audience = 'http://localhost/todos';
  const { credential } = await newResource(acme, audience);
  const metadata = Object(await (await fetch(`${service.url}/.well-known/authzen-configuration`)).json());
  const send = async (endpoint: string, question: object) => {
    const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
    const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(question) });
    return Object(await answer.json());
  };
  const seen: unknown[] = [];
  const expected: unknown[] = [];

  for (const [person, permission] of Object.entries(ROLES)) {
    const asked = { scopes: [`tool:tasks:${permission}`], audience, principalId: person };
    const { jti } = partsOf((await grantTo(acme, asked)).grantToken).payload;
    const about = { subject: { type: 'identity', id: person }, context: { jti } };
    const resource = { type: 'connector', id: 'tasks' };
    const questions = Object.keys(PERMITTED).map((name) => ({ action: { name } }));
    const batch = { ...about, resource, evaluations: questions };
    const together = await send(metadata.access_evaluations_endpoint, batch);
    for (const [each, { action }] of questions.entries()) {
      const alone = await send(metadata.access_evaluation_endpoint, { ...about, resource, action });
      seen.push([person, action.name, alone.decision, together.evaluations[each].decision]);
      const isPermitted = PERMITTED[action.name]?.includes(person);
      expected.push([person, action.name, isPermitted, isPermitted]);
    }
    const other = { ...about, resource, action: { name: 'can_read_todos' } };
    const another = { ...other, subject: { type: 'identity', id: `not-${person}` } };
    expect((await send(metadata.access_evaluation_endpoint, another)).decision).toBe(false);
  }

  expect(metadata.policy_decision_point).toBe(service.url);
  expect(seen).toEqual(expected);
  await service.stop();
});

test('a batch that is longer than what is left of the limit is refused as a whole, and charges no cap', async () => {
  const { acme, calling } = await startSandbox({ env: { RATE_LIMIT_AUTHZEN: '10' } });
  await acme('PUT', '/v1/manifests/acme_mail', manifest);
  const audience = 'http://localhost/mine';
  const { credential } = await newResource(acme, audience);
  const { grantToken, grantId } = await grantTo(acme, { scopes: ['tool:acme_mail:write'], audience });
  const ask = (count: number) => {
    const evaluations = Array.from({ length: count }, () => ({}));
    return calling(credential)('POST', '/access/v1/evaluations', { ...questionOf(grantToken), evaluations });
  };

  const refused = await ask(11);

  expect([refused.statusCode, refused.json().details.rule]).toEqual([429, 'authzen']);
  expect(await usedOf(acme, grantId)).toBe(0);
  expect((await ask(9)).json().evaluations).toHaveLength(9);
  expect(await usedOf(acme, grantId)).toBe(9);
  expect((await ask(1)).statusCode).toBe(429);
});

test('a permit for a bound token names the key, so that the caller compares it with its proof', async () => {
  const service = await startListening({ startsAt: new Date().toISOString() });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('PUT', '/v1/manifests/acme_mail', manifest);
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  const config = await discover(service.url, clientId);
  const { link, checks } = await askWith(config, { scope: 'tool:acme_mail:write' });
  const back = await follow(link);
  toPresent(service);
  const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
  const { access_token: token } = await openid.authorizationCodeGrant(config, back, checks, undefined, {
    DPoP,
  });
  const question = questionOf(token);
  const plain = await grantTo(acme, { scopes: ['tool:acme_mail:write'] });
  const ask = async (body: object) => (await acme('POST', '/access/v1/evaluation', body)).json();

  const permit = await ask(question);

  const { cnf } = partsOf(token).payload;
  expect(cnf.jkt).toMatch(/^[\w-]{43}$/);
  expect([permit.decision, permit.context.cnf]).toEqual([true, cnf]);
  const shown = { ...question.subject, properties: { token } };
  expect((await ask({ ...question, subject: shown })).context.cnf).toEqual(cnf);
  const denial = await ask({ ...question, action: { name: 'purge' } });
  expect([denial.decision, denial.context.cnf]).toEqual([false, undefined]);
  const unbound = await ask(questionOf(plain.grantToken));
  expect([unbound.decision, unbound.context.cnf]).toEqual([true, undefined]);
  await service.stop();
});
