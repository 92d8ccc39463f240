import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  base64url,
  ec,
  ecHeader,
  grantToken,
  ISSUER,
  jws,
  keyPair,
  NOW,
  outcome,
  rsa,
  rsaHeader,
  serviceKey,
  standardPayload,
  verifyWithNode,
} from '../test/signing.ts';
import { shortest } from '../test/timing.ts';
import { keySetOf, type VerificationJwk } from './key-set.ts';
import { createTokenVerifier, type SignatureToCheck } from './token-verifier.ts';

/** Signs any header, as an attacker with a signature of the service, or an earlier release, could have. */
const signedHeader = (header: object | string) => outcome(jws(header, standardPayload));

describe('algorithms', () => {
  test.each(['none', 'None', 'NONE', 'nOnE'])('J1: `alg` %s is refused, signed or not', (alg) => {
    const unsigned = `${base64url({ alg, kid: rsa.kid })}.${base64url(standardPayload)}`;

    expect(outcome(`${unsigned}.`)).toBe('malformed');
    expect(outcome(unsigned)).toBe('malformed');
    expect(signedHeader({ alg, kid: rsa.kid })).toBe('alg_not_allowed');
  });

  test('J1: an empty signature is refused', () => {
    expect(outcome(grantToken().replace(/[^.]+$/, ''))).toBe('malformed');
  });

  test('J2: HS256, HS384 and HS512 keyed with a public key in any form are refused', () => {
    const forms = [rsa, ec].flatMap(({ publicKey }) => [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(publicKey.export({ format: 'jwk' })),
      Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url'),
    ]);
    const forged = [...forms, rsa.publicKey.export({ format: 'pem', type: 'pkcs1' })].flatMap((secret) =>
      ['256', '384', '512'].flatMap((bits) =>
        [rsa.kid, ec.kid, undefined].map((kid) => {
          const signed = `${base64url({ alg: `HS${bits}`, kid })}.${base64url(standardPayload)}`;
          return `${signed}.${createHmac(`sha${bits}`, secret).update(signed).digest('base64url')}`;
        }),
      ),
    );

    expect(new Set(forged.map((token) => outcome(token)))).toEqual(new Set(['alg_not_allowed']));
  });

  test.each([
    'RS384',
    'RS512',
    'PS256',
    'ES384',
    'ES256K',
    'EdDSA',
    'rs256',
    '',
    ['RS256'],
    null,
    undefined,
    256,
  ])('J3: `alg` %j is refused', (alg) => {
    expect(signedHeader({ ...rsaHeader, alg })).toBe('alg_not_allowed');
  });

  test('J4: the algorithm has to be that of the key', () => {
    expect(outcome(grantToken({}, { ...ecHeader, kid: rsa.kid }, ec))).toBe('key_inconsistent');
    expect(outcome(grantToken({}, { ...rsaHeader, kid: ec.kid }, rsa))).toBe('key_inconsistent');
  });

  test.each([
    ['no `use`', { use: undefined }],
    ['another `use`', { use: 'enc' }],
    ['no `alg`', { alg: undefined }],
    ['another `alg`', { alg: 'PS256' }],
    ['another `kty`', { kty: 'EC' }],
    ['a short modulus', { n: Buffer.alloc(255, 0xff).toString('base64url') }],
    ['a modulus of 2,047 bits', { n: Buffer.alloc(256, 0x7f).toString('base64url') }],
    ['a short modulus behind zeros', { n: Buffer.alloc(256, 0xff).fill(0, 0, 128).toString('base64url') }],
    ['no modulus', { n: undefined }],
  ])('J4: a key with %s verifies nothing', (_, change) => {
    const key = { ...serviceKey(rsa, 'RS256'), ...change };
    const other = createTokenVerifier({
      keys: () => ({ byId: new Map([[rsa.kid, key]]), legacy: key }),
      issuer: ISSUER,
      developerId: 'dev_1',
      verifySignature: () => true,
    });

    expect(other.verify(grantToken(), { now: NOW })).toEqual({ ok: false, reason: 'key_inconsistent' });
  });

  test('J4: an EC key that is not P-256 verifies nothing', () => {
    const key = { ...serviceKey(ec, 'ES256'), crv: 'P-384' };
    const other = createTokenVerifier({
      keys: () => ({ byId: new Map([[ec.kid, key]]), legacy: undefined }),
      issuer: ISSUER,
      developerId: 'dev_1',
      verifySignature: () => true,
    });

    expect(other.verify(grantToken({}, ecHeader, ec), { now: NOW })).toMatchObject({
      reason: 'key_inconsistent',
    });
  });
});

