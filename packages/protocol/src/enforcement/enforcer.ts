import { checkArgumentRules, GivenArguments } from './argument-check.ts';
import { type Call, mustBeCall } from './call.ts';
import { checkDecision, type HeldDecision } from './decision-check.ts';
import type { Enforcer, EnforcerSetup } from './engine.ts';
import { checkAmount, checkPurpose, type RequestedCall } from './grant-checks.ts';
import { listTools } from './list-tools.ts';
import { linkMeter, type MeterLink } from './meter-link.ts';
import { checkCaps, type Metered } from './metering.ts';
import { answer, newOutcome, type Outcome, type Progress, unexpected } from './outcome.ts';
import type { MaybePromise, StandingRules } from './ports.ts';
import { type Denial, deny } from './reasons.ts';
import type { Result } from './result.ts';
import { readToken } from './token.ts';
import { checkRevocation, verifyToken } from './token-check.ts';
import { checkTool } from './tool-check.ts';

const METER_TIMEOUT_MS = 500;

/**
 * Makes the engine that answers whether a call may happen now. It is the same in the SDK and in the service; the parts
 * that it asks differ.
 *
 * @example
 * ```ts
 * const enforcer = createEnforcer({ tokens, manifests: new Map([[manifest.connector, manifest]]), meter });
 * const result = await enforcer.enforce({ grantToken, connector: 'crm', tool: 'lookup', arguments: { id: '7' } });
 * if (!result.allowed) throw new Error(`${result.reasonCode}: ${result.reason}`);
 * ```
 */
export function createEnforcer(setup: EnforcerSetup): Enforcer {
  const link = setup.meter && linkMeter(setup.meter, setup.meterTimeoutMs ?? METER_TIMEOUT_MS);
  return {
    async enforce(call) {
      mustBeCall(call);
      const outcome = newOutcome(call);
      try {
        return await decide({ setup, link, outcome }, call);
      } catch (error) {
        report(setup, error);
        return answer(outcome, unexpected(outcome.at.check));
      }
    },
    listTools: (offer) => listTools(setup, offer),
  };
}

/** The answer does not depend on the logger. */
function report({ onError }: EnforcerSetup, error: unknown): void {
  try {
    onError?.(error);
  } catch {}
}

async function decide({ setup, link, outcome }: Rest, call: Call): Promise<Result> {
  const args = new GivenArguments(call.arguments);
  const { at, warnings } = outcome;

  const verifying = verifyToken(setup.tokens, call.grantToken, call.provedKey);
  const verified = verifying instanceof Promise ? await args.over(verifying) : verifying;
  if (!verified.ok) return answer(outcome, verified.denial);
  const token = readToken(verified);
  outcome.token = token;
  warnings.push(...token.warnings);

  const checking = checkRevocation(setup.revocation, verified);
  const revoked = checking instanceof Promise ? await args.over(checking) : checking;
  if (revoked) return answer(outcome, revoked);

  at.check = 'connector';
  const manifest = setup.manifests.get(call.connector);
  if (manifest && token.entries.ok) {
    outcome.manifestVersion = manifest.version;
    outcome.purpose = token.entries.tools.get(call.connector)?.purpose ?? null;
    warnings.push(...manifest.warnings.map(({ code, path }) => ({ code, detail: path })));
  }
  const judging = checkTool(token, {
    manifest,
    connector: call.connector,
    tool: call.tool,
    toolPin: call.toolPin,
    resource: call.resource === undefined ? undefined : { name: call.resource },
    dataRegion: setup.dataRegion,
    inList: false,
    at,
  });
  const verdict = judging instanceof Promise ? await args.over(judging) : judging;
  outcome.permission = (verdict.ok ? verdict.asked.declared : verdict.declared)?.permission ?? null;
  if (!verdict.ok) return answer(outcome, verdict.denial);
  warnings.push(...verdict.warnings);
  const { asked } = verdict;

  const denial = checkLimits(asked, call, { args, at });
  if (denial) return answer(outcome, denial);
  at.check = 'policies';
  const ruling = setup.policies && ruledOut(setup.policies, asked, { call, args });
  const ruled = ruling instanceof Promise ? await args.over(ruling) : ruling;
  if (ruled) return answer(outcome, ruled);
  at.check = 'decision';
  if (asked.declared.requires_decision) return decideHeld(asked, call, { setup, link, args, outcome });
  const metering = meter(asked, call, { setup, link, outcome });
  const refused = metering instanceof Promise ? await metering : metering;
  return answer(outcome, refused);
}

