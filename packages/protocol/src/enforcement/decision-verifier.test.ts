import { describe, expect, test } from 'vitest';
import { decisionClaims } from '../../test/decision-claims.ts';
import { ec } from '../../test/documented-keys.ts';
import { ecHeader, ISSUER, jws, NOW, NOW_SECONDS, serviceKeys, verifyWithNode } from '../../test/signing.ts';
import { readDecisionClaims } from './decision-claims.ts';
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

const DAY_SECONDS = 86_400;
const good = await decisionClaims({ connector: 'pay', tool: 't0', caseId: 'c1', caseVersion: '1' });
const passkey = { ...good.approval };
const isRead = (change: object) => readDecisionClaims({ ...good, ...change }) !== undefined;

test.each<[string, object]>([
  ['as the issuer makes them', {}],
  ['for a call without a case', { case_id: null, case_version: null }],
  [
    'for the words of four eyes',
    { decision: 'pay', four_eyes_on: ['pay'], quorum: 2, position: 2, prev: 'x' },
  ],
  ['that live for one second', { iat: 0, exp: 1 }],
  ['that live for a whole day', { iat: 0, exp: DAY_SECONDS }],
])('claims %s are read', (_, change) => {
  expect(isRead(change)).toBe(true);
});

test.each<[string, readonly unknown[]]>([
  ['aud', [undefined, 'urn:service:other', ['urn:service:decision']]],
  ['iat', [undefined, '0', 0.5, null]],
  ['exp', [undefined, '3600', 3_600.5, 0, -1, DAY_SECONDS + 1]],
  ['jti', [undefined, 1, 'dgnt_1', good.decision_id]],
  ['decision_id', [undefined, 1, 'dec_1', good.jti]],
  ['nonce', [undefined, 1, 'A'.repeat(21), 'A'.repeat(23)]],
  ['sub', [undefined, '', 1, null]],
  ['dev', [undefined, '', 1, null]],
  ['agt', [undefined, '', 1, null]],
  ['grnt', [undefined, '', 1, null]],
  ['connector', [undefined, '', 1, null]],
  ['tool', [undefined, '', 1, null]],
  ['case_id', [undefined, '', 1]],
  ['case_version', [undefined, '', 1]],
  ['decision', [undefined, '', 1, 'Pay', ['pay']]],
  ['action_hash', [undefined, 1, 'sha256:short']],
  ['quorum', [undefined, 0, 3, '1']],
  ['position', [undefined, 0, 3, '1']],
  ['prev', [null, 1]],
  ['four_eyes_on', [null, 'pay', [''], [1], { length: 0 }]],
  [
    'approval',
    [
      undefined,
      'passkey',
      { ...passkey, method: 'password' },
      { ...passkey, uv: false },
      { ...passkey, uv: 'true' },
      { method: 'passkey' },
    ],
  ],
])('claims with another %s are refused', (claim, values) => {
  const read = values.filter((value) => isRead({ [claim]: value }));

  expect(read).toEqual([]);
});

test.each<[unknown, string]>([
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  [0, '1970-01-01T00:00:00.000Z'],
  [8_640_000_000_000, '+275760-09-13T00:00:00.000Z'],
  [-8_640_000_000_000, '-271821-04-20T00:00:00.000Z'],
  [8_640_000_000_001, ''],
  [-8_640_000_000_001, ''],
  [1.5, ''],
  [null, ''],
  [undefined, ''],
])('an approval at %s has the time “%s”', (at, time) => {
  const claims = readDecisionClaims({ ...good, approval: { ...passkey, at } });

  expect(claims?.approvedAt).toBe(time);
});
