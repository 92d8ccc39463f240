import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createKindVerifier } from '@behest/protocol/kind-verifier';
import { thumbprintsOf } from '../../accounts/developers/index.ts';
import { verificationKey, verifySignature } from '../../service/keys/index.ts';
import type { ConsentRow } from './consent.repo.ts';

const MAX_SECONDS = 300;

/** The claims of a good hint, besides those that name the person. */
export interface GoodHint {
  /** The developer reaches the person at this address. */
  readonly email: string | undefined;
  /** Identifies the consent key that signed it. @see RFC 7638 */
  readonly keyThumbprint: string;
  readonly principalId: string;
}

export interface HintIsFor {
  /** This service, which must be the audience. */
  readonly issuer: string;
  readonly now: Date;
}

/**
 * Reads a hint, the developer's JWT that vouches for the person of this request. The developer signs it with
 * a consent key, not with the API key, so an agent that holds the API key cannot approve. A hint works for
 * its own request until it expires. @returns undefined unless the hint vouches for this person and this
 * request
 */
export const readHint = (hint: string, row: ConsentRow, use: HintIsFor): GoodHint | undefined =>
  readVouching('consent-hint', hint, { ...row, claims: { areq: row.id } }, use);

/**
 * Reads a hint that names the person, where the developer's application has signed them in for a request that names
 * nobody yet. Every other claim has to be as in any hint.
 */
export const readNaming = (
  hint: string,
  { requestId, ...developer }: Pick<Vouched, 'developerId' | 'consentKeys'> & { readonly requestId: string },
  use: HintIsFor,
): GoodHint | undefined =>
  readVouching('consent-hint', hint, { ...developer, principalId: null, claims: { areq: requestId } }, use);

const PRINCIPAL = /^[^\p{Cc}]{1,256}$/u;

/** The person that a hint has to vouch for. */
interface Vouched {
  readonly developerId: string;
  readonly consentKeys: unknown;
  /** Null for any person, whom the hint names. */
  readonly principalId: string | null;
  /** Claims that bind the hint to its use. */
  readonly claims: Readonly<Record<string, string>>;
}

/** @see RFC 8725 §3.11 on explicit types, and RFC 7519 §4.1 for the claims */
export function readVouching(
  kind: 'consent-hint' | 'connect-hint',
  hint: string,
  { developerId, consentKeys, principalId, claims }: Vouched,
  { issuer, now }: HintIsFor,
): GoodHint | undefined {
  const keys: JsonWebKey[] = Array.isArray(consentKeys) ? consentKeys.map(Object) : [];
  const thumbprints = thumbprintsOf(consentKeys);
  // A hint need not name its key, and a name proves nothing, so each key is tried.
  for (const [at, key] of keys.entries()) {
    const { jwk, publicKey } = verificationKey(createPublicKey({ key, format: 'jwk' }));
    const only = { ...jwk, publicKey };
    const verify = createKindVerifier(kind, { keys: () => ({ only }), issuer: developerId, verifySignature });
    const verified = verify(hint, { now, audience: issuer });
    if (!verified.ok) continue;
    const { iat, exp, sub, email } = verified.payload;
    const isTimely = typeof iat === 'number' && Number(exp) - iat <= MAX_SECONDS;
    const isBound = Object.entries(claims).every(([name, value]) => verified.payload[name] === value);
    if (typeof sub !== 'string' || !PRINCIPAL.test(sub)) return undefined;
    const isMeant = principalId === null || sub === principalId;
    if (!isMeant || !isBound || !isTimely) return undefined;
    return { email: addressIn(email), keyThumbprint: thumbprints[at] ?? '', principalId: sub };
  }
  return undefined;
}

/** A single address, so the mail reaches one mailbox. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,190}$/;

const addressIn = (claim: unknown) => (typeof claim === 'string' && ADDRESS.test(claim) ? claim : undefined);
