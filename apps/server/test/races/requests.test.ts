import { test } from 'vitest';
import { expireDueRequests } from '../../src/features/grants/authorization/expire.ts';
import { endNow } from '../app/end-now.ts';
import { authorize, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { send } from '../app/repeating.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

async function pending(acme: Developer) {
  const { agentId } = await registerAgent(acme);
  const { id } = await authorize(acme, agentId, { autoApprove: false });
  return { id: String(id), agentId };
}
type Pending = Awaited<ReturnType<typeof pending>>;

const approve = ({ acme }: Side, { id }: Pending) => acme('POST', `/v1/authorize/${id}/approve`, {});
const deny = ({ acme }: Side, { id }: Pending) => acme('POST', `/v1/authorize/${id}/deny`, {});
const cancel = ({ acme }: Side, { id }: Pending) => acme('DELETE', `/v1/authorize/${id}`);

test('two approvals of a request', () =>
  race({
    prepare: pending,
    one: approve,
    answers: ['200, 404 NOT_FOUND', '404 NOT_FOUND, 200'],
  }));
test('two denials of a request', () =>
  race({
    prepare: pending,
    one: deny,
    answers: ['200, 404 NOT_FOUND', '404 NOT_FOUND, 200'],
  }));
test('two withdrawals of a request', () =>
  race({
    prepare: pending,
    one: cancel,
    answers: ['204, 410 GONE', '410 GONE, 204'],
  }));
test('an approval and a denial', () =>
  race({
    prepare: pending,
    one: approve,
    other: deny,
    answers: ['200, 404 NOT_FOUND', '404 NOT_FOUND, 200'],
  }));
test('an approval and a withdrawal', () =>
  race({
    prepare: pending,
    one: approve,
    other: cancel,
    answers: ['200, 410 GONE', '404 NOT_FOUND, 204'],
  }));
test('an approval and the end of the agent', () =>
  race({
    prepare: pending,
    one: approve,
    other: ({ acme }, { agentId }) => acme('DELETE', `/v1/agents/${agentId}`),
    answers: ['200, 204', '404 NOT_FOUND, 204'],
  }));
test('the record of the expiry of a request, and another request', () =>
  race({
    async prepare(acme, service) {
      const held = await pending(acme);
      await endNow(service, 'authRequests', acme);
      return held;
    },
    one: async ({ service }) => void (await expireDueRequests(service)),
    other: ({ service, acme }, { agentId }) =>
      send(service, {
        apiKey: acme.apiKey,
        url: '/v1/authorize',
        body: { agentId, principalId: 'user_42', scopes: ['email:send'] },
      }),
    answers: ['done, 201'],
  }));
test('two processes that record the expiry of a request', () =>
  race({
    async prepare(acme, service) {
      const held = await pending(acme);
      await endNow(service, 'authRequests', acme);
      return held;
    },
    one: async ({ service }) => void (await expireDueRequests(service)),
    answers: ['done, done'],
  }));
