import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { Grants } from '../../../platform/db/types.gen.ts';

export type AgentStatus = 'active' | 'suspended' | 'revoked';

/** A grant as far as it decides about its tokens, with its agent. */
export type HeldGrant = Pick<
  Selectable<Grants>,
  | 'id'
  | 'developerId'
  | 'agentId'
  | 'principalId'
  | 'scopes'
  | 'audience'
  | 'purpose'
  | 'authorizationDetails'
  | 'consentMethod'
  | 'manifests'
  | 'tokenSeconds'
  | 'status'
  | 'revokedReason'
  | 'isUnverified'
  | 'expiresAt'
  | 'parentGrantId'
  | 'rootGrantId'
  | 'delegationDepth'
  | 'delegatedBy'
  | 'authenticatedAt'
  | 'authMethods'
> & { readonly agentDid: string; readonly agentStatus: AgentStatus };

const others = `(f.held).id, (f.held).developer_id as "developerId", (f.held).agent_id as "agentId",
  (f.held).principal_id as "principalId", (f.held).purpose,
  (f.held).consent_method as "consentMethod", (f.held).manifests, (f.held).token_seconds as "tokenSeconds",
  (f.held).status, (f.held).revoked_reason as "revokedReason",
  (f.held).is_unverified as "isUnverified", (f.held).expires_at as "expiresAt",
  (f.held).parent_grant_id as "parentGrantId", (f.held).root_grant_id as "rootGrantId",
  (f.held).delegation_depth as "delegationDepth", (f.held).delegated_by as "delegatedBy",
  f.agent_did as "agentDid", f.agent_status as "agentStatus"`;

/** Its columns in the answer of a function, as the members of `HeldGrant`. */
export const heldGrant = `${others}, (f.held).scopes, (f.held).audience,
  (f.held).authorization_details as "authorizationDetails",
  (f.held).authenticated_at as "authenticatedAt", (f.held).auth_methods as "authMethods"`;

export type TokenRow = HeldGrant & {
  readonly tokenId: string;
  readonly tokenIssuedAt: Date;
  readonly tokenExpiresAt: Date;
  readonly tokenRevokedAt: Date | null;
  /** The key whose proof each use of the token needs. */
  readonly keyThumbprint: string | null;
  /** Whether the token has fewer scopes than its grant. */
  readonly hasFewerScopes: boolean;
  /** The entries of the grant, which the token may lack. */
  readonly grantDetails: unknown;
  /** The resource that got it in exchange for a token that it received. */
  readonly actingResourceId: string | null;
};

/**
 * Its columns, as `heldGrant`. A token that has scopes, an audience or details of its own has no others, and it states the
 * sign-in that is stored with the token only.
 */
export const heldToken = `${others}, coalesce((f.token).scopes, (f.held).scopes) as scopes,
  coalesce((f.token).audience, (f.held).audience) as audience,
  coalesce((f.token).authorization_details, (f.held).authorization_details) as "authorizationDetails", (f.token).key_thumbprint as "keyThumbprint",
  (f.token).authenticated_at as "authenticatedAt", (f.token).auth_methods as "authMethods",
  (f.held).authorization_details as "grantDetails", (f.token).acting_resource_id as "actingResourceId",
  (f.token).scopes is not null as "hasFewerScopes", (f.token).id as "tokenId", (f.token).issued_at as "tokenIssuedAt",
  (f.token).expires_at as "tokenExpiresAt", (f.token).revoked_at as "tokenRevokedAt"`;

/** Newest first. The service stores the text of no token. */
export function listTokensOfGrant(
  db: Executor,
  { developerId }: Tenant,
  grantId: string,
  { cursor, limit }: { cursor?: string; limit: number },
) {
  const all = db
    .selectFrom('tokens')
    .select(['id', 'issuedAt', 'expiresAt', 'revokedAt'])
    .where('developerId', '=', developerId)
    .where('grantId', '=', grantId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}
