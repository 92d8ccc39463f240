import { test } from 'vitest';
import { grantTo, openSession } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { addSaml, beginSaml, postSaml, responseOf, signed } from '../app/saml-provider.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving(besideProvider());

/** A login that the identity provider has answered, by a person who was provisioned. */
async function answered(acme: Developer, service: Service) {
  const connection = await addSaml(acme, { scimManaged: true });
  const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
  const body = { userName: 'ada', externalId: 'ada@acme.test' };
  const { id } = (await acme.withToken(token)('POST', '/scim/v2/Users', body)).json();
  const { relayState, requestId } = await beginSaml(service, acme.developerId);
  const xml = signed(responseOf(service.clock(), { inResponseTo: requestId, assertionId: '_raced' }));
  return { relayState, xml, token: String(token), userId: String(id), connectionId: String(connection.id) };
}
type Held = Awaited<ReturnType<typeof answered>>;

const land = ({ service }: Side, { xml, relayState }: Held) => postSaml(service, xml, relayState);

test('two answers to one login', () =>
  race({ prepare: answered, one: land, answers: ['200, 400 BAD_REQUEST', '400 BAD_REQUEST, 200'] }));

test('a login, and the deactivation of its person', () =>
  race({
    prepare: answered,
    one: land,
    other: ({ service }, { token, userId }) =>
      service.calling(token)('PATCH', `/scim/v2/Users/${userId}`, {
        Operations: [{ op: 'replace', path: 'active', value: false }],
      }),
    answers: ['200, 200', '403 SSO_USER_INACTIVE, 200'],
  }));

test('a login, and a connection that is made inactive', () =>
  race({
    prepare: answered,
    one: land,
    other: ({ acme }, { connectionId }) =>
      acme('PATCH', `/v1/sso/connections/${connectionId}`, { status: 'inactive' }),
    answers: ['200, 200', '404 NOT_FOUND, 200'],
  }));

test('a session for a principal, and the beginning of enforcement', () =>
  race({
    async prepare(acme, service) {
      const held = await answered(acme, service);
      const { sessionId } = (await postSaml(service, held.xml, held.relayState)).json();
      await acme('DELETE', `/v1/sso/sessions/${sessionId}`);
      await grantTo(acme, { principalId: 'ada@acme.test' });
    },
    one: ({ acme }) => openSession(acme, 'ada@acme.test'),
    other: ({ acme }) => acme('POST', '/v1/sso/enforce', { enforce: true }),
    answers: ['201, 200', '403 SSO_REQUIRED, 200'],
  }));
