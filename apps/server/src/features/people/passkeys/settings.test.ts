import { describe, expect, test } from 'vitest';
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
