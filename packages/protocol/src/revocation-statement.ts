import { encodeBase64url } from './base64url.ts';
import type { VerificationJwk } from './key-set.ts';
import { readStatement, type StatementMeans } from './kind-verifier.ts';
import { readTokenParts } from './token-parts.ts';
import type { TokenRefusal } from './token-refusal.ts';

/** A place in the audit chain of an account: the number of an entry, and its hash in hex. */
export interface ChainPosition {
  readonly seq: number;
  readonly hash: string;
}

/** The public key of a verifier: ES256 (RFC 7518, section 6.2). */
export interface VerifierKey {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
}

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HASH = /^[0-9a-f]{64}$/;

/** The private half of a verifier's key, as WebCrypto holds it. */
type SigningKey = Parameters<typeof crypto.subtle.sign>[1];

/** Makes the key with which a verifier confirms. Nobody can read the private half, the verifier included. */
export async function createVerifierKey(): Promise<{ publicKey: VerifierKey; privateKey: SigningKey }> {
  const pair = await crypto.subtle.generateKey(ECDSA, false, ['sign', 'verify']);
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return { publicKey: { kty: 'EC', crv: 'P-256', x, y }, privateKey: pair.privateKey };
}

/** A verifier's word that it accepts nothing any more that was revoked at this position or before. */
export interface VerifierPosition extends ChainPosition {
  readonly verifierId: string;
}

/** Signs a position: a compact JWS with `typ` `verifier-position+jwt` and the claims `iss`, `seq`, `hash` and `iat`. */
export async function signPosition(
  { verifierId, seq, hash }: VerifierPosition,
  privateKey: SigningKey,
  now: Date,
): Promise<string> {
  const encoded = (part: object) => encodeBase64url(new TextEncoder().encode(JSON.stringify(part)));
  const iat = Math.floor(now.getTime() / 1000);
  const header = encoded({ alg: 'ES256', typ: 'verifier-position+jwt' });
  const signed = `${header}.${encoded({ iss: verifierId, seq, hash, iat })}`;
  const signature = await crypto.subtle.sign(ECDSA, privateKey, new TextEncoder().encode(signed));
  return `${signed}.${encodeBase64url(new Uint8Array(signature))}`;
}

/** @returns undefined when the text is no position, or the key did not sign it */
export async function readPosition(jws: string, key: VerifierKey): Promise<VerifierPosition | undefined> {
  const parts = readTokenParts(jws, 'verifier-position');
  if (!parts.ok || parts.header.alg !== 'ES256' || parts.signature.length !== 64) return undefined;
  const { iss: verifierId, seq, hash } = parts.payload;
  if (typeof verifierId !== 'string' || !isPosition({ seq, hash })) return undefined;
  const { kty, crv, x, y } = key;
  try {
    const imported = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify']);
    const isGenuine = await crypto.subtle.verify(ECDSA, imported, parts.signature, parts.signed);
    return isGenuine ? { verifierId, seq: Number(seq), hash: String(hash) } : undefined;
  } catch {
    return undefined; // the key is no point of the curve
  }
}

const isPosition = ({ seq, hash }: { readonly seq?: unknown; readonly hash?: unknown }) =>
  Number.isSafeInteger(seq) && Number(seq) > 0 && typeof hash === 'string' && HASH.test(hash);

/**
 * How a verifier stands to a revocation. `confirmed`: it has signed the position, or a later one. `lapsed`: it has not,
 * and its lease has ended, without which it asks the service at each call. `unconfirmed`: it has not, and until `at` it
 * may answer from memory.
 */
export type VerifierState = 'confirmed' | 'lapsed' | 'unconfirmed';

/** A verifier in a statement. */
export interface StatedVerifier {
  readonly verifierId: string;
  /** The name that the verifier gave itself. */
  readonly name: string;
  readonly publicKey: VerifierKey;
  readonly state: VerifierState;
  /** When the service got the confirmation, or when the lease ends or has ended. RFC 3339. */
  readonly at: string;
  /** The signed position, of a verifier that confirmed. */
  readonly position?: string;
}

