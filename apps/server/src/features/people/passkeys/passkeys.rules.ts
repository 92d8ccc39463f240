import { createPublicKey, hash, type JsonWebKey } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';

/** A challenge is good for so long. */
export const CHALLENGE_MS = 300_000;
/** Until then the row of a used challenge keeps the assertion, as long as a proof holds. */
export const KEPT_MS = 15 * 60_000;
/** The most open challenges of a person. One more voids the oldest. */
export const MAX_OPEN = 10;
/** The longest credential id. @see https://www.w3.org/TR/webauthn-3/#credential-id */
export const LONGEST_CREDENTIAL_ID = 1023;

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/** SHA-256 over the canonical JSON of a value, in base64url. */
export const digestOf = (value: object): string => sha256(canonicalJson(value)).toString('base64url');

/** Whose passkeys they are. Those of one kind never count for another, whatever the id. */
export interface PasskeyOwner {
  readonly ownerKind: 'principal' | 'approver' | 'member';
  readonly ownerId: string;
}

export const principalOwner = (ownerId: string): PasskeyOwner => ({ ownerKind: 'principal', ownerId });

/** The subject of a proof: what a person decides, and the request or session in which they do. */
export interface ProofSubject {
  readonly use: 'consent' | 'connect';
  readonly subjectId: string;
  readonly principalId: string;
}

/**
 * The challenge that stands for what a person sees, so that their authenticator signs it.
 * @param nonce random characters, which make each challenge another one
 */
export function challengeOf({ use, subjectId }: ProofSubject, digest: string, nonce: string): Buffer {
  const subject = use === 'consent' ? { areq: subjectId } : { conn: subjectId };
  return sha256(canonicalJson({ v: 1, use: `behest.${use}`, ...subject, digest, nonce }));
}

/** The check of a ceremony that failed, as the refusal names it. */
export type CeremonyCheck =
  | 'type'
  | 'challenge'
  | 'origin'
  | 'crossOrigin'
  | 'rpId'
  | 'userPresence'
  | 'userVerification'
  | 'credential'
  | 'attestation'
  | 'signature';

interface ClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
}

interface AuthenticatorData {
  readonly rpIdHash: Uint8Array;
  readonly flags: { readonly up: boolean; readonly uv: boolean };
}

interface Expected {
  readonly type: 'webauthn.create' | 'webauthn.get';
  /** In base64url. */
  readonly challenge: string;
  readonly party: {
    readonly id: string;
    readonly origins: readonly string[];
    readonly userVerification: 'required' | 'preferred';
  };
}

/** The first check of WebAuthn, section 7.1 and 7.2, that the answer of a browser fails, before any signature. */
export function failedCheck(
  client: ClientData,
  { rpIdHash, flags }: AuthenticatorData,
  { type, challenge, party }: Expected,
): CeremonyCheck | undefined {
  if (client.type !== type) return 'type';
  if (client.challenge !== challenge) return 'challenge';
  if (!party.origins.includes(client.origin)) return 'origin';
  if (client.crossOrigin === true || client.topOrigin !== undefined) return 'crossOrigin';
  if (!sha256(party.id).equals(rpIdHash)) return 'rpId';
  if (!flags.up) return 'userPresence';
  if (party.userVerification === 'required' && !flags.uv) return 'userVerification';
  return undefined;
}

/** A passkey as its acts name it, with the authenticator's description of itself. */
export const authenticatorOf = ({
  id: credentialId,
  transports,
  aaguid,
}: {
  readonly id: string;
  readonly transports: readonly string[];
  readonly aaguid: string | null;
}) => ({ credentialId, transports, aaguid });

/** @see https://www.w3.org/TR/webauthn-3/#authdata-flags */
export function isUserVerified({ authenticatorData }: { readonly authenticatorData: string }): boolean {
  const [flags = 0] = Buffer.from(authenticatorData, 'base64url').subarray(32);
  return (flags & 0x04) !== 0;
}

/** A public key of COSE, decoded (RFC 9052, section 7). */
type CoseKey = ReadonlyMap<number, unknown>;
type Jwk = JsonWebKey & { readonly kty: string };

const LEAST_RSA_BITS = 2048; // RFC 8812, section 2

/** The members of COSE keys. A negative number means something else for each type of key (RFC 9053, section 7). */
const KTY = 1;
const ALG = 3;

/**
 * A COSE key as a JWK. WebAuthn ties each algorithm to one type of key and one curve, and libraries do not check this.
 * @returns undefined for a key that no passkey may have
 * @see https://www.w3.org/TR/webauthn-3/#sctn-alg-identifier
 */
export function jwkOfCose(key: CoseKey): Jwk | undefined {
  const jwk = READERS.get(`${key.get(KTY)} ${key.get(ALG)}`)?.(key);
  return jwk && isKey(jwk) ? jwk : undefined;
}

type Reader = (key: CoseKey) => Jwk | undefined;

/** By the type of key and the algorithm. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['2 -7', ecJwk],
  ['1 -8', okpJwk],
  ['3 -257', rsaJwk],
]);

function ecJwk(key: CoseKey): Jwk | undefined {
  const [x, y] = [text(key.get(-2), 32), text(key.get(-3), 32)];
  return key.get(-1) === 1 && x && y ? { kty: 'EC', crv: 'P-256', x, y } : undefined;
}

function okpJwk(key: CoseKey): Jwk | undefined {
  const x = text(key.get(-2), 32);
  return key.get(-1) === 6 && x ? { kty: 'OKP', crv: 'Ed25519', x } : undefined;
}

function rsaJwk(key: CoseKey): Jwk | undefined {
  const [n, e] = [text(key.get(-1)), text(key.get(-2))];
  return n && e ? { kty: 'RSA', n, e } : undefined;
}

/** In base64url. @param length in bytes, where only one is right */
const text = (value: unknown, length?: number): string | undefined =>
  value instanceof Uint8Array && (length === undefined || value.length === length)
    ? Buffer.from(value).toString('base64url')
    : undefined;

/** Whether the numbers are a key: a point has to be on its curve, and a modulus has to be long. */
function isKey(jwk: Jwk): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
    return jwk.kty !== 'RSA' || (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_RSA_BITS;
  } catch {
    return false; // whatever is wrong with numbers from outside
  }
}
