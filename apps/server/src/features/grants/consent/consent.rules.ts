import type { ConsentVerification } from './consent.schema.ts';

export type ConsentMode = 'developer' | 'email' | 'sso' | 'passkey';

/** A good hint that the service has taken. */
export interface AcceptedHint {
  /** When the service took it, in ISO 8601. */
  readonly at: string;
  /** Identifies the consent key that signed it. @see RFC 7638 */
  readonly keyThumbprint: string;
  /** The address that it vouches for. */
  readonly email?: string;
  /** As the developer signed it; absent in proofs that a release before has taken. */
  readonly jwt?: string;
}

/** An assertion of a passkey that the service has taken. */
export interface AcceptedAssertion {
  /** When the service took it, in ISO 8601. */
  readonly at: string;
  readonly challengeId: string;
  /** The hash of everything that the person saw and chose. */
  readonly digest: string;
  /** In the words of RFC 8176; absent in proofs that a release before has taken. */
  readonly methods?: readonly string[];
}

/** The proofs that a browser brought or has given since. */
export interface Proofs {
  readonly hint: AcceptedHint | 'bad' | 'none';
  /** The person has read the mailed code, at this time in ISO 8601. */
  readonly mailReadAt?: string;
  /** A passkey of the person has signed what they saw. */
  readonly passkey?: AcceptedAssertion;
}

/** A proof counts for so long after the service took it. */
const PROOF_MS = 15 * 60_000;

interface Proving {
  readonly mode: 'live' | 'sandbox';
  readonly consentMode: ConsentMode;
  /** The thumbprints of the developer's consent keys, as they are now. */
  readonly consentKeys: readonly string[];
  readonly proofs: Proofs;
  readonly proofIsRequired: boolean;
  readonly now: Date;
}

/**
 * Says how the person is known. The service always demands a proof that the developer configured. Without
 * such a proof the sandbox demands nothing, and in live mode anyone with the link can decide: page, grant and
 * chain say so. A passkey proves more than any other method but single sign-on. A proof runs out after 15
 * minutes, or when its consent key is withdrawn.
 */
export function verificationOf(proving: Proving): ConsentVerification {
  const { mode, consentMode, consentKeys, proofs, proofIsRequired, now } = proving;
  const byPasskey = provedBy(proofs.passkey?.at, now);
  // Under `sso` the sign-on decides, and the grant says so, because a signal of the provider may end it.
  if (byPasskey.satisfied && consentMode !== 'sso') {
    return { mode: 'passkey', methods: ['passkey'], ...byPasskey };
  }
  const hint = validHint(proofs, consentKeys);
  if (consentMode === 'email') {
    // Without an address from the hint, the service has nowhere to send a code.
    const methods = hint?.email === undefined ? ['hint'] : ['email'];
    return { mode: 'email', methods, ...provedBy(hint && proofs.mailReadAt, now) };
  }
  if (consentMode !== 'developer') return { mode: consentMode, satisfied: false, methods: [consentMode] };
  if (mode === 'sandbox') return { mode: 'sandbox', satisfied: proofs.hint !== 'bad', methods: [] };
  if (consentKeys.length > 0 || proofIsRequired) {
    return { mode: 'developer', methods: ['hint'], ...provedBy(hint?.at, now) };
  }
  return { mode: 'link', satisfied: proofs.hint !== 'bad', methods: [] };
}

/** The stand of single sign-on, where it is demanded of the person. */
interface SignedOn {
  /** The browser's own session of this person. */
  readonly session: { readonly expiresAt: Date } | undefined;
  readonly isOtherPerson: boolean;
  /** Undefined where the service cannot tell the provider of this person. */
  readonly signInAt: object | undefined;
}

/** Adds the demand of single sign-on: the page's own browser has to hold a live session of this person. */
export function withSignOn(other: ConsentVerification, signedOn: SignedOn): ConsentVerification {
  const { mode, satisfied, satisfiedUntil, methods } = other;
  const { session, isOtherPerson, signInAt } = signedOn;
  const isAlone = mode === 'sso';
  if (!session) {
    const missing = satisfied || isAlone ? [] : methods;
    return {
      mode,
      satisfied: false,
      methods: [...missing, 'sso'],
      ...(signInAt && { signInHere: true }),
      ...(isOtherPerson && { otherPerson: true }),
    };
  }
  const until = session.expiresAt.toISOString();
  if (isAlone) return { mode, satisfied: true, methods, satisfiedUntil: until };
  if (!satisfied) return other;
  const sooner = satisfiedUntil !== undefined && satisfiedUntil < until ? satisfiedUntil : until;
  return { ...other, satisfiedUntil: sooner };
}

/** @returns undefined for a hint whose key the developer has withdrawn since: it vouches for nothing now */
export function validHint({ hint }: Proofs, consentKeys: readonly string[]): AcceptedHint | undefined {
  return typeof hint === 'object' && consentKeys.includes(hint.keyThumbprint) ? hint : undefined;
}

function provedBy(
  at: string | undefined,
  now: Date,
): Pick<ConsentVerification, 'satisfied' | 'satisfiedUntil'> {
  const until = at === undefined ? undefined : new Date(Date.parse(at) + PROOF_MS);
  if (until === undefined || until <= now) return { satisfied: false };
  return { satisfied: true, satisfiedUntil: until.toISOString() };
}
