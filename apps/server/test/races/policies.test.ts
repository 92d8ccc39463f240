import { test } from 'vitest';
import { authorize, grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

const deny = ({ acme }: Side) => acme('POST', '/v1/policies', { name: 'Nothing', effect: 'deny' });
const answers = ['201, 201', '403 POLICY_DENIED, 201'];

async function prepared(acme: Developer) {
  const { agentId } = await registerAgent(acme);
  const { code } = await authorize(acme, agentId);
  const { id } = await authorize(acme, agentId, { autoApprove: false });
  return { agentId, code: String(code), id: String(id) };
}

test('an authorization request and a denying policy', () =>
  race({
    prepare: prepared,
    one: ({ acme }, { agentId }) =>
      acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['a:b'] }),
    other: deny,
    answers,
  }));
test('an approval and a denying policy', () =>
  race({
    prepare: prepared,
    one: ({ acme }, { id }) => acme('POST', `/v1/authorize/${id}/approve`, {}),
    other: deny,
    answers: ['200, 201', '403 POLICY_DENIED, 201'],
  }));
test('an exchange and a denying policy', () =>
  race({
    prepare: prepared,
    one: ({ acme }, { agentId, code }) => acme('POST', '/v1/token', { agentId, code }),
    other: deny,
    answers,
  }));
test('a refresh and a denying policy', () =>
  race({
    prepare: (acme) => grantTo(acme),
    one: ({ acme }, { agentId, refreshToken }) =>
      acme('POST', '/v1/token/refresh', { agentId, refreshToken }),
    other: deny,
    answers,
  }));
test('a delegation and a denying policy', () =>
  race({
    prepare: (acme) => grantTo(acme),
    one: ({ acme }, { agentId, grantToken }) =>
      acme('POST', '/v1/grants/delegate', {
        parentGrantToken: grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      }),
    other: deny,
    answers,
  }));
