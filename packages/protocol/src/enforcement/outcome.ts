import type { ToolLevel } from '../tool-scopes.ts';
import type { Denial } from './reasons.ts';
import type { Reservation, Result, UsedDecision, Warning } from './result.ts';
import type { ReadToken } from './token.ts';

/** Everything that is known of a call when its answer is made. */
export interface Outcome {
  readonly connector: string;
  readonly tool: string;
  readonly callId: string;
  readonly warnings: readonly Warning[];
  /** Absent while the token has not been verified. */
  token: ReadToken | undefined;
  permission: ToolLevel | null;
  purpose: string | null;
  manifestVersion: string | null;
  reservation: Reservation | null;
  decision: UsedDecision | null;
  wouldDeny: readonly [Denial, ...Denial[]] | undefined;
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