describe('key ids', () => {
  test.each([
    '../../dev/null',
    "' or 1=1 --",
    'http://127.0.0.1/jwks.json',
    '__proto__',
    'constructor',
    'toString',
    'service-rs256-unknown',
    `${rsa.kid} `,
    `${rsa.kid}\u0001`,
  ])('J5: %j names no key', (kid) => {
    expect(signedHeader({ ...rsaHeader, kid })).toBe('key_not_found');
  });

  test.each([
    ['a NUL', 'a\0b', 'malformed'],
    ['nothing', '', 'malformed'],
    ['257 characters', 'k'.repeat(257), 'malformed'],
    ['10 kB', 'k'.repeat(10_000), 'header_not_allowed'],
    ['a number', 7, 'malformed'],
    ['an array', [rsa.kid], 'malformed'],
    ['null', null, 'malformed'],
  ])('J5: a key id that is %s is refused', (_, kid, reason) => {
    expect(signedHeader({ ...rsaHeader, kid })).toBe(reason);
  });

  test('J5: a key that the map has is found by nothing but its own id', () => {
    const asked: string[] = [];
    class Asked extends Map<string, ReturnType<typeof serviceKey>> {
      override get(kid: string) {
        asked.push(kid);
        return super.get(kid);
      }
    }
    const byId = new Asked([[rsa.kid, serviceKey(rsa, 'RS256')]]);
    const keys = () => ({ byId, legacy: undefined });
    const other = createTokenVerifier({
      keys,
      issuer: ISSUER,
      developerId: 'dev_1',
      verifySignature: verifyWithNode,
    });

    expect(other.verify(grantToken(), { now: NOW }).ok).toBe(true);
    expect(asked).toEqual([rsa.kid]);
  });

  test('J20: a month, or no key id, means the legacy key and no other', () => {
    const other = keyPair('service-2026-01', generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey);

    expect(signedHeader({ alg: 'RS256', kid: 'service-2031-12' })).toBe('accepted');
    expect(outcome(grantToken({}, { alg: 'RS256', kid: 'service-2026-01' }, other))).toBe('bad_signature');
    expect(outcome(grantToken({}, { alg: 'RS256' }, other))).toBe('bad_signature');
    expect(outcome(grantToken({}, { alg: 'ES256', kid: 'service-2026-01' }, ec))).toBe('key_not_found');
  });

  test('J20: who knows only the JWK Set takes the newest month as the legacy key', () => {
    const older = keyPair('service-2026-01', generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey);
    const entry = ({ pair, ...jwk }: ReturnType<typeof serviceKey>) => jwk;
    const set = keySetOf({
      keys: [
        entry(serviceKey({ ...rsa, kid: 'service-2026-02' }, 'RS256')),
        entry(serviceKey(older, 'RS256')),
        entry(serviceKey(rsa, 'RS256')),
      ],
    });
    const verifySignature = (check: SignatureToCheck<VerificationJwk>) => {
      const pair = check.key.n === serviceKey(rsa, 'RS256').n ? rsa : older;
      return verifyWithNode({ ...check, key: { ...check.key, pair } });
    };
    const byJwks = createTokenVerifier({
      keys: () => set,
      issuer: ISSUER,
      developerId: 'dev_1',
      verifySignature,
    });

    expect(byJwks.verify(grantToken({}, { alg: 'RS256', kid: 'service-2024-05' }), { now: NOW }).ok).toBe(
      true,
    );
    expect(byJwks.verify(grantToken({}, { alg: 'RS256', kid: older.kid }, older), { now: NOW })).toEqual({
      ok: false,
      reason: 'bad_signature',
    });
  });
});

