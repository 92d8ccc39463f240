import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { limitedScopes } from '@behest/protocol/limited-scopes';
import { namesResource } from '@behest/protocol/resource-uri';
import { uncovered } from '@behest/protocol/scopes';
import type { Caller } from '../../../platform/caller.ts';
import { badField } from '../../../platform/errors.ts';
import { type LookUpDeps, lookUp } from './look-up.ts';
import { audiencesOf } from './tokens.rules.ts';
import type {
  GrantVerification,
  TokenIntrospection,
  TokenVerification,
  VerifyTokenRequest,
} from './tokens.schema.ts';

/** A token that is not the caller's own gets `valid: false` without a reason. */
export async function verifyToken(
  deps: LookUpDeps,
  caller: Caller,
  input: VerifyTokenRequest,
): Promise<TokenVerification> {
  const { row, reason } = (await lookUp(deps, caller, input.token)) ?? {};
  if (!row) return { valid: false };
  if (reason) return { valid: false, reason };
  const { audience, purpose, parentGrantId } = row;
  const entries = storedEntries(row.authorizationDetails);
  const audiences = audience === null ? [] : audiencesOf(audience);
  if (input.audience !== undefined && !namesResource(audiences, input.audience)) {
    return { valid: false, reason: 'audience' };
  }
  const required = input.requiredScopes ?? [];
  const unmet = [...uncovered(row.scopes, required), ...limitedScopes(required, toolsEntries(entries))];
  if (unmet.length > 0) return { valid: false, reason: 'scope' };
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
    ...(row.keyThumbprint !== null && { cnf: { jkt: row.keyThumbprint } }),
    ...(purpose !== null && { purpose }),
    ...(entries.length > 0 && { authorizationDetails: toolsEntries(entries) }),
    ...(parentGrantId !== null && { parentGrantId }),
    ...(row.renewalCauses.length > 0 && { reconsentRequired: true as const }),
    ...(caller.mode === 'sandbox' && { sandbox: true as const }),
  };
}

/** The same verification with the older answer. @throws BAD_REQUEST unless this service signed the token */
export async function verifyGrant(
  deps: LookUpDeps,
  caller: Caller,
  token: string,
): Promise<GrantVerification> {
  const known = await lookUp(deps, caller, token);
  if (!known) throw badField('token', 'format', 'This is not a grant token.');
  const { row, verified, reason } = known;
  if (!row) return { active: false, reason: 'not_found' };
  if (reason === 'revoked' || reason === 'agent_inactive') return { active: false, reason };
  if (reason) return { active: false, reason: 'expired' };
  const legacy = {
    agt: row.agentDid,
    dev: row.developerId,
    scp: row.scopes,
    grnt: row.id,
    ...(row.parentGrantId !== null && {
      parentAgt: verified.claims.delegatedBy[0],
      parentGrnt: row.parentGrantId,
      delegationDepth: row.delegationDepth,
    }),
  };
  return { active: true, claims: { ...verified.payload, ...legacy } };
}

/** @see RFC 7662 */
export async function introspectToken(
  deps: LookUpDeps,
  caller: Caller,
  token: string,
): Promise<TokenIntrospection> {
  const { row, verified, reason } = (await lookUp(deps, caller, token)) ?? {};
  if (!row || !verified || reason) return { active: false };
  const { scp: _, sandbox: __, ...claims } = verified.payload;
  const token_type = row.keyThumbprint === null ? 'Bearer' : 'DPoP';
  return { ...claims, active: true, token_type };
}
