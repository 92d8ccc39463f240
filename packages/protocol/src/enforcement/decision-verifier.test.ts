import { describe, expect, test } from 'vitest';
import { decisionClaims, secondApproval } from '../../test/decision-claims.ts';
import { engineSetup } from '../../test/engine-setup.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import {
  ec,
  ecHeader,
  ISSUER,
  jws,
  NOW,
  NOW_SECONDS,
  serviceKeys,
  verifyWithNode,
} from '../../test/signing.ts';
import { readDecisionClaims } from './decision-claims.ts';
import { createDecisionVerifier } from './decision-verifier.ts';
import { createEnforcer } from './enforcer.ts';
import type { DecisionPhase, DecisionStore } from './ports.ts';

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

const HOURLY = JSON.stringify(['manifest', 'pay', 't0', 'calls', 'per_hour']);
const call = { grantToken: 'token', connector: 'pay', tool: 't0', arguments: {}, decisionGrants: ['jwt'] };
const answers = { hold: 'held', send: 'sent', spend: 'spent', release: 'free' } as const;
type Answer = (phase: DecisionPhase) => unknown;

/** A call of a tool with a decision and a cap, and an issuer that answers as told. */
async function ask(answer: Answer, { limit = 5, change = {} }: { limit?: number; change?: object } = {}) {
  const payload = await decisionClaims(call);
  const phases: DecisionPhase[] = [];
  const decisions: DecisionStore = {
    verify: () => ({ ok: true, payload, expired: false }),
    async move({ phase }) {
      phases.push(phase);
      return Object(await answer(phase));
    },
  };
  const meter = new PlainMeter(() => 0);
  const tool = { permission: 'write', requires_decision: true, caps: { per_hour: limit } };
  const enforcer = createEnforcer({ ...engineSetup(tool, { meter }), decisions });
  return { result: await enforcer.enforce({ ...call, ...change }), phases, used: meter.usedOf(HOURLY) };
}
const moved = (phase: DecisionPhase) => ({ ok: true, state: answers[phase], replayed: false });

describe('a call', () => {
  test('holds its decision, is charged, and sends the decision', async () => {
    const { result, phases, used } = await ask(moved);

    expect(result).toMatchObject({ allowed: true, decision: { state: 'sent' }, reservation: { units: 0 } });
    expect({ phases, used }).toEqual({ phases: ['hold', 'send'], used: 1 });
  });

  test('gets the same answer again after its decision was sent', async () => {
    const { result } = await ask(() => ({ ok: true, state: 'sent', replayed: true }));

    expect(result).toMatchObject({ allowed: true, decision: { state: 'sent' } });
  });

  test.each<[string, Answer]>([
    ['refuses', () => ({ ok: false, reason: 'revoked' })],
    ['throws', () => Promise.reject(new Error())],
    ['answers nothing', () => undefined],
    ['answers that it is still held', () => ({ ok: true, state: 'held', replayed: true })],
    ['answers that it is free', () => ({ ok: true, state: 'free', replayed: false })],
  ])('gets its units back when the issuer %s in place of sending', async (_, send) => {
    const { result, phases, used } = await ask((phase) => (phase === 'send' ? send(phase) : moved(phase)));

    expect(result).toMatchObject({
      allowed: false,
      reasonCode: 'decision_required',
      subReason: 'consume_unavailable',
      reservation: null,
      decision: null,
    });
    expect({ phases, used }).toEqual({ phases: ['hold', 'send'], used: 0 });
  });

  test.each<[string, unknown, string]>([
    ['consumed', { ok: false, reason: 'consumed' }, 'consumed'],
    ['revoked', { ok: false, reason: 'revoked' }, 'revoked'],
    ['refused for a reason without a name', { ok: false, reason: 'mood' }, 'consume_unavailable'],
    ['not held', { ok: true, state: 'free' }, 'consume_unavailable'],
    ['spent', { ok: true, state: 'spent' }, 'consume_unavailable'],
  ])('costs no unit when its decision is %s', async (_, hold, subReason) => {
    const { result, phases, used } = await ask(() => hold);

    expect(result).toMatchObject({ reasonCode: 'decision_required', subReason, decision: null });
    expect({ phases, used }).toEqual({ phases: ['hold'], used: 0 });
  });

  test('gives its decision back when a cap denies it, even if nobody confirms that', async () => {
    const full = { limit: 0 };
    const { result, phases } = await ask(moved, full);
    const { result: unconfirmed } = await ask(
      (phase) => (phase === 'release' ? Promise.reject(new Error()) : moved(phase)),
      full,
    );

    expect(phases).toEqual(['hold', 'release']);
    for (const each of [result, unconfirmed])
      expect(each).toMatchObject({ reasonCode: 'cap_exceeded', subReason: 'limit_reached', decision: null });
  });

  test('moves nothing and charges nothing when it only checks', async () => {
    const { result, phases, used } = await ask(moved, { change: { reserve: false } });

    expect(result).toMatchObject({ allowed: true, decision: { state: 'unheld' }, reservation: { id: null } });
    expect({ phases, used }).toEqual({ phases: [], used: 0 });
  });

  test('is denied when there is no issuer to ask', async () => {
    const setup = engineSetup({ permission: 'write', requires_decision: true });

    expect(await createEnforcer(setup).enforce(call)).toMatchObject({ subReason: 'consume_unavailable' });
  });
});

describe('two approvals', () => {
  const tool = { permission: 'write', requires_decision: true, four_eyes_on: ['pay'] };
  const four = { ...call, arguments: { decision: 'pay' }, decisionGrants: ['1', '2'] };

  async function judge(second: object, first: object = {}) {
    const payloads: Record<string, object> = {
      '1': await decisionClaims(four, { quorum: 2, ...first }),
      '2': await decisionClaims(four, { ...secondApproval, ...second }),
    };
    const decisions: DecisionStore = {
      verify: (jwt) => ({ ok: true, payload: Object(payloads[jwt]), expired: false }),
      move: async ({ phase }) => Object(moved(phase)),
    };
    const enforcer = createEnforcer({ ...engineSetup(tool), decisions });
    const answersOf = [four.decisionGrants, four.decisionGrants.toReversed()].map((decisionGrants) =>
      enforcer.enforce({ ...four, decisionGrants }),
    );
    const [there, back] = await Promise.all(answersOf);
    expect(back?.subReason).toBe(there?.subReason); // the order in which they are given decides nothing
    return there?.subReason ?? 'fine';
  }

  test.each<[string, string, object, object?]>([
    ['of two people for one request are enough', 'fine', {}],
    ['of one person are one', 'same_approver', { sub: 'principal:alice' }],
    ['with one id are one', 'same_approver', { jti: `dgnt_${'01J00000000000000000000001'}` }],
    ['of two requests', 'spliced', { decision_id: 'dec_01J00000000000000000000009' }],
    ['with two nonces', 'spliced', { nonce: 'B'.repeat(22) }],
    ['of which the second follows another', 'spliced', { prev: 'dgnt_01J00000000000000000000009' }],
    ['of which the second follows none', 'spliced', { prev: undefined }],
    ['that are both the first', 'spliced', { position: 1 }],
    ['that are both the second', 'spliced', {}, { position: 2 }],
  ])('%s', async (_, verdict, second, first) => {
    expect(await judge(second, first)).toBe(verdict);
  });
});
