import { isDeepStrictEqual } from 'node:util';
import { authenticationOf } from '@behest/protocol/authentication';
import { storedEntries } from '@behest/protocol/caps-lineage';
import { BUDGET_TYPE, type GrantClaims, grantClaims } from '@behest/protocol/claims';
import type { Refused } from '@behest/protocol/token-refusal';
import { createTokenVerifier, type VerifiedGrant } from '@behest/protocol/token-verifier';
import { LRUCache } from 'lru-cache';
import { type Caller, isWithin } from '../../../platform/caller.ts';
import { hashOf } from '../../../platform/ids.ts';
import { definePart } from '../../../platform/parts.ts';
import { verifySignature } from '../../service/keys/index.ts';
import { pinsInToken } from '../manifests/index.ts';
import type { TokenDeps } from './issue.ts';
import type { TokenRow } from './tokens.queries.ts';
import { findUsedToken, type UsedToken } from './tokens.repo.ts';
import { audClaim, authenticationClaims, detailsWithin, wholeSecond } from './tokens.rules.ts';
import type { TokenVerification } from './tokens.schema.ts';

export interface LookUpDeps extends TokenDeps {
  readonly verifyOwn: VerifyOwn;
}

/** A token that this service signed for any developer, and its state now. */
export interface LookedUpToken<Row = TokenRow> {
  readonly verified: VerifiedGrant;
  /** Absent when no stored token agrees with it, or when it is out of the caller's reach. */
  readonly row?: Row;
  /** Why the token cannot be used, when it is the caller's own. */
  readonly reason?: Exclude<NonNullable<TokenVerification['reason']>, 'audience' | 'scope'>;
}

/**
 * Reads the database, so the first call after a revocation sees the revocation.
 * @returns undefined for a text that is not a grant token of this service
 */
export async function lookUp(
  deps: LookUpDeps,
  caller: Caller,
  token: string,
): Promise<LookedUpToken<UsedToken> | undefined> {
  const now = deps.clock();
  const found = findGenuine(deps, token, now);
  if (!found) return undefined;
  const { claims } = found.verified;
  // Refused before the look-up, which sets the grant's last use. The few tokens that name no agent are looked up.
  const isForeign = claims.developerId !== caller.tenant.developerId;
  const isOutOfReach = claims.agentId !== undefined && !isWithin(caller, claims.agentId);
  if (isForeign || isOutOfReach) return { verified: found.verified };
  const row = await findUsedToken(deps.db, caller, claims.tokenId, now);
  return assess(found, row, caller, now);
}

/** A stored token as a verifier reads it, without the entry that states what was left of a budget. */
export function storedToken(stored: TokenRow, issuer: string, { mode }: Pick<Caller, 'mode'>): VerifiedGrant {
  const row = ownOf(stored);
  const details = row.authorizationDetails === null ? undefined : storedEntries(row.authorizationDetails);
  const claims = {
    issuer,
    developerId: row.developerId,
    principalId: row.principalId,
    agentId: row.agentId,
    agentDid: row.agentDid,
    delegatedBy: row.delegatedBy,
    delegationDepth: row.delegationDepth,
    scopes: row.scopes,
    tokenId: row.tokenId,
    grantId: row.id,
    issuedAt: wholeSecond(row.tokenIssuedAt.getTime()),
    expiresAt: wholeSecond(row.tokenExpiresAt.getTime()),
    sandbox: mode === 'sandbox',
    ...(row.audience !== null && { audience: audClaim(row.audience) }),
    ...(row.keyThumbprint !== null && { keyThumbprint: row.keyThumbprint }),
    ...authenticationClaims(authenticationOf(row)),
    ...(row.parentGrantId !== null && { parentGrantId: row.parentGrantId }),
    ...(details && { authorizationDetails: details }),
  };
  const payload = grantClaims({ ...claims, ...pinsInToken(row.manifests) }, { legacy: false });
  return { ok: true, header: { alg: 'ES256' }, payload, claims };
}

/** A token with fewer scopes than its grant has fewer details too. */
const ownOf = <Row extends TokenRow>(row: Row): Row =>
  row.hasFewerScopes
    ? { ...row, authorizationDetails: detailsWithin(row.authorizationDetails, row.scopes) }
    : row;

/** Compares a genuine token with its stored rows. */
export function assess<Row extends TokenRow>(
  { verified, isExpired }: Genuine,
  row: Row | undefined,
  { mode }: Pick<Caller, 'mode'>,
  now: Date,
): LookedUpToken<Row> {
  if (!row) return { verified };
  const own = ownOf(row);
  if (!agrees(verified.claims, own, mode === 'sandbox')) return { verified };
  const reason = isExpired ? 'expired' : verificationRefusal(own, now);
  return { verified, row: own, ...(reason && { reason }) };
}

interface Genuine {
  readonly verified: VerifiedGrant;
  readonly isExpired: boolean;
}

/**
 * Checks signature and claims, without a database. An expired token is verified as of the second before its
 * end, because only the owner of a genuine token may learn that it expired.
 */
