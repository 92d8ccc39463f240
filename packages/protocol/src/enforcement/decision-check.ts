import { isWord } from '../manifest/tool-reading.ts';
import { type Action, actionHash, actionOf } from './action.ts';
import { type DecisionClaims, readDecisionClaims } from './decision-claims.ts';
import type { RequestedCall } from './grant-checks.ts';
import { bindingOf } from './manifest-checks.ts';
import {
  type DecisionMoved,
  type DecisionPhase,
  type DecisionStore,
  type MoveRefusal,
  moveRefusals,
} from './ports.ts';
import { type Denial, deny } from './reasons.ts';
import type { UsedDecision } from './result.ts';

/** The inputs of check 12 that come with the call. */
export interface CallToDecide {
  readonly arguments: unknown;
  readonly caseId: unknown;
  readonly caseVersion: string | undefined;
  readonly decisionGrants: unknown;
  readonly callId: string;
  readonly grantToken: string;
}

/** Decision grants that hold for the call, and their steps at the issuer. */
export interface HeldDecision {
  readonly ok: true;
  readonly used: UsedDecision;
  /** Moves all grants of the call. @returns the decision after the step, or the refusal */
  move(phase: DecisionPhase): Promise<UsedDecision | MoveRefusal>;
}

/** The tool that needs the decision, and the token that asks. */
export interface ToDecide extends Pick<RequestedCall, 'connector' | 'tool'> {
  readonly token: {
    readonly claims: Pick<RequestedCall['token']['claims'], 'developerId' | 'agentDid' | 'grantId'>;
  };
  readonly declared: RequestedCall['declared'] | undefined;
  readonly manifest: RequestedCall['manifest'] | undefined;
}

/** The outcome of check 12. */
export type Decided = HeldDecision | { readonly ok: false; readonly denial: Denial };

interface GivenGrant {
  readonly claims: DecisionClaims;
  readonly isExpired: boolean;
}

/**
 * Check 12, without the issuer: the decision grants of the call are genuine and allow exactly this action. The grants
 * are looked at together, step by step; the first step that fails is the sub-reason.
 */
export async function checkDecision(
  asked: ToDecide,
  call: CallToDecide,
  store: DecisionStore | undefined,
): Promise<Decided> {
  const given = call.decisionGrants;
  if (given === undefined || (Array.isArray(given) && given.length === 0)) return waiting(asked, call);
  if (!areGrants(given)) return refuse('malformed');
  if (!store) return refuse('consume_unavailable');
  const grants: GivenGrant[] = [];
  for (const jwt of given) {
    const verified = await store.verify(jwt);
    const claims = verified.ok ? readDecisionClaims(verified.payload) : undefined;
    if (!verified.ok || !claims) return refuse('malformed');
    grants.push({ claims, isExpired: verified.expired !== false });
  }
  const action = await actionOfCall(asked, call);
  const decision = action?.decision ?? null;
  const fourEyes = asked.declared?.four_eyes_on;
  if (fourEyes && (decision === null || !isWord(decision))) return refuse('malformed');
  const quorum = fourEyes?.some((word) => word === decision) ? 2 : 1;
  const fault = await faultOf(grants, { asked, call, action, quorum });
  if (fault || !action) return refuse(fault ?? 'action_mismatch');
  const used = unheld(grants);
  return { ok: true, used, move: (phase) => move(store, phase, { call, action, given, used }) };
}

/** The denial of a call that has no decision yet says what has to be decided, so that any adapter can ask for it. */
async function waiting(asked: ToDecide, call: CallToDecide): Promise<Decided> {
  const action = await actionOfCall(asked, call);
  if (!action) return refuse(null);
  const quorum = asked.declared?.four_eyes_on?.some((word) => word === action.decision) ? 2 : 1;
  const details = { action_hash: await actionHash(action), quorum };
  return { ok: false, denial: deny('decision_required', null, details) };
}

function refuse(reason: MoveRefusal | null): Decided {
  return { ok: false, denial: deny('decision_required', reason) };
}

function areGrants(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= 2 && value.every((jwt) => typeof jwt === 'string');
}

