import type { ToolLevel } from '../tool-scopes.ts';
import type { Call } from './call.ts';
import { type Denial, deny } from './reasons.ts';
import type { Reservation, Result, UsedDecision, Warning } from './result.ts';
import type { ReadToken } from './token.ts';

const denials = {
  token: () => deny('token_invalid', null, { cause: 'internal' }),
  connector: () => deny('manifest_unknown_tool', 'unknown_connector'),
  tool: () => deny('manifest_unknown_tool', 'unknown_tool'),
  reach: () => deny('tool_not_granted', null),
  region: () => deny('region_mismatch', null),
  amount: () => deny('cap_exceeded', 'invalid_amount'),
  purpose: () => deny('purpose_not_allowed', 'not_matched'),
  arguments: () => deny('tool_not_granted', 'argument_unreadable', { cause: 'internal' }),
  policies: () => deny('tool_not_granted', 'policy_denied', { cause: 'internal' }),
  decision: () => deny('decision_required', 'consume_unavailable'),
  caps: () => deny('cap_exceeded', 'meter_unavailable', { cause: 'unreachable' }),
} satisfies Readonly<Record<string, () => Denial>>;

/** A check of the engine, or a few that share a denial. */
type Check = keyof typeof denials;

/** The check that a call has come to. */
export interface Progress {
  check: Check;
}

/**
 * Denies a call whose check ended in an unexpected error. A call that cannot be judged is never allowed, and the
 * gateway never has to tell a rejection from a denial.
 */
export function unexpected(check: Check): Denial {
  return denials[check]();
}

/** Everything that is known of a call when its answer is made. */
export interface Outcome {
  readonly connector: string;
  readonly tool: string;
  readonly callId: string;
  readonly warnings: Warning[];
  /** The check that is under way. */
  readonly at: Progress;
  /** Absent while the token has not been verified. */
  token: ReadToken | undefined;
  permission: ToolLevel | null;
  purpose: string | null;
  manifestVersion: string | null;
  reservation: Reservation | null;
  decision: UsedDecision | null;
  wouldDeny: readonly [Denial, ...Denial[]] | undefined;
}

/** Begins the answer to a call. */
export function newOutcome({ connector, tool, callId = crypto.randomUUID() }: Call): Outcome {
  return {
    connector,
    tool,
    callId,
    warnings: [],
    at: { check: 'token' },
    token: undefined,
    permission: null,
    purpose: null,
    manifestVersion: null,
    reservation: null,
    decision: null,
    wouldDeny: undefined,
  };
}

const NO_DETAILS = Object.freeze({});

/** Makes the answer: allowed without a denial. Compound names have both spellings. */
export function answer(outcome: Outcome, denial: Denial | undefined): Result {
  const { token, callId, permission, purpose, reservation, decision, warnings, wouldDeny } = outcome;
  const { manifestVersion, connector, tool } = outcome;
  const claims = token?.claims;
  const [grantId, agentDid] = [claims?.grantId ?? '', claims?.agentDid ?? ''];
  const [principalId, developerId] = [claims?.principalId ?? '', claims?.developerId ?? ''];
  const [code, subReason] = [denial?.reason_code ?? null, denial?.sub_reason ?? null];
  const result = {
    allowed: denial === undefined,
    reason: denial?.reason ?? '',
    reason_code: code,
    reasonCode: code,
    sub_reason: subReason,
    subReason,
    details: denial?.details ?? NO_DETAILS,
    warnings,
    grant_id: grantId,
    grantId,
    agent_did: agentDid,
    agentDid,
    principal_id: principalId,
    principalId,
    developer_id: developerId,
    developerId,
    scopes: claims?.scopes ?? [],
    connector,
    tool,
    permission,
    purpose,
    call_id: callId,
    callId,
    manifest_version: manifestVersion,
    manifestVersion,
    reservation,
    decision,
    ...(wouldDeny && { would_deny: wouldDeny, wouldDeny }),
  };
  // Code and sub-reason come from one denial, which the compiler does not follow through the members.
  return result as Result;
}
