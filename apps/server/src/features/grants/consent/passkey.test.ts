import { verify as checkSignature, createHash, createPublicKey } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Authenticator,
  authenticator,
  type Fault,
  newEd25519Key,
  newKey,
  newRsaKey,
  registerPasskey,
} from '../../../../test/app/authenticator.ts';
import { actionsOf, authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** A live request whose person has a passkey, with their browser at the page. */
async function asked({ settings = { consentMode: 'passkey' }, request = {}, key }: AskedWish = {}) {
  const developer = await service.asDeveloper();
  await developer('PATCH', '/v1/me', settings);
  const { agentId } = await registerAgent(developer);
  const device = authenticator(key && { key });
  const passkey = await registerPasskey(developer, device);
  const made = await authorize(developer, agentId, request);
  const person = personOn(service);
  const opened = (await person.open(made.consentUrl)).json();
  const id = String(made.id);
  const post = (step: string, body: object) => person.call('POST', `/v1/consent/${id}/${step}`, { body });
  const options = async (decision?: object) =>
    (await post('passkey/options', decision ? { decision } : {})).json();
  const verify = ({ challengeId, publicKey }: Options, fault: Fault = {}, by: Authenticator = device) =>
    post('passkey/verify', { challengeId, response: by.get(publicKey, fault) });
  return { developer, agentId, device, passkey, id, made, person, opened, post, options, verify };
}

interface AskedWish {
  readonly settings?: object;
  readonly request?: object;
  readonly key?: ReturnType<typeof newKey>;
}
interface Options {
  readonly challengeId: string;
  readonly publicKey: { readonly challenge: string };
}

const digest = (value: object) => createHash('sha256').update(canonicalJson(value)).digest('base64url');

/** The evidence of an approval, as it is stored. */
const evidenceOf = async (id: string) =>
  (
    await service.db
      .selectFrom('passkeyEvidence')
      .selectAll()
      .where('authRequestId', '=', id)
      .executeTakeFirst()
  )?.evidence;

describe('a passkey on the consent page', () => {
  test('proves the person, to the page, the grant and the chain', async () => {
    const { developer, agentId, device, passkey, id, person, opened, options, verify } = await asked();
    const before = await person.approve(id);

    const given = await options();
    const proved = await verify(given);
    const { code } = (await person.approve(id)).json();
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();

    expect(opened.request).toMatchObject({
      fidoRequired: true,
      verification: { mode: 'passkey', satisfied: false, methods: ['passkey'] },
    });
    expect(before.json()).toMatchObject({ code: 'FIDO_REQUIRED', details: { methods: ['passkey'] } });
    expect(given.publicKey).toMatchObject({
      rpId: 'auth.test',
      userVerification: 'required',
      timeout: 300_000,
      allowCredentials: [{ id: device.credentialId, type: 'public-key' }],
    });
    const verification = {
      mode: 'passkey',
      satisfied: true,
      methods: ['passkey'],
      satisfiedUntil: '2026-01-01T00:15:00.000Z',
    };
    expect(proved.json()).toEqual({ verified: true, verification });
    const grant = (await developer('GET', `/v1/grants/${grantId}`)).json();
    expect(grant).toMatchObject({ consentMethod: 'passkey' });
    const [entry] = await entriesOf(developer, 'fido.assertion');
    expect(entry).toMatchObject({
      principalId: 'user_42',
      metadata: { credentialId: passkey.id, authRequestId: id, actor: 'principal' },
    });
    const listed = (await developer('GET', '/v1/webauthn/credentials?principalId=user_42')).json();
    expect(listed.credentials[0].lastUsedAt).toBe('2026-01-01T00:00:00.000Z');
  });

  const keys: [string, () => ReturnType<typeof newKey>, string | null][] = [
    ['ES256', newKey, 'sha256'],
    ['Ed25519', newEd25519Key, null],
    ['RS256', newRsaKey, 'sha256'],
  ];
  test.each(keys)(
    'W2 signs with %s what the person chose, which anybody can check',
    async (_, make, hash) => {
      const { id, person, options, verify } = await asked({
        key: make(),
        request: { scopes: ['calendar:read', 'email:send'], expiresIn: '24h' },
      });
      const decision = { scopes: ['calendar:read'], expiresIn: '1h' };

      const given = await options(decision);
      await verify(given);
      const approved = await person.approve(id, decision);

      expect(approved.statusCode).toBe(200);
      const { shown, principalId, decision: decided, proof } = Object(await evidenceOf(id));
      expect(shown).toMatchObject({ authRequestId: id, scopes: ['calendar:read', 'email:send'] });
      expect(decided).toMatchObject({
        scopes: ['calendar:read'],
        removedScopes: ['email:send'],
        expiresIn: '1h',
      });
      const client = JSON.parse(Buffer.from(proof.clientDataJSON, 'base64url').toString());
      const bound = digest({ shown, principalId, decision: decided });
      const challenge = { v: 1, use: 'behest.consent', areq: id, digest: bound, nonce: given.nonce };
      expect(client.challenge).toBe(digest(challenge));
      expect(proof).toMatchObject({ mode: 'passkey', rpId: 'auth.test', origin: 'https://auth.test' });
      expect(given.nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
      const signed = Buffer.concat([
        Buffer.from(proof.authenticatorData, 'base64url'),
        createHash('sha256').update(Buffer.from(proof.clientDataJSON, 'base64url')).digest(),
      ]);
      const key = createPublicKey({ key: proof.publicKey, format: 'jwk' });
      expect(checkSignature(hash, signed, key, Buffer.from(proof.signature, 'base64url'))).toBe(true);
    },
  );

  test.each<[string, object, object | undefined]>([
    ['more than was signed', { scopes: ['calendar:read'] }, undefined],
    ['less than was signed', {}, { scopes: ['calendar:read'] }],
    ['longer than was signed', { expiresIn: '1h' }, { expiresIn: '2h' }],
  ])('W2 approves nothing when the approval is %s', async (_, signed, approved) => {
    const { developer, id, person, options, verify } = await asked({
      request: { scopes: ['calendar:read', 'email:send'], expiresIn: '24h' },
    });
    await verify(await options(signed));

    const refused = await person.approve(id, approved);

    expect(refusalOf(refused)).toBe('403 FIDO_REQUIRED');
    expect((await developer('GET', `/v1/authorize/${id}`)).json().status).toBe('pending');
    expect((await person.approve(id, signed)).statusCode).toBe(200);
  });

  test('W2 signs which consent of the person to the agent was the last', async () => {
    const { developer, agentId, device, id, person, options, verify } = await asked();
    await verify(await options());
    const { code } = (await person.approve(id)).json();
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();
    const again = await authorize(developer, agentId);
    await person.open(again.consentUrl);
    const post = (step: string, body: object) =>
      person.call('POST', `/v1/consent/${again.id}/passkey/${step}`, { body });

    const { challengeId, publicKey } = (await post('options', {})).json();
    await post('verify', { challengeId, response: device.get(publicKey) });
    const approved = await person.approve(String(again.id));

    expect(approved.statusCode).toBe(200);
    const [first, second] = [await evidenceOf(id), await evidenceOf(String(again.id))];
    expect(Object(first).shown.previous).toBeNull();
    expect(Object(second).shown.previous).toEqual({ grantId });
  });

  test('W2 approves nothing when the page would show something else by now', async () => {
    const { developer, agentId, id, person, options, verify } = await asked();
    await verify(await options());

    await developer('PATCH', `/v1/agents/${agentId}`, { name: 'Another name' });

    expect(refusalOf(await person.approve(id))).toBe('403 FIDO_REQUIRED');
  });

  test('is not asked for more than was requested', async () => {
    const { post } = await asked({ request: { scopes: ['calendar:read'] } });

    const wider = await post('passkey/options', { decision: { scopes: ['calendar:read', 'email:send'] } });

    expect(refusalOf(wider)).toBe('400 INVALID_SCOPE');
  });

  test.each<[string, Fault]>([
    ['type', { type: 'webauthn.create' }],
    ['challenge', { challenge: 'AAAA' }],
    ['origin', { origin: 'https://evil.example' }],
    ['crossOrigin', { crossOrigin: true }],
    ['crossOrigin', { topOrigin: 'https://evil.example' }],
    ['crossOrigin', { topOrigin: 'https://auth.test' }],
    ['rpId', { rpId: 'evil.example' }],
    ['userPresence', { flags: 4 }],
    ['userVerification', { flags: 1 }],
    ['signature', { key: newKey() }],
    ['credential', { credentialId: Buffer.alloc(32) }],
  ])('W1 fails the check %s alone, and the request stays open', async (check, fault) => {
    const { developer, id, person, options, verify } = await asked();
    const given = await options();

    const refused = await verify(given, fault);
    const later = await verify(given);

    expect(refused.json()).toMatchObject({ code: 'WEBAUTHN_VERIFICATION_FAILED', details: { check } });
    expect(refusalOf(later)).toBe('400 CHALLENGE_INVALID');
    expect(refusalOf(await person.approve(id))).toBe('403 FIDO_REQUIRED');
    const [entry] = await entriesOf(developer, 'consent.verification_failed');
    expect(entry).toMatchObject({
      principalId: 'user_42',
      metadata: { method: 'passkey', authRequestId: id },
    });
  });

  test('W1 proves nothing when the key was altered as it was registered', async () => {
    const { developer, options, verify } = await asked();
    const altered = authenticator();
    await registerPasskey(developer, altered, { fault: { key: newKey() } });

    const refused = await verify(await options(), {}, altered);

    expect(refused.json()).toMatchObject({ details: { check: 'signature' } });
  });

  test('W1 takes no challenge of another request, no used one, and none of a registration', async () => {
    const { developer, agentId, device, id, post, options, verify } = await asked();
    const second = await authorize(developer, agentId);
    const other = personOn(service);
    await other.open(second.consentUrl);
    const foreign = (
      await other.call('POST', `/v1/consent/${second.id}/passkey/options`, { body: {} })
    ).json();
    const { challengeId, publicKey } = (
      await developer('POST', '/v1/webauthn/register/options', { principalId: 'user_42' })
    ).json();
    const given = await options();

    const answers = [
      await verify(foreign),
      await post('passkey/verify', { challengeId, response: device.get(publicKey) }),
      await verify(given),
      await verify(given),
    ];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400, 200, 400]);
    expect(answers.map((answer) => answer.json().code)).toEqual([
      'CHALLENGE_INVALID',
      'CHALLENGE_INVALID',
      undefined,
      'CHALLENGE_INVALID',
    ]);
    expect(id).not.toBe(second.id);
  });

  test('W1 takes one of ten equal answers at once', async () => {
    const { developer, options, verify } = await asked();
    const given = await options();

    const answers = await Promise.all(Array.from({ length: 10 }, () => verify(given, { counter: 1 })));

    const codes = answers.map((answer) => answer.json().code ?? 'taken').sort();
    expect(codes).toEqual([...Array.from({ length: 9 }, () => 'CHALLENGE_INVALID'), 'taken']);
    expect(await entriesOf(developer, 'fido.assertion')).toHaveLength(1);
  });

  test('W1 takes no passkey of another person, and none that the developer has removed', async () => {
    const { developer, id, person, passkey, options, verify } = await asked();
    const stranger = authenticator();
    await registerPasskey(developer, stranger, { principalId: 'user_43' });

    const foreign = await verify(await options(), {}, stranger);
    await verify(await options());
    await developer('DELETE', `/v1/webauthn/credentials/${passkey.id}`);

    expect(foreign.json()).toMatchObject({ details: { check: 'credential' } });
    expect(refusalOf(await person.approve(id))).toBe('403 FIDO_REQUIRED');
    expect(await evidenceOf(id)).toBeUndefined();
  });

  test('W1 whose counter goes back is suspect until it is cleared', async () => {
    const { developer, passkey, id, person, options, verify, post } = await asked();
    const path = `/v1/webauthn/credentials/${passkey.id}`;
    await verify(await options(), { counter: 5 });
    const pair = [await options(), await options()];

    const copied = await verify(pair[0], { counter: 5 });
    const later = await verify(pair[1], { counter: 6 });
    const none = await post('passkey/options', {});
    const refused = await person.approve(id);
    const cleared = (await developer('PATCH', path, { status: 'active' })).json();
    const good = await verify(await options(), { counter: 7 });

    expect(refusalOf(copied)).toBe('400 WEBAUTHN_CLONE_SUSPECTED');
    expect(refusalOf(later)).toBe('400 WEBAUTHN_CLONE_SUSPECTED');
    expect(refusalOf(none)).toBe('400 FIDO_NOT_ENROLLED');
    expect(refusalOf(refused)).toBe('403 FIDO_REQUIRED');
    expect(cleared.status).toBe('active');
    expect(good.statusCode).toBe(200);
    const told = await entriesOf(developer, 'fido.clone_suspected');
    expect(told.map(({ metadata }) => metadata)).toMatchObject([{ credentialId: passkey.id }]);
  });

  test('satisfies a weaker mode, and where it did not sign the approval, the weaker proof counts', async () => {
    const voucher = await newVoucher();
    const { developer, agentId, id, person, made, options, verify } = await asked({
      settings: { consentKeys: [voucher.jwk] },
    });
    const unproved = await person.approve(id);
    await verify(await options({ expiresIn: '1h' }));
    const other = await person.approve(id);
    const hint = await voucher.hint(hintClaims(service, developer.developerId, made));
    await person.open(made.consentUrl, hint);
    await verify(await options({ expiresIn: '1h' }));

    const { code } = (await person.approve(id)).json();

    expect(refusalOf(unproved)).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    expect(refusalOf(other)).toBe('403 FIDO_REQUIRED');
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();
    expect((await developer('GET', `/v1/grants/${grantId}`)).json().consentMethod).toBe('developer');
    expect(await evidenceOf(id)).toBeUndefined();
  });

  test('tells strangers nothing about who has passkeys', async () => {
    const { id, made } = await asked();
    const stranger = personOn(service);
    const without = await stranger.call('POST', `/v1/consent/${id}/passkey/options`, { body: {} });
    await stranger.open(made.consentUrl);
    const headers = { 'x-csrf-token': 'wrong' };
    const forged = await stranger.call('POST', `/v1/consent/${id}/passkey/options`, { body: {}, headers });

    expect(refusalOf(without)).toBe('401 UNAUTHORIZED');
    expect(refusalOf(forged)).toBe('403 FORBIDDEN');
  });

  test('agents K11: is asked of nobody by an address that serves none, and the answer names the setting', async () => {
    const numbered = await startApp({ env: { PUBLIC_BASE_URL: 'https://192.0.2.7' } });
    const developer = await numbered.asDeveloper();

    const refused = await developer('POST', '/v1/webauthn/register/options', { principalId: 'user_42' });

    expect(refusalOf(refused)).toBe('409 CONFLICT');
    expect(refused.json()).toMatchObject({ details: { setting: 'FIDO_RP_ID' } });
    expect(await actionsOf(developer)).not.toContain('fido.registered');
  });
});
