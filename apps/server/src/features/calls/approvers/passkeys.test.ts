import { expect, test } from 'vitest';
import { approverBrowser, enrolApprover, payer } from '../../../../test/app/approving.ts';
import { type Authenticator, authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { startApp } from '../../../../test/app/start-app.ts';

type Approver = Awaited<ReturnType<typeof enrolApprover>>;

/** Makes a further passkey with a device. */
async function add({ browser }: Approver, device: Authenticator, fault: object = {}) {
  const asked = await browser.call('POST', '/v1/approver/passkeys/options', { body: {} });
  if (asked.statusCode !== 200) return asked;
  const { challengeId, publicKey } = asked.json();
  const body = { challengeId, response: device.create(publicKey, fault) };
  const headers = { 'accept-language': 'de' };
  return browser.call('POST', '/v1/approver/passkeys/verify', { body, headers });
}

const passkeysOf = async ({ browser }: Approver) =>
  (await browser.call('GET', '/v1/approver/passkeys')).json().passkeys;

test('W3: a person adds a second passkey within five minutes of the first, decides with it, and removes the lost one', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await verifyAddress(service, acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const agent = await payer(acme);
  const [first] = await passkeysOf(ada);
  const device = authenticator();

  service.advance(300);
  const late = await add(ada, device);
  expect([late.statusCode, late.json().details]).toEqual([403, { sub_reason: 'session_too_old' }]);
  await ada.signIn();
  service.advance(299.999);
  const added = await add(ada, device);

  expect(added.json()).toEqual({
    ...{ id: expect.stringMatching(/^cred_/), status: 'active', transports: expect.any(Array) },
    ...{ createdAt: service.clock().toISOString(), lastUsedAt: null },
  });
  const subject = 'Ein weiterer Passkey entscheidet für Sie';
  expect(service.mails.sent()).toContainEqual(expect.objectContaining({ to: 'ada@example.org', subject }));
  const elsewhere = { ...ada, browser: approverBrowser(service), device };
  const asked = await elsewhere.browser.call('POST', '/v1/approver/session/options', { body: {} });
  const { challengeId, publicKey } = asked.json();
  const response = device.get(publicKey, { userHandle: ada.handle });
  const body = { challengeId, response };
  expect((await elsewhere.browser.call('POST', '/v1/approver/session/verify', { body })).statusCode).toBe(
    200,
  );
  const { decisionId, actionHash } = (await agent.ask()).json();
  const at = `/v1/approver/decisions/${decisionId}`;
  const signing = (await elsewhere.browser.call('POST', `${at}/options`, { body: {} })).json();
  const assertion = { challengeId: signing.challengeId, response: device.get(signing.publicKey) };
  const approval = { body: { actionHash, assertion } };
  expect((await elsewhere.browser.call('POST', `${at}/approve`, approval)).statusCode).toBe(200);

  const remove = (id: string) => elsewhere.browser.call('DELETE', `/v1/approver/passkeys/${id}`);
  expect((await remove('cred_01K9Z3QW5M8T2V4X6Y7Z8A9B0C')).statusCode).toBe(404);
  expect((await remove(first.id)).statusCode).toBe(204);
  expect((await ada.browser.call('GET', '/v1/approver/session')).statusCode).toBe(401);
  expect((await ada.signIn()).statusCode).toBe(401);
  const last = await remove(added.json().id);
  expect([last.statusCode, last.json().details]).toEqual([409, { sub_reason: 'last_passkey' }]);
  const told = { approverId: ada.approverId, actor: `approver:${ada.approverId}` };
  for (const [action, credentialId] of [
    ['approver.passkey_added', added.json().id],
    ['approver.passkey_removed', first.id],
  ]) {
    expect(await entriesOf(acme, action)).toMatchObject([{ metadata: { ...told, credentialId } }]);
  }
});

test('W3: beside a passkey that may have a copy, the last good one stays', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const [good] = await passkeysOf(ada);
  const { id: suspect } = (await add(ada, authenticator())).json();
  await service.db
    .updateTable('passkeys')
    .set({ status: 'suspect' })
    .where('developerId', '=', acme.developerId)
    .where('id', '=', suspect)
    .execute();
  const remove = (id: string) => ada.browser.call('DELETE', `/v1/approver/passkeys/${id}`);

  const refused = await remove(good.id);

  expect([refused.statusCode, refused.json().details]).toEqual([409, { sub_reason: 'last_passkey' }]);
  expect((await remove(suspect)).statusCode).toBe(204);
});

test('W3: a passkey of another person’s challenge, a known one and an eleventh one are not added', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const begun = (await bob.browser.call('POST', '/v1/approver/passkeys/options', { body: {} })).json();
  const body = { challengeId: begun.challengeId, response: authenticator().create(begun.publicKey) };

  const foreign = await ada.browser.call('POST', '/v1/approver/passkeys/verify', { body });
  expect(refusalOf(foreign)).toContain('CHALLENGE_INVALID');
  expect((await bob.browser.call('POST', '/v1/approver/passkeys/verify', { body })).statusCode).toBe(201);
  const again = await bob.browser.call('POST', '/v1/approver/passkeys/verify', { body });
  expect(refusalOf(again)).toContain('CHALLENGE_INVALID');
  expect(
    (await bob.browser.call('DELETE', `/v1/approver/passkeys/${(await passkeysOf(ada))[0].id}`)).statusCode,
  ).toBe(404);
  for (let more = 2; more <= 10; more += 1) expect((await add(ada, authenticator())).statusCode).toBe(201);
  expect((await add(ada, authenticator())).statusCode).toBe(409);
  expect(await passkeysOf(ada)).toHaveLength(10);
});

