import type { Verification } from './consent.schema.ts';

type ConsentMode = 'developer' | 'email' | 'sso' | 'passkey';

/** What a browser has brought as a proof, and what it has proved since. */
export interface Proofs {
  /** What the developer's hint was, where one was sent. */
  readonly hint: 'good' | 'bad' | 'none';
  /** The address that a good hint vouches for. */
  readonly email?: string;
  /** Whether the person has read what was sent to it. */
  readonly hasReadMail?: true;
}

interface Proving {
  readonly mode: 'live' | 'sandbox';
  readonly consentMode: ConsentMode;
  readonly hasConsentKeys: boolean;
  readonly proofs: Proofs;
  readonly proofIsRequired: boolean;
}

/**
 * How the person is known. A proof that the developer configured is always demanded; where there is none to
 * demand, the sandbox needs none, and elsewhere whoever holds the link decides, which is said wherever it matters.
 */
export function verificationOf({
  mode,
  consentMode,
  hasConsentKeys,
  proofs: { hint, email, hasReadMail },
  proofIsRequired,
}: Proving): Verification {
  if (consentMode === 'email') {
    // Without an address that the developer vouches for, there is nowhere to send anything.
    return {
      mode: 'email',
      satisfied: hasReadMail === true,
      methods: email === undefined ? ['hint'] : ['email'],
    };
  }
  if (consentMode !== 'developer') return { mode: consentMode, satisfied: false, methods: [consentMode] };
  if (mode === 'sandbox') return { mode: 'sandbox', satisfied: hint !== 'bad', methods: [] };
  if (hasConsentKeys || proofIsRequired) {
    return { mode: 'developer', satisfied: hint === 'good', methods: ['hint'] };
  }
  return { mode: 'link', satisfied: hint !== 'bad', methods: [] };
}
