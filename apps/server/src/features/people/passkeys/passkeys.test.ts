import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authenticator,
  type Fault,
  newEd25519Key,
  newKey,
  newRsaKey,
  registerPasskey,
} from '../../../../test/app/authenticator.ts';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  openSession,
  refusalOf,
  registerAgent,
} from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const begin = async (developer: Developer, principalId = 'user_42') =>
  (await developer('POST', '/v1/webauthn/register/options', { principalId })).json();

/** Answers the options of a registration, rightly but for the fault. */
async function answerWith(developer: Developer, fault: Fault, device = authenticator()) {
  const { challengeId, publicKey } = await begin(developer);
  const response = device.create(publicKey, fault);
  return developer('POST', '/v1/webauthn/register/verify', { challengeId, response });
}

describe('registering a passkey', () => {
  test('asks the authenticator for what the service needs, and tells it no personal data', async () => {
    const developer = await service.asDeveloper();
    await developer('PATCH', '/v1/me', { fidoRpName: 'Acme Bank' });

    const { challengeId, publicKey } = await begin(developer, 'ada@example.org');
    const again = await begin(developer, 'ada@example.org');

    expect(challengeId).toMatch(/^wac_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(publicKey).toMatchObject({
      rp: { id: 'auth.test', name: 'Acme Bank' },
      user: { name: 'ada@example.org', displayName: 'ada@example.org' },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
      timeout: 300_000,
      attestation: 'none',
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      excludeCredentials: [],
    });
    expect(Buffer.from(publicKey.challenge, 'base64url')).toHaveLength(32);
    expect(Buffer.from(publicKey.user.id, 'base64url')).toHaveLength(32);
    expect(again.publicKey.user.id).toBe(publicKey.user.id);
    expect(again.publicKey.challenge).not.toBe(publicKey.challenge);
  });

  test('stores the passkey, tells the chain, and leaves its key out of each answer', async () => {
    const developer = await service.asDeveloper();
    const device = authenticator();

    const made = await registerPasskey(developer, device, { deviceName: 'Phone' });

    const passkey = {
      id: expect.stringMatching(/^cred_[0-9A-HJKMNP-TV-Z]{26}$/),
      principalId: 'user_42',
      deviceName: 'Phone',
      backedUp: false,
      deviceType: 'singleDevice',
      transports: ['internal'],
      createdAt: '2026-01-01T00:00:00.000Z',
    };
    expect(made).toEqual({ ...passkey, aaguid: null });
    const listed = (await developer('GET', '/v1/webauthn/credentials?principalId=user_42')).json();
    expect(listed).toEqual({
      credentials: [{ ...passkey, status: 'active', lastUsedAt: null }],
      nextCursor: null,
    });
    const [entry] = await entriesOf(developer, 'fido.registered');
    expect(entry).toMatchObject({ principalId: 'user_42', metadata: { credentialId: made.id } });
    const { publicKey } = await begin(developer);
    expect(publicKey.excludeCredentials).toMatchObject([
      { id: device.credentialId, transports: ['internal'] },
    ]);
  });

  test.each<[string, Fault]>([
    ['type', { type: 'webauthn.get' }],
    ['challenge', { challenge: randomBytes(32).toString('base64url') }],
    ['origin', { origin: 'https://auth.test.evil.example' }],
    ['crossOrigin', { crossOrigin: true }],
    ['crossOrigin', { topOrigin: 'https://evil.example' }],
    ['crossOrigin', { topOrigin: 'https://auth.test' }],
    ['rpId', { rpId: 'evil.example' }],
    ['userPresence', { flags: 4 }],
    ['userVerification', { flags: 1 }],
  ])('W1 fails the check %s alone, uses the challenge up, and leaves an entry', async (check, fault) => {
    const developer = await service.asDeveloper();
    const device = authenticator();
    const { challengeId, publicKey } = await begin(developer);
    const send = (wrong: Fault) =>
      developer('POST', '/v1/webauthn/register/verify', {
        challengeId,
        response: device.create(publicKey, wrong),
      });

    const refused = await send(fault);
    const later = await send({});

    expect(refused.json()).toMatchObject({ code: 'WEBAUTHN_VERIFICATION_FAILED', details: { check } });
    expect(refusalOf(later)).toBe('400 CHALLENGE_INVALID');
    const [entry] = await entriesOf(developer, 'fido.registration_failed');
    expect(entry).toMatchObject({ principalId: 'user_42', status: 'blocked', metadata: { check } });
    expect(await actionsOf(developer)).not.toContain('fido.registered');
  });

  test.each<[string, NonNullable<Fault['attestation']>]>([
    ['of a vendor', ['x-vendor', new Map([['sig', new Uint8Array(1)]])]],
    [
      'compound',
      [
        'compound',
        [
          new Map<string, unknown>([
            ['fmt', 'none'],
            ['attStmt', new Map()],
          ]),
        ],
      ],
    ],
  ])('p01: an attestation that is %s, and was not asked for, is taken as none', async (_, attestation) => {
    const developer = await service.asDeveloper();
    const device = authenticator();

    const answer = await answerWith(developer, { attestation }, device);

    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({ principalId: 'user_42', aaguid: null });
    const unsigned = { attestation, flags: 1 } as const;
    expect((await answerWith(developer, unsigned)).json().details).toEqual({ check: 'userVerification' });
    const forged = {
      attestation: [
        'packed',
        new Map<string, unknown>([
          ['alg', -7],
          ['sig', new Uint8Array(1)],
        ]),
      ],
    } as const;
    expect((await answerWith(developer, forged)).json().details).toEqual({ check: 'attestation' });
  });

  test('p03: an app of an Android phone registers and uses passkeys, when the operator names it', async () => {
    const origin = 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck';
    const knowing = await startApp({ env: { FIDO_ORIGIN: `https://auth.test,${origin}` } });
    const developer = await knowing.asDeveloper();
    await developer('PATCH', '/v1/me', { consentMode: 'passkey' });
    const device = authenticator({ origin });

    await registerPasskey(developer, device);
    const { agentId } = await registerAgent(developer);
    const { id, consentUrl } = await authorize(developer, agentId);
    const person = personOn(knowing);
    await person.open(consentUrl);
    const post = (step: string, body: object) =>
      person.call('POST', `/v1/consent/${id}/passkey/${step}`, { body });
    const asked = (await post('options', {})).json();
    const proof = { challengeId: asked.challengeId, response: device.get(asked.publicKey) };
    expect((await post('verify', proof)).statusCode).toBe(200);

    const stranger = authenticator({ origin: `${origin.slice(0, -1)}g` });
    const { challengeId, publicKey } = await begin(developer);
    const response = stranger.create(publicKey);
    const refused = await developer('POST', '/v1/webauthn/register/verify', { challengeId, response });
    expect(refused.json().details).toEqual({ check: 'origin' });
  });

  test('W1 refuses a passkey that is registered, and an id that is too long', async () => {
    const developer = await service.asDeveloper();
    const other = await service.asDeveloper();
    const device = authenticator();
    await registerPasskey(developer, device);

    expect(refusalOf(await answerWith(developer, {}, device))).toBe('409 CONFLICT');
    expect((await answerWith(other, {}, device)).statusCode).toBe(201);
    const tooLong = await answerWith(developer, { credentialId: randomBytes(1024) });
    expect(tooLong.json()).toMatchObject({
      code: 'WEBAUTHN_VERIFICATION_FAILED',
      details: { check: 'credential' },
    });
    expect((await answerWith(developer, { credentialId: randomBytes(1023) })).statusCode).toBe(201);
  });

  const bytes = (length: number) => new Uint8Array(length).fill(1);
  test.each<[string, Fault]>([
    ['on P-384 for ES256', { key: newKey('P-384') }],
    ['on P-521 for ES256', { key: newKey('P-521') }],
    ['on secp256k1 for ES256', { key: newKey('secp256k1') }],
    ['on P-256 that says P-384', { cose: [[-1, 2]] }],
    ['with a short coordinate', { cose: [[-3, bytes(31)]] }],
    ['with a point beside the curve', { cose: [[-3, bytes(32)]] }],
    ['on P-256 for EdDSA', { cose: [[3, -8]] }],
    ['on Ed25519 for ES256', { key: newEd25519Key(), cose: [[3, -7]] }],
    ['on X25519 for EdDSA', { key: newEd25519Key(), cose: [[-1, 4]] }],
    ['of RSA with 1024 bits', { key: newRsaKey(1024) }],
    ['of RSA for ES256', { key: newRsaKey(), cose: [[3, -7]] }],
  ])('W1 refuses a key %s', async (_, fault) => {
    const developer = await service.asDeveloper();

    const refused = await answerWith(developer, fault);

    expect(refused.json()).toMatchObject({
      code: 'WEBAUTHN_VERIFICATION_FAILED',
      details: { check: 'attestation' },
    });
    expect((await answerWith(developer, {})).statusCode).toBe(201);
  });

  test.each([
    [2047, 400],
    [2048, 201],
  ])('W1 takes a key of RSA from 2048 bits on: %i is %i', async (bits, status) => {
    const developer = await service.asDeveloper();

    expect((await answerWith(developer, { key: newRsaKey(bits) })).statusCode).toBe(status);
  });

  test('W1 a refusal after the checks uses the challenge up too, and leaves an entry', async () => {
    const developer = await service.asDeveloper();
    const device = authenticator();
    await registerPasskey(developer, device);
    const { challengeId, publicKey } = await begin(developer);
    const send = (by: typeof device, key: string) => {
      const body = { challengeId, response: by.create(publicKey) };
      const headers = { authorization: `Bearer ${developer.apiKey}`, 'idempotency-key': key };
      return service.app.inject({ method: 'POST', url: '/v1/webauthn/register/verify', headers, body });
    };

    expect(refusalOf(await send(device, 'first'))).toBe('409 CONFLICT');
    expect(refusalOf(await send(authenticator(), 'second'))).toBe('400 CHALLENGE_INVALID');
    expect(await entriesOf(developer, 'fido.registration_failed')).toMatchObject([
      { principalId: 'user_42', status: 'blocked', metadata: { code: 'CONFLICT' } },
    ]);
    expect((await answerWith(developer, {})).statusCode).toBe(201);
  });

  test('W1 refuses an unknown challenge, another developer’s, a used one, and a late one', async () => {
    const developer = await service.asDeveloper();
    const other = await service.asDeveloper();
    const device = authenticator();
    const { challengeId, publicKey } = await begin(developer);
    const response = device.create(publicKey);
    const verify = (as: Developer, id = challengeId) =>
      as('POST', '/v1/webauthn/register/verify', { challengeId: id, response });

    expect(refusalOf(await verify(developer, 'wac_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'))).toBe(
      '400 CHALLENGE_INVALID',
    );
    expect(refusalOf(await verify(other))).toBe('400 CHALLENGE_INVALID');
    expect((await verify(developer)).statusCode).toBe(201);
    expect(refusalOf(await verify(developer))).toBe('400 CHALLENGE_INVALID');

    const answerAfter = async (seconds: number) => {
      const opened = await begin(developer);
      service.advance(seconds);
      const made = authenticator().create(opened.publicKey);
      const body = { challengeId: opened.challengeId, response: made };
      return developer('POST', '/v1/webauthn/register/verify', body);
    };
    expect((await answerAfter(299)).statusCode).toBe(201);
    expect(refusalOf(await answerAfter(300))).toBe('400 CHALLENGE_INVALID');
  });

  test('W1 of more than ten open challenges the oldest are void', async () => {
    const developer = await service.asDeveloper();
    const device = authenticator();
    const first = await begin(developer);
    for (let more = 0; more < 10; more += 1) {
      service.advance(0.001); // ids of one millisecond have no order
      await begin(developer);
    }
    const response = device.create(first.publicKey);

    const { challengeId } = first;
    const answer = await developer('POST', '/v1/webauthn/register/verify', { challengeId, response });

    expect(refusalOf(answer)).toBe('400 CHALLENGE_INVALID');
  });

  test.each([
    ['is no JSON', 'x'],
    ['is no object', 'bnVsbA'],
  ])('takes a text for a shape that is wrong when the client data %s', async (_, clientDataJSON) => {
    const developer = await service.asDeveloper();
    const { challengeId, publicKey } = await begin(developer);
    const made = authenticator().create(publicKey);
    const response = { ...made, response: { ...made.response, clientDataJSON } };

    const answer = await developer('POST', '/v1/webauthn/register/verify', { challengeId, response });

    expect(refusalOf(answer)).toMatch(/^400 (BAD_REQUEST|WEBAUTHN_VERIFICATION_FAILED)/);
  });
});

describe('the passkeys of a principal', () => {
  test('are renamed and removed by the developer, and each change is an entry', async () => {
    const developer = await service.asDeveloper();
    const { id } = await registerPasskey(developer, authenticator());
    const path = `/v1/webauthn/credentials/${id}`;

    const renamed = (await developer('PATCH', path, { deviceName: 'Key ring' })).json();
    const gone = await developer('DELETE', path);

    expect(renamed).toMatchObject({ id, deviceName: 'Key ring', status: 'active' });
    expect(gone.statusCode).toBe(204);
    expect(refusalOf(await developer('DELETE', path))).toBe('404 NOT_FOUND');
    const [updated] = await entriesOf(developer, 'fido.updated');
    expect(updated?.metadata).toMatchObject({ credentialId: id, changed: ['deviceName'] });
    const [removed] = await entriesOf(developer, 'fido.removed');
    expect(removed).toMatchObject({ principalId: 'user_42', metadata: { credentialId: id, reason: 'api' } });
  });

  test('are seen and removed by the person with a session, and only their own', async () => {
    const developer = await service.asDeveloper({ mode: 'sandbox' });
    await grantTo(developer);
    const mine = await registerPasskey(developer, authenticator());
    const another = await registerPasskey(developer, authenticator(), { principalId: 'user_43' });
    const { sessionToken } = (await openSession(developer)).json();
    const me = service.calling(sessionToken);

    const listed = (await me('GET', '/v1/principal/passkeys')).json();
    const foreign = await me('DELETE', `/v1/principal/passkeys/${another.id}`);
    const removed = await me('DELETE', `/v1/principal/passkeys/${mine.id}`);

    expect(listed.passkeys.map(({ id }: { id: string }) => id)).toEqual([mine.id]);
    expect(refusalOf(foreign)).toBe('404 NOT_FOUND');
    expect(removed.statusCode).toBe(204);
    expect((await me('GET', '/v1/principal/passkeys')).json().passkeys).toEqual([]);
  });

  test('go with the person whom the identity provider deletes, and stay with one who is deactivated', async () => {
    const developer = await service.asDeveloper();
    const { token } = (await developer('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
    const provider = service.calling(token);
    const created = await provider('POST', '/scim/v2/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'ada@example.org',
      displayName: 'Ada Lovelace',
    });
    const user = `/scim/v2/Users/${created.json().id}`;
    const { challengeId, publicKey } = await begin(developer, 'ada@example.org');
    await registerPasskey(developer, authenticator(), { principalId: 'ada@example.org' });
    const left = async () =>
      (await developer('GET', '/v1/webauthn/credentials?principalId=ada@example.org')).json().credentials
        .length;

    const operations = [{ op: 'replace', path: 'active', value: false }];
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
    await provider('PATCH', user, { schemas, Operations: operations });
    const afterDeactivation = await left();
    const refused = await developer('POST', '/v1/webauthn/register/options', {
      principalId: 'ada@example.org',
    });
    const attempt = { challengeId, response: authenticator().create(publicKey) };
    const late = await developer('POST', '/v1/webauthn/register/verify', attempt);
    const again = await developer('POST', '/v1/webauthn/register/verify', attempt);
    await provider('DELETE', user);

    expect(publicKey.user.displayName).toBe('Ada Lovelace');
    expect(refusalOf(refused)).toBe('409 PRINCIPAL_INACTIVE');
    expect(refusalOf(late)).toBe('409 PRINCIPAL_INACTIVE');
    expect(refusalOf(again)).toBe('400 CHALLENGE_INVALID');
    expect([afterDeactivation, await left()]).toEqual([1, 0]);
    const [removed] = await entriesOf(developer, 'fido.removed');
    expect(removed?.metadata).toMatchObject({ reason: 'principal_offboarded' });
  });
});

test('a developer demands passkeys by the mode or by the older flag, and both read alike', async () => {
  const developer = await service.asDeveloper();
  const change = async (body: object) => (await developer('PATCH', '/v1/me', body)).json();

  expect(await change({ fidoRequired: true })).toMatchObject({ consentMode: 'passkey', fidoRequired: true });
  expect(await change({ fidoRequired: false })).toMatchObject({
    consentMode: 'developer',
    fidoRequired: false,
  });
  expect(await change({ consentMode: 'passkey' })).toMatchObject({ fidoRequired: true });
  expect(await change({ fidoRpName: 'Acme' })).toMatchObject({ fidoRpName: 'Acme', consentMode: 'passkey' });
  expect((await change({ consentMode: 'developer', fidoRequired: true })).code).toBe('BAD_REQUEST');
});
