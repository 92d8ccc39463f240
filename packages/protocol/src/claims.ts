/** The claim that holds the facts of a grant for which JWT has no registered name. */
export const GRANT_CLAIM = 'urn:service:grant';
/** The `type` of the entry that holds a grant's budget. */
export const BUDGET_TYPE = 'urn:service:budget:v1';

/** A verifier whose clock is behind the service's by this much still accepts a new token. */
const CLOCK_SKEW_SECONDS = 30;

/**
 * The most bytes of a payload as `asciiJson` writes it. With the header and signature of a 4,096-bit key the token
 * stays below the 16,384 bytes that verifiers read. A longer payload must not be signed.
 */
export const MAX_PAYLOAD_BYTES = 11_264;

/** The most manifests that a token pins. The grant has the rest. */
export const MAX_PINS = 20;

/** The facts of a grant token, in its standard form or in the form from before 0.6. */
export interface GrantClaims {
  readonly issuer: string;
  /** The principal, under the id that the developer uses. */
  readonly principalId: string;
  readonly developerId: string;
  /** Absent in tokens from before 0.6. */
  readonly agentId?: string;
  /** The DID of the agent that holds the token. Absent only where no claim names it. */
  readonly agentDid?: string;
  /** The DIDs of the agents that delegated, the nearest first; empty for a root grant. */
  readonly delegatedBy: readonly string[];
  readonly scopes: readonly string[];
  /** The audience or audiences; absent when the token is for any. */
  readonly audience?: string | readonly string[];
  readonly tokenId: string;
  readonly grantId: string;
  readonly parentGrantId?: string;
  /** The number of delegations; 0 for a root grant. */
  readonly delegationDepth: number;
  readonly issuedAt?: Date;
  readonly expiresAt: Date;
  /** The claim `authorization_details`, unread. The enforcer decides whether it can be read. */
  readonly authorizationDetails?: unknown;
  readonly sandbox: boolean;
  /** The thumbprint of the key that each use has to prove (RFC 9449, section 6.1), for a bound token. */
  readonly keyThumbprint?: string;
  /** When the person signed in to allow the grant, where the token says so (RFC 9068, section 2.2.1). */
  readonly authenticatedAt?: Date;
  /** How the person signed in, in the words of RFC 8176. */
  readonly authenticationMethods?: readonly string[];
}

/** The facts that a new grant token needs. The token holds times in whole seconds, rounded down. */
export interface GrantToIssue extends GrantClaims {
  readonly agentId: string;
  readonly agentDid: string;
  readonly issuedAt: Date;
  /** The entries of the grant, among them the one that `budgetEntry` makes. */
  readonly authorizationDetails?: readonly { readonly type: string }[];
  /** The manifests under which the person agreed: their SHA-256 in base64url by connector. */
  readonly manifests?: Readonly<Record<string, string>>;
  /** The effect on calls of tools that have become wider since. */
  readonly manifestMode?: 'warn' | 'enforce';
}

/** A chain of actors: the current actor is outermost, the actor before is nested in it (RFC 8693, section 4.1). */
export interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

/**
 * Makes the entry that tells an enforcer the budget of a grant.
 *
 * @param amount the rest of the budget when the token is issued, a decimal such as `12.5000`
 * @param currency three letters of ISO 4217, such as `EUR`
 */
export function budgetEntry(amount: string, currency: string) {
  return { type: BUDGET_TYPE, amount, currency } as const;
}

/**
 * Makes the payload of a grant token.
 *
 * @param form.legacy adds the claim names from before 0.6, for verifiers that know no others
 * @returns the claims; sign them only while they are within `MAX_PAYLOAD_BYTES`
 * @see RFC 9068, section 2.2
 */
export function grantClaims(
  grant: GrantToIssue,
  form: { readonly legacy: boolean },
): Record<string, unknown> {
  const issuedAt = inSeconds(grant.issuedAt);
  const details = grant.authorizationDetails;
  return {
    iss: grant.issuer,
    sub: grant.principalId,
    ...(grant.audience !== undefined && { aud: grant.audience }),
    client_id: grant.agentId,
    dev: grant.developerId,
    scp: grant.scopes,
    scope: grant.scopes.join(' '),
    jti: grant.tokenId,
    iat: issuedAt,
    nbf: issuedAt - CLOCK_SKEW_SECONDS,
    exp: inSeconds(grant.expiresAt),
    act: actorOf([grant.agentDid, ...grant.delegatedBy]),
    ...(details && details.length > 0 && { authorization_details: details }),
    [GRANT_CLAIM]: {
      grant_id: grant.grantId,
      agent_did: grant.agentDid,
      developer_id: grant.developerId,
      ...(grant.parentGrantId !== undefined && {
        parent_grant_id: grant.parentGrantId,
        delegation_depth: grant.delegationDepth,
      }),
      ...(grant.manifests !== undefined && {
        manifests: grant.manifests,
        manifest_mode: grant.manifestMode,
      }),
    },
    ...(grant.authenticatedAt && { auth_time: inSeconds(grant.authenticatedAt) }),
    ...(grant.authenticationMethods && { amr: grant.authenticationMethods }),
    ...(grant.sandbox && { sandbox: true }),
    ...(grant.keyThumbprint !== undefined && { cnf: { jkt: grant.keyThumbprint } }),
    ...(form.legacy && legacyClaims(grant)),
  };
}

function legacyClaims(grant: GrantToIssue) {
  const budget = grant.authorizationDetails?.find((entry) => entry.type === BUDGET_TYPE);
  return {
    agt: grant.agentDid,
    grnt: grant.grantId,
    ...(grant.parentGrantId !== undefined && {
      parentAgt: grant.delegatedBy[0],
      parentGrnt: grant.parentGrantId,
      delegationDepth: grant.delegationDepth,
    }),
    ...(budget && 'amount' in budget && { bdg: Number(budget.amount) }),
  };
}

/** @param agents the DIDs, the holder of the token first */
function actorOf(agents: readonly string[]): Actor | undefined {
  return agents.reduceRight<Actor | undefined>((act, sub) => (act ? { sub, act } : { sub }), undefined);
}

function inSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