interface Given {
  readonly args: GivenArguments;
  readonly at: Progress;
}

/** Checks 10 to 11a. */
function checkLimits(asked: RequestedCall, call: Call, { args, at }: Given): Denial | undefined {
  at.check = 'amount';
  const amount = checkAmount(asked, call.amount);
  if (amount) return amount;
  at.check = 'purpose';
  const purpose = checkPurpose(asked);
  if (purpose) return purpose;
  at.check = 'arguments';
  return checkArgumentRules(asked, args);
}

interface Rest {
  readonly setup: EnforcerSetup;
  readonly link: MeterLink | undefined;
  readonly outcome: Outcome;
}

/** Check 13, which never throws: a held decision has to be released. @returns the denial, unless `caps_mode` is `warn` */
function meter(
  asked: RequestedCall,
  call: Call,
  { setup, link, outcome }: Rest,
): Denial | undefined | Promise<Denial | undefined> {
  const warns = (call.capsMode ?? setup.capsMode) === 'warn';
  const take = (metered: Metered): Denial | undefined => {
    if (metered.ok) outcome.reservation = metered.reservation;
    else if (warns) outcome.wouldDeny = metered.denials;
    else return metered.denials[0];
    return undefined;
  };
  const failed = (error: unknown) => {
    report(setup, error);
    return take({ ok: false, denials: [unexpected('caps')] });
  };
  try {
    const { caseId, costComponents, reserve = true } = call;
    const input = { caseId, costComponents, callId: outcome.callId, reserve, namesAll: warns };
    const metered = checkCaps(asked, input, link);
    return metered instanceof Promise ? metered.then(take, failed) : take(metered);
  } catch (error) {
    return failed(error);
  }
}

/** Checks 12 and 13 of a tool that needs a decision: hold, charge, send. A denied call costs no unit and no decision. */
async function decideHeld(
  asked: RequestedCall,
  call: Call,
  rest: Rest & { readonly args: GivenArguments },
): Promise<Result> {
  const { setup, outcome, args } = rest;
  const { caseId, caseVersion, decisionGrants, grantToken, reserve = true } = call;
  const input = {
    arguments: args.forAction(),
    caseId,
    caseVersion,
    decisionGrants,
    callId: outcome.callId,
    grantToken,
  };
  const decided = await checkDecision(asked, input, setup.decisions);
  if (!decided.ok) return answer(outcome, decided.denial);
  outcome.decision = decided.used;
  if (!reserve) return answer(outcome, await meter(asked, call, rest));
  const held = await decided.move('hold');
  if (typeof held === 'string') return refuseDecision(outcome, deny('decision_required', held));
  outcome.decision = held;
  const denial = await meter(asked, call, rest);
  if (!denial) return send(decided, rest, asked);
  await decided.move('release');
  outcome.decision = null;
  return answer(outcome, denial);
}

/** The issuer confirms that the decision goes out with this call; otherwise the units come back. */
async function send(
  decided: HeldDecision,
  { link, outcome }: Rest,
  { token }: RequestedCall,
): Promise<Result> {
  const sent = await decided.move('send');
  if (typeof sent !== 'string') {
    outcome.decision = sent;
    return answer(outcome, undefined);
  }
  const id = outcome.reservation?.id;
  if (link && typeof id === 'string') await link.refund(token.claims.developerId, id);
  outcome.reservation = null;
  return refuseDecision(outcome, deny('decision_required', 'consume_unavailable'));
}

function refuseDecision(outcome: Outcome, denial: Denial): Result {
  outcome.decision = null;
  return answer(outcome, denial);
}

/** After check 11a and before the decision: a call that a policy denies holds no decision and costs no unit. */
function ruledOut(
  policies: StandingRules,
  { connector, tool, declared }: RequestedCall,
  { call, args }: { readonly call: Call; readonly args: GivenArguments },
): MaybePromise<Denial | undefined> {
  const copied = args.areGiven ? args.forRules() : undefined;
  const ruling = policies.check({
    connector,
    tool,
    permission: declared.permission,
    resource: call.resource,
    arguments: copied?.ok ? copied.value : undefined,
  });
  return ruling instanceof Promise ? ruling.then(denialBy) : denialBy(ruling);
}

const denialBy = (ruled: { readonly policyId: string } | undefined): Denial | undefined =>
  ruled && deny('tool_not_granted', 'policy_denied', { policy_id: ruled.policyId });
