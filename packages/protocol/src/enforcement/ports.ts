import type { Refused } from '../token-refusal.ts';
import type { VerifiedGrant } from '../token-verifier.ts';
import type { ToolLevel } from '../tool-scopes.ts';
import type { Action } from './action.ts';

/** A value, or the promise of it. The engine waits only for a promise, so that a cached answer costs no turn. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** The verifier has no keys, and could get none. */
export interface KeysUnavailable {
  readonly ok: false;
  readonly reason: 'keys_unavailable';
}

/**
 * Verifies grant tokens. A source that remembers a verified token answers the same object for it, so that the engine
 * reads its claims once; it must check the expiry of a remembered token each time.
 */
export interface TokenSource {
  /** @param provedKey the thumbprint of the key whose proof came with the token */
  verify(token: string, provedKey?: string): MaybePromise<VerifiedGrant | Refused | KeysUnavailable>;
}

/** The state of a grant. `unavailable` means that the check got no answer. */
export type GrantStatus = 'active' | 'revoked' | 'suspended' | 'parent_revoked' | 'unavailable';

/** Tells whether the grant of a verified token still stands. An exception counts as `unavailable`. */
export interface RevocationCheck {
  check(token: VerifiedGrant): MaybePromise<GrantStatus>;
}

/** A call that everything else allows, as standing rules see it. */
export interface RuledCall {
  readonly connector: string;
  readonly tool: string;
  readonly permission: ToolLevel;
  readonly resource: string | undefined;
  /** A copy; undefined when the call has none that can be read. */
  readonly arguments: unknown;
}

/** The developer's standing rules, which only the issuer knows. @returns the id of the rule that denies, or undefined */
export interface StandingRules {
  check(call: RuledCall): MaybePromise<{ readonly policyId: string } | undefined>;
}

/**
 * A decision grant whose form, signature, issuer and audience are good. Its expiry is told apart, because it is
 * checked after the claims.
 */
export interface VerifiedDecision {
  readonly ok: true;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly expired: boolean;
}

/** Verifies decision grants without the issuer. @see createDecisionVerifier */
export interface DecisionSource {
  verify(decisionGrant: string): MaybePromise<VerifiedDecision | { readonly ok: false }>;
}

/** The step that the decision grants of a call take. All of them take it, or none. */
export type DecisionPhase = 'hold' | 'send' | 'spend' | 'release';

/** The request to move the decision grants of one call. */
export interface DecisionMove {
  readonly phase: DecisionPhase;
  readonly decisionGrants: readonly string[];
  readonly action: Action;
  readonly caseVersion: string | null;
  readonly callId: string;
  readonly grantToken: string;
}

/** The reasons for which the issuer refuses to move decision grants. */
export const moveRefusals = [
  'malformed',
  'unknown_grant',
  'wrong_agent',
  'wrong_case',
  'case_changed',
  'action_mismatch',
  'expired',
  'four_eyes_incomplete',
  'same_approver',
  'spliced',
  'consumed',
  'revoked',
  'consume_unavailable',
] as const;
/** A reason for which the issuer refuses to move decision grants. */
export type MoveRefusal = (typeof moveRefusals)[number];

/** The person who approved, and the grant that says so. */
export interface Approver {
  readonly sub: string;
  readonly jti: string;
  /** RFC 3339. */
  readonly at: string;
}

/** The decision grants after the step. */
export interface DecisionMoved {
  readonly ok: true;
  readonly state: 'held' | 'sent' | 'spent' | 'free';
  readonly replayed: boolean;
  readonly decisionId: string;
  readonly jtis: readonly string[];
  readonly approvers: readonly Approver[];
}

/** Moves decision grants at their issuer. An exception counts as `consume_unavailable`. */
export interface DecisionStore extends DecisionSource {
  move(request: DecisionMove): Promise<DecisionMoved | { readonly ok: false; readonly reason: MoveRefusal }>;
}
