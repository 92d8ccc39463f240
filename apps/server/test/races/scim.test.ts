import { test } from 'vitest';
import { authorize, grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

/** A person who was provisioned, and an agent that holds a grant of theirs, with the code of another. */
async function provisioned(acme: Developer) {
  const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
  const body = { userName: 'ada@acme.test', externalId: 'user_42' };
  const { id } = (await acme.withToken(token)('POST', '/scim/v2/Users', body)).json();
  const held = await grantTo(acme, { scopes: ['calendar:read'] });
  const { code } = await authorize(acme, held.agentId);
  const { agentId: subAgentId } = await registerAgent(acme, 'sub');
  return { ...held, code: String(code), subAgentId, token: String(token), userId: String(id) };
}
type Held = Awaited<ReturnType<typeof provisioned>>;

const deactivate = ({ service }: Side, { token, userId }: Held) =>
  service.calling(token)('PATCH', `/scim/v2/Users/${userId}`, {
    Operations: [{ op: 'replace', path: 'active', value: false }],
  });
const create =
  (userName: string) =>
  ({ service }: Side, { token }: Held) =>
    service.calling(token)('POST', '/scim/v2/Users', { userName });

test('two new people of one name', () =>
  race({
    prepare: provisioned,
    one: create('Grace'),
    other: create('GRACE'),
    answers: ['201, 409', '409, 201'],
  }));

test('two deactivations of a person', () =>
  race({ prepare: provisioned, one: deactivate, answers: ['200, 200'] }));

test('a deactivation, and the exchange of a code', () =>
  race({
    prepare: provisioned,
    one: deactivate,
    other: ({ acme }, { code, agentId }) => acme('POST', '/v1/token', { code, agentId }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));

test('a deactivation, and the exchange of a code that replaces a grant', () =>
  race({
    async prepare(acme) {
      const held = await provisioned(acme);
      const { code } = await authorize(acme, held.agentId, { replacesGrantId: held.grantId });
      return { ...held, code: String(code) };
    },
    one: deactivate,
    other: ({ acme }, { code, agentId }) => acme('POST', '/v1/token', { code, agentId }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));

test('a deactivation, and a refresh', () =>
  race({
    prepare: provisioned,
    one: deactivate,
    other: ({ acme }, { refreshToken, agentId }) =>
      acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));

test('a deactivation, and a delegation', () =>
  race({
    prepare: provisioned,
    one: deactivate,
    other: ({ acme }, { grantToken, subAgentId }) =>
      acme('POST', '/v1/grants/delegate', {
        parentGrantToken: grantToken,
        subAgentId,
        scopes: ['calendar:read'],
        expiresIn: '1h',
      }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));

test('a deactivation, and a request for consent', () =>
  race({
    prepare: provisioned,
    one: deactivate,
    other: ({ acme }, { agentId }) =>
      acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['calendar:read'] }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));
