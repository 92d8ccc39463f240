import { test } from 'vitest';
import { expireDueRequests } from '../../src/features/grants/authorization/expire.ts';
import { authorize, endNow, grantTo, openSession, registerAgent } from '../app/flow.ts';
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

/** A grant, two codes for grants that replace it, one for a grant beside it, and a session of its person. */
async function withCodes(acme: Developer) {
  const held = await grantTo(acme);
  const codeOf = async (request: object = {}) => String((await authorize(acme, held.agentId, request)).code);
  const replacesGrantId = held.grantId;
  const session = String((await openSession(acme)).json().sessionToken);
  const [code, another] = [await codeOf({ replacesGrantId }), await codeOf({ replacesGrantId })];
  return { ...held, code, another, beside: await codeOf(), session };
}
type Held = Awaited<ReturnType<typeof withCodes>>;

const exchange = ({ acme }: Side, { code, agentId }: Held) => acme('POST', '/v1/token', { code, agentId });
const exchangeWithKey = ({ service, acme }: Side, { code, agentId }: Held) =>
  send(service, { apiKey: acme.apiKey, url: '/v1/token', body: { code, agentId } });

test('R14 two exchanges of a code that replaces a grant', () =>
  race({
    prepare: withCodes,
    one: exchange,
    answers: ['201, 400 INVALID_GRANT code_used', '400 INVALID_GRANT code_used, 201'],
  }));
test('R14 the exchanges of two requests that replace one grant', () =>
  race({
    prepare: withCodes,
    one: exchange,
    other: ({ acme }, { another, agentId }) => acme('POST', '/v1/token', { code: another, agentId }),
    answers: ['201, 201'],
  }));
test('R14 an exchange that replaces a grant, and the revocation of that grant', () =>
  race({
    prepare: withCodes,
    one: exchange,
    other: ({ acme }, { grantId }) => acme('DELETE', `/v1/grants/${grantId}`),
    answers: ['201, 204'],
  }));
test('R14 an exchange that replaces a grant, and a delegation from that grant', () =>
  race({
    prepare: withCodes,
    one: exchange,
    other: ({ acme }, { grantToken, agentId }) =>
      acme('POST', '/v1/grants/delegate', {
        ...{ parentGrantToken: grantToken, subAgentId: agentId, scopes: ['calendar:read'] },
      }),
    answers: ['201, 201', '201, 400 INVALID_GRANT parent_revoked'],
  }));
test('R14 an exchange that replaces a grant, and a refresh of that grant', () =>
  race({
    prepare: withCodes,
    one: exchange,
    other: ({ acme }, { refreshToken, agentId }) =>
      acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
    answers: ['201, 201', '201, 400 INVALID_GRANT grant_revoked'],
  }));
test('an exchange that replaces a grant, and one beside it with a credential', () =>
  race({
    prepare: withCodes,
    one: ({ acme }, { code, agentId }) =>
      acme('POST', '/v1/token', { code, agentId, credentialFormat: 'vc-jwt' }),
    other: ({ acme }, { beside, agentId }) =>
      acme('POST', '/v1/token', { code: beside, agentId, credentialFormat: 'vc-jwt' }),
    answers: ['201, 201'],
  }));
test('R11 an exchange that replaces a grant, and the end of everything of a person', () =>
  race({
    prepare: withCodes,
    one: exchange,
    other: ({ service }, { session }) => service.calling(session)('DELETE', '/v1/principal/grants'),
    answers: ['201, 200', '400 INVALID_GRANT not_approved, 200'],
  }));
test('R11 an exchange that replaces a grant, and the end of that grant by its person', () =>
  race({
    prepare: withCodes,
    one: exchange,
    other: ({ service }, { session, grantId }) =>
      service.calling(session)('DELETE', `/v1/principal/grants/${grantId}`),
    answers: ['201, 204', '400 INVALID_GRANT not_approved, 204'],
  }));
test('O16 an exchange that replaces a grant, and the end of its agent', () =>
  race({
    prepare: withCodes,
    one: exchange,
    other: ({ acme }, { agentId }) => acme('DELETE', `/v1/agents/${agentId}`),
    answers: ['201, 204', '400 INVALID_GRANT not_approved, 204'],
    orElse: ['400 INVALID_GRANT agent_inactive, 204'],
  }));
test('R14 an exchange with an idempotency key that replaces a grant, and the revocation of that grant', () =>
  race({
    prepare: withCodes,
    one: exchangeWithKey,
    other: ({ acme }, { grantId }) => acme('DELETE', `/v1/grants/${grantId}`),
    answers: ['201, 204'],
  }));
