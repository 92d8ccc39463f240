import type { Verification } from './consent.schema.ts';

type ConsentMode = 'developer' | 'email' | 'sso' | 'passkey';

/** What the developer's hint was, where one was sent. */
export type HintOutcome = 'good' | 'bad' | 'none';

interface Proving {
  readonly mode: 'live' | 'sandbox';
  readonly consentMode: ConsentMode;
  readonly hasConsentKeys: boolean;
  readonly hint: HintOutcome;
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
  hint,
  proofIsRequired,
}: Proving): Verification {
  if (consentMode !== 'developer') return { mode: consentMode, satisfied: false, methods: [consentMode] };
  if (mode === 'sandbox') return { mode: 'sandbox', satisfied: hint !== 'bad', methods: [] };
  if (hasConsentKeys || proofIsRequired) {
    return { mode: 'developer', satisfied: hint === 'good', methods: ['hint'] };
  }
  return { mode: 'link', satisfied: hint !== 'bad', methods: [] };
}
