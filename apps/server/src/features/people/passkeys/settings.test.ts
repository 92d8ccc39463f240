import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { approverBrowser, enrolWith } from '../../../../test/app/approving.ts';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { authorize, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { type PasskeySettings, passkeySettings, relyingPartyOf, strangeOrigin } from './passkeys.settings.ts';

const defaults: PasskeySettings = {
  FIDO_RP_ID: undefined,
  FIDO_ORIGIN: undefined,
  FIDO_RP_NAME: 'Behest',
  FIDO_USER_VERIFICATION: 'required',
};
const base = 'https://auth.acme.example';
const context = { name: 'FIDO', isProduction: true };

describe('the relying party', () => {
  test('is the host and the origin of the service, unless the operator says otherwise', () => {
    expect(relyingPartyOf(defaults, base)).toEqual({
      id: 'auth.acme.example',
      origins: ['https://auth.acme.example'],
      name: 'Behest',
      userVerification: 'required',
    });
    const chosen = { ...defaults, FIDO_RP_ID: 'acme.example', FIDO_ORIGIN: ['https://app.acme.example'] };
    expect(relyingPartyOf(chosen, base)).toMatchObject({
      id: 'acme.example',
      origins: ['https://app.acme.example'],
    });
  });

  test.each([
    'https://192.0.2.7',
    'https://[2001:db8::1]',
    'http://auth.acme.example',
    'http://127.0.0.1:3001',
  ])('is nobody where browsers give no passkeys: %s', (address) =>
    expect(relyingPartyOf(defaults, address)).toBeUndefined(),
  );

  test('is this machine in development', () => {
    expect(relyingPartyOf(defaults, 'http://localhost:3001')).toMatchObject({ id: 'localhost' });
  });

  test.each([
    ['co.uk', 'https://acme.co.uk'],
    ['acme.example', 'https://evilacme.example'],
    ['auth.acme.example', 'https://acme.example'],
    ['github.io', 'https://acme.github.io'],
  ])('W1 is not %s for the origin %s', (id, origin) => {
    expect(strangeOrigin({ FIDO_RP_ID: id, FIDO_ORIGIN: [origin] }, base)).toBe(origin);
  });

  test('W1 is above each origin, or the origin’s own host', () => {
    const origins = ['https://acme.example', 'https://app.acme.example:8443'];
    expect(strangeOrigin({ FIDO_RP_ID: 'acme.example', FIDO_ORIGIN: origins }, base)).toBeUndefined();
    expect(strangeOrigin({ FIDO_ORIGIN: ['https://app.acme.example'] }, base)).toBe(
      'https://app.acme.example',
    );
  });
});

test.each([
  ...['https://a.example/', 'http://a.example', 'https://a.example, ftp://b.example', 'a.example'],
  ...['android:apk-key-hash:', 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLcl'],
  ...['android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck=', 'android:apk-key-hash:A4:D8:8F'],
])('FIDO_ORIGIN takes no %j', (text) =>
  expect(() => passkeySettings.FIDO_ORIGIN.read(text, context)).toThrow('FIDO must be'),
);

test.each(['Acme.example', 'acme.example:443', '192.0.2.7', 'acme..example', 'a_b.example'])(
  'FIDO_RP_ID takes no %j',
  (text) => expect(() => passkeySettings.FIDO_RP_ID.read(text, context)).toThrow('FIDO must be'),
);

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
