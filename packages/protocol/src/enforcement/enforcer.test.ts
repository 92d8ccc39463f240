import { describe, expect, test } from 'vitest';
import { setupOf, vectorsOf } from '../../test/enforce-case.ts';
import { engineSetup } from '../../test/engine-setup.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import { decodeBase64url, encodeBase64url } from '../base64url.ts';
import { manifestFromObject } from '../manifest/load.ts';
import { manifestSha256, widerTools } from '../manifest/pins.ts';
import { createEnforcer } from './enforcer.ts';
import type { EnforcerSetup, OfferedTool } from './engine.ts';
import { listTools } from './list-tools.ts';

const tool = (change: object = {}) => ({ permission: 'read', ...change });
const manifestOf = (...tools: object[]) => ({
  $schema: 'urn:service:manifest:0.6',
  connector: 'pay',
  tools: Object.fromEntries(tools.map((each, index) => [`t${index}`, each])),
});
const grant = { agent_did: 'did:web:a', grant_id: 'grnt_1', developer_id: 'dev_1' };
const vectors = vectorsOf('enforcement');

function setup(manifest: object, { meter = new PlainMeter(() => 0), claims = {} } = {}): EnforcerSetup {
  const payload = {
    sub: 'user_1',
    dev: 'dev_1',
    jti: 'tok_1',
    scp: ['tool:pay:admin'],
    'urn:service:grant': grant,
  };
  const vector = { id: '', title: '', kind: 'enforce', manifest, claims: { ...payload, ...claims } };
  return setupOf(vector, vectors, meter);
}
const call = { grantToken: 'token', connector: 'pay', tool: 't0' };

describe('a call', () => {
  test('is judged by the arguments that it was made with', async () => {
    const given = setup(manifestOf(tool({ arguments: { '/amount': { max: '5' } } })));
    const tokens = { verify: async () => given.tokens.verify('token') };
    const args = { amount: 5 };

    const asked = createEnforcer({ ...given, tokens }).enforce({ ...call, arguments: args });
    args.amount = 500;

    expect(await asked).toMatchObject({ allowed: true });
    expect(await createEnforcer(given).enforce({ ...call, arguments: args })).toMatchObject({
      reasonCode: 'tool_not_granted',
      subReason: 'argument_not_allowed',
      reason: 'The rules of the tool allow the argument “amount” only if it is at most 5.',
    });
  });

  test.each([
    ['connector', { connector: 1 }],
    ['callId', { callId: 'short' }],
    ['capsMode', { capsMode: 'off' }],
    ['reserve', { reserve: 'no' }],
    ['caseVersion', { caseVersion: '' }],
  ])('with a wrong %s is an error of the gateway', async (_, change) => {
    const wrong = Object({ ...call, ...change });
    await expect(createEnforcer(setup(manifestOf(tool()))).enforce(wrong)).rejects.toThrow(TypeError);
  });

  test.each<[string, unknown, string]>([
    ['throws', () => Promise.reject(new Error()), 'unreachable'],
    ['is late', () => new Promise(() => undefined), 'timeout'],
    ['answers nothing', async () => undefined, 'unreachable'],
    ['forgets a counter', async () => ({ reserved: true, used: [] }), 'unreachable'],
    ['names no counter of the call', async () => ({ full: 7, used: 1, retryAtMs: null }), 'unreachable'],
  ])('is denied when the meter %s', async (_, reserve, cause) => {
    const meter = Object.assign(new PlainMeter(() => 0), { reserve });
    const enforcer = createEnforcer({
      ...setup(manifestOf(tool({ caps: { per_hour: 1 } })), { meter }),
      meterTimeoutMs: 5,
    });

    expect(await enforcer.enforce(call)).toMatchObject({
      reasonCode: 'cap_exceeded',
      subReason: 'meter_unavailable',
      details: { cause },
    });
  });

  test('is charged again under an id of its own once it was sent', async () => {
    const meter = new PlainMeter(() => 0);
    const enforcer = createEnforcer(setup(manifestOf(tool({ caps: { per_hour: 2 } })), { meter }));
    const ask = () => enforcer.enforce({ ...call, callId: 'call-0001' });

    await ask();
    await meter.sent('dev_1', 'call-0001');
    const second = await ask();
    await meter.sent('dev_1', 'call-0001.1');

    expect(second.reservation).toMatchObject({ id: 'call-0001.1', counters: [{ used: 2, remaining: 0 }] });
    expect(await ask()).toMatchObject({ allowed: false, subReason: 'limit_reached' });
  });
});

