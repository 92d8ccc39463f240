import { describe, expect, test } from 'vitest';
import { decisionClaims } from '../../test/decision-claims.ts';
import { ec } from '../../test/documented-keys.ts';
import { ecHeader, ISSUER, jws, NOW, NOW_SECONDS, serviceKeys, verifyWithNode } from '../../test/signing.ts';
import { createDecisionVerifier } from './decision-verifier.ts';

const setup = { keys: () => serviceKeys, issuer: ISSUER, verifySignature: verifyWithNode, now: () => NOW };
const header = { ...ecHeader, typ: 'decision+jwt' };
const genuine = {
  ...(await decisionClaims({ connector: 'pay', tool: 't0' })),
  iat: NOW_SECONDS - 60,
  exp: NOW_SECONDS + 60,
};
const verifier = createDecisionVerifier(setup);
const verify = (change: object = {}, head: object = header) =>
  verifier.verify(jws(head, { ...genuine, ...change }, ec));

describe('a decision grant', () => {
  test('is verified with its claims', async () => {
    expect(await verify()).toEqual({ ok: true, payload: genuine, expired: false });
  });

  test('is told apart from a malformed one when it has expired', async () => {
    const times = { iat: NOW_SECONDS - 60, exp: NOW_SECONDS };

    expect(await verify(times)).toEqual({ ok: true, payload: { ...genuine, ...times }, expired: true });
  });

  test.each<[string, object, object?]>([
    ['has the type of a grant token', {}, { ...header, typ: 'at+jwt' }],
    ['has no type', {}, { alg: header.alg, kid: header.kid }],
    ['names no key', {}, { alg: header.alg, typ: header.typ }],
    ['names an unknown key', {}, { ...header, kid: 'other' }],
    ['has another issuer', { iss: 'https://other.example.test' }],
    ['has another issuer and has expired', { iss: 'https://other.example.test', exp: NOW_SECONDS - 1 }],
    ['has no expiry', { exp: undefined }],
    ['expires at no instant', { exp: 'soon' }],
    ['was made later than now', { iat: NOW_SECONDS + 3_600, exp: NOW_SECONDS + 7_200 }],
  ])('is refused when it %s', async (_, change, head) => {
    expect(await verify(change, head)).toEqual({ ok: false });
  });

  test('is refused when one character is changed', async () => {
    const token = jws(header, genuine, ec);
    const at = token.indexOf('.') + 5;
    const other = token[at] === 'A' ? 'B' : 'A';

    expect(await verifier.verify(token.slice(0, at) + other + token.slice(at + 1))).toEqual({ ok: false });
    expect(await verifier.verify('')).toEqual({ ok: false });
  });

  test('is refused when its signature cannot be checked', async () => {
    const broken = createDecisionVerifier({ ...setup, verifySignature: () => Promise.reject(new Error()) });

    expect(await broken.verify(jws(header, genuine, ec))).toEqual({ ok: false });
  });

  test('is not verified with a tolerance of more than a minute', () => {
    expect(() => createDecisionVerifier({ ...setup, expirySkewSeconds: 61 })).toThrow(RangeError);
  });
});
