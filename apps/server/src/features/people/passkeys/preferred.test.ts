import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { approverBrowser, enrolWith } from '../../../../test/app/approving.ts';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { authorize, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { startApp } from '../../../../test/app/start-app.ts';

/** The person is there, and their authenticator has not verified who they are. */
const PRESENT = { flags: 1 };

test('W1 with `preferred` a person may be present without being verified, and the evidence says which', async () => {
  const service = await startApp({ env: { FIDO_USER_VERIFICATION: 'preferred' } });
  for (const [fault, userVerified] of [
    [PRESENT, false],
    [{}, true],
  ] as const) {
    const developer = await service.asDeveloper();
    await developer('PATCH', '/v1/me', { consentMode: 'passkey' });
    const { agentId } = await registerAgent(developer);
    const device = authenticator();
    const asked = (
      await developer('POST', '/v1/webauthn/register/options', { principalId: 'user_42' })
    ).json();
    expect(asked.publicKey.authenticatorSelection).toMatchObject({ userVerification: 'preferred' });
    const { id: credentialId } = await registerPasskey(developer, device, { fault });
    const made = await authorize(developer, agentId);
    const person = personOn(service);
    await person.open(made.consentUrl);
    const step = (name: string, body: object) =>
      person.call('POST', `/v1/consent/${made.id}/passkey/${name}`, { body });
    const { challengeId, publicKey } = (await step('options', {})).json();
    expect(publicKey).toMatchObject({ userVerification: 'preferred' });

    const proved = await step('verify', { challengeId, response: device.get(publicKey, fault) });

    expect(proved.statusCode, proved.body).toBe(200);
    const { code } = (await person.approve(String(made.id))).json();
    const body = { code, agentId, credentialFormat: 'vc-jwt' };
    const { verifiableCredential } = (await developer('POST', '/v1/token', body)).json();
    expect(decodeJwt(verifiableCredential)).toMatchObject({ evidence: [{ credentialId, userVerified }] });
  }
});

test('W1 with `preferred` a person who is not there proves nothing', async () => {
  const service = await startApp({ env: { FIDO_USER_VERIFICATION: 'preferred' } });
  const developer = await service.asDeveloper();
  const options = (
    await developer('POST', '/v1/webauthn/register/options', { principalId: 'user_42' })
  ).json();
  const { challengeId, publicKey } = options;

  const absent = await developer('POST', '/v1/webauthn/register/verify', {
    ...{ challengeId, response: authenticator().create(publicKey, { flags: 4 }) },
  });

  expect(absent.json()).toMatchObject({
    ...{ code: 'WEBAUTHN_VERIFICATION_FAILED', details: { check: 'userPresence' } },
  });
});

test('W3: an approver is verified all the same', async () => {
  const service = await startApp({ env: { FIDO_USER_VERIFICATION: 'preferred' } });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const invited = async () => {
    const body = { email: `ada${Math.random()}@example.org`, displayName: 'Ada' };
    return String((await acme('POST', '/v1/approvers', body)).json().link);
  };
  const device = authenticator();
  const unverified = { ...device, create: (asked: { challenge: string }) => device.create(asked, PRESENT) };

  const refused = await enrolWith(approverBrowser(service), unverified, await invited());
  const enrolled = await enrolWith(approverBrowser(service), device, await invited());

  expect(refused.answer.json()).toMatchObject({ details: { check: 'userVerification' } });
  expect(enrolled.answer.statusCode).toBe(201);
});
