import { readDelegationDetails } from '@behest/protocol/authorization-details';
import { capsLineage, type IssuedEntry, storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { delegatedDetails } from '@behest/protocol/delegated-details';
import { canHavePurpose } from '@behest/protocol/purposes';
import { uncovered } from '@behest/protocol/scopes';
import { AppError, badField } from '../../../platform/errors.ts';

/** The members of a grant that limit its delegations. */
export interface Delegable {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly audience: string | null;
  readonly purpose: string | null;
  readonly authorizationDetails: unknown;
  readonly expiresAt: Date;
  /** The end of the token that the holder presents. */
  readonly tokenExpiresAt: Date;
  /** `idp`: the word of an identity provider, which lasts no longer than the token that it gave. */
  readonly consentMethod: string;
  readonly delegationDepth: number;
  readonly agentDid: string;
  /** The agents above it, the nearest first. */
  readonly delegatedBy: readonly string[];
}

/** The part of a grant that its holder wants to delegate. An absent member is inherited. */
export interface RequestedPart {
  readonly scopes: readonly string[];
  readonly audience?: string;
  readonly purpose?: string;
  readonly authorizationDetails?: unknown;
  readonly lifetimeSeconds: number;
  /** The agent that is to get it. */
  readonly subAgentDid: string;
}

/** The contents of a delegated grant. No member reaches further than the same member of the parent. */
export interface DelegatedPart {
  readonly scopes: string[];
  readonly audience: string | null;
  readonly purpose: string | null;
  readonly entries: IssuedEntry[];
  readonly expiresAt: Date;
  /**
   * Whether it ends with the presented token and cannot be refreshed. So it is where the agent, or an agent above it, gets
   * it back, where an identity provider gave the parent, and where nothing but the token is proved: otherwise a token of a
   * minute would buy a year.
   */
  readonly endsWithToken: boolean;
  readonly delegationDepth: number;
}

interface Limits {
  readonly at: Date;
  readonly maxDepth: number;
  /** Whether the presented token is all that the caller proves. */
  readonly isByToken: boolean;
}

/**
 * Decides which part of a grant is delegated. A lifetime that is too long is cut to fit; anything else that
 * is too wide is refused.
 * @throws INVALID_SCOPE, INVALID_PURPOSE, BAD_REQUEST, DELEGATION_DEPTH_EXCEEDED
 */
export function partOf(
  parent: Delegable,
  requested: RequestedPart,
  { at, maxDepth, isByToken }: Limits,
): DelegatedPart {
  const outside = uncovered(parent.scopes, requested.scopes);
  if (outside.length > 0) {
    const message = 'Some scopes are not covered by those of the parent grant.';
    throw new AppError('INVALID_SCOPE', message, { scopes: outside });
  }
  mustKeepPurpose(parent, requested);
  const { audience = parent.audience } = requested;
  if (parent.audience !== null && audience !== parent.audience) {
    throw badField(
      'audience',
      'not_allowed',
      'A delegated grant has the audience of its parent; leave it out.',
    );
  }
  const entries = entriesOf(parent, requested);
  const delegationDepth = parent.delegationDepth + 1;
  if (delegationDepth > maxDepth) {
    const message = `Grants may be delegated ${maxDepth} deep; delegate from a grant nearer to the root.`;
    throw new AppError('DELEGATION_DEPTH_EXCEEDED', message, { maxDepth, depth: delegationDepth });
  }
  const onlyNarrows = [parent.agentDid, ...parent.delegatedBy].includes(requested.subAgentDid);
  const endsWithToken = isByToken || onlyNarrows || parent.consentMethod === 'idp';
  const latest = endsWithToken ? parent.tokenExpiresAt : parent.expiresAt;
  const ends = Math.min(at.getTime() + requested.lifetimeSeconds * 1000, latest.getTime());
  const { purpose } = parent;
  return {
    scopes: [...requested.scopes],
    audience,
    purpose,
    entries,
    expiresAt: new Date(ends),
    endsWithToken,
    delegationDepth,
  };
}

function mustKeepPurpose({ purpose }: Delegable, requested: RequestedPart): void {
  if (requested.purpose !== undefined && requested.purpose !== purpose) {
    const message = 'A delegated grant has the purpose of its parent, if any; leave it out.';
    throw new AppError('INVALID_PURPOSE', message, { purpose: requested.purpose });
  }
  if (purpose !== null && !canHavePurpose(requested.scopes)) {
    const message = 'The parent grant has a purpose, which needs a scope `tool:<connector>:<permission>`.';
    throw new AppError('INVALID_PURPOSE', message, { purpose });
  }
}

function entriesOf(parent: Delegable, { scopes, authorizationDetails }: RequestedPart): IssuedEntry[] {
  const above = storedEntries(parent.authorizationDetails);
  const read = readDelegationDetails(authorizationDetails ?? [], scopes);
  const purpose = parent.purpose ?? undefined;
  const narrowed = read.ok
    ? delegatedDetails({ purpose, scopes, entries: read.entries }, toolsEntries(above))
    : read;
  if (!narrowed.ok) {
    const message = 'The authorization details are not within those of the parent grant.';
    throw new AppError('BAD_REQUEST', message, { fields: narrowed.faults });
  }
  return [...narrowed.entries, ...capsLineage(narrowed.entries, { grantId: parent.id, entries: above })];
}
