import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCalls, anyCase } from '../../test/arbitrary-calls.ts';
import { decisionClaims, secondApproval } from '../../test/decision-claims.ts';
import { setupOf, vectorsOf } from '../../test/enforce-case.ts';
import { engineSetup } from '../../test/engine-setup.ts';
import { type NaiveCase, NaiveWorld, naiveAction } from '../../test/naive-enforce.ts';
import { PlainDecisions } from '../../test/plain-decisions.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import { decodeBase64url, encodeBase64url } from '../base64url.ts';
import { manifestFromObject } from '../manifest/load.ts';
import { manifestSha256, widerTools } from '../manifest/pins.ts';
import type { Call } from './call.ts';
import { createEnforcer } from './enforcer.ts';
import type { EnforcerSetup, OfferedTool } from './engine.ts';
import { listTools } from './list-tools.ts';
import type { Denial } from './reasons.ts';
import type { Result } from './result.ts';

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

/** Runs begin at the same place each time, so that they see every outcome and a fault is found again. */
const runs = { numRuns: process.env.TEST_LONG ? 100_000 : 3_000, seed: 20_260_101 };
const PATIENCE = 600_000;
const approved = {
  connector: 'pay',
  tool: 't0',
  arguments: { n: 1, decision: 'pay' },
  caseId: 'c1',
  caseVersion: null,
};
const approvedAction = naiveAction({
  connector: 'pay',
  tool: 't0',
  arguments: approved.arguments,
  caseId: 'c1',
});
const claimsOf = [await decisionClaims(approved), await decisionClaims(approved, secondApproval)] as const;
const TOOLS = 'urn:service:tools:v1';
const LINEAGE = 'urn:service:caps-lineage:v1';

function sayDenial({ reason_code: code, sub_reason: subReason, details }: Denial | Result): string {
  if (subReason !== 'limit_reached') return `${code}/${subReason}`;
  const { scope, kind, window, limit } = details;
  return `${code}/${subReason}:${scope} ${kind}:${window}:${limit}`;
}

function say(result: Result): string {
  return result.allowed ? ['fine', ...(result.wouldDeny ?? []).map(sayDenial)].join(' ') : sayDenial(result);
}

/** One case for both: the engine with its ports, and the facts that the second reading takes. */
function bothOf(drawn: typeof anyCase extends fc.Arbitrary<infer Case> ? Case : never) {
  const world = new NaiveWorld();
  const { broken, token, tools, entry, ancestors, scopes, region, first, second, isExpired, isGenuine } =
    drawn;
  const details = [
    ...(entry ? [{ type: TOOLS, connector: 'pay', ...entry }] : []),
    ...(ancestors.length > 0 ? [{ type: LINEAGE, connector: 'pay', ancestors }] : []),
  ];
  const claims = {
    ...{ sub: 'user_1', dev: 'dev_1', jti: 'tok_1', scp: scopes },
    'urn:service:grant': { agent_did: 'did:web:a', grant_id: 'grnt_1', developer_id: 'dev_1' },
    authorization_details: broken === undefined ? details : broken,
  };
  const grants = [
    ['one', { ...claimsOf[0], ...first }],
    ['two', { ...claimsOf[1], ...second }],
  ] as const;
  const decisions = new PlainDecisions(
    new Map(
      grants.map(([handle, of]) => {
        const plain = { ...of, iss: vectors.issuer, iat: -60, exp: isExpired ? 0 : 3_600 };
        return [handle, { signature: isGenuine ? 'valid' : 'bad', claims: plain }];
      }),
    ),
    { issuer: vectors.issuer, now: () => 0 },
  );
  const meter = new PlainMeter(() => world.now);
  const manifest = { $schema: 'urn:service:manifest:0.6', connector: 'pay', tools };
  const config = { meter: drawn.meter, ...(region !== undefined && { data_region: region }) };
  const vector = { id: '', title: '', kind: 'enforce', manifest, claims, config };
  const setup = setupOf({ ...vector, ...(token !== 'good' && { token }) }, vectors, meter);
  const naive: NaiveCase = Object({
    ...{ token, tools, scopes, entry, ancestors, region, meter: drawn.meter },
    isReadable: broken === undefined,
    grants: Object.fromEntries(
      grants.map(([handle, of]) => [handle, { isGenuine, isExpired, claims: of, action: approvedAction }]),
    ),
  });
  return { world, meter, enforcer: createEnforcer({ ...setup, decisions }), naive };
}

test('a second, literal reading of the rules decides each call alike, and charges the same', {
  timeout: PATIENCE,
}, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyCase, anyCalls, async (drawn, calls) => {
      const { world, meter, enforcer, naive } = bothOf(drawn);
      for (const { after, call: callId, ...rest } of calls) {
        world.now += after;
        const call: Call = Object({ ...rest, callId, grantToken: 'token' });
        const result = await enforcer.enforce(call);
        seen.add(`${result.reasonCode}/${result.subReason}`);
        expect(say(result)).toBe(world.enforce(naive, Object(call)));
        for (const { key } of world.charges) expect([key, meter.usedOf(key)]).toEqual([key, world.used(key)]);
      }
    }),
    runs,
  );
  expect([...seen].sort()).toMatchInlineSnapshot(`
    [
      "cap_exceeded/amount_cap",
      "cap_exceeded/amount_missing",
      "cap_exceeded/invalid_amount",
      "cap_exceeded/invalid_case_id",
      "cap_exceeded/invalid_cost_component",
      "cap_exceeded/limit_reached",
      "cap_exceeded/malformed_cap",
      "cap_exceeded/meter_unavailable",
      "case_required/null",
      "decision_required/action_mismatch",
      "decision_required/case_changed",
      "decision_required/consumed",
      "decision_required/expired",
      "decision_required/four_eyes_incomplete",
      "decision_required/malformed",
      "decision_required/null",
      "decision_required/same_approver",
      "decision_required/spliced",
      "decision_required/unknown_grant",
      "decision_required/wrong_agent",
      "decision_required/wrong_case",
      "grant_revoked/revoked",
      "manifest_unknown_tool/unknown_connector",
      "manifest_unknown_tool/unknown_tool",
      "null/null",
      "permission_insufficient/null",
      "purpose_not_allowed/missing",
      "purpose_not_allowed/not_matched",
      "purpose_not_allowed/unknown_purpose",
      "region_mismatch/null",
      "token_invalid/malformed_authorization_details",
      "token_invalid/null",
      "tool_not_granted/argument_missing",
      "tool_not_granted/argument_not_allowed",
      "tool_not_granted/argument_unreadable",
      "tool_not_granted/not_in_authorization_details",
      "tool_not_granted/null",
      "tool_not_granted/tool_scope_missing",
    ]
  `);
});
