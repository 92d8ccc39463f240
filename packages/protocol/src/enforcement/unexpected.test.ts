import { describe, expect, test } from 'vitest';
import { engineSetup } from '../../test/engine-setup.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import type { Call } from './call.ts';
import { createEnforcer } from './enforcer.ts';
import type { EnforcerSetup } from './engine.ts';
import { type Counter, MeterError } from './meter.ts';
import { linkMeter } from './meter-link.ts';

const fail = () => {
  throw new Error('unexpected');
};
const reject = () => Promise.reject(new Error('unexpected'));
const call: Call = { grantToken: 'token', connector: 'pay', tool: 't0' };

/** An engine whose manifest source answers a tool with a member that cannot be read. */
function withFaultyTool(member: string, tool: object = {}): Partial<EnforcerSetup> {
  const { manifests } = engineSetup({ permission: 'write', ...tool });
  const manifest = manifests.get('pay');
  const declared = manifest?.tools.get('t0');
  if (!manifest || !declared) throw new Error('The manifest of the test has no tool.');
  const faulty = Object.defineProperty({ ...declared }, member, { get: fail });
  return { manifests: new Map([['pay', { ...manifest, tools: new Map([['t0', faulty]]) }]]) };
}

async function answerTo(change: Partial<EnforcerSetup>, asked: Partial<Call> = {}) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const enforcer = createEnforcer({ ...engineSetup({ permission: 'write' }), onError, ...change });
  return { result: await enforcer.enforce({ ...call, ...asked }), errors };
}

describe('an unexpected error', () => {
  test.each<[string, Partial<EnforcerSetup>, string, string | null]>([
    ['of the token source', { tokens: { verify: fail } }, 'token_invalid', null],
    ['of a waiting token source', { tokens: { verify: reject } }, 'token_invalid', null],
    ['in the claims', { tokens: { verify: () => Object({ ok: true }) } }, 'token_invalid', null],
    ['of the revocation check', { revocation: { check: fail } }, 'grant_revoked', 'status_unavailable'],
    [
      'of a waiting revocation check',
      { revocation: { check: reject } },
      'grant_revoked',
      'status_unavailable',
    ],
    ['of the manifests', { manifests: { get: fail } }, 'manifest_unknown_tool', 'unknown_connector'],
    ['in the pins', withFaultyTool('mcp_pins'), 'manifest_unknown_tool', 'unknown_tool'],
    ['in the permission', withFaultyTool('permission'), 'tool_not_granted', null],
    ['in the purposes', withFaultyTool('allowed_purposes'), 'purpose_not_allowed', 'not_matched'],
    ['in the rules', withFaultyTool('arguments'), 'tool_not_granted', 'argument_unreadable'],
    ['in the decision', withFaultyTool('requires_decision'), 'decision_required', 'consume_unavailable'],
    ['in the caps', withFaultyTool('caps'), 'cap_exceeded', 'meter_unavailable'],
  ])('%s is a denial by its check', async (_, change, reasonCode, subReason) => {
    const { result } = await answerTo(change);

    expect(result).toMatchObject({
      allowed: false,
      reasonCode,
      subReason,
      reservation: null,
      decision: null,
    });
    expect(result.reason).not.toBe('');
  });

  test.each([
    ['amount', 'cap_exceeded', 'invalid_amount'],
    ['caseId', 'cap_exceeded', 'meter_unavailable'],
  ])('in the %s of the call is a denial by its check', async (member, reasonCode, subReason) => {
    const asked = Object.defineProperty({ ...call }, member, { get: fail });

    const result = await createEnforcer(engineSetup({ permission: 'write' })).enforce(asked);

    expect(result).toMatchObject({ allowed: false, reasonCode, subReason });
  });

  test('is told to the logger, and a logger that fails changes nothing', async () => {
    const { result, errors } = await answerTo({ manifests: { get: fail } });
    const { result: same } = await answerTo({ manifests: { get: fail }, onError: fail });

    expect(errors).toEqual([new Error('unexpected')]);
    expect(same).toEqual({ ...result, call_id: same.call_id, callId: same.callId });
  });

  test('in the caps denies nothing in caps_mode warn', async () => {
    const { result } = await answerTo(withFaultyTool('caps'), { capsMode: 'warn' });

    expect(result).toMatchObject({ allowed: true, wouldDeny: [{ sub_reason: 'meter_unavailable' }] });
  });

  test('about the region is a denial by region', async () => {
    const claims = {
      authorization_details: [{ type: 'urn:service:tools:v1', connector: 'pay', data_region: 'eu' }],
    };
    const setup = engineSetup({ permission: 'write' }, { claims });

    const result = await createEnforcer(Object({ ...setup, dataRegion: 1 })).enforce(call);

    expect(result).toMatchObject({ reasonCode: 'region_mismatch' });
  });

  test('thrown by the meter is a meter that cannot be reached', async () => {
    const meter = Object.assign(new PlainMeter(() => 0), { reserve: fail });
    const setup = engineSetup({ permission: 'write', caps: { per_hour: 1 } }, { meter });

    expect(await createEnforcer(setup).enforce(call)).toMatchObject({
      subReason: 'meter_unavailable',
      details: { cause: 'unreachable' },
    });
  });
});

