import { isObject } from '../arguments/rules.ts';
import { isWord } from '../manifest/tool-reading.ts';

/** The claims of a decision grant. */
export interface DecisionClaims {
  readonly jti: string;
  /** The approver. */
  readonly sub: string;
  readonly dev: string;
  readonly agt: string;
  readonly grnt: string;
  readonly decisionId: string;
  readonly nonce: string;
  readonly connector: string;
  readonly tool: string;
  readonly caseId: string | null;
  readonly caseVersion: string | null;
  readonly actionHash: string;
  readonly quorum: 1 | 2;
  readonly position: 1 | 2;
  readonly prev: string | undefined;
  /** RFC 3339; empty when the approval has no time. */
  readonly approvedAt: string;
}

const AUDIENCE = 'urn:service:decision';
const MAX_LIFETIME_SECONDS = 86_400;
const JTI = /^dgnt_[0-9A-HJKMNP-TV-Z]{26}$/;
const DECISION_ID = /^dec_[0-9A-HJKMNP-TV-Z]{26}$/;
const NONCE = /^[A-Za-z0-9_-]{22}$/;
const HASH = /^sha256:[A-Za-z0-9_-]{43}$/;

/**
 * Reads the claims of a decision grant whose signature and issuer are good.
 *
 * @returns undefined when a claim is missing or malformed, or the lifetime is over a day
 */
export function readDecisionClaims(payload: Readonly<Record<string, unknown>>): DecisionClaims | undefined {
  const {
    aud,
    iat,
    exp,
    jti,
    sub,
    dev,
    agt,
    grnt,
    decision_id: decisionId,
    nonce,
    connector,
    tool,
  } = payload;
  const { case_id: caseId, case_version: caseVersion, decision, action_hash: actionHash } = payload;
  const { quorum, position, prev, approval, four_eyes_on: fourEyes } = payload;
  const isTimed = isTime(iat) && isTime(exp) && exp > iat && exp - iat <= MAX_LIFETIME_SECONDS;
  if (aud !== AUDIENCE || !isTimed) return undefined;
  if (!matches(jti, JTI) || !matches(decisionId, DECISION_ID) || !matches(nonce, NONCE)) return undefined;
  if (!isText(sub) || !isText(dev) || !isText(agt) || !isText(grnt)) return undefined;
  if (!isText(connector) || !isText(tool) || !isTextOrNull(caseId) || !isTextOrNull(caseVersion))
    return undefined;
  if (decision !== null && !(typeof decision === 'string' && isWord(decision))) return undefined;
  if (!matches(actionHash, HASH) || !isOneOrTwo(quorum) || !isOneOrTwo(position)) return undefined;
  if (prev !== undefined && typeof prev !== 'string') return undefined;
  if (fourEyes !== undefined && !(Array.isArray(fourEyes) && fourEyes.every(isText))) return undefined;
  if (!isObject(approval) || approval.method !== 'passkey' || approval.uv !== true) return undefined;
  return {
    ...{ jti, sub, dev, agt, grnt, decisionId, nonce, connector, tool, caseId, caseVersion },
    ...{ actionHash, quorum, position, prev, approvedAt: timeOf(approval.at) },
  };
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isOneOrTwo(value: unknown): value is 1 | 2 {
  return value === 1 || value === 2;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

function timeOf(at: unknown): string {
  if (typeof at === 'string') return at;
  return isTime(at) && Math.abs(at) <= 8_640_000_000_000 ? new Date(at * 1_000).toISOString() : '';
}
