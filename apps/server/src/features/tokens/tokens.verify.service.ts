import { isDeepStrictEqual } from 'node:util';
import type { GrantClaims } from '@behest/protocol/claims';
import { uncovered } from '@behest/protocol/scopes';
import { createTokenVerifier, type VerifiedGrant } from '@behest/protocol/token-verifier';
import type { Caller } from '../../platform/caller.ts';
import { badField } from '../../platform/errors.ts';
import { verifySignature } from '../keys/index.ts';
import type { TokenDeps } from './tokens.issue.service.ts';
import { findUsedToken, type TokenRow } from './tokens.repo.ts';
import type { Introspection, OlderVerdict, Verdict, Verify } from './tokens.schema.ts';

type Reason = NonNullable<Verdict['reason']>;

/** A token that this service signed, for whomever, and what is known of it now. */
interface Known {
  readonly verified: VerifiedGrant;
  /** Absent when nothing is stored that agrees with it, or it is another developer's. */
  readonly row?: TokenRow;
  /** Why it cannot be used, if it is the caller's own. */
  readonly reason?: Reason;
}

/**
 * The online question: reads the database, so the first call after a revocation sees it. Of what is not a
 * token of the caller's own nothing is said, not even why.
 */
export async function verifyToken(deps: TokenDeps, caller: Caller, input: Verify): Promise<Verdict> {
  const { row, verified, reason } = (await lookUp(deps, caller, input.token)) ?? {};
  if (!row || !verified) return { valid: false };
  if (reason) return { valid: false, reason };
  const { audience, purpose, authorizationDetails, parentGrantId } = row;
  if (input.audience !== undefined && input.audience !== audience)
    return { valid: false, reason: 'audience' };
  if (uncovered(row.scopes, input.requiredScopes ?? []).length > 0) return { valid: false, reason: 'scope' };
  return {
    valid: true,
    grantId: row.id,
    scopes: row.scopes,
    principal: row.principalId,
    agent: row.agentDid,
    expiresAt: row.tokenExpiresAt.toISOString(),
    tokenId: row.tokenId,
    agentId: row.agentId,
    agentDid: row.agentDid,
    principalId: row.principalId,
    developerId: row.developerId,
    issuedAt: row.tokenIssuedAt.toISOString(),
    delegationDepth: row.delegationDepth,
    ...(audience !== null && { audience }),
    ...(purpose !== null && { purpose }),
    ...(Array.isArray(authorizationDetails) && { authorizationDetails }),
    ...(parentGrantId !== null && { parentGrantId }),
    ...(caller.mode === 'sandbox' && { sandbox: true as const }),
  };
}

/** The same question in an older shape. @throws BAD_REQUEST for what is no token of this service at all */
export async function verifyOlder(deps: TokenDeps, caller: Caller, token: string): Promise<OlderVerdict> {
  const known = await lookUp(deps, caller, token);
  if (!known) throw badField('token', 'format', 'This is not a grant token.');
  const { row, verified, reason } = known;
  if (!row) return { active: false, reason: 'not_found' };
  if (reason === 'expired' || reason === 'agent_inactive') return { active: false, reason };
  if (reason) return { active: false, reason: 'revoked' };
  const legacy = { agt: row.agentDid, dev: row.developerId, scp: row.scopes, grnt: row.id };
  return { active: true, claims: { ...verified.payload, ...legacy } };
}

/** @see RFC 7662 */
export async function introspectToken(
  deps: TokenDeps,
  caller: Caller,
  token: string,
): Promise<Introspection> {
  const { row, verified, reason } = (await lookUp(deps, caller, token)) ?? {};
  if (!row || !verified || reason) return { active: false };
  const { scp: _, cnf: __, sandbox: ___, ...claims } = verified.payload;
  return { ...claims, active: true, token_type: 'Bearer' };
}

/** The id of a token of this service, for the caller to revoke. @throws NOT_FOUND unless it is genuine */
export async function tokenIdOf(deps: TokenDeps, caller: Caller, token: string): Promise<string | undefined> {
  return (await lookUp(deps, caller, token))?.row?.tokenId;
}

async function lookUp(deps: TokenDeps, { tenant, mode }: Caller, token: string): Promise<Known | undefined> {
  const now = deps.clock();
  const { verified, isExpired } = genuine(deps, token, now);
  if (!verified) return undefined;
  const { claims } = verified;
  if (claims.developerId !== tenant.developerId) return { verified };
  const row = await findUsedToken(deps.db, tenant, claims.tokenId, now);
  if (!row || !agrees(claims, row, mode === 'sandbox')) return { verified };
  const reason = isExpired ? 'expired' : refusalOf(row, now);
  return { verified, row, ...(reason && { reason }) };
}

/**
 * Signature and claims, without a database. A token that ran out is verified as of a second before it did: that
 * it is genuine is what allows to say so to its owner.
 */
function genuine(deps: TokenDeps, token: string, now: Date) {
  const { keyRing, issuer, maxGrantLifetimeSeconds: maxLifetimeSeconds } = deps;
  const setup = { keys: () => keyRing.verificationKeys(), issuer, maxLifetimeSeconds, verifySignature };
  const verifier = createTokenVerifier(setup);
  const verified = verifier.verify(token, { now });
  if (verified.ok) return { verified, isExpired: false };
  if (verified.reason !== 'expired') return {};
  const before = verifier.verify(token, { now: new Date(claimedEnd(token) - 1000) });
  return before.ok ? { verified: before, isExpired: true } : {};
}

/** Epoch milliseconds of `exp`, as the token says it. Read only to choose the time to verify it at. */
function claimedEnd(token: string): number {
  const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return Number(payload.exp) * 1000;
}

/** The stored grant decides: a token that says anything else is not one that was issued for it. */
function agrees(claims: GrantClaims, row: TokenRow, isSandbox: boolean): boolean {
  const stored = {
    principalId: row.principalId,
    agentId: row.agentId,
    agentDid: row.agentDid,
    scopes: row.scopes,
    audience: row.audience ?? undefined,
    grantId: row.id,
    parentGrantId: row.parentGrantId ?? undefined,
    delegationDepth: row.delegationDepth,
    authorizationDetails: row.authorizationDetails ?? undefined,
    sandbox: isSandbox,
    expiresAt: row.tokenExpiresAt,
  };
  const { principalId, agentId = row.agentId, agentDid = row.agentDid, scopes, audience, grantId } = claims;
  const { parentGrantId, delegationDepth, authorizationDetails, sandbox, expiresAt } = claims;
  const said = {
    principalId,
    agentId,
    agentDid,
    scopes,
    audience,
    grantId,
    parentGrantId,
    delegationDepth,
    authorizationDetails,
    sandbox,
    expiresAt,
  };
  return isDeepStrictEqual(said, stored);
}

function refusalOf(row: TokenRow, now: Date): Reason | undefined {
  if (row.tokenRevokedAt || row.status === 'revoked') return 'revoked';
  if (row.expiresAt <= now) return 'grant_inactive';
  return row.agentStatus === 'active' ? undefined : 'agent_inactive';
}
