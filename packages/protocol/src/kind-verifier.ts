import type { KeySet, VerificationJwk } from './key-set.ts';
import {
  afterSignature,
  beforeSignature,
  type Expected,
  isGenuine,
  isGenuineLater,
  mustBeTolerances,
  type SignatureToCheck,
  type Verified,
  type VerifierSetup,
} from './token-checks.ts';
import { isTime, type TokenKindName } from './token-kinds.ts';
import { readTokenParts } from './token-parts.ts';
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

/** Statements of the service that outsiders keep and check: JWSs without an expiry. */
export type StatementKind = 'receipt' | 'revocation-statement' | 'offboarding-statement';

const STATEMENT_KINDS: readonly StatementKind[] = [
  'receipt',
  'revocation-statement',
  'offboarding-statement',
];

/** The means of `readStatement`. */
export interface StatementMeans<Key extends VerificationJwk> {
  /** The keys of the service, such as `keySetOf` makes of `GET /.well-known/jwks.json`. */
  readonly keys: () => KeySet<Key>;
  /** Checks one signature of the service, as for `createTokenVerifier`. */
  readonly verifySignature: (check: SignatureToCheck<Key>) => boolean | Promise<boolean>;
  /** The service that has to have signed. */
  readonly issuer: string;
  readonly now: Date;
}

/** A statement whose signature holds. The reader of its kind checks the claims. */
export interface ReadStatement {
  readonly ok: true;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly issuedAt: Date;
}

/** Reads a statement of one kind: a compact JWS whose `typ` is the kind with `+jwt`. */
export async function readStatement<Key extends VerificationJwk>(
  kind: StatementKind,
  jws: unknown,
  { now, ...means }: StatementMeans<Key>,
): Promise<ReadStatement | Refused> {
  const ready = beforeSignature(means, kind, jws);
  if (!ready.ok) return ready;
  const verifySignature = async (check: SignatureToCheck<Key>) => means.verifySignature(check);
  if (!(await isGenuineLater({ verifySignature }, ready.check))) return refused('bad_signature');
  const verified = afterSignature(means, ready.parts, { kind, now });
  if (!verified.ok) return verified;
  const { iat, ...claims } = verified.payload;
  return isTime(iat) ? { ok: true, claims, issuedAt: new Date(iat * 1000) } : refused('malformed');
}

/** What kind of statement a text says that it is. Nothing of it is checked. */
export const kindOfStatement = (jws: string): StatementKind | undefined =>
  STATEMENT_KINDS.find((kind) => readTokenParts(jws, kind).ok);
