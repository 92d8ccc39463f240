import { expect, test } from 'vitest';
import { authorize, grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { newClient } from '../app/oauth.ts';
import { LISTENING, newServer, sendForm, tokensOf } from '../app/published.ts';
import { provisionerOf } from '../app/scim.ts';
import { type Developer, startApp } from '../app/start-app.ts';
import { stepping } from '../app/steps.ts';

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

test('O28: no token of a person who comes inactive before the write is exchanged by a resource', async () => {
  const { dbAs, storeAs, walk } = stepping();
  const service = await startApp({ dbAs, storeAs });
  /** Exchanges a token of a person, who comes inactive after one of the steps. */
  async function exchange(stopAfter: number) {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { resource, credential } = await newServer(acme);
    const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
    const wanted = { scope: 'vault:github:read', login_hint: 'ada' };
    const received = (await tokensOf(service, clientId, resource, wanted)).json();
    const directory = await provisionerOf(service, acme);
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: received.access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
    const headers = { authorization: `Bearer ${credential}` };
    const { outcome, steps } = await walk(
      async () => {
        const answer = await sendForm(service, 'token', form, { headers });
        return answer.json().error ?? answer.statusCode;
      },
      stopAfter,
      async () => {
        const created = await directory('POST', '/Users', { userName: 'ada', active: false });
        expect(created.statusCode).toBe(201);
      },
    );
    return { answer: outcome, steps };
  }
  const { answer, steps } = await exchange(0); // after no step
  const write = steps.findIndex((step) => step.includes('write_together'));
  expect([answer, write > 1]).toEqual([200, true]);

  for (let stopAfter = 1; stopAfter <= write; stopAfter += 1) {
    const refused = await exchange(stopAfter);
    expect([steps[stopAfter - 1], refused.answer]).toEqual([steps[stopAfter - 1], 'invalid_grant']);
  }
});
