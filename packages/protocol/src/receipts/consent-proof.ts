import type { Digest } from '../audit-parts.ts';
import { decodeBase64url, encodeBase64url } from '../base64url.ts';
import { joinBytes } from '../bytes.ts';
import { canonicalJson } from '../canonical-json.ts';
import { parseJson } from '../json.ts';
import type { VerificationJwk } from '../key-set.ts';
import { areEqual } from '../merkle.ts';
import { namesResource } from '../resource-uri.ts';
import type { VerifyEd25519 } from '../signed-note.ts';
import { beforeSignature, isGenuineLater, type SignatureToCheck } from '../token-checks.ts';
import { isObject, type Receipt } from './read.ts';

/** The means of the checks, which differ by platform. */
export interface ProofMeans {
  readonly sha256: Digest;
  readonly verifyEd25519: VerifyEd25519;
  /** Checks RS256 and ES256 with a JWK. */
  readonly verifySignature: (check: SignatureToCheck<VerificationJwk>) => Promise<boolean>;
}

/**
 * Who vouches for the decision: the person's passkey (`person_signed`), the developer's key (`developer_vouched`), only
 * the service (`asserted`), whoever held the link (`nobody_verified`), or nobody, since none was asked. What begins with
 * `bad_` is a proof that does not hold.
 */
export type ProofOutcome =
  | 'person_signed'
  | 'developer_vouched'
  | 'asserted'
  | 'nobody_verified'
  | 'nobody_asked'
  | 'withheld'
  | 'bad_passkey'
  | 'bad_hint';

type Members = Readonly<Record<string, unknown>>;

interface ProvedBy {
  readonly shown: Members | undefined;
  readonly principalId: string | undefined;
  readonly decision: Members | undefined;
  readonly receipt: Receipt;
  readonly developerId: string | undefined;
}

export async function checkProof(proof: Members, of: ProvedBy, means: ProofMeans): Promise<ProofOutcome> {
  const { shown, principalId, decision } = of;
  switch (proof.mode) {
    case 'passkey':
      if (!shown || principalId === undefined || !decision) return 'withheld';
      return (await isSignedByPasskey(proof, { shown, principalId, decision }, means))
        ? 'person_signed'
        : 'bad_passkey';
    case 'developer':
      if (proof.hint === null) return 'asserted'; // it was not kept
      if (!shown || principalId === undefined) return 'withheld';
      return (await isVouchedFor(proof, of, means)) ? 'developer_vouched' : 'bad_hint';
    case 'link':
      return 'nobody_verified';
    case 'policy':
    case 'sandbox':
      return 'nobody_asked';
    default:
      return 'asserted';
  }
}

const utf8 = new TextEncoder();
const [USER_PRESENT, USER_VERIFIED] = [0x01, 0x04];

interface SignedConsent {
  readonly shown: Members;
  readonly principalId: string;
  readonly decision: Members;
}

/**
 * Whether the passkey signed exactly what was shown and approved.
 *
 * @see https://www.w3.org/TR/webauthn-3/#sctn-verifying-assertion
 */
async function isSignedByPasskey(
  proof: Members,
  { shown, principalId, decision: { decidedAt, ...decision } }: SignedConsent,
  means: ProofMeans,
): Promise<boolean> {
  const { sha256 } = means;
  const [client, authenticator, signature] = ['clientDataJSON', 'authenticatorData', 'signature'].map(
    (name) => decodeBase64url(String(proof[name])),
  );
  const { rpId, origin, nonce, publicKey: key } = proof;
  if (!client || !authenticator || !signature || !isObject(key)) return false;
  if (typeof rpId !== 'string' || typeof origin !== 'string' || !isWithin(origin, rpId)) return false;
  const hashOf = (value: object) => encodeBase64url(sha256(utf8.encode(canonicalJson(value))));
  try {
    const digest = hashOf({ shown, principalId, decision });
    const challenge = hashOf({ v: 1, use: 'behest.consent', areq: shown.authRequestId, digest, nonce });
    const said = parseJson(client);
    if (!isObject(said) || said.type !== 'webauthn.get' || said.challenge !== challenge) return false;
    if (said.origin !== origin || said.crossOrigin === true) return false;
    const flags = authenticator[32] ?? 0;
    if (!areEqual(authenticator.subarray(0, 32), sha256(utf8.encode(rpId)))) return false;
    if ((flags & USER_PRESENT) === 0 || (flags & USER_VERIFIED) === 0) return false;
    return await holds(key, joinBytes([authenticator, sha256(client)]), { signature, means });
  } catch {
    return false; // JSON that cannot be read, or a key that is none
  }
}

/** Whether an origin is of the domain of the passkey. */
function isWithin(origin: string, rpId: string): boolean {
  const host = URL.canParse(origin) ? new URL(origin).hostname : '';
  return host === rpId || host.endsWith(`.${rpId}`);
}

async function holds(
  key: Members,
  signed: Uint8Array<ArrayBuffer>,
  { signature, means }: { readonly signature: Uint8Array<ArrayBuffer>; readonly means: ProofMeans },
): Promise<boolean> {
  if (key.kty === 'OKP') {
    const publicKey = decodeBase64url(String(key.x));
    if (key.crv !== 'Ed25519' || publicKey?.length !== 32 || signature.length !== 64) return false;
    return means.verifyEd25519(publicKey, signed, signature);
  }
  if (key.kty === 'RSA') {
    const jwk = { kty: 'RSA', n: key.n, e: key.e };
    return isGenuineLater(means, { alg: 'RS256', key: jwk, signed, signature });
  }
  const raw = rawSignature(signature);
  const jwk = { kty: 'EC', crv: key.crv, x: key.x, y: key.y };
  if (key.kty !== 'EC' || key.crv !== 'P-256' || !raw) return false;
  return isGenuineLater(means, { alg: 'ES256', key: jwk, signed, signature: raw });
}

/**
 * Authenticators write r and s as DER, and WebCrypto reads them as 32 bytes each.
 *
 * @see RFC 3279, section 2.2.3
 */
function rawSignature(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const raw = new Uint8Array(64);
  let at = 2;
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0;
    if (der[at] !== 0x02 || length === 0 || at + 2 + length > der.length) return undefined;
    const number = der.subarray(at + 2, at + 2 + length);
    const digits = number[0] === 0 ? number.subarray(1) : number; // a zero keeps it positive
    if (digits.length > 32) return undefined;
    raw.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? raw : undefined;
}

/** Whether the developer's key signed that this person is there for this request. */
async function isVouchedFor(
  { hint, key }: Members,
  { shown, principalId, receipt, developerId }: ProvedBy,
  means: ProofMeans,
): Promise<boolean> {
  if (!isObject(key)) return false;
  const only = { ...key, use: 'sig', alg: key.kty === 'EC' ? 'ES256' : 'RS256' };
  const ready = beforeSignature({ keys: () => ({ only }), issuer: '' }, 'consent-hint', hint);
  if (!ready.ok || !(await isGenuineLater(means, ready.check))) return false;
  const { iss, aud, sub, areq } = ready.parts.payload;
  // The time of the hint is not looked at: it was good when the service took it, minutes before the approval.
  return (
    iss === developerId &&
    sub === principalId &&
    areq === shown?.authRequestId &&
    namesResource(aud, receipt.issuer)
  );
}