/** The claims of a statement about one revocation. */
export interface RevocationClaims {
  readonly developerId: string;
  readonly grantId: string;
  /** The entry `grant.revoked` of the grant in the audit chain. */
  readonly entry: ChainPosition & { readonly id: string; readonly timestamp: string };
  /** The position that verifiers were asked to confirm. It includes the entry and all grants that ended with it. */
  readonly position: ChainPosition;
  /** Whether no verifier is `unconfirmed`. */
  readonly complete: boolean;
  readonly verifiers: readonly StatedVerifier[];
}

/** The result of the check. `bad_confirmation` names the verifier whose signature does not hold. */
export type CheckedRevocation =
  | { readonly ok: true; readonly issuedAt: Date; readonly claims: RevocationClaims }
  | { readonly ok: false; readonly reason: TokenRefusal }
  | { readonly ok: false; readonly reason: 'contradictory' }
  | { readonly ok: false; readonly reason: 'bad_confirmation'; readonly verifierId: string };

/**
 * Checks a revocation statement without asking anybody: the signature of the service, and that of each verifier that
 * confirmed. The statement proves what each verifier signed, and that the service says when. Whether a verifier keeps
 * its word, and whether the service names every verifier, no signature can prove.
 *
 * @param jws the member `statement` of an answer: a compact JWS with `typ` `revocation-statement+jwt`
 */
export async function verifyRevocationStatement<Key extends VerificationJwk>(
  jws: unknown,
  means: StatementMeans<Key>,
): Promise<CheckedRevocation> {
  const read = await readStatement('revocation-statement', jws, means);
  if (!read.ok) return read;
  const { issuedAt } = read;
  const claims = claimsIn(read.claims);
  if (!claims) return { ok: false, reason: 'malformed' };
  if (!isConsistent(claims, issuedAt)) return { ok: false, reason: 'contradictory' };
  for (const verifier of claims.verifiers) {
    const { verifierId, state } = verifier;
    const isGood = state !== 'confirmed' || (await hasConfirmed(verifier, claims.position));
    if (!isGood) return { ok: false, reason: 'bad_confirmation', verifierId };
  }
  return { ok: true, issuedAt, claims };
}

/** Of one chain, two entries with the same number are the same. */
async function hasConfirmed(
  { verifierId, publicKey, position = '' }: StatedVerifier,
  asked: ChainPosition,
): Promise<boolean> {
  const signed = await readPosition(position, publicKey);
  if (signed?.verifierId !== verifierId || signed.seq < asked.seq) return false;
  return signed.seq > asked.seq || signed.hash === asked.hash;
}

/** A lease that has ended ended before the statement was made. The last second of `iat` is cut off. */
function isConsistent({ entry, position, complete, verifiers }: RevocationClaims, issuedAt: Date): boolean {
  if (entry.seq > position.seq || (entry.seq === position.seq && entry.hash !== position.hash)) return false;
  if (new Set(verifiers.map(({ verifierId }) => verifierId)).size < verifiers.length) return false;
  if (complete !== verifiers.every(({ state }) => state !== 'unconfirmed')) return false;
  const latest = issuedAt.getTime() + 1000;
  return verifiers.every(({ state, at }) => state !== 'lapsed' || Date.parse(at) <= latest);
}

function claimsIn(payload: Readonly<Record<string, unknown>>): RevocationClaims | undefined {
  const { dev: developerId, grantId, entry, position, complete, verifiers } = payload;
  const [at, asked] = [Object(entry), Object(position)];
  if (typeof developerId !== 'string' || typeof grantId !== 'string' || typeof complete !== 'boolean') {
    return undefined;
  }
  if (![at.id, at.timestamp].every((text) => typeof text === 'string')) return undefined;
  if (!isPosition(at) || !isPosition(asked) || !Array.isArray(verifiers)) return undefined;
  if (!verifiers.every(isStated)) return undefined;
  return { developerId, grantId, entry: at, position: asked, complete, verifiers };
}

const STATES: ReadonlySet<unknown> = new Set<VerifierState>(['confirmed', 'lapsed', 'unconfirmed']);

function isStated(value: unknown): value is StatedVerifier {
  const { verifierId, name, publicKey, state, at, position } = Object(value);
  const { kty, crv, x, y } = Object(publicKey);
  const texts = [verifierId, name, at, x, y];
  if (!texts.every((text) => typeof text === 'string') || Number.isNaN(Date.parse(at))) return false;
  if (kty !== 'EC' || crv !== 'P-256' || !STATES.has(state)) return false;
  return state === 'confirmed' ? typeof position === 'string' : position === undefined;
}
