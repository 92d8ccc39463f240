import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { approverBrowser, enrolWith } from '../../../../test/app/approving.ts';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { authorize, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { addOidc, besideProvider, provision, signOn } from '../../../../test/app/signing-on.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ ...besideProvider(), isShared: true });
});
afterAll(() => service.stop());

interface Following {
  readonly call: (method: 'GET', path: string) => Promise<LightMyRequestResponse>;
}

/** An account whose people have passkeys, and Ada, who has signed in as a program and not in a browser. */
async function startCustomer(consentMode: string) {
  const provider = await startAccountsServer();
  const acme = await service.asDeveloper();
  const org = acme.developerId;
  const connection = await addOidc(acme, provider, { scimManaged: true });
  await provision(service, acme);
  const { sessionId } = await signOn(service, provider, { org });
  await acme('PATCH', '/v1/me', { consentMode });
  const enforce = () => acme('POST', '/v1/sso/enforce', { enforce: true });

  /** Signs a browser in. */
  async function signIn({ call }: Following) {
    const query = new URLSearchParams({ org, connection: connection.id, mode: 'redirect' });
    const sent = await call('GET', `/sso/login?${query}`);
    const back = await provider.visit(String(sent.headers.location));
    return call('GET', back.pathname + back.search);
  }

  /** A request for Ada, at whose page her browser is, with her passkey. */
  async function ask() {
    const device = authenticator();
    await registerPasskey(acme, device, { principalId: 'ada' });
    const { agentId } = await registerAgent(acme);
    const asked = await authorize(acme, agentId, { principalId: 'ada' });
    const person = personOn(service);
    const { id, verification } = (await person.open(String(asked.consentUrl))).json();
    const step = (name: string, body: object) =>
      person.call('POST', `/v1/consent/${id}/passkey/${name}`, { body });
    /** Signs an approval. @returns the state of the page */
    async function prove(decision?: object) {
      const { challengeId, publicKey } = (await step('options', decision ? { decision } : {})).json();
      return (await step('verify', { challengeId, response: device.get(publicKey) })).json().verification;
    }
    /** The method that the grant of this approval tells. */
    async function methodOf(code: string) {
      const { grantId } = (await acme('POST', '/v1/token', { code, agentId })).json();
      return (await acme('GET', `/v1/grants/${grantId}`)).json().consentMethod;
    }
    const approve = async () => (await person.approve(id)).json();
    return { id, person, verification, prove, approve, methodOf };
  }
  return { acme, sessionId: String(sessionId), enforce, signIn, ask };
}

test('M12: a passkey approves nothing alone where sign-on is enforced, and with it the passkey decides', async () => {
  const { enforce, signIn, ask } = await startCustomer('passkey');
  await enforce();
  const { id, person, verification, prove, approve, methodOf } = await ask();

  expect(verification).toMatchObject({ mode: 'passkey', methods: ['passkey', 'sso'], signInHere: true });
  expect(await approve()).toMatchObject({ code: 'FIDO_REQUIRED' });
  expect(await prove()).toMatchObject({ mode: 'passkey', satisfied: false, methods: ['sso'] });
  expect(await approve()).toMatchObject({ code: 'SSO_REQUIRED' });
  await signIn(person);
  expect((await person.see(id)).json().verification).toMatchObject({ mode: 'passkey', satisfied: true });
  const { code } = await approve();
  expect(await methodOf(code)).toBe('passkey');
});

test('M12: a sign-on approves nothing alone where the developer asks for a passkey', async () => {
  const { enforce, signIn, ask } = await startCustomer('passkey');
  await enforce();
  const { person, prove, approve } = await ask();
  await signIn(person);

  expect(await approve()).toMatchObject({ code: 'FIDO_REQUIRED', details: { methods: ['passkey'] } });
  expect(await prove({ scopes: ['calendar:read'], expiresIn: '1h' })).toMatchObject({ satisfied: true });
  expect(await approve()).toMatchObject({ code: 'FIDO_REQUIRED' }); // the passkey signed less
  await prove();
  expect(await approve()).toMatchObject({ status: 'approved' }); // the control
});

test('under `sso` a passkey changes nothing: page and grant say that the sign-on decides', async () => {
  const { acme, signIn, ask } = await startCustomer('sso');
  const { id, person, verification, prove, approve, methodOf } = await ask();
  const unproved = { mode: 'sso', satisfied: false, methods: ['sso'], signInHere: true };

  expect(verification).toEqual(unproved);
  expect(await prove()).toEqual(unproved);
  expect(await approve()).toMatchObject({ code: 'SSO_REQUIRED' });
  await signIn(person);
  expect((await person.see(id)).json().verification).toMatchObject({ mode: 'sso', satisfied: true });
  const { code } = await approve();
  expect(await methodOf(code)).toBe('sso'); // so a signal of the provider ends the grant

  const other = await ask();
  await other.prove();
  const [connection] = (await acme('GET', '/v1/sso/connections')).json().connections;
  await acme('PATCH', `/v1/sso/connections/${connection.id}`, { status: 'testing' });
  expect(await other.approve()).toMatchObject({
    code: 'PRINCIPAL_VERIFICATION_REQUIRED',
    details: { methods: ['sso'] },
  });
});

test('M12: a principal who approves calls needs the sign-on in the browser of each request', async () => {
  const { acme, sessionId, enforce, signIn } = await startCustomer('passkey');
  const directory = await provisionerOf(service, acme);
  const filter = encodeURIComponent('userName eq "ada"');
  const [user] = (await directory('GET', `/Users?filter=${filter}`)).json().Resources;
  await directory('PATCH', `/Users/${user.id}`, {
    Operations: [{ op: 'add', path: 'emails', value: [{ value: 'ada@example.org', primary: true }] }],
  });
  await verifyAddress(service, acme);
  const invited = (await acme('POST', '/v1/approvers', { principalId: 'ada' })).json();
  const mail = service.mails.sent().find(({ text }) => text.includes('#invite='))?.text ?? '';
  const link = invited.link ?? /https?:\S+#invite=\S+/.exec(mail)?.[0];
  const browser = approverBrowser(service);
  const device = authenticator();
  const { answer, handle } = await enrolWith(browser, device, String(link));
  expect(answer.statusCode).toBe(201);
  const isIn = async () => (await browser.call('GET', '/v1/approver/session')).statusCode;
  async function enter() {
    const asked = (await browser.call('POST', '/v1/approver/session/options', { body: {} })).json();
    const response = device.get(asked.publicKey, { userHandle: handle });
    const body = { challengeId: asked.challengeId, response };
    return refusalOf(await browser.call('POST', '/v1/approver/session/verify', { body }));
  }
  expect([await isIn(), await enter()]).toEqual([200, '200']); // the control

  await enforce();

  expect([await isIn(), await enter()]).toEqual([401, '403 SSO_REQUIRED']);
  await signIn(browser);
  expect([await enter(), await isIn()]).toEqual(['200', 200]);
  const { sessions } = (await acme('GET', '/v1/sso/sessions')).json();
  for (const { id } of sessions) if (id !== sessionId) await acme('DELETE', `/v1/sso/sessions/${id}`);
  expect([await isIn(), await enter()]).toEqual([401, '403 SSO_REQUIRED']);
});
