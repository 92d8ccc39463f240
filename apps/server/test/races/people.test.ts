import { describe, test } from 'vitest';
import { authenticator, registerPasskey } from '../app/authenticator.ts';
import { verifyAddress } from '../app/every-caller.ts';
import { authorize, grantTo, openSession, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { hintClaims, newVoucher, personOn } from '../app/person.ts';
import { addSaml, beginSaml, postSaml, responseOf, signed } from '../app/saml-provider.ts';
import { provisionerOf } from '../app/scim.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving();

/** A person whose browser has the consent page open, and who can call either process. */
async function pageOf(acme: Developer, service: Service) {
  const { agentId } = await registerAgent(acme);
  const { id, consentUrl } = await authorize(acme, agentId, { autoApprove: false });
  const person = personOn(service);
  await person.open(consentUrl);
  return { id: String(id), agentId, consentUrl: String(consentUrl), person };
}
type Page = Awaited<ReturnType<typeof pageOf>>;

const approve = ({ service }: Side, { id, person }: Page) => person.on(service).approve(id);
const deny = ({ service }: Side, { id, person }: Page) => person.on(service).deny(id);

const DECIDED = ['200, 410 GONE', '410 GONE, 200'];

test('two approvals on the consent page', () => race({ prepare: pageOf, one: approve, answers: DECIDED }));
test('an approval and a denial on the consent page', () =>
  race({ prepare: pageOf, one: approve, other: deny, answers: DECIDED }));
test('an approval on the page, and a withdrawal', () =>
  race({
    prepare: pageOf,
    one: approve,
    other: ({ acme }, { id }) => acme('DELETE', `/v1/authorize/${id}`),
    answers: ['200, 410 GONE', '410 GONE, 204'],
  }));
test('an approval on the page, and the end of the agent', () =>
  race({
    prepare: pageOf,
    one: approve,
    other: ({ acme }, { agentId }) => acme('DELETE', `/v1/agents/${agentId}`),
    answers: ['200, 204', '410 GONE, 204'],
  }));

/** A person who proves the request by a mailed code. */
async function mailedPage(acme: Developer, service: Service) {
  await verifyAddress(service, acme);
  const voucher = await newVoucher();
  await acme('PATCH', '/v1/me', { consentMode: 'email', consentKeys: [voucher.jwk] });
  const { agentId } = await registerAgent(acme);
  const asked = await authorize(acme, agentId, { autoApprove: false });
  const person = personOn(service);
  const claims = { ...hintClaims(service, acme.developerId, asked), email: 'ada@example.org' };
  await person.open(asked.consentUrl, await voucher.hint(claims));
  return { id: String(asked.id), person };
}
const mail = ({ service }: Side, { id, person }: { id: string; person: Page['person'] }) =>
  person.on(service).call('POST', `/v1/consent/${id}/email`);

test('two requests for a mailed code', () =>
  race({
    prepare: mailedPage,
    one: mail,
    answers: ['201, 201'],
  }));

test('two wrong mailed codes, the last of which ends the session', () =>
  race({
    async prepare(acme, service) {
      const held = await mailedPage(acme, service);
      await mail({ service, acme }, held);
      const wrong = { body: { code: '00000000' } };
      for (let tried = 0; tried < 3; tried += 1) {
        await held.person.call('POST', `/v1/consent/${held.id}/email/verify`, wrong);
      }
      return held;
    },
    one: ({ service }, { id, person }) =>
      person.on(service).call('POST', `/v1/consent/${id}/email/verify`, { body: { code: '00000000' } }),
    answers: ['400 BAD_REQUEST, 401 UNAUTHORIZED', '401 UNAUTHORIZED, 400 BAD_REQUEST'],
  }));

async function withSession(acme: Developer) {
  const held = await grantTo(acme);
  return { ...held, session: String((await openSession(acme)).json().sessionToken) };
}
type Held = Awaited<ReturnType<typeof withSession>>;

const endSession = ({ service }: Side, { session }: Held) =>
  service.calling(session)('DELETE', '/v1/principal/session');
const endOwn = ({ service }: Side, { session, grantId }: Held) =>
  service.calling(session)('DELETE', `/v1/principal/grants/${grantId}`);

test('two ends of a person’s session', () =>
  race({
    prepare: withSession,
    one: endSession,
    answers: ['204, 401 UNAUTHORIZED', '401 UNAUTHORIZED, 204'],
  }));
test('two ends of a grant by its person', () =>
  race({ prepare: withSession, one: endOwn, answers: ['204, 204'] }));
test('the end of a grant by its person, and by its developer', () =>
  race({
    prepare: withSession,
    one: endOwn,
    other: ({ acme }, { grantId }) => acme('DELETE', `/v1/grants/${grantId}`),
    answers: ['204, 204'],
  }));

/** A person whose passkey has answered one challenge, and whose page can send the answer twice. */
async function signedPage(acme: Developer, service: Service) {
  await acme('PATCH', '/v1/me', { consentMode: 'passkey' });
  const { agentId } = await registerAgent(acme);
  const device = authenticator();
  await registerPasskey(acme, device);
  const { id, consentUrl } = await authorize(acme, agentId, { autoApprove: false });
  const person = personOn(service);
  await person.open(consentUrl);
  const options = async () =>
    (await person.call('POST', `/v1/consent/${id}/passkey/options`, { body: {} })).json();
  const answers = [await options(), await options()].map(({ challengeId, publicKey }) => ({
    challengeId,
    response: device.get(publicKey, { counter: 1 }),
  }));
  return { id: String(id), agentId, person, answers };
}
type Signed = Awaited<ReturnType<typeof signedPage>>;
const verify =
  (nth: number) =>
  ({ service }: Side, { id, person, answers }: Signed) =>
    person.on(service).call('POST', `/v1/consent/${id}/passkey/verify`, { body: answers[nth] ?? {} });

test('W1 a passkey and its copy, with one counter', () =>
  race({
    prepare: signedPage,
    one: verify(0),
    other: verify(1),
    answers: ['200, 400 WEBAUTHN_CLONE_SUSPECTED', '400 WEBAUTHN_CLONE_SUSPECTED, 200'],
  }));
test('an answer of a passkey, and its removal', () =>
  race({
    prepare: signedPage,
    one: verify(0),
    other: async ({ acme }) => {
      const listed = await acme('GET', '/v1/webauthn/credentials?principalId=user_42');
      return acme('DELETE', `/v1/webauthn/credentials/${listed.json().credentials[0].id}`);
    },
    answers: ['200, 204', '400 WEBAUTHN_VERIFICATION_FAILED, 204'],
  }));
test('one answer of an authenticator, registered twice', () =>
  race({
    prepare: async (acme: Developer) => {
      const { challengeId, publicKey } = (
        await acme('POST', '/v1/webauthn/register/options', { principalId: 'user_42' })
      ).json();
      return { challengeId, response: authenticator().create(publicKey) };
    },
    one: ({ acme }, body) => acme('POST', '/v1/webauthn/register/verify', body),
    answers: ['201, 400 CHALLENGE_INVALID', '400 CHALLENGE_INVALID, 201'],
  }));

describe('single sign-on', () => {
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
});

describe('setup links', () => {
  const { race } = interleaving(besideProvider());

  const create = (acme: Developer, name = 'Initech') =>
    acme('POST', '/v1/sso/setup-links', {
      name,
      purposes: ['scim'],
      acknowledge: 'all people of the account',
    });

  const post = ({ app }: Service, step: string, payload: object) =>
    app.inject({ method: 'POST', url: `/setup/${step}`, payload });

  async function linked(acme: Developer) {
    const { id, url } = (await create(acme)).json();
    return { id: String(id), link: new URL(String(url)).hash.slice('#link='.length) };
  }

  /** A link that a browser has opened. */
  async function opened(acme: Developer, service: Service) {
    const { id, link } = await linked(acme);
    const { session } = (await post(service, 'open', { link })).json();
    return { id, session: String(session) };
  }

  const open = ({ service }: Side, { link }: { link: string }) => post(service, 'open', { link });
  const revoke = ({ acme }: Side, { id }: { id: string }) => acme('DELETE', `/v1/sso/setup-links/${id}`);

  test('two browsers that open one link', () =>
    race({ prepare: linked, one: open, answers: ['200, 404 NOT_FOUND', '404 NOT_FOUND, 200'] }));

  test('a browser that opens a link, and its revocation', () =>
    race({ prepare: linked, one: open, other: revoke, answers: ['200, 204', '404 NOT_FOUND, 204'] }));

  test('a token that a browser asks for, and the revocation of its link', () =>
    race({
      prepare: opened,
      one: ({ service }, { session }) => post(service, 'token', { session }),
      other: revoke,
      answers: ['200, 204', '404 NOT_FOUND, 204'],
    }));

  test('two links for the last place', () =>
    race({
      prepare: async (acme, { db, clock }) => {
        const { id } = await linked(acme);
        const { developerId } = acme;
        const row = { name: 'Copy', purposes: ['scim'], linkHash: Buffer.from('x'), createdAt: clock() };
        const expiresAt = new Date(clock().getTime() + 60_000);
        const copies = Array.from({ length: 98 }, (_, at) => ({
          ...row,
          developerId,
          id: `${id}${at}`,
          expiresAt,
        }));
        await db.insertInto('setupLinks').values(copies).execute();
      },
      one: ({ acme }) => create(acme),
      answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
    }));
});

const offboard = ({ acme }: Side) => acme('POST', '/v1/principals/user_42/offboard', {});
const of42 = { principalId: 'user_42' };

/** A person with a grant, and a code for another. */
async function withCode(acme: Developer) {
  const held = await grantTo(acme, of42);
  const { code } = await authorize(acme, held.agentId, of42);
  return { ...held, code: String(code) };
}

test('an offboarding of a person, and a request to them', () =>
  race({
    prepare: withCode,
    one: offboard,
    other: ({ acme }, { agentId }) =>
      acme('POST', '/v1/authorize', { agentId, ...of42, scopes: ['calendar:read'] }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));
test('an offboarding of a person, and an exchange of a code of theirs', () =>
  race({
    prepare: withCode,
    one: offboard,
    other: ({ acme }, { agentId, code }) => acme('POST', '/v1/token', { agentId, code }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));
test('an offboarding of a person, and a delegation of a grant of theirs', () =>
  race({
    prepare: withCode,
    one: offboard,
    other: ({ acme }, { agentId, grantToken }) =>
      acme('POST', '/v1/grants/delegate', {
        parentGrantToken: grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      }),
    answers: ['200, 201', '200, 409 PRINCIPAL_INACTIVE'],
  }));
test('an offboarding of a person, and a session for them', () =>
  race({
    prepare: withCode,
    one: offboard,
    other: ({ acme }) => openSession(acme, 'user_42'),
    answers: ['200, 201', '200, 404 NOT_FOUND'],
  }));
test('an offboarding of a person, and a passkey of theirs', () =>
  race({
    async prepare(acme) {
      await grantTo(acme, of42);
      const { challengeId, publicKey } = (await acme('POST', '/v1/webauthn/register/options', of42)).json();
      return { challengeId, response: authenticator().create(publicKey) };
    },
    one: offboard,
    other: ({ acme }, body) => acme('POST', '/v1/webauthn/register/verify', body),
    answers: ['200, 201', '200, 400 CHALLENGE_INVALID'],
    orElse: ['200, 409 PRINCIPAL_INACTIVE'],
  }));
test('an offboarding of a person, and an invitation of theirs to approve', () =>
  race({
    async prepare(acme, service) {
      const directory = await provisionerOf(service, acme);
      const emails = [{ value: 'u42@example.org', primary: true }];
      await directory('POST', '/Users', { userName: 'user_42', externalId: 'crm-7', emails });
    },
    one: ({ acme }) => acme('POST', '/v1/principals/crm-7/offboard', {}),
    other: ({ acme }) => acme('POST', '/v1/approvers', of42),
    answers: ['200, 201', '200, 409 CONFLICT'],
  }));
test('an offboarding of a person, and another id that the directory gives them', () =>
  race({
    async prepare(acme, service) {
      const directory = await provisionerOf(service, acme);
      const { id } = (await directory('POST', '/Users', { userName: 'user_42' })).json();
      return { token: directory.token, id: String(id) };
    },
    one: offboard,
    other: ({ service }, { token, id }) =>
      service.calling(token)('PATCH', `/scim/v2/Users/${id}`, {
        Operations: [{ op: 'replace', path: 'externalId', value: 'crm-7' }],
      }),
    answers: ['200, 200'],
  }));
test('two offboardings of a person', () => race({ prepare: withCode, one: offboard, answers: ['200, 200'] }));
test('an offboarding of a person, and their admission', () =>
  race({
    async prepare(acme) {
      const held = await withCode(acme);
      await acme('POST', '/v1/principals/user_42/offboard', {});
      return held;
    },
    one: ({ acme }) => acme('DELETE', '/v1/principals/user_42/offboarding'),
    other: ({ acme }, { agentId }) =>
      acme('POST', '/v1/authorize', { agentId, ...of42, scopes: ['calendar:read'] }),
    answers: ['204, 201', '204, 409 PRINCIPAL_INACTIVE'],
  }));