describe('headers', () => {
  const attacker = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = attacker.publicKey.export({ format: 'jwk' });

  test.each([
    ['jwk', jwk],
    ['jku', 'https://attacker.example/jwks.json'],
    ['x5u', 'https://attacker.example/cert.pem'],
    ['x5c', ['MIIB']],
    ['x5t', 'abc'],
  ])('J6: `%s` is refused, even beside a genuine signature', (name, value) => {
    const header = { ...rsaHeader, [name]: value };

    expect(signedHeader(header)).toBe('header_not_allowed');
    expect(outcome(jws(header, standardPayload, keyPair(rsa.kid, attacker.privateKey)))).toBe(
      'header_not_allowed',
    );
  });

  test.each([
    ['crit', ['exp']],
    ['crit', []],
    ['crit', 'b64'],
    ['b64', false],
    ['zip', 'DEF'],
    ['cty', 'JWT'],
    ['cty', 'vc'],
    ['enc', 'A256GCM'],
    ['constructor', 1],
  ])('J7: the header member `%s` of %j is refused, even with a genuine signature', (name, value) => {
    expect(signedHeader({ ...rsaHeader, [name]: value })).toBe('header_not_allowed');
  });

  test.each([
    ['header', `{"alg":"none","alg":"RS256","kid":"${rsa.kid}"}`, JSON.stringify(standardPayload)],
    ['header, one of them escaped', `{"\\u0061lg":"none","alg":"RS256"}`, JSON.stringify(standardPayload)],
    ['payload', '{"alg":"RS256"}', JSON.stringify(standardPayload).replace('{', '{"sub":"admin",')],
    [
      'grant',
      '{"alg":"RS256"}',
      JSON.stringify(standardPayload).replace('"grant_id"', '"grant_id":"x","grant_id"'),
    ],
    [
      'payload, twice the details',
      '{"alg":"RS256"}',
      JSON.stringify(standardPayload).replace('{', '{"authorization_details":[],"authorization_details":[],'),
    ],
  ])('J8: a member named twice in the %s is refused, even with a genuine signature', (_, header, payload) => {
    expect(outcome(jws(header, payload))).toBe('malformed');
  });

  test('J9: a header of more than 2,048 bytes is refused', () => {
    const padded = (length: number) => {
      const text = JSON.stringify(rsaHeader);
      return `${text.slice(0, -1)}${' '.repeat(length - text.length)}}`;
    };

    expect(signedHeader(padded(2_048))).toBe('accepted');
    expect(signedHeader(padded(2_049))).toBe('header_not_allowed');
  });

  test.each(['dpop+jwt', 'vc+jwt', 'principal-session+jwt', 'at+jwt ', '', null, ['at+jwt'], 1])(
    'J17: `typ` %j is not that of a grant token',
    (typ) => {
      expect(signedHeader({ ...rsaHeader, typ })).toBe('typ_not_allowed');
    },
  );
});

describe('form', () => {
  const [header = '', payload = '', signature = ''] = grantToken().split('.');

  test.each([
    ['nothing', ''],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${grantToken()}.${signature}`],
    ['five parts', `${grantToken()}.a.b`],
    ['an empty header', `.${payload}.${signature}`],
    ['an empty payload', `${header}..${signature}`],
    ['the JSON form', JSON.stringify({ protected: header, payload, signature })],
    ['the general JSON form', JSON.stringify({ payload, signatures: [{ protected: header, signature }] })],
    ['a number', 42],
    ['an object', { toString: () => grantToken() }],
    ['undefined', undefined],
    ['null', null],
  ])('J9: %s is refused', (_, token) => {
    expect(outcome(token)).toBe('malformed');
  });

  test('J9: more than 16,384 bytes are refused, however genuine', () => {
    const ofLength = (length: number) => {
      const filler = (size: number) => grantToken({ filler: 'x'.repeat(size) });
      const size = Math.floor(((length - filler(0).length) * 3) / 4);
      return [size - 2, size - 1, size, size + 1].map(filler).find((token) => token.length >= length) ?? '';
    };

    expect(outcome(grantToken({ filler: 'x'.repeat(11_000) }))).toBe('accepted');
    expect(ofLength(16_385).length).toBeLessThan(16_390);
    expect(outcome(ofLength(16_385))).toBe('malformed');
  });

  test.each([
    ['nested 20,000 deep', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['nested 5,000 deep', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['of nothing but brackets', '['.repeat(11_000)],
    ['of nothing but colons', ':'.repeat(11_000)],
    ['a list', '[]'],
    ['a text', '"text"'],
    ['null', 'null'],
    ['not JSON', '{'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['with a byte-order mark', '\ufeff{}'],
  ])('J9: a payload %s is refused in less than 50 ms', (_, text) => {
    const token = `${header}.${base64url(text)}.${signature}`;

    expect(outcome(token)).toBe('malformed');
    expect(shortest(() => outcome(token))).toBeLessThan(50);
  });

  test.each([
    ['padding', (part: string) => `${part}=`],
    ['a blank before', (part: string) => ` ${part}`],
    ['a newline after', (part: string) => `${part}\n`],
    ['a blank inside', (part: string) => `${part.slice(0, 8)} ${part.slice(8)}`],
    ['the other alphabet', (part: string) => part.replace(/[a-z]/, '+')],
    ['a character beyond ASCII', (part: string) => part.replace(/[a-z]/, 'é')],
  ])('J13: %s is refused in each part', (_, change) => {
    for (const changed of [
      [change(header), payload, signature],
      [header, change(payload), signature],
      [header, payload, change(signature)],
    ]) {
      expect(outcome(changed.join('.'))).toBe('malformed');
    }
  });

  test('J13: unused bits that are set are refused, so a signature has one text', () => {
    const last = signature.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const sibling = alphabet[alphabet.indexOf(last) + 1] ?? '';

    // 256 bytes are 342 characters, the last of which has four bits to spare.
    expect(Buffer.from(signature.slice(0, -1) + sibling, 'base64url')).toEqual(
      Buffer.from(signature, 'base64url'),
    );
    expect(outcome(`${header}.${payload}.${signature.slice(0, -1)}${sibling}`)).toBe('malformed');
  });
});
