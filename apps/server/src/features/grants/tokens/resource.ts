import { type Actor, GRANT_CLAIM, grantClaims } from '@behest/protocol/claims';
import { namesResource } from '@behest/protocol/resource-uri';
import { distinctScopes, uncovered } from '@behest/protocol/scopes';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { prepareEntry } from '../../record/audit/index.ts';
import { signToken } from '../../service/keys/index.ts';
import { type LookUpDeps, lookUp } from './look-up.ts';
import { audiencesOf, wholeSecond } from './tokens.rules.ts';
import { writeResourceExchange } from './write.repo.ts';

const ALONE: ReadonlySet<string> = new Set(['*', 'vault:credentials:exchange']);
/** `<service>:*`, `<service>:read`, `<service>:credentials:read`, `vault:<service>:*` and `vault:<service>:read`. */
const OF_SERVICE = /^(?:[^:]+:(?:\*|read|credentials:read)|vault:[^:]+:(?:\*|read))$/;

/** Whether a scope opens the exchange of a credential. @see `matchingScope` of the vault, which has the same forms */
const opensExchange = (scope: string): boolean => ALONE.has(scope) || OF_SERVICE.test(scope);

/**
 * The scopes of a token for the vault.
 * @param wanted undefined for all that open an exchange
 * @throws invalid_scope
 */
function vaultScopes(held: readonly string[], wanted: readonly string[] | undefined): string[] {
  const own = held.filter(opensExchange);
  const scopes = distinctScopes(wanted ?? own);
  const isWithin = scopes.every(opensExchange) && uncovered(own, scopes).length === 0;
  if (scopes.length > 0 && isWithin) return scopes;
  throw oauthRefusal('invalid_scope', 'The token has no such scope for the exchange of a credential.');
}

const MAX_SECONDS = 300;

interface Exchanging {
  /** The token that the resource received. */
  readonly subject: string;
  readonly resource: { readonly resourceId: string; readonly resource: string };
  /** Undefined for all that open the vault. */
  readonly scopes: readonly string[] | undefined;
  readonly seconds: number | undefined;
  /** The key of the resource, to which its token is bound. */
  readonly keyThumbprint: string | undefined;
}

/** A token by which a resource gets credentials of the vault, and nothing else. */
interface TokenForResource {
  readonly grantToken: string;
  readonly expiresAt: string;
  readonly scopes: readonly string[];
  readonly grantId: string;
  readonly refreshToken: null;
}

const unusable = () => oauthRefusal('invalid_grant', 'The subject token cannot be used.');

/**
 * Gives a resource a token for the vault in exchange for one that it received, because it must not pass that on. The token
 * has a type of its own, so no route but the exchange of the vault, and no other verifier, takes it.
 * @see RFC 8693 §1.1, §4.1
 * @throws invalid_grant, invalid_scope
 */
export async function exchangeForResource(
  deps: LookUpDeps,
  caller: Caller,
  { subject, resource: acting, scopes: wanted, seconds = MAX_SECONDS, keyThumbprint }: Exchanging,
): Promise<TokenForResource> {
  const { row, verified, reason } = (await lookUp(deps, caller, subject)) ?? {};
  const audiences = row?.audience ? audiencesOf(row.audience) : [];
  const isForResource = namesResource(audiences, acting.resource) && !namesResource(audiences, deps.issuer);
  if (!row || !verified || reason || !isForResource) throw unusable();
  const scopes = vaultScopes(row.scopes, wanted);
  const at = deps.clock();
  const longest = at.getTime() + Math.min(seconds, MAX_SECONDS) * 1000;
  const expiresAt = wholeSecond(Math.min(longest, row.tokenExpiresAt.getTime(), row.expiresAt.getTime()));
  const { id: grantId, agentId, agentDid, principalId, delegatedBy, delegationDepth, parentGrantId } = row;
  const tokenId = newId('tok', at);
  const bound = keyThumbprint === undefined ? {} : { keyThumbprint };
  const held = { agentId, agentDid, delegatedBy, delegationDepth, principalId, grantId };
  const claims = grantClaims(
    {
      ...{ ...held, ...bound, tokenId, scopes, expiresAt, issuedAt: at, sandbox: caller.mode === 'sandbox' },
      ...caller.tenant,
      issuer: deps.issuer,
      audience: deps.issuer,
      ...(parentGrantId !== null && { parentGrantId }),
    },
    { legacy: false },
  );
  const act: Actor = { sub: acting.resource, act: Object(verified.payload.act) };
  const grantToken = await signToken(deps.keyRing, 'resource-exchange+jwt', { ...claims, act });
  const data = {
    tokenId,
    subjectTokenId: row.tokenId,
    ...acting,
    scopes,
    expiresAt: expiresAt.toISOString(),
  };
  const about = concerning({ ...row, grantId });
  const isWritten = await writeResourceExchange(deps.db, caller.tenant, at, {
    agentId,
    token: {
      ...{ id: tokenId, grantId, issuedAt: at, expiresAt, revokedAt: null, scopes, audience: deps.issuer },
      ...{ authorizationDetails: null, keyThumbprint: keyThumbprint ?? null },
      ...{ authenticatedAt: null, authMethods: null },
      ...{ actingResourceId: acting.resourceId, subjectTokenId: row.tokenId },
    },
    records: prepareEntry(caller, { action: 'token.exchanged', about, data }, at),
  });
  if (!isWritten) throw unusable();
  return { grantToken, expiresAt: expiresAt.toISOString(), scopes, grantId, refreshToken: null };
}

/** The claims by which the stored row of such a token is found and compared. */
export interface ResourceClaims {
  readonly developerId: string;
  readonly tokenId: string;
  readonly grantId: string;
  readonly scope: string;
  readonly keyThumbprint: string | undefined;
}

/** Reads the claims of a verified token of this kind. */
export function resourceClaims(payload: Readonly<Record<string, unknown>>): ResourceClaims {
  const { dev, jti, scope, cnf } = payload;
  const { jkt } = Object(cnf);
  return {
    developerId: String(dev),
    tokenId: String(jti),
    grantId: String(Object(payload[GRANT_CLAIM]).grant_id),
    scope: String(scope),
    keyThumbprint: typeof jkt === 'string' ? jkt : undefined,
  };
}
