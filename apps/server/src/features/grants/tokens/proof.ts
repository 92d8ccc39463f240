import { createHmac } from 'node:crypto';
import {
  calculateJwkThumbprint,
  compactVerify,
  EmbeddedJWK,
  type JWSHeaderParameters,
  type JWTPayload,
} from 'jose';
import type { Proved } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { KeyRing } from '../../service/keys/index.ts';

export const NONCE_KEY_USE = 'behest/dpop-nonce/v1';

export interface ProofDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
  /** Whether proofs need a nonce of the service. */
  readonly demandsNonce: boolean;
  readonly keyRing: KeyRing;
}

const SKEW = 60; // seconds before and after
const REPLAYED_WITHIN = 2 * SKEW + 60; // seconds: as long as a proof can be timely, and a margin for clocks that differ
export const PROOF_ALGS = ['ES256', 'RS256', 'EdDSA'];
/** RFC 9864 has another name for Ed25519. */
const ACCEPTED_ALGS = [...PROOF_ALGS, 'Ed25519'];

const badProof = (message: string) => oauthRefusal('invalid_dpop_proof', message);

/**
 * The thumbprint of the key that made the proof; undefined where no proof was sent.
 * @see RFC 9449 §4.3
 * @throws invalid_dpop_proof, use_dpop_nonce, SERVICE_UNAVAILABLE
 */
export async function provedKey(deps: ProofDeps, request: Proved): Promise<string | undefined> {
  const [proof, ...others] = request.proofs;
  if (proof === undefined) return undefined;
  if (others.length > 0) throw badProof('Send one `DPoP` header.');
  const { payload, protectedHeader } = await signedProof(proof);
  const { jwk } = protectedHeader;
  if (!jwk || 'd' in jwk) throw badProof('The proof has to name a public key.');
  mustFit(deps, payload, request);
  if (deps.demandsNonce && !isNonce(deps, payload.nonce)) {
    throw oauthRefusal('use_dpop_nonce', 'Use the nonce of the `DPoP-Nonce` header in the proof.');
  }
  const thumbprint = await calculateJwkThumbprint(jwk);
  const isNew = await isFirstUse(deps.store, `dpop:${thumbprint}`, String(payload.jti), REPLAYED_WITHIN);
  if (!isNew) throw badProof('The proof was used already.');
  return thumbprint;
}

async function signedProof(
  proof: string,
): Promise<{ payload: JWTPayload; protectedHeader: JWSHeaderParameters }> {
  try {
    const { payload, protectedHeader } = await compactVerify(proof, EmbeddedJWK, {
      algorithms: ACCEPTED_ALGS,
    });
    const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    if (protectedHeader.typ === 'dpop+jwt') return { payload: Object(claims), protectedHeader };
  } catch {
    // Every fault of the proof is the same to the client.
  }
  throw badProof('The proof is not a signed JWT of the type `dpop+jwt` with its public key.');
}

function mustFit({ clock, publicBaseUrl }: ProofDeps, payload: JWTPayload, request: Proved): void {
  const { htm, htu, iat, jti, ath } = payload;
  if (typeof jti !== 'string' || jti === '' || jti.length > 256) throw badProof('The proof has no `jti`.');
  if (htm !== request.method) throw badProof('`htm` is not the method of the request.');
  if (normalized(htu) !== normalized(`${publicBaseUrl}${request.path}`)) {
    throw badProof('`htu` is not the address of the request.');
  }
  const now = clock().getTime() / 1000;
  if (typeof iat !== 'number' || Math.abs(now - iat) > SKEW) throw badProof('`iat` is not the present time.');
  const { accessToken } = request;
  if (accessToken !== undefined && ath !== hashOf(accessToken).toString('base64url')) {
    throw badProof('`ath` is not the hash of the token.');
  }
}

/** Without query and fragment, as RFC 9449 §4.3 compares it, and in the one form of the URL parser. */
function normalized(htu: unknown): string | undefined {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return undefined;
  const url = new URL(htu);
  url.search = '';
  url.hash = '';
  return url.href;
}

const NONCE_SECONDS = 60;

type NonceDeps = Pick<ProofDeps, 'clock' | 'keyRing'>;

/** The nonce of the present minute. Every process makes the same. */
export const currentNonce = ({ clock, keyRing }: NonceDeps): string => nonceOf(keyRing, minuteOf(clock));

/** A nonce is good in the minute for which it was made, and in the next. */
function isNonce({ clock, keyRing }: NonceDeps, nonce: unknown): boolean {
  const minute = minuteOf(clock);
  return [minute, minute - 1].some((each) => isSameText(String(nonce), nonceOf(keyRing, each)));
}

const minuteOf = (clock: Clock) => Math.floor(clock().getTime() / 1000 / NONCE_SECONDS);

const nonceOf = (keyRing: KeyRing, minute: number) =>
  createHmac('sha256', keyRing.derive(NONCE_KEY_USE).current).update(String(minute)).digest('base64url');

/**
 * Whether this text of this owner is seen for the first time, over all processes. The first of two simultaneous
 * uses wins.
 * @throws SERVICE_UNAVAILABLE when the store does not answer: a replay must not pass meanwhile
 */
export async function isFirstUse(
  store: EphemeralStore,
  owner: string,
  text: string,
  seconds: number,
): Promise<boolean> {
  const key = `bh:{once:${hashOf(`${owner}\n${text}`).toString('base64url')}}`;
  const settled = await store.charge([{ name: 'use', charges: [{ key, limit: 1, cost: 1, seconds }] }]);
  return settled.get('use')?.outcome === 'charged';
}
