import type { VerificationJwk } from './key-set.ts';
import {
  afterSignature,
  beforeSignature,
  type Expected,
  isGenuine,
  mustBeTolerances,
  type SignatureToCheck,
  type Verified,
  type VerifierSetup,
} from './token-checks.ts';
import type { TokenKindName } from './token-kinds.ts';
import { type Refused, refused } from './token-refusal.ts';

/** A kind of token other than a grant token. */
export type OtherKind = Exclude<TokenKindName, 'grant'>;

/** The circumstances in which a token of another kind is verified. */
export interface ExpectedOther extends Expected {
  /** The issuer of a kind whose issuer is not the service's URL. A credential has the service's DID. */
  readonly issuer?: string;
}

/** The verifier that `createKindVerifier` makes. It never throws for a token. */
export type KindVerifier = (token: unknown, expected: ExpectedOther) => Verified | Refused;

/**
 * Makes a verifier of tokens of one kind, grant tokens excepted. The caller checks the claims that are special to the
 * kind, which include the developer: all accounts of a service sign with the same keys.
 *
 * @param setup.verifySignature checks one signature with a key; an exception counts as false
 * @throws RangeError when a tolerance is not 0 to 60 seconds
 * @see RFC 8725, section 3.11
 */
export function createKindVerifier<Key extends VerificationJwk>(
  kind: OtherKind,
  setup: VerifierSetup<Key> & { readonly verifySignature: (check: SignatureToCheck<Key>) => boolean },
): KindVerifier {
  mustBeTolerances(setup);
  return (token, expected) => {
    const ready = beforeSignature(setup, kind, token);
    if (!ready.ok) return ready;
    if (!isGenuine(setup, ready.check)) return refused('bad_signature');
    return afterSignature(setup, ready.parts, { kind, ...expected });
  };
}