const idsOf = (credentials: readonly { readonly id: string }[]) => credentials.map(({ id }) => id);
const WRONG_PASSKEY = [400, 'WEBAUTHN_VERIFICATION_FAILED', { check: 'credential' }];

/** An approver, and a principal of the account with the same id and a passkey of their own. */
async function startNamesakes() {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const principalId = ada.approverId;
  const device = authenticator();
  const { id: passkeyId } = await registerPasskey(acme, device, { principalId });
  return { service, acme, agent, ada, principalId, device, passkeyId: String(passkeyId) };
}

test('W1: a passkey of an approver counts for no principal, not even one of the same id', async () => {
  const { service, acme, ada, principalId, device, passkeyId } = await startNamesakes();
  const [own] = await passkeysOf(ada);
  await acme('PATCH', '/v1/me', { consentMode: 'passkey' });
  const { agentId } = await registerAgent(acme);
  const { id, consentUrl } = await authorize(acme, agentId, { principalId, autoApprove: false });
  const person = personOn(service);
  await person.open(consentUrl);
  const prove = (step: string, body: object) =>
    person.call('POST', `/v1/consent/${id}/passkey/${step}`, { body });
  const show = async (by: Authenticator) => {
    const { challengeId, publicKey } = (await prove('options', {})).json();
    const answer = await prove('verify', { challengeId, response: by.get(publicKey) });
    return { offered: idsOf(publicKey.allowCredentials), answer };
  };
  const begun = (await ada.browser.call('POST', '/v1/approver/passkeys/options', { body: {} })).json();
  const made = { challengeId: begun.challengeId, response: authenticator().create(begun.publicKey) };

  const { offered, answer } = await show(ada.device);
  const listed = await acme('GET', `/v1/webauthn/credentials?principalId=${principalId}`);
  const renamed = await acme('PATCH', `/v1/webauthn/credentials/${own.id}`, { deviceName: 'Mine' });
  const removed = await acme('DELETE', `/v1/webauthn/credentials/${own.id}`);
  const stored = await acme('POST', '/v1/webauthn/register/verify', made);

  expect(offered).toEqual([device.credentialId]);
  expect([answer.statusCode, answer.json().code, answer.json().details]).toEqual(WRONG_PASSKEY);
  expect(idsOf(listed.json().credentials)).toEqual([passkeyId]);
  expect([renamed.statusCode, removed.statusCode]).toEqual([404, 404]);
  expect(refusalOf(stored)).toContain('CHALLENGE_INVALID');
  expect(idsOf(await passkeysOf(ada))).toEqual([own.id]);
  expect((await show(device)).answer.statusCode).toBe(200);
  // The same authenticator may serve both, each with a passkey of its own.
  await registerPasskey(acme, ada.device, { principalId });
  expect((await show(ada.device)).answer.statusCode).toBe(200);
});

test('W1: a passkey of a principal counts for no approver, not even one of the same id', async () => {
  const { acme, agent, ada, principalId, device, passkeyId } = await startNamesakes();
  const { decisionId, actionHash } = (await agent.ask()).json();
  const at = `/v1/approver/decisions/${decisionId}`;
  const signing = (await ada.browser.call('POST', `${at}/options`, { body: {} })).json();
  const signed = { challengeId: signing.challengeId, response: device.get(signing.publicKey) };
  const begun = (await acme('POST', '/v1/webauthn/register/options', { principalId })).json();
  const handles = [ada.handle, String(begun.publicKey.user.id)];
  const made = { challengeId: begun.challengeId, response: authenticator().create(begun.publicKey) };
  const signIn = async (userHandle: string) => {
    const asked = await ada.browser.call('POST', '/v1/approver/session/options', { body: {} });
    const { challengeId, publicKey } = asked.json();
    const body = { challengeId, response: device.get(publicKey, { userHandle }) };
    return (await ada.browser.call('POST', '/v1/approver/session/verify', { body })).statusCode;
  };

  const approval = { body: { actionHash, assertion: signed } };
  const answer = await ada.browser.call('POST', `${at}/approve`, approval);
  const removed = await ada.browser.call('DELETE', `/v1/approver/passkeys/${passkeyId}`);
  const stored = await ada.browser.call('POST', '/v1/approver/passkeys/verify', { body: made });

  expect(idsOf(signing.publicKey.allowCredentials)).toEqual([ada.device.credentialId]);
  expect([answer.statusCode, answer.json().code, answer.json().details]).toEqual(WRONG_PASSKEY);
  expect(removed.statusCode).toBe(404);
  expect(refusalOf(stored)).toContain('CHALLENGE_INVALID');
  expect([await signIn(handles[0] ?? ''), await signIn(handles[1] ?? '')]).toEqual([401, 401]);
  expect((await ada.approve(decisionId)).statusCode).toBe(200);
});
