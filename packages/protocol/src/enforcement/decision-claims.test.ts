import { expect, test } from 'vitest';
import { decisionClaims } from '../../test/decision-claims.ts';
import { readDecisionClaims } from './decision-claims.ts';

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
