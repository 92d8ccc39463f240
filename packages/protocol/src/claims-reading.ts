import { BUDGET_TYPE, GRANT_CLAIM, type GrantClaims } from './claims.ts';
import { isTime } from './token-kinds.ts';

/** The facts of a grant token, or the reason why its claims cannot be used. */
export type ReadClaims =
  | { readonly ok: true; readonly claims: Omit<GrantClaims, 'issuer' | 'issuedAt' | 'expiresAt'> }
  | { readonly ok: false; readonly reason: 'claims_missing' | 'claims_inconsistent' };

type Claims = Readonly<Record<string, unknown>>;

const MAX_ACTORS = 11; // a root agent and ten delegations, the most that the service issues

/**
 * Reads the claims of a grant token from a payload whose signature has been verified. A claim name from before 0.6
 * counts where the standard name is absent. A payload with two different values for one fact is refused, because
 * two readers could understand it differently.
 *
 * @returns `claims_missing` without `sub`, `dev`, `jti` or scopes; `claims_inconsistent` for a contradiction
 * @see RFC 9068, section 2.2; RFC 8693, section 4.1; RFC 9396, section 9
 */
export function readGrantClaims(payload: Claims): ReadClaims {
  const { sub, dev, jti } = payload;
  const scopes = readScopes(payload);
  if (!isText(sub) || !isText(dev) || !isText(jti) || !scopes) return { ok: false, reason: 'claims_missing' };

  const grant = payload[GRANT_CLAIM] === undefined ? {} : objectOf(payload[GRANT_CLAIM]);
  const actors = readActors(payload.act);
  if (!grant || !actors) return { ok: false, reason: 'claims_inconsistent' };
  const said = {
    agentId: [payload.client_id],
    agentDid: [grant.agent_did, actors[0], payload.agt],
    developerId: [dev, grant.developer_id],
    grantId: [grant.grant_id, payload.grnt],
    parentGrantId: [grant.parent_grant_id, payload.parentGrnt],
    parentAgentDid: [actors[1], payload.parentAgt],
    keyThumbprint: payload.cnf === undefined ? [] : [objectOf(payload.cnf)?.jkt ?? null],
  };
  const depths = [grant.delegation_depth, payload.delegationDepth];
  const agreed = Object.values(said).every((values) => agree(values, isText)) && agree(depths, isDepth);
  if (!agreed || !restAgrees(payload, scopes)) return { ok: false, reason: 'claims_inconsistent' };

  const [agentId, agentDid] = [said.agentId.find(isText), said.agentDid.find(isText)];
  const [parentGrantId, parentAgentDid] = [said.parentGrantId.find(isText), said.parentAgentDid.find(isText)];
  const keyThumbprint = said.keyThumbprint.find(isText);
  const { aud, authorization_details: authorizationDetails, auth_time: authTime, amr } = payload;
  return {
    ok: true,
    claims: {
      principalId: sub,
      developerId: dev,
      scopes,
      tokenId: jti,
      grantId: said.grantId.find(isText) ?? jti, // in the first grant tokens the token id is the grant id
      ...(agentId !== undefined && { agentId }),
      ...(agentDid !== undefined && { agentDid }),
      ...(parentGrantId !== undefined && { parentGrantId }),
      delegatedBy: actors.length > 1 || parentAgentDid === undefined ? actors.slice(1) : [parentAgentDid],
      delegationDepth: depths.find(isDepth) ?? 0,
      ...(isAudience(aud) && { audience: aud }),
      ...(authorizationDetails !== undefined && { authorizationDetails }),
      sandbox: payload.sandbox === true,
      ...(keyThumbprint !== undefined && { keyThumbprint }),
      ...(isTime(authTime) && { authenticatedAt: new Date(authTime * 1_000) }),
      ...(isTexts(amr) && { authenticationMethods: amr }),
    },
  };
}

/** @returns undefined when neither `scp` nor `scope` can be read; `restAgrees` compares the two */
function readScopes({ scp, scope }: Claims): string[] | undefined {
  if (isTexts(scp)) return [...scp];
  if (scp !== undefined || typeof scope !== 'string') return undefined;
  const scopes = scope === '' ? [] : scope.split(' ');
  return isTexts(scopes) ? scopes : undefined;
}

/** @returns the DIDs, the outermost first; undefined when the claim is present and not a chain of actors */
function readActors(act: unknown): string[] | undefined {
  const actors: string[] = [];
  for (let actor = act; actor !== undefined; actor = objectOf(actor)?.act) {
    const sub = objectOf(actor)?.sub;
    if (!isText(sub) || actors.length === MAX_ACTORS) return undefined;
    actors.push(sub);
  }
  return actors;
}

function restAgrees({ scp, scope, aud, sandbox, bdg, authorization_details }: Claims, scopes: string[]) {
  if (scp !== undefined && scope !== undefined && scope !== scopes.join(' ')) return false;
  if (aud !== undefined && !isAudience(aud)) return false;
  if (sandbox !== undefined && sandbox !== true) return false;
  if (bdg === undefined) return true;
  const entries = Array.isArray(authorization_details) ? authorization_details.map(objectOf) : [];
  const budget = entries.find((entry) => entry?.type === BUDGET_TYPE);
  return typeof bdg === 'number' && (budget === undefined || Number(budget.amount) === bdg);
}

/** True when all present values are valid and equal. `null` is never valid. */
function agree(values: readonly unknown[], isValid: (value: unknown) => boolean): boolean {
  const present = values.filter((value) => value !== undefined);
  return present.every((value) => isValid(value) && value === present[0]);
}

function isDepth(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isAudience(value: unknown): value is string | string[] {
  return isText(value) || isTexts(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function objectOf(value: unknown): Claims | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return { ...value };
}
