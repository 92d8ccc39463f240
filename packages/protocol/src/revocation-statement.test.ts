import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { keySetOf } from './key-set.ts';
import {
  createVerifierKey,
  readPosition,
  signPosition,
  verifyRevocationStatement,
} from './revocation-statement.ts';

const service = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = { ...service.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' };
const keys = keySetOf({ keys: [jwk] });
const issuer = 'https://auth.example.com';
const now = new Date('2026-02-01T12:00:00.000Z');
const hash = 'ab'.repeat(32);

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Signs claims as the service does. */
function signed(claims: object, typ = 'revocation-statement+jwt'): string {
  const text = `${encoded({ alg: 'ES256', typ, kid: 'k1' })}.${encoded(claims)}`;
  const key = { key: service.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

const check = (jws: unknown, at = now) =>
  verifyRevocationStatement(jws, {
    ...{ keys: () => keys, issuer, now: at },
    verifySignature: ({ signed: text, signature }) =>
      verify('sha256', text, { key: service.publicKey, dsaEncoding: 'ieee-p1363' }, signature),
  });

async function statement() {
  const { publicKey, privateKey } = await createVerifierKey();
  const position = { seq: 41, hash };
  const confirmed = {
    ...{
      verifierId: 'vrf_1',
      name: 'gateway',
      publicKey,
      state: 'confirmed',
      at: '2026-02-01T11:59:59.900Z',
    },
    position: await signPosition({ verifierId: 'vrf_1', ...position }, privateKey, now),
  };
  const { position: _, ...unsigned } = confirmed;
  const lapsed = { ...unsigned, verifierId: 'vrf_2', state: 'lapsed', at: '2026-02-01T11:59:00.000Z' };
  const late = { ...unsigned, verifierId: 'vrf_3', state: 'unconfirmed', at: '2026-02-01T12:00:30.000Z' };
  const claims = {
    ...{ iss: issuer, iat: now.getTime() / 1000, dev: 'dev_1', grantId: 'grnt_1' },
    entry: { id: 'alog_1', seq: 40, hash: 'cd'.repeat(32), timestamp: '2026-02-01T11:59:59.800Z' },
    ...{ position, complete: true, verifiers: [confirmed, lapsed] },
  };
  return { claims, confirmed, lapsed, late, privateKey };
}

test('a statement holds with the signatures of the service and of each verifier that confirmed', async () => {
  const { claims, confirmed, lapsed, late } = await statement();

  const checked = await check(signed(claims));
  const { iss: _, iat: __, dev: developerId, ...said } = claims;
  expect(checked).toEqual({ ok: true, issuedAt: now, claims: { developerId, ...said } });
  const open = { ...claims, complete: false, verifiers: [confirmed, lapsed, late] };
  expect((await check(signed(open))).ok).toBe(true);
  expect((await check(signed({ ...claims, verifiers: [] }))).ok).toBe(true);
});

test('a confirmation with another key, of another verifier or of an earlier position is found', async () => {
  const { claims, confirmed, privateKey } = await statement();
  const other = await createVerifierKey();
  const by = (verifierId: string, seq: number, text = hash, key = privateKey) =>
    signPosition({ verifierId, seq, hash: text }, key, now);
  const wrong = [
    await by('vrf_1', 41, hash, other.privateKey),
    await by('vrf_2', 41),
    await by('vrf_1', 40),
    await by('vrf_1', 41, 'ef'.repeat(32)),
    signed({ iss: 'vrf_1', seq: 41, hash, iat: 0 }, 'verifier-position+jwt'), // by the service in its place
    confirmed.position.slice(0, -2),
    '',
  ];

  for (const position of wrong) {
    const verifiers = [{ ...confirmed, position }];
    const reason = { ok: false, reason: 'bad_confirmation', verifierId: 'vrf_1' };
    expect(await check(signed({ ...claims, verifiers }))).toEqual(reason);
  }
  const later = [{ ...confirmed, position: await by('vrf_1', 99, 'ef'.repeat(32)) }];
  expect((await check(signed({ ...claims, verifiers: later }))).ok).toBe(true);
});

test('a statement that contradicts itself is found', async () => {
  const { claims, confirmed, lapsed, late } = await statement();
  const { entry } = claims;

  for (const change of [
    { complete: false },
    { verifiers: [confirmed, late] }, // and says that it is complete
    { verifiers: [confirmed, confirmed] },
    { verifiers: [{ ...lapsed, at: '2026-02-01T12:00:30.000Z' }] }, // a lease that has not ended
    { entry: { ...entry, seq: 42 } },
    { entry: { ...entry, seq: 41 } }, // one number, two hashes
  ]) {
    expect(await check(signed({ ...claims, ...change }))).toEqual({ ok: false, reason: 'contradictory' });
  }
});

test('another text, issuer, kind, time or signer is refused, and nothing throws', async () => {
  const { claims, confirmed } = await statement();
  const good = signed(claims);
  const [header, , signature] = good.split('.');

  for (const [jws, reason] of [
    [undefined, 'malformed'],
    ['', 'malformed'],
    [good.slice(0, -1), 'malformed'],
    [`${header}.${encoded({ ...claims, grantId: 'grnt_2' })}.${signature}`, 'bad_signature'],
    [signed(claims, 'at+jwt'), 'typ_not_allowed'],
    [signed({ ...claims, iss: 'https://other.example.com' }), 'issuer_mismatch'],
    [signed({ ...claims, iat: claims.iat + 120 }), 'not_yet_valid'],
    [signed({ ...claims, grantId: 1 }), 'malformed'],
    [signed({ ...claims, position: null }), 'malformed'],
    [signed({ ...claims, verifiers: [null] }), 'malformed'],
    [signed({ ...claims, verifiers: [{ ...confirmed, state: 'gone' }] }), 'malformed'],
    [signed({ ...claims, verifiers: [{ ...confirmed, position: undefined }] }), 'malformed'],
  ] as const) {
    expect(await check(jws), reason).toEqual({ ok: false, reason });
  }
});

test('each changed byte of a position is found', async () => {
  const { publicKey, privateKey } = await createVerifierKey();
  const jws = await signPosition({ verifierId: 'vrf_1', seq: 1, hash }, privateKey, now);

  expect(await readPosition(jws, publicKey)).toEqual({ verifierId: 'vrf_1', seq: 1, hash });
  for (let at = 0; at < jws.length; at += 1) {
    const changed = `${jws.slice(0, at)}${jws[at] === 'A' ? 'B' : 'A'}${jws.slice(at + 1)}`;
    expect(await readPosition(changed, publicKey), `byte ${at}`).toBeUndefined();
  }
  expect(await readPosition(jws, { ...publicKey, x: publicKey.y })).toBeUndefined();
});
