import { readRequestedDetails } from '@behest/protocol/authorization-details';
import { capsLineage, type IssuedEntry, storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { delegatedDetails } from '@behest/protocol/delegated-details';
import { canHavePurpose } from '@behest/protocol/purposes';
import { uncovered } from '@behest/protocol/scopes';
import { AppError, badField } from '../../../platform/errors.ts';

/** What of a grant decides over what may be delegated from it. */
export interface Delegable {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly audience: string | null;
  readonly purpose: string | null;
  readonly authorizationDetails: unknown;
  readonly expiresAt: Date;
  readonly delegationDepth: number;
}

/** What an agent wants to hand on; what is absent is inherited. */
export interface RequestedPart {
  readonly scopes: readonly string[];
  readonly audience?: string;
  readonly purpose?: string;
  readonly authorizationDetails?: unknown;
  readonly lifetimeSeconds: number;
}

/** What a delegated grant is made of: nothing in it reaches further than the same in its parent. */
export interface DelegatedPart {
  readonly scopes: string[];
  readonly audience: string | null;
  readonly purpose: string | null;
  readonly entries: IssuedEntry[];
  readonly expiresAt: Date;
  readonly delegationDepth: number;
}

/**
 * The part of a grant that is delegated. Only its time is cut to fit; anything else that is wider is refused.
 * @throws INVALID_SCOPE, INVALID_PURPOSE, BAD_REQUEST, DELEGATION_DEPTH_EXCEEDED
 */
export function partOf(
  parent: Delegable,
  requested: RequestedPart,
  { at, maxDepth }: { at: Date; maxDepth: number },
): DelegatedPart {
  const outside = uncovered(parent.scopes, requested.scopes);
  if (outside.length > 0) {
    const message = 'Some scopes are not covered by those of the parent grant.';
    throw new AppError('INVALID_SCOPE', message, { scopes: outside });
  }
  mustKeepPurpose(parent, requested);
  const { audience = parent.audience } = requested;
  if (parent.audience !== null && audience !== parent.audience) {
    throw badField('audience', 'not_allowed', 'The audience is that of the parent grant; leave it out.');
  }
  const entries = entriesOf(parent, requested);
  const delegationDepth = parent.delegationDepth + 1;
  if (delegationDepth > maxDepth) {
    const message = `Grants may be delegated ${maxDepth} deep; delegate from one nearer to the root.`;
    throw new AppError('DELEGATION_DEPTH_EXCEEDED', message, { maxDepth, depth: delegationDepth });
  }
  const ends = Math.min(at.getTime() + requested.lifetimeSeconds * 1000, parent.expiresAt.getTime());
  const { purpose } = parent;
  return {
    scopes: [...requested.scopes],
    audience,
    purpose,
    entries,
    expiresAt: new Date(ends),
    delegationDepth,
  };
}

function mustKeepPurpose({ purpose }: Delegable, requested: RequestedPart): void {
  if (requested.purpose !== undefined && requested.purpose !== purpose) {
    const message = 'The purpose is that of the parent grant, or none; leave it out.';
    throw new AppError('INVALID_PURPOSE', message, { purpose: requested.purpose });
  }
  if (purpose !== null && !canHavePurpose(requested.scopes)) {
    const message = 'The parent grant has a purpose, which needs a scope `tool:<connector>:<permission>`.';
    throw new AppError('INVALID_PURPOSE', message, { purpose });
  }
}

function entriesOf(parent: Delegable, { scopes, authorizationDetails }: RequestedPart): IssuedEntry[] {
  const above = storedEntries(parent.authorizationDetails);
  const read = readRequestedDetails(authorizationDetails ?? [], scopes);
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