export function findGenuine(
  { verifyOwn }: Pick<LookUpDeps, 'verifyOwn'>,
  token: string,
  now: Date,
): Genuine | undefined {
  const verified = verifyOwn(token, now);
  if (verified.ok) return { verified, isExpired: false };
  if (verified.reason !== 'expired') return undefined;
  const before = verifyOwn(token, new Date(claimedEnd(token) - 1000));
  return before.ok ? { verified: before, isExpired: true } : undefined;
}

/**
 * The unverified `exp` in epoch milliseconds, used only to choose the time at which the token is verified.
 */
function claimedEnd(token: string): number {
  const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return Number(payload.exp) * 1000;
}

/** The stored grant decides: a token that differs from it was not issued for it. */
function agrees(claims: GrantClaims, row: TokenRow, isSandbox: boolean): boolean {
  const { audience, parentGrantId, authorizationDetails, delegationDepth, keyThumbprint } = row;
  const stored: GrantClaims = {
    issuer: claims.issuer, // the verifier has compared it already
    developerId: row.developerId,
    principalId: row.principalId,
    agentId: row.agentId,
    agentDid: row.agentDid,
    delegatedBy: row.delegatedBy,
    scopes: row.scopes,
    tokenId: row.tokenId,
    grantId: row.id,
    delegationDepth,
    issuedAt: wholeSecond(row.tokenIssuedAt.getTime()),
    expiresAt: row.tokenExpiresAt,
    sandbox: isSandbox,
    ...(audience !== null && { audience: audClaim(audience) }),
    ...(keyThumbprint !== null && { keyThumbprint }),
    ...authenticationClaims(authenticationOf(row)),
    ...(parentGrantId !== null && { parentGrantId }),
    ...(authorizationDetails !== null && { authorizationDetails }),
  };
  // Tokens from before 0.6 may lack these three claims; an absent claim cannot differ.
  const { agentId, agentDid, issuedAt } = stored;
  return isDeepStrictEqual({ agentId, agentDid, issuedAt, ...withoutBudget(claims) }, stored);
}

/** Without the entry that states what was left of a budget when the token was issued. */
function withoutBudget(claims: GrantClaims): GrantClaims {
  const { authorizationDetails: stated, ...others } = claims;
  if (!Array.isArray(stated)) return claims;
  const entries = stated.filter((entry) => Object(entry).type !== BUDGET_TYPE);
  return entries.length > 0 ? { ...others, authorizationDetails: entries } : others;
}

export function verificationRefusal(row: TokenRow, now: Date): LookedUpToken['reason'] {
  if (row.tokenRevokedAt || row.status === 'revoked') return 'revoked';
  if (row.expiresAt <= now) return 'grant_inactive';
  return row.agentStatus === 'active' ? undefined : 'agent_inactive';
}

const MAX_REMEMBERED = 5000; // tokens, of some 2 kB each

/** Checks form, signature, times and claims of a token as of a time. Whether it was revoked, only the database knows. */
export type VerifyOwn = (token: string, now: Date) => VerifiedGrant | Refused;

/** One for the process, so that a token is verified once whatever route it comes to. */
export const grantTokenVerifier = definePart<VerifyOwn>('the verifier of grant tokens');

interface Remembered {
  readonly verified: VerifiedGrant;
  /** The time at which it was verified. At any later one before its end, the answer is the same. */
  readonly from: Date;
  readonly keys: object;
}

/**
 * The verifier of the service's own tokens. It remembers good ones by their hashes, because agents show one token many
 * times, and a signature costs more to check than all else that the process does about the token.
 */
export function ownVerifier({
  keyRing,
  issuer,
  maxGrantLifetimeSeconds,
}: Pick<TokenDeps, 'keyRing' | 'issuer' | 'maxGrantLifetimeSeconds'>): VerifyOwn {
  const remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const { verify } = createTokenVerifier({
    keys: () => keyRing.verificationKeys(),
    issuer,
    maxLifetimeSeconds: maxGrantLifetimeSeconds,
    storedGrantDecides: true,
    verifySignature,
  });

  /** The proof of a bound token's key is for the caller to check, who knows where it came. */
  const verifyBound: VerifyOwn = (token, now) => {
    const result = verify(token, { now });
    if (result.ok || result.reason !== 'dpop_required') return result;
    const provedKeyThumbprint = claimedThumbprint(token);
    return provedKeyThumbprint === undefined ? result : verify(token, { now, provedKeyThumbprint });
  };

  return (token, now) => {
    const hash = hashOf(token).toString('base64url');
    const keys = keyRing.verificationKeys();
    const known = remembered.get(hash);
    const isGood = known?.keys === keys && known.from <= now && now < known.verified.claims.expiresAt;
    if (isGood) return known.verified;
    const result = verifyBound(token, now);
    if (result.ok) remembered.set(hash, { verified: result, from: now, keys });
    return result;
  };
}

/** The key that a token names, of which every other check has passed. */
function claimedThumbprint(token: string): string | undefined {
  const { cnf } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return typeof cnf?.jkt === 'string' ? cnf.jkt : undefined;
}
