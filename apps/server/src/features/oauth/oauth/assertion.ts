import { decodeProtectedHeader, importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../../../platform/clock.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { isFirstUse } from '../../grants/tokens/index.ts';
import { provedWorkload } from '../workloads/index.ts';

export interface AssertionDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly issuer: string;
  readonly publicBaseUrl: string;
}

type PlatformDeps = AssertionDeps & Parameters<typeof provedWorkload>[0];

interface ClientAssertion {
  readonly clientId: string;
  readonly assertion: string;
  /** The public keys of the client. */
  readonly keys: readonly JWK[];
  /** Whether it is shown as an actor token, and not to authenticate a client. */
  readonly isActor?: boolean;
}

const MAX_ASSERTION = 300; // seconds
/** The most by which the clock of a client is ahead. FAPI 2.0 §5.3.2.1 wants 10 seconds accepted, and more than 60 refused. */
const SKEW = 60; // seconds
/** An assertion may name this server by each of these (RFC 7523 §3, RFC 9126 §2, OpenID CIBA Core 1.0 §7.1). */
const ENDPOINTS = ['token', 'par', 'bc-authorize'];
/** The `typ` of an actor assertion, so that the client to which it is handed cannot authenticate by it (RFC 8725 §3.11). */
const ACTOR_TYPE = 'actor+jwt';

/** Whether a client has signed the assertion for this server, and shows it for the first time. @see RFC 7523 §3 */
export async function provesByKey(
  { store, clock, issuer, publicBaseUrl }: AssertionDeps,
  { clientId, assertion, keys, isActor = false }: ClientAssertion,
): Promise<boolean> {
  const now = clock();
  const expected = {
    issuer: clientId,
    subject: clientId,
    audience: [issuer, ...ENDPOINTS.map((endpoint) => `${publicBaseUrl}/oauth/${endpoint}`)],
    currentDate: now,
    clockTolerance: SKEW, // for `nbf`; the end is compared below, without it
  };
  if (isActorAssertion(assertion) !== isActor) return false;
  let payload: JWTPayload | undefined;
  for (const key of keys) payload ??= await payloadOf(assertion, key, expected);
  if (!payload?.jti || payload.exp === undefined) return false;
  const secondsUntil = (time: number) => time - now.getTime() / 1000;
  const seconds = secondsUntil(payload.exp);
  if (seconds <= 0 || seconds > MAX_ASSERTION) return false;
  if (payload.iat !== undefined && secondsUntil(payload.iat) > SKEW) return false;
  return isFirstUse(store, `assertion:${clientId}`, payload.jti, MAX_ASSERTION + SKEW);
}

function isActorAssertion(assertion: string): boolean {
  try {
    return String(decodeProtectedHeader(assertion).typ).toLowerCase() === ACTOR_TYPE;
  } catch {
    return false;
  }
}

/** Whether the platform on which an agent runs has signed the assertion, and shows it for the first time if it has an id. */
export async function provesByPlatform(
  deps: PlatformDeps,
  { developerId, agentId }: { readonly developerId: string; readonly agentId: string },
  assertion: string,
): Promise<boolean> {
  const proved = await provedWorkload(deps, { developerId }, agentId, assertion);
  if (proved?.jti === undefined) return proved !== undefined;
  const owner = `workload:${agentId}:${proved.issuer}`;
  return isFirstUse(deps.store, owner, proved.jti, proved.seconds + SKEW);
}

/** @returns undefined for an assertion that fails any check */
async function payloadOf(
  assertion: string,
  jwk: JWK,
  expected: Readonly<Record<'issuer' | 'subject', string>> & {
    readonly audience: string[];
    readonly currentDate: Date;
    readonly clockTolerance: number;
  },
): Promise<JWTPayload | undefined> {
  try {
    const { alg, ...key } = jwk;
    const algorithms = ASSERTION_ALGS[String(key.kty)] ?? [];
    const imported = await importJWK(key, algorithms[0]);
    const { payload } = await jwtVerify(assertion, imported, { ...expected, algorithms });
    return Array.isArray(payload.aud) && payload.aud.length > 1 ? undefined : payload;
  } catch {
    return undefined;
  }
}

/** By the type of the key. An Ed25519 key signs as `EdDSA` or, in the newer name, `Ed25519` (RFC 9864). */
const ASSERTION_ALGS: Readonly<Record<string, string[]>> = {
  EC: ['ES256'],
  RSA: ['RS256'],
  OKP: ['EdDSA', 'Ed25519'],
};
