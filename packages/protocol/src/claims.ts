/** The member that holds what JWT has no registered name for. */
export const GRANT_CLAIM = 'urn:service:grant';
export const BUDGET_TYPE = 'urn:service:budget:v1';

/** Verifiers whose clock is behind ours by this much still find the token valid. */
const CLOCK_SKEW_SECONDS = 30;

/**
 * How long a payload, as `asciiJson` writes it, may be: with header and signature of a 4,096-bit key the token
 * stays below the 16,384 bytes that verifiers read. Longer ones must not be signed.
 */
export const MAX_PAYLOAD_BYTES = 11_264;

/** What a grant token says, whichever of its forms it says it in. */
export interface GrantClaims {
  readonly issuer: string;
  readonly principalId: string;
  readonly developerId: string;
  /** Absent in tokens from before 0.6. */
  readonly agentId?: string;
  /** The agent that holds the token. Absent only where no claim names it. */
  readonly agentDid?: string;
  /** The agents that passed the grant on, the nearest first and the root's last; none for a root grant. */
  readonly delegatedBy: readonly string[];
  readonly scopes: readonly string[];
  /** One audience, or those of a token that has several; absent when it is for none in particular. */
  readonly audience?: string | readonly string[];
  readonly tokenId: string;
  readonly grantId: string;
  readonly parentGrantId?: string;
  /** 0 for a root grant. */
  readonly delegationDepth: number;
  readonly issuedAt?: Date;
  readonly expiresAt: Date;
  /** The claim as it stands, when there is one: whoever enforces it decides whether it can be read. */
  readonly authorizationDetails?: unknown;
  readonly sandbox: boolean;
  /** Of the key whose possession has to be proved with each use (RFC 9449, section 6.1), when there is one. */
  readonly keyThumbprint?: string;
}

/** What has to be known to issue one. Times are whole seconds in the token, cut. */
export interface GrantToIssue extends GrantClaims {
  readonly agentId: string;
  readonly agentDid: string;
  readonly issuedAt: Date;
  /** A budget's remaining amount is an entry, made by `budgetEntry`. */
  readonly authorizationDetails?: readonly { readonly type: string }[];
}

/** RFC 8693, section 4.1: the current actor outermost, whoever acted before nested in it. */
export interface Actor {
  readonly sub: string;
  readonly act?: Actor;
}

/** @param amount what remains of the budget when the token is issued, a decimal such as `12.5000` */
export function budgetEntry(amount: string, currency: string) {
  return { type: BUDGET_TYPE, amount, currency } as const;
}

/**
 * Makes the payload of a grant token.
 *
 * @param form.legacy whether the names from before 0.6 are added for verifiers that know no others
 * @see the interface specification, grant token claims and Versioning; RFC 9068, section 2.2
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
    },
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

/** @param agents the DIDs, whoever holds the token first */
function actorOf(agents: readonly string[]): Actor | undefined {
  return agents.reduceRight<Actor | undefined>((act, sub) => (act ? { sub, act } : { sub }), undefined);
}

function inSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
