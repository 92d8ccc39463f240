import { commitmentTo } from '../audit-parts.ts';
import { parseDuration } from '../durations.ts';
import { uncovered } from '../scopes.ts';
import { checkProof, type ProofMeans, type ProofOutcome } from './consent-proof.ts';
import { isHidden, type ReceiptEntry, readPart } from './entries.ts';
import { isObject, type Receipt } from './read.ts';
import type { ReceiptGrant } from './tree.ts';

/** What a person was shown and what they approved, as the receipt proves it. */
export interface ReceiptConsent {
  /** How the person was proved: `passkey`, `developer`, `email`, `sso`, `link`, `policy`, `sandbox`. */
  readonly mode: string | undefined;
  /** Whoever held a link decided: nobody was verified. */
  readonly unverified: boolean;
  readonly proof: ProofOutcome;
  readonly principalId: string | undefined;
  readonly shown: Readonly<Record<string, unknown>> | undefined;
  readonly decision: Readonly<Record<string, unknown>> | undefined;
}

export interface ConsentFault {
  readonly id: 'consent' | 'proof';
  readonly detail: string;
}

export interface ReadConsent {
  readonly consent: ReceiptConsent;
  readonly faults: readonly ConsentFault[];
  readonly isPartial: boolean;
}

/** The parts of a consent record, in their order. */
export const CONSENT_PARTS = ['consent/1', 'principalId', 'decision', 'proof'] as const;

interface ConsentOf {
  readonly entries: readonly ReceiptEntry[];
  readonly root: ReceiptGrant | undefined;
  readonly isUnverified: boolean;
  /** How many entries are withheld. */
  readonly withheld: number;
}

/** Checks the consent record against the entry of the approval, the root grant and its own proof. */
export async function readConsent(
  receipt: Receipt,
  { entries, root, isUnverified, withheld }: ConsentOf,
  means: ProofMeans,
): Promise<ReadConsent> {
  const approvals = entries.filter(
    ({ action, status }) => action === 'authorization.approved' && status === 'success',
  );
  const [approval] = approvals;
  const { method, consentHash, authRequestId } = approval?.metadata ?? {};
  const mode = typeof method === 'string' ? method : root?.consentMethod;
  const empty = { mode, unverified: isUnverified || mode === 'link', principalId: undefined };
  const faults: ConsentFault[] = [];
  const fault = (detail: string, id: ConsentFault['id'] = 'consent') => faults.push({ id, detail });
  if (approvals.length > 1) fault('second_approval');

  if (receipt.consent === null) {
    const isWhole = approval ? consentHash === undefined && approval.hidden === 0 : withheld === 0;
    const proof = isWhole ? withoutRecord(mode) : 'withheld';
    const consent = { ...empty, proof, shown: undefined, decision: undefined };
    return { consent, faults, isPartial: proof === 'withheld' };
  }

  const { parts } = receipt.consent;
  if (consentHash === undefined) fault('no_consent_hash');
  else if (consentHash !== commitmentTo(parts, means.sha256)) fault('consent_hash');
  const values = valuesOf(parts);
  if (!values) fault('malformed_consent');
  const { shown, principalId, decision, proof } = values ?? {};

  if (shown) {
    if (authRequestId !== undefined && shown.authRequestId !== authRequestId) fault('other_request');
    if (shown.agentId !== approval?.agentId) fault('other_agent');
  }
  const known = approval?.principalId;
  if (principalId !== undefined && known != null && principalId !== known) fault('other_principal');
  const [asked, approved] = [textsOf(shown?.scopes), textsOf(decision?.scopes)];
  if ((shown && !asked) || (decision && !approved)) fault('malformed_consent');
  if (asked && approved && uncovered(asked, approved).length > 0) fault('approved_more_than_shown');
  if (approved && root?.scopes && uncovered(approved, root.scopes).length > 0)
    fault('granted_more_than_approved');
  if (decision && root && isLonger(root, decision.expiresIn)) fault('granted_longer_than_approved');
  if (proof && mode !== undefined && proof.mode !== mode) fault('other_mode', 'proof');

  const outcome = proof
    ? await checkProof(
        proof,
        { shown, principalId, decision, receipt, developerId: entries[0]?.developerId },
        means,
      )
    : 'withheld';
  if (outcome.startsWith('bad_')) fault(outcome, 'proof');
  const isWhole = shown && principalId !== undefined && decision && proof;
  const unverified = empty.unverified || outcome === 'nobody_verified';
  const consent = { ...empty, unverified, proof: outcome, principalId, shown, decision };
  return { consent, faults, isPartial: !isWhole || root?.scopes === undefined };
}

interface ConsentValues {
  readonly shown?: Readonly<Record<string, unknown>>;
  readonly principalId?: string;
  readonly decision?: Readonly<Record<string, unknown>>;
  readonly proof?: Readonly<Record<string, unknown>>;
}

/** @returns undefined unless each part is hidden, or has its own name and type */
function valuesOf(parts: readonly string[]): ConsentValues | undefined {
  if (parts.length !== CONSENT_PARTS.length) return undefined;
  const values: unknown[] = [];
  for (const [at, part] of parts.entries()) {
    if (isHidden(part)) {
      values.push(undefined);
      continue;
    }
    const read = readPart(part);
    if (!read || read.name !== CONSENT_PARTS[at]) return undefined;
    if (at === 1 ? typeof read.value !== 'string' : !isObject(read.value)) return undefined;
    values.push(read.value);
  }
  const [shown, principalId, decision, proof] = values;
  return { shown, principalId, decision, proof } as ConsentValues; // the types were looked at above
}

/** Entries are written a moment after the grant. */
const MOMENT = 60_000;

function isLonger({ createdAt, expiresAt }: ReceiptGrant, approved: unknown): boolean {
  const seconds = typeof approved === 'string' ? parseDuration(approved) : undefined;
  if (seconds === undefined || expiresAt === undefined) return false;
  return Date.parse(expiresAt) - Date.parse(createdAt) > seconds * 1000 + MOMENT;
}

/** An approval without a record: nobody was asked, or it is older than the records. */
function withoutRecord(mode: string | undefined): ProofOutcome {
  if (mode === 'policy' || mode === 'sandbox') return 'nobody_asked';
  return mode === 'link' ? 'nobody_verified' : 'asserted';
}

const textsOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
