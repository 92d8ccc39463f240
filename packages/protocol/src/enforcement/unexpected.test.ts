import { describe, expect, test } from 'vitest';
import { engineSetup } from '../../test/engine-setup.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import type { Call } from './call.ts';
import { createEnforcer } from './enforcer.ts';
import type { EnforcerSetup } from './engine.ts';

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
