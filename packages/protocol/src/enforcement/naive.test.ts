import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCalls, anyCase } from '../../test/arbitrary-calls.ts';
import { decisionClaims, secondApproval } from '../../test/decision-claims.ts';
import { setupOf, vectorsOf } from '../../test/enforce-case.ts';
import { type NaiveCase, NaiveWorld, naiveAction } from '../../test/naive-enforce.ts';
import { PlainDecisions } from '../../test/plain-decisions.ts';
import { PlainMeter } from '../../test/plain-meter.ts';
import type { Call } from './call.ts';
import { createEnforcer } from './enforcer.ts';
import type { Denial } from './reasons.ts';
import type { Result } from './result.ts';

/** Runs begin at the same place each time, so that they see every outcome and a fault is found again. */
const runs = { numRuns: process.env.TEST_LONG ? 100_000 : 3_000, seed: 20_260_101 };
const PATIENCE = 600_000;
const vectors = vectorsOf('enforcement');
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
