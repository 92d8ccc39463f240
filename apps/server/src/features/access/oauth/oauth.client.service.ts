import { importJWK, type JWK, type JWTPayload, jwtVerify } from 'jose';
import type { Caller } from '../../../platform/caller.ts';
import type { ChargeClient } from '../../../platform/charge-credential.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { type Claimed, claimedBy, type Sent } from './oauth.credentials.rules.ts';
import { type FoundClient, findOAuthClientAcrossTenants } from './oauth.repo.ts';
import { isFirstUse } from './oauth.single-use.service.ts';

export interface AuthenticationDeps {
  readonly db: Executor;
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly issuer: string;
  readonly publicBaseUrl: string;
  readonly chargeClient: ChargeClient;
}

/** The parts of a request that say which client made it, and from where. */
export interface ClientRequest {
  readonly authorization: string | undefined;
  readonly sent: Sent;
  readonly requestId: string;
  readonly address: string;
}

/** A client that may act: its agent is active. */
export interface Client {
  readonly clientId: string;
  readonly caller: Caller;
  readonly agentId: string;
  readonly agentDid: string;
  readonly redirectUris: readonly string[];
  /** Whether it has neither a secret nor a key. */
  readonly isPublic: boolean;
  readonly dpopBound: boolean;
}

/** One sentence for every reason, so that nobody learns from a refusal which clients exist. */
const refused = () => oauthRefusal('invalid_client', 'The client is not known, or is not authenticated.');

/**
 * Authenticates a client and counts its request. A client that proves nothing is counted with its address, so that no
 * stranger uses up the requests of another.
 * @param isFree whether a request of this client, which is proved, is refused for another reason and not counted
 * @throws invalid_client, invalid_request, RATE_LIMITED
 */
export async function authenticateClient(
  deps: AuthenticationDeps,
  request: ClientRequest,
  rule: Parameters<ChargeClient>[0],
  isFree: (client: Client) => Promise<boolean> = async () => false,
): Promise<Client> {
  const claimed = claimedBy(request.authorization, request.sent);
  const found = await findOAuthClientAcrossTenants(deps.db, claimed.clientId);
  const isProved = found !== undefined && (await proves(deps, found, claimed));
  const isNamed = !isProved || claimed.method === 'none';
  if (found && !(isProved && (await isFree(clientOf(found, request))))) {
    const client = isNamed ? `${claimed.clientId} ${request.address}` : claimed.clientId;
    await deps.chargeClient(rule, { client, ...(isProved && { developer: found.developerId }) });
  }
  if (!isProved) throw refused();
  return clientOf(found, request);
}

export function clientOf(
  found: FoundClient,
  { requestId, address }: Pick<ClientRequest, 'requestId' | 'address'>,
): Client {
  const { agentId, developerId, mode, plan } = found;
  return {
    clientId: agentId,
    agentId,
    agentDid: found.agentDid,
    redirectUris: found.redirectUris,
    isPublic: found.authMethod === 'none',
    dpopBound: found.dpopBound,
    caller: {
      tenant: { developerId },
      agentIds: [agentId],
      actor: `agent:${agentId}`,
      role: 'runtime',
      mode,
      plan,
      requestId,
      address,
    },
  };
}

async function proves(deps: AuthenticationDeps, found: FoundClient, claimed: Claimed): Promise<boolean> {
  if (claimed.method !== found.authMethod) return false;
  if (claimed.method === 'none') return true;
  if (claimed.method === 'private_key_jwt') return provesByKey(deps, found, claimed.assertion);
  const hash = found.secretHash?.toString('base64url') ?? '';
  return isSameText(hash, hashOf(claimed.secret).toString('base64url'));
}

const LONGEST_ASSERTION = 300; // seconds
const SKEW = 60; // seconds

/** @see RFC 7523 §3 */
async function provesByKey(
  { store, clock, issuer, publicBaseUrl }: AuthenticationDeps,
  { agentId, publicKeyJwk }: FoundClient,
  assertion: string,
): Promise<boolean> {
  if (publicKeyJwk === null) return false;
  const now = clock();
  const payload = await payloadOf(assertion, publicKeyJwk as JWK, {
    issuer: agentId,
    subject: agentId,
    audience: [issuer, `${publicBaseUrl}/oauth/token`],
    currentDate: now,
  });
  if (!payload?.jti || payload.exp === undefined) return false;
  const seconds = payload.exp - now.getTime() / 1000;
  if (seconds > LONGEST_ASSERTION) return false;
  return isFirstUse(store, `assertion:${agentId}`, payload.jti, LONGEST_ASSERTION + SKEW);
}

/** @returns undefined for an assertion that fails any check */
async function payloadOf(
  assertion: string,
  jwk: JWK,
  expected: Readonly<Record<'issuer' | 'subject', string>> & {
    readonly audience: string[];
    readonly currentDate: Date;
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
