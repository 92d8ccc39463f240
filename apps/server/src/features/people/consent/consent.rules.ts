import type { Verification } from './consent.schema.ts';

type ConsentMode = 'developer' | 'email' | 'sso' | 'passkey';

/** The proofs that a browser brought or has given since. */
export interface Proofs {
  /** The state of the developer's hint. */
  readonly hint: 'good' | 'bad' | 'none';
  /** The address that a good hint vouches for. */
  readonly email?: string;
  /** Whether the person has read the mailed code. */
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
 * Says how the person is known. The service always demands a proof that the developer configured. Without
 * such a proof the sandbox demands nothing, and in live mode anyone with the link can decide: page, grant and
 * chain say so.
 */
export function verificationOf({
  mode,
  consentMode,
  hasConsentKeys,
  proofs: { hint, email, hasReadMail },
  proofIsRequired,
}: Proving): Verification {
  if (consentMode === 'email') {
    // Without an address from the hint, the service has nowhere to send a code.
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