describe('a manifest that changed since the consent', () => {
  const before = manifestOf(tool({ caps: { per_hour: 5 } }), tool({ caps: { per_hour: 5 } }));
  const after = manifestOf(tool({ caps: { per_hour: 6 } }), tool({ caps: { per_hour: 4 } }), tool());

  async function answersOf(mode: string, source: object = after) {
    const [old, now] = [manifestFromObject(before), manifestFromObject(source)];
    const sha256 = await manifestSha256(old);
    const bytes = Uint8Array.from(sha256.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    const manifests = { pay: encodeBase64url(bytes) };
    expect(decodeBase64url(manifests.pay)).toEqual(bytes);
    const claims = { 'urn:service:grant': { ...grant, manifests, manifest_mode: mode } };
    const loaded = manifestFromObject(source, { pins: [{ sha256, wider: widerTools(old, now) }] });
    const enforcer = createEnforcer({ ...setup(before, { claims }), manifests: new Map([['pay', loaded]]) });
    const results = ['t0', 't1', 't2'].map((name) => enforcer.enforce({ ...call, tool: name }));
    return (await Promise.all(results)).map(
      ({ subReason, warnings }) => subReason ?? warnings[0]?.code ?? 'fine',
    );
  }

  test('stops the tools that are new or wider, and no others', async () => {
    expect(await answersOf('enforce')).toEqual(['manifest_changed', 'fine', 'manifest_changed']);
    expect(await answersOf('warn')).toEqual(['manifest_changed', 'fine', 'manifest_changed']);
    expect(await answersOf('enforce', before)).toEqual(['fine', 'fine', 'unknown_tool']);
  });
});

const declared = engineSetup({ permission: 'read' });

/** The listed names, and for each hidden one its reason. */
async function listed(change: Partial<EnforcerSetup>, names: readonly string[] = ['t0']) {
  const tools: OfferedTool[] = names.map((name) => ({ name }));
  const answer = await listTools(
    { ...declared, ...change },
    { grantToken: 'token', connector: 'pay', tools },
  );
  const hidden = answer.hidden.map(
    ({ tool, reason_code: code, sub_reason: sub }) => `${tool} ${code}/${sub}`,
  );
  return [...answer.tools.map(({ name }) => name), ...hidden];
}

test('a declared tool that the token grants is listed', async () => {
  expect(await listed({})).toEqual(['t0']);
});

test.each<[string, Partial<EnforcerSetup>, string]>([
  ['expired', { tokens: { verify: () => ({ ok: false, reason: 'expired' }) } }, 'token_invalid/null'],
  ['revoked', { revocation: { check: () => 'revoked' } }, 'grant_revoked/revoked'],
  [
    'that nobody could check',
    { revocation: { check: () => Promise.reject() } },
    'grant_revoked/status_unavailable',
  ],
])('a token that is %s lists nothing', async (_, change, reason) => {
  expect(await listed(change, ['t0', 't1'])).toEqual([`t0 ${reason}`, `t1 ${reason}`]);
});

test('a tool that is offered twice is hidden if it is declared, and unknown if it is not', async () => {
  expect(await listed({}, ['t0', 't0', 'new', 'new'])).toEqual([
    't0 manifest_unknown_tool/tool_ambiguous',
    't0 manifest_unknown_tool/tool_ambiguous',
    'new manifest_unknown_tool/unknown_tool',
    'new manifest_unknown_tool/unknown_tool',
  ]);
});

test('a declared tool that is offered twice and not granted is ambiguous too', async () => {
  const claims = { scp: ['tool:other:read'] };

  expect(await listed(engineSetup({ permission: 'read' }, { claims }), ['t0', 't0'])).toEqual([
    't0 manifest_unknown_tool/tool_ambiguous',
    't0 manifest_unknown_tool/tool_ambiguous',
  ]);
});

test('a legacy manifest lists no tool whose name no list may hold', async () => {
  const legacy = manifestFromObject({ connector: 'pay', tools: { t0: 'read', 'a b': 'read' } });

  expect(await listed({ manifests: new Map([['pay', legacy]]) }, ['t0', 'a b'])).toEqual([
    't0',
    'a b manifest_unknown_tool/unknown_tool',
  ]);
});
