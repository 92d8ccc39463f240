import type { VerificationJwk } from '../key-set.ts';
import {
  afterSignature,
  beforeSignature,
  type Expected,
  isGenuineLater,
  mustBeTolerances,
  type SignatureToCheck,
  type VerifierSetup,
} from '../token-checks.ts';
import { isTime } from '../token-kinds.ts';
import type { DecisionSource } from './ports.ts';

/** The settings of a verifier of decision grants, and its clock. */
export type DecisionVerifierSetup<Key extends VerificationJwk> = VerifierSetup<Key> & {
  readonly verifySignature: (check: SignatureToCheck<Key>) => boolean | Promise<boolean>;
  readonly now: () => Date;
};

/**
 * Makes a verifier of decision grants. It tells an expired grant from a malformed one, because expiry is looked at
 * after the claims.
 *
 * @throws RangeError when a tolerance is not 0 to 60 seconds
 */
export function createDecisionVerifier<Key extends VerificationJwk>(
  setup: DecisionVerifierSetup<Key>,
): DecisionSource {
  mustBeTolerances(setup);
  return {
    async verify(decisionGrant) {
      const ready = beforeSignature(setup, 'decision', decisionGrant);
      if (!ready.ok) return { ok: false };
      const verifySignature = async (check: SignatureToCheck<Key>) => setup.verifySignature(check);
      if (!(await isGenuineLater({ verifySignature }, ready.check))) return { ok: false };
      const { exp } = ready.parts.payload;
      const verdictAt = (now: Expected['now']) =>
        afterSignature(setup, ready.parts, { kind: 'decision', now });
      const verdict = verdictAt(setup.now());
      if (verdict.ok) return { ok: true, payload: verdict.payload, expired: false };
      if (verdict.reason !== 'expired' || !isTime(exp)) return { ok: false };
      // Everything but the expiry has to hold: the same checks at the last moment of the grant's life.
      const atItsEnd = verdictAt(new Date(exp * 1_000 - 1));
      return atItsEnd.ok ? { ok: true, payload: atItsEnd.payload, expired: true } : { ok: false };
    },
  };
}
