import { test } from 'vitest';
import { authorize, grantTo, openSession } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { send } from '../app/repeating.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

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
