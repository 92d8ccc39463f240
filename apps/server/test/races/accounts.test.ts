import { randomUUID } from 'node:crypto';
import { describe, test } from 'vitest';
import { tokenIn } from '../app/every-caller.ts';
import { registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { NEW_AGENT, send } from '../app/repeating.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving({ env: { PLAN_FREE_AGENTS: '3' } });

const nothing = async () => ({});

/** Two `full` keys that were used already, besides the one that calls. */
async function twoKeys(acme: Developer, service: Service) {
  const make = async () => {
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'backend' })).json();
    await service.calling(apiKey)('GET', '/v1/me');
    return { apiKey: String(apiKey), keyId: String(keyId) };
  };
  return { one: await make(), other: await make() };
}
const as = ({ service }: Side, { apiKey }: { apiKey: string }) => service.calling(apiKey);

test('two creations of a key where there is room for one', () =>
  race({
    async prepare(acme) {
      for (let made = 1; made < 19; made += 1) await acme('POST', '/v1/keys', { name: `key ${made}` });
      return {};
    },
    one: ({ acme }) => acme('POST', '/v1/keys', { name: 'last' }),
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));

test('two rotations of a key', () =>
  race({
    prepare: nothing,
    one: ({ acme }) => acme('POST', '/v1/keys/rotate', { graceSeconds: 60 }),
    answers: ['200, 401 UNAUTHORIZED', '401 UNAUTHORIZED, 200'],
  }));

test('two revocations of a key', () =>
  race({
    prepare: twoKeys,
    one: ({ acme }, { one }) => acme('DELETE', `/v1/keys/${one.keyId}`),
    answers: ['204, 204'],
  }));

test('the last two keys, each of which revokes the other', () =>
  race({
    async prepare(acme, service) {
      const held = await twoKeys(acme, service);
      const { keys } = (await acme('GET', '/v1/keys')).json();
      const first = keys.find(({ current }: { current?: boolean }) => current);
      await acme('DELETE', `/v1/keys/${first.keyId}`);
      return held;
    },
    one: (side, { one, other }) => as(side, one)('DELETE', `/v1/keys/${other.keyId}`),
    other: (side, { one, other }) => as(side, other)('DELETE', `/v1/keys/${one.keyId}`),
    answers: ['204, 401 UNAUTHORIZED', '401 UNAUTHORIZED, 204'],
    orElse: ['204, 409 CONFLICT', '409 CONFLICT, 204'],
  }));

test('a rotation of a key, and its revocation', () =>
  race({
    prepare: twoKeys,
    one: (side, { one }) => as(side, one)('POST', '/v1/keys/rotate', { graceSeconds: 60 }),
    other: ({ acme }, { one }) => acme('DELETE', `/v1/keys/${one.keyId}`),
    answers: ['200, 204', '401 UNAUTHORIZED, 204'],
  }));

/** The answer to a key in a process that used it before. It remembers no key for which a change was published. */
const answerTo = async (side: Side, key: { apiKey: string }) =>
  (await as(side, key)('GET', '/v1/me')).statusCode;

test('a revocation of a key, and a use of it, which is the last', () =>
  race({
    prepare: twoKeys,
    one: ({ acme }, { one }) => acme('DELETE', `/v1/keys/${one.keyId}`),
    other: (side, { one }) => as(side, one)('GET', '/v1/me'),
    answers: ['204, 200', '204, 401 UNAUTHORIZED'],
    look: (side, { one }) => answerTo(side, one),
  }));

test('a rotation of a key without overlap, and a use of the key, which is the last', () =>
  race({
    prepare: twoKeys,
    one: (side, { one }) => as(side, one)('POST', '/v1/keys/rotate', { graceSeconds: 0 }),
    other: (side, { one }) => as(side, one)('GET', '/v1/me'),
    answers: ['200, 200', '200, 401 UNAUTHORIZED'],
    look: (side, { one }) => answerTo(side, one),
  }));

test('two changes of an account', () =>
  race({
    prepare: nothing,
    one: ({ acme }) => acme('PATCH', '/v1/me', { redirectUris: ['https://acme.test/one'] }),
    other: ({ acme }) => acme('PATCH', '/v1/me', { redirectUris: ['https://acme.test/other'] }),
    answers: ['200, 200'],
  }));

test('two registrations of agents where there is room for one', () =>
  race({
    async prepare(acme) {
      await registerAgent(acme);
      await registerAgent(acme);
      return {};
    },
    one: ({ acme }) => acme('POST', '/v1/agents', { name: 'Third' }),
    answers: ['201, 402 PLAN_LIMIT_EXCEEDED', '402 PLAN_LIMIT_EXCEEDED, 201'],
  }));

test('two revocations of an agent', () =>
  race({
    prepare: (acme) => registerAgent(acme),
    one: ({ acme }, { agentId }) => acme('DELETE', `/v1/agents/${agentId}`),
    answers: ['204, 204'],
  }));

test('a change of an agent, and its revocation', () =>
  race({
    prepare: (acme) => registerAgent(acme),
    one: ({ acme }, { agentId }) => acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' }),
    other: ({ acme }, { agentId }) => acme('DELETE', `/v1/agents/${agentId}`),
    answers: ['200, 204', '409 AGENT_INACTIVE, 204'],
  }));

test('two suspensions of an agent', () =>
  race({
    prepare: (acme) => registerAgent(acme),
    one: ({ acme }, { agentId }) => acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' }),
    answers: ['200, 200'],
  }));

/** The secret of a link to an address. */
async function linkTo(acme: Developer, { mails }: Service, email = `${randomUUID()}@acme.test`) {
  await acme('POST', '/v1/signup/verify', { email });
  return tokenIn(mails);
}
const press = ({ app }: Service, token: string) =>
  app.inject({ method: 'POST', url: `/v1/signup/verify/${token}`, headers: { accept: 'application/json' } });

test('two uses of a link to an address', () =>
  race({
    prepare: (acme, service) => linkTo(acme, service),
    one: ({ service }, token) => press(service, token),
    answers: ['200, 200'],
  }));

test('two accounts that verify one address', () =>
  race({
    async prepare(acme, service) {
      const email = `${randomUUID()}@acme.test`;
      const stranger = await service.asDeveloper();
      return [await linkTo(acme, service, email), await linkTo(stranger, service, email)] as const;
    },
    one: ({ service }, [own]) => press(service, own),
    other: ({ service }, [, theirs]) => press(service, theirs),
    answers: ['200, 409 EMAIL_TAKEN', '409 EMAIL_TAKEN, 200'],
  }));

test('the use of a link, and a request for the next', () =>
  race({
    prepare: (acme, service) => linkTo(acme, service),
    one: ({ service }, token) => press(service, token),
    other: ({ acme }) => acme('POST', '/v1/signup/verify', { email: `${randomUUID()}@acme.test` }),
    answers: ['200, 201', '404 NOT_FOUND, 201'],
  }));

test('two requests with one idempotency key', () =>
  race({
    prepare: nothing,
    one: ({ service, acme }) => send(service, { apiKey: acme.apiKey, body: NEW_AGENT }),
    answers: ['201, 201'],
    orElse: ['201, 409 IDEMPOTENCY_IN_PROGRESS'],
  }));

test('two different requests with one idempotency key', () =>
  race({
    prepare: nothing,
    one: ({ service, acme }) => send(service, { apiKey: acme.apiKey, body: NEW_AGENT }),
    other: ({ service, acme }) =>
      send(service, { apiKey: acme.apiKey, body: { ...NEW_AGENT, name: 'Other' } }),
    answers: ['201, 409 IDEMPOTENCY_CONFLICT', '409 IDEMPOTENCY_CONFLICT, 201'],
    orElse: ['201, 409 IDEMPOTENCY_IN_PROGRESS', '409 IDEMPOTENCY_IN_PROGRESS, 201'],
  }));

describe('legal holds', () => {
  const { race } = interleaving();

  const place = ({ acme }: Side) => acme('POST', '/v1/compliance/holds', { name: 'Case 7' });
  const close = ({ acme }: Side) => acme('POST', '/v1/me/close', { confirm: acme.developerId });

  test('a legal hold and the close of the account', () =>
    race({
      prepare: async () => ({}),
      one: place,
      other: close,
      answers: ['201, 409 CONFLICT', '401 UNAUTHORIZED, 202'],
    }));
  test('two releases of a legal hold', () =>
    race({
      prepare: async (acme) => ({
        id: String((await acme('POST', '/v1/compliance/holds', { name: '7' })).json().id),
      }),
      one: ({ acme }, { id }) => acme('POST', `/v1/compliance/holds/${id}/release`, {}),
      answers: ['200, 200'],
    }));
});