/** The action as the manifest is now: under another one than at the approval, what is bound may be another part. */
async function actionOfCall(asked: ToDecide, call: CallToDecide): Promise<Action | undefined> {
  const { connector, tool, manifest, declared } = asked;
  const binding = manifest && declared && (await bindingOf(manifest, declared));
  const caseId = typeof call.caseId === 'string' ? call.caseId : null;
  return actionOf({
    connector,
    tool,
    arguments: call.arguments,
    caseId,
    caseVersion: call.caseVersion ?? null,
    binding,
  });
}

interface Wanted {
  readonly asked: ToDecide;
  readonly call: CallToDecide;
  /** Undefined when the call has no action, so that no grant can be for it. */
  readonly action: Action | undefined;
  /** The approvals that the manifest demands now. */
  readonly quorum: 1 | 2;
}

async function faultOf(grants: readonly GivenGrant[], { asked, call, action, quorum }: Wanted) {
  const { claims } = asked.token;
  const hash = action && (await actionHash(action));
  const all = (holds: (grant: DecisionClaims) => boolean) => grants.every((grant) => holds(grant.claims));
  const steps: [MoveRefusal, boolean][] = [
    ['unknown_grant', all(({ dev }) => dev === claims.developerId)],
    ['wrong_agent', all(({ agt, grnt }) => agt === claims.agentDid && grnt === claims.grantId)],
    ['wrong_case', all(({ caseId }) => caseId === (call.caseId ?? null))],
    ['case_changed', all(({ caseVersion }) => caseVersion === (call.caseVersion ?? null))],
    ['action_mismatch', all(({ connector, tool }) => connector === asked.connector && tool === asked.tool)],
    ['action_mismatch', all(({ actionHash: theirs }) => theirs === hash)],
    ['expired', grants.every(({ isExpired }) => !isExpired)],
    ['four_eyes_incomplete', all((grant) => grants.length >= Math.max(quorum, grant.quorum))],
    ['same_approver', areDistinct(grants)],
    ['spliced', areOneRequest(grants)],
  ];
  return steps.find(([, holds]) => !holds)?.[0];
}

function areDistinct([first, second]: readonly GivenGrant[]): boolean {
  if (!first || !second) return true;
  return first.claims.jti !== second.claims.jti && first.claims.sub !== second.claims.sub;
}

/** Two approvals of one request: two single approvals of different requests never add up. */
function areOneRequest(grants: readonly GivenGrant[]): boolean {
  if (grants.length < 2) return true;
  const [first, second] = grants.map(({ claims }) => claims).toSorted((a, b) => a.position - b.position);
  return (
    first?.position === 1 &&
    second?.position === 2 &&
    first.decisionId === second.decisionId &&
    first.nonce === second.nonce &&
    first.actionHash === second.actionHash &&
    second.prev === first.jti
  );
}

function unheld(grants: readonly GivenGrant[]): UsedDecision {
  return {
    decision_id: grants[0]?.claims.decisionId ?? '',
    jtis: grants.map(({ claims }) => claims.jti),
    approvers: grants.map(({ claims: { sub, jti, approvedAt } }) => ({ sub, jti, at: approvedAt })),
    state: 'unheld',
  };
}

interface Moving {
  readonly call: CallToDecide;
  readonly action: Action;
  readonly given: readonly string[];
  readonly used: UsedDecision;
}

/** The states that confirm a step. A call that is repeated after a lost answer finds its grants sent. */
const statesAfter = { hold: ['held', 'sent'], send: ['sent'], spend: ['spent'], release: ['free'] } as const;

/** A step that nobody confirms counts as refused. */
async function move(store: DecisionStore, phase: DecisionPhase, { call, action, given, used }: Moving) {
  const { callId, grantToken, caseVersion = null } = call;
  try {
    const request = { phase, decisionGrants: given, action, caseVersion, callId, grantToken };
    const moved: DecisionMoved | { readonly ok: false; readonly reason: MoveRefusal } =
      await store.move(request);
    if (!moved.ok) return moveRefusals.find((known) => known === moved.reason) ?? 'consume_unavailable';
    if (!statesAfter[phase].some((state) => state === moved.state)) return 'consume_unavailable';
    return moved.state === 'free' ? used : { ...used, state: moved.state };
  } catch {
    return 'consume_unavailable';
  }
}
