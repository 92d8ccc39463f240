import { GRANT_CLAIM } from '@behest/protocol/claims';
import type { VerifiedGrant as Verified } from '@behest/protocol/token-verifier';
import { TOOLS_TYPE } from '@behest/protocol/tools-entry';

/** The facts of a verified grant token. They are equal for tokens with and without the claim names from before 0.6. */
export interface VerifiedGrant {
  readonly tokenId: string;
  readonly grantId: string;
  readonly principalId: string;
  readonly developerId: string;
  readonly agentDid: string | undefined;
  readonly agentId: string | undefined;
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  readonly audience: string | readonly string[] | undefined;
  readonly issuer: string;
  readonly issuedAt: Date | undefined;
  readonly expiresAt: Date;
  readonly parentAgentDid: string | undefined;
  readonly parentGrantId: string | undefined;
  readonly delegationDepth: number;
  /** The DIDs of the agents, the one that holds the token first. */
  readonly actorChain: readonly string[];
  /** The purpose that the grant is bound to. */
  readonly purpose: string | undefined;
  readonly authorizationDetails: unknown;
  /** The fingerprints of the manifests that the person saw, by connector. */
  readonly manifests: Readonly<Record<string, unknown>> | undefined;
  /** Whether a changed manifest is refused or told of. */
  readonly manifestMode: 'warn' | 'enforce' | undefined;
  /** The key that the token is bound to, by its thumbprint. */
  readonly confirmation: { readonly jkt: string } | undefined;
  readonly sandbox: boolean;
  /** The claims as they were signed. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export function grantOf({ claims, payload }: Pick<Verified, 'claims' | 'payload'>): VerifiedGrant {
  const { authorizationDetails, agentDid, agentId, delegatedBy, keyThumbprint } = claims;
  const { manifests, manifest_mode: manifestMode } = Object(payload[GRANT_CLAIM]); // the service signed them
  const entries: readonly unknown[] = Array.isArray(authorizationDetails) ? authorizationDetails : [];
  const purposes = entries.map((entry) => Object(entry)).filter(({ type }) => type === TOOLS_TYPE);
  const purpose: unknown = purposes.find((entry) => typeof entry.purpose === 'string')?.purpose;
  return {
    tokenId: claims.tokenId,
    grantId: claims.grantId,
    principalId: claims.principalId,
    developerId: claims.developerId,
    agentDid,
    agentId,
    clientId: agentId,
    scopes: claims.scopes,
    audience: claims.audience,
    issuer: claims.issuer,
    issuedAt: claims.issuedAt,
    expiresAt: claims.expiresAt,
    parentAgentDid: delegatedBy[0],
    parentGrantId: claims.parentGrantId,
    delegationDepth: claims.delegationDepth,
    actorChain: agentDid === undefined ? delegatedBy : [agentDid, ...delegatedBy],
    purpose: typeof purpose === 'string' ? purpose : undefined,
    authorizationDetails,
    manifests,
    manifestMode,
    confirmation: keyThumbprint ? { jkt: keyThumbprint } : undefined,
    sandbox: claims.sandbox,
    raw: payload,
  };
}

/** The key that a token is bound to. Its grant was read from the token only after a proof of that key. */
export function provedIn(grant: Partial<VerifiedGrant> | undefined): { readonly provedKey?: string } {
  const key = grant?.confirmation?.jkt;
  return key === undefined ? {} : { provedKey: key };
}