const PATIENCE_MS = 5_000;
const MAX_INSTANT_MS = 8_640_000_000_000_000;
const counter: Counter = { key: '["k"]', limit: 5, units: 1, windowMs: 3_600_000, grainMs: 1 };
const counters = [counter, { ...counter, key: '["l"]' }];

function linkTo(change: object) {
  return linkMeter(Object.assign(new PlainMeter(() => 0), change), PATIENCE_MS);
}

describe('a charge', () => {
  const charge = (reserve: unknown) => linkTo({ reserve }).charge('dev_1', 'call-0001', counters);

  test.each<[string, object, object]>([
    ['took from every counter', { reserved: true, used: [1, 0] }, { id: 'call-0001', used: [1, 0] }],
    ['found the first full', { full: 0, used: 0, retryAtMs: 0 }, { full: 0, used: 0, retryAtMs: 0 }],
    [
      'found the last full',
      { full: 1, used: 2 ** 40, retryAtMs: MAX_INSTANT_MS },
      { full: 1, used: 2 ** 40, retryAtMs: MAX_INSTANT_MS },
    ],
    ['never has room', { full: 1, used: 5, retryAtMs: null }, { full: 1, used: 5, retryAtMs: null }],
  ])('is passed on when it %s', async (_, answer, outcome) => {
    expect(await charge(async () => answer)).toEqual({ ok: true, outcome });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'reserved'],
    ['no list of uses', { reserved: true }],
    ['a text as uses', { reserved: true, used: 'ab' }],
    ['one use too few', { reserved: true, used: [1] }],
    ['one use too many', { reserved: true, used: [1, 1, 1] }],
    ['a use below 0', { reserved: true, used: [1, -1] }],
    ['half a use', { reserved: true, used: [0.5, 1] }],
    ['a use that is a text', { reserved: true, used: [1, '1'] }],
    ['neither of the two', { reserved: false, used: [1, 1] }],
    ['a counter beyond the last', { full: 2, used: 1, retryAtMs: null }],
    ['a counter before the first', { full: -1, used: 1, retryAtMs: null }],
    ['a counter that is a text', { full: '0', used: 1, retryAtMs: null }],
    ['a full counter without its use', { full: 0, retryAtMs: null }],
    ['a full counter without its instant', { full: 0, used: 5 }],
    ['an instant that is a text', { full: 0, used: 5, retryAtMs: '9' }],
    ['an instant before 1970', { full: 0, used: 5, retryAtMs: -1 }],
    ['an instant that no date holds', { full: 0, used: 5, retryAtMs: MAX_INSTANT_MS + 2 }],
  ])('is none when the meter answers %s', async (_, answer) => {
    expect(await charge(async () => answer)).toEqual({ ok: false, problem: 'unreachable' });
  });

  test('asks under a hundred ids, and then no more', async () => {
    const ids: string[] = [];
    const reserve = async (_: string, id: string) => {
      ids.push(id);
      return { reused: true };
    };

    expect(await charge(reserve)).toEqual({ ok: false, problem: 'unreachable' });
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, 'call-0001', 'call-0001.99']);
  });

  test.each(['data_loss', 'misconfigured', 'timeout'] as const)('keeps the problem %s', async (problem) => {
    const reserve = () => Promise.reject(new MeterError(problem));

    expect(await charge(reserve)).toEqual({ ok: false, problem });
  });

  test('is late after the time limit', async () => {
    const meter = Object.assign(new PlainMeter(() => 0), { reserve: () => new Promise(() => undefined) });
    const link = linkMeter(Object(meter), 1);

    expect(await link.charge('dev_1', 'call-0001', counters)).toEqual({ ok: false, problem: 'timeout' });
  });
});

describe('a reading of counters', () => {
  const free = { used: 0, retryAtMs: null };
  const read = (answer: unknown) => linkTo({ usage: async () => answer }).usage('dev_1', counters);

  test('is passed on', async () => {
    const answer = [free, { used: 5, retryAtMs: 0 }];

    expect(await read(answer)).toEqual({ ok: true, answer });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'ab'],
    ['a counter too few', [free]],
    ['a counter too many', [free, free, free]],
    ['nothing of a counter', [free, null]],
    ['a use below 0', [free, { ...free, used: -1 }]],
    ['no use', [free, { retryAtMs: null }]],
    ['no instant', [free, { used: 1 }]],
  ])('is none when the meter answers %s', async (_, answer) => {
    expect(await read(answer)).toEqual({ ok: false, problem: 'unreachable' });
  });

  test('keeps the problem of the meter', async () => {
    const usage = () => Promise.reject(new MeterError('data_loss'));

    expect(await linkTo({ usage }).usage('dev_1', counters)).toEqual({ ok: false, problem: 'data_loss' });
  });
});
