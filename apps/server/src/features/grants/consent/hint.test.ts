import { createPublicKey } from 'node:crypto';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize, entriesOf, grantTo, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** A live request with a good hint, signed by its developer. */
async function vouched({ on = service, mode = 'live' }: { on?: Service; mode?: 'live' | 'sandbox' } = {}) {
  const developer = await on.asDeveloper({ mode });
  const voucher = await newVoucher();
  await developer('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  const { agentId } = await registerAgent(developer);
  const ask = (more: object = {}) =>
    authorize(developer, agentId, { ...(mode === 'sandbox' && { autoApprove: false }), ...more });
  const request = await ask();
  const claims = hintClaims(on, developer.developerId, request);
  const person = personOn(on);
  /** Opens the page with a hint. @returns whether the hint proved anything */
  const proves = async (hint: string) =>
    (await person.open(request.consentUrl, hint)).json().verification.satisfied;
  return {
    developer,
    agentId,
    ask,
    voucher,
    request,
    id: String(request.id),
    claims,
    person,
    proves,
    hint: await voucher.hint(claims),
  };
}

type Vouched = Awaited<ReturnType<typeof vouched>>;

describe('O18 a hint', () => {
  test('proves who the person is, to the page, the grant and the chain', async () => {
    const { developer, agentId, request, id, person, hint } = await vouched();

    const opened = (await person.open(request.consentUrl, hint)).json();
    const { code } = (await person.approve(id)).json();
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();

    const satisfiedUntil = '2026-01-01T00:15:00.000Z';
    const verification = { mode: 'developer', satisfied: true, methods: ['hint'], satisfiedUntil };
    expect(opened).toMatchObject({ verification, request: { verification } });
    const grant = (await developer('GET', `/v1/grants/${grantId}`)).json();
    expect(grant).toMatchObject({ consentMethod: 'developer' });
    expect(grant).not.toHaveProperty('unverified');
    const [entry] = await entriesOf(developer, 'authorization.approved');
    expect(entry?.metadata).toMatchObject({ method: 'developer', actor: 'principal' });
    expect(entry?.metadata).not.toHaveProperty('unverified');
    expect(await entriesOf(developer, 'consent.verification_failed')).toEqual([]);
  });

  test('is demanded once there are consent keys; without it the page opens and approves nothing', async () => {
    const { request, id, person } = await vouched();

    const opened = await person.open(request.consentUrl);
    const approved = await person.approve(id);

    expect(opened.json().verification).toEqual({ mode: 'developer', satisfied: false, methods: ['hint'] });
    expect(refusalOf(approved)).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    expect(approved.json().details).toEqual({ methods: ['hint'] });
  });

  const changed: Record<string, (claims: JWTPayload, about: Vouched) => JWTPayload | Promise<JWTPayload>> = {
    'for another person': (claims) => ({ ...claims, sub: 'user_43' }),
    'for nobody': ({ sub: _, ...claims }) => claims,
    'for another request of the same person': async (claims, { ask }) => ({
      ...claims,
      areq: (await ask()).id,
    }),
    'for no request': ({ areq: _, ...claims }) => claims,
    'for several requests': (claims) => ({ ...claims, areq: [claims.areq] }),
    'of another developer': async (claims) => ({ ...claims, iss: (await service.asDeveloper()).developerId }),
    'of no developer': ({ iss: _, ...claims }) => claims,
    'for another service': (claims) => ({ ...claims, aud: 'https://other.example' }),
    'for a service whose name has the same beginning': (claims) => ({
      ...claims,
      aud: `${claims.aud}.evil.example`,
    }),
    'for no service': ({ aud: _, ...claims }) => claims,
    'that expired': ({ iat = 0, ...claims }) => ({ ...claims, iat: iat - 300, exp: iat }),
    'without an end': ({ exp: _, ...claims }) => claims,
    'without a beginning': ({ iat: _, ...claims }) => claims,
    'that lasts 301 seconds': ({ iat = 0, ...claims }) => ({ ...claims, iat, exp: iat + 301 }),
    'made for tomorrow': ({ iat = 0, ...claims }) => ({ ...claims, iat: iat + 86_400, exp: iat + 86_700 }),
    'that is not valid yet': ({ iat = 0, ...claims }) => ({ ...claims, iat, nbf: iat + 61 }),
    'with texts for times': (claims) => Object.assign({ ...claims }, { exp: String(claims.exp) }),
  };

  test.each(Object.entries(changed))('%s proves nothing', async (_what, change) => {
    const about = await vouched();
    const wrong = await about.voucher.hint(await change(about.claims, about));

    expect(await about.proves(wrong)).toBe(false);
    expect(refusalOf(await about.person.approve(about.id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    expect(await about.proves(about.hint)).toBe(true);
    expect((await about.person.approve(about.id)).statusCode).toBe(200);
  });

  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  /** Changes bits that no byte holds: 64 bytes take 86 digits, and the last digit has four bits to spare. */
  const following = (digit: string) => ALPHABET[ALPHABET.indexOf(digit) + 1] ?? '';
  const secret = (text: string) => new TextEncoder().encode(text);
  const typed = { typ: 'consent-hint+jwt' };
  const forged: Record<string, (about: Vouched) => Promise<string> | string> = {
    'without a signing key': ({ claims }) => new UnsecuredJWT(claims).encode(),
    'that names the algorithm `none`': ({ claims }) =>
      `${[{ alg: 'none', ...typed }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`,
    'signed with the public key as a secret': ({ claims, voucher }) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', ...typed })
        .sign(
          secret(
            String(
              createPublicKey({ key: voucher.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }),
            ),
          ),
        ),
    'signed with the API key': ({ claims, developer }) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', ...typed }).sign(secret(developer.apiKey)),
    'signed by a stranger': async ({ claims }) => (await newVoucher()).hint(claims),
    'signed by a stranger who brings the key': async ({ claims }) => {
      const stranger = await newVoucher();
      return stranger.hint(claims, { jwk: stranger.jwk });
    },
    'signed by another developer’s key': async ({ claims }) => (await vouched()).voucher.hint(claims),
    'without a type': ({ voucher, claims }) => voucher.hint(claims, { typ: undefined }),
    'of another type': ({ voucher, claims }) => voucher.hint(claims, { typ: 'JWT' }),
    'of a token’s type': ({ voucher, claims }) => voucher.hint(claims, { typ: 'at+jwt' }),
    'with a critical extension': ({ voucher, claims }) =>
      voucher.hint(claims, { crit: ['x'], x: 1 }).catch(() => 'x.y.z'),
    'with a changed letter': ({ hint }) =>
      hint.replace(/.(?=.{20}$)/, (letter) => (letter === 'A' ? 'B' : 'A')),
    'without its signature': ({ hint }) => `${hint.split('.').slice(0, 2).join('.')}.`,
    'with another header': ({ hint }) =>
      [
        Buffer.from(JSON.stringify({ alg: 'RS256', ...typed })).toString('base64url'),
        ...hint.split('.').slice(1),
      ].join('.'),
    'with an address for other keys beside a good signature': ({ voucher, claims }) =>
      voucher.hint(claims, { jku: 'https://keys.example' }),
    'J8 that names its person twice': ({ voucher, claims }) =>
      voucher.signed(typed, JSON.stringify(claims).replace('{', '{"sub":"user_43",')),
    'J8 that names its algorithm twice': ({ voucher, claims }) =>
      voucher.signed('{"alg":"none","alg":"ES256","typ":"consent-hint+jwt"}', claims),
    'J13 padded': ({ hint }) => `${hint}=`,
    'J13 in the other spelling of its signature': ({ hint }) =>
      hint.slice(0, -1) + following(hint.at(-1) ?? ''),
    'that is no JWT': () => 'hint',
    'of two dots alone': () => '..',
    'of bytes beyond ASCII': () => 'é.ø.å',
  };

  test.each(Object.entries(forged))('%s proves nothing', async (_what, forge) => {
    const about = await vouched();

    expect(await about.proves(await forge(about))).toBe(false);
    expect(refusalOf(await about.person.approve(about.id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    expect(await about.proves(about.hint)).toBe(true);
  });

  test('J17 is no grant token', async () => {
    const about = await vouched();
    const sandbox = await service.asDeveloper({ mode: 'sandbox' });
    const { grantToken } = await grantTo(sandbox);

    expect(await about.proves(grantToken)).toBe(false);
    expect((await sandbox('POST', '/v1/tokens/verify', { token: about.hint })).json()).toEqual({
      valid: false,
    });
  });

  test('may be sent again for its own request until it expires', async () => {
    const on = await startApp({ store: 'memory' });
    const { proves, hint, person, id } = await vouched({ on });

    const proved = [await proves(hint), await proves(hint)];
    on.advance(299);
    proved.push(await proves(hint));
    const whileProved = (await person.see(id)).json().verification.satisfied;
    on.advance(1);
    const afterwards = (await person.see(id)).json().verification.satisfied;
    proved.push(await proves(hint));

    expect(proved).toEqual([true, true, true, false]);
    expect([whileProved, afterwards]).toEqual([true, true]); // the session keeps the proof
  });

  test('is valid although the developer’s clock is a little ahead', async () => {
    const { proves, voucher, claims } = await vouched();
    const ahead = { ...claims, iat: claims.iat + 60, exp: claims.iat + 360 };

    expect(await proves(await voucher.hint(ahead))).toBe(true);
  });

  test.each([
    ['ES256', undefined],
    ['ES256', 'two'],
    ['RS256', undefined],
    ['RS256', 'two'],
  ] as const)('may be signed with any of several keys: %s, kid %s', async (alg, kid) => {
    const { developer, claims, proves } = await vouched();
    const vouchers = [
      await newVoucher('RS256', 'one'),
      await newVoucher('ES256'),
      await newVoucher(alg, kid),
      await newVoucher('ES256', 'two'),
    ];
    await developer('PATCH', '/v1/me', {
      consentKeys: vouchers.map(({ jwk }, at) => ({
        ...jwk,
        // In the form that browsers export, and in the form that people write.
        ...(at % 2 === 0 && {
          use: 'sig',
          key_ops: ['verify'],
          ext: true,
          alg: jwk.kty === 'EC' ? 'ES256' : 'RS256',
        }),
      })),
    });

    for (const voucher of vouchers) {
      expect(await proves(await voucher.hint(claims))).toBe(true);
      expect(await proves(await voucher.hint(claims, { kid: undefined }))).toBe(true);
      expect(await proves(await voucher.hint(claims, { kid: 'a name that nobody registered' }))).toBe(true);
    }
  });

  test('proves nothing once its key is taken away', async () => {
    const { developer, proves, hint } = await vouched();
    await developer('PATCH', '/v1/me', { consentKeys: [(await newVoucher()).jwk] });

    expect(await proves(hint)).toBe(false);
  });

  test('O22: proves for 15 minutes, and a fresh hint proves again', async () => {
    const on = await startApp({ store: 'memory' });
    const { developer, voucher, request, id, person, hint } = await vouched({ on });
    await person.open(request.consentUrl, hint);
    const seen = async () => (await person.see(id)).json().verification;

    on.advance(15 * 60 - 1);
    expect(await seen()).toMatchObject({ satisfied: true, satisfiedUntil: '2026-01-01T00:15:00.000Z' });
    on.advance(1);
    expect(await seen()).toEqual({ mode: 'developer', satisfied: false, methods: ['hint'] });
    expect(refusalOf(await person.approve(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    expect((await developer('GET', `/v1/authorize/${id}`)).json().status).toBe('pending');

    const fresh = await voucher.hint(hintClaims(on, developer.developerId, request));
    expect((await person.open(request.consentUrl, fresh)).json().verification.satisfied).toBe(true);
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('O22: proves nothing from the moment at which its key is withdrawn', async () => {
    const { developer, voucher, request, id, person, hint } = await vouched();
    const other = await newVoucher();
    await person.open(request.consentUrl, hint);

    await developer('PATCH', '/v1/me', { consentKeys: [other.jwk, voucher.jwk] });
    expect((await person.see(id)).json().verification.satisfied).toBe(true);
    await developer('PATCH', '/v1/me', { consentKeys: [other.jwk] });

    expect((await person.see(id)).json().verification.satisfied).toBe(false);
    expect(refusalOf(await person.approve(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    const fresh = await other.hint(hintClaims(service, developer.developerId, request));
    expect((await person.open(request.consentUrl, fresh)).json().verification.satisfied).toBe(true);
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('blocks the approval when it is bad, even in the sandbox and with a mere link', async () => {
    const sandbox = await vouched({ mode: 'sandbox' });
    const linked = await vouched();
    await linked.developer('PATCH', '/v1/me', { consentKeys: [] });

    expect([await sandbox.proves('bad'), await linked.proves('bad')]).toEqual([false, false]);
    for (const { person, id } of [sandbox, linked]) {
      expect(refusalOf(await person.approve(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    }
    expect(await sandbox.proves(sandbox.hint)).toBe(true);
    for (const { person, request, id } of [sandbox, linked]) {
      expect((await person.open(request.consentUrl)).json().verification.satisfied).toBe(true);
      expect((await person.approve(id)).statusCode).toBe(200);
    }
  });

  test('enters the chain when it fails, once a minute with the number of failures', async () => {
    const on = await startApp();
    const { developer, agentId, id, proves } = await vouched({ on });

    for (let count = 0; count < 3; count += 1) await proves('bad');
    on.advance(60);
    await proves('bad');

    const told = await entriesOf(developer, 'consent.verification_failed');
    expect(told[0]).toMatchObject({ agentId, principalId: 'user_42', status: 'blocked' });
    expect(told.map(({ metadata }) => metadata)).toEqual([
      { authRequestId: id, method: 'hint', previousMinute: 0, actor: 'principal' },
      { authRequestId: id, method: 'hint', previousMinute: 3, actor: 'principal' },
    ]);
    const events = await on.db
      .selectFrom('outboxEvents')
      .select('type')
      .where('developerId', '=', developer.developerId)
      .execute();
    expect(events.map(({ type }) => type)).not.toContain('consent.verification_failed');
  });
});
