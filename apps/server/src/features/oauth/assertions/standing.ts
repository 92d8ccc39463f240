import { isDeepStrictEqual } from 'node:util';
import { uncovered } from '@behest/protocol/scopes';
import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { findGrant, type GrantRow } from '../../grants/grants/grants.queries.ts';
import { type Assertable, heldAsserted } from '../../grants/tokens/index.ts';
import { findStanding, type StandingRow } from './grants.repo.ts';
import type { Narrowed } from './limits.ts';

/** The standing grant of a place, as it was read. */
export interface Held {
  readonly row: StandingRow | undefined;
  /** Absent where there is none, where it ended, and where the ceiling has changed since. */
  readonly grant: Assertable | undefined;
  /** The grant that a new one takes the place of. */
  readonly superseded: GrantRow | undefined;
}

/** The assertions of one place share one grant. */
export type Place = Pick<StandingRow, 'connectionId' | 'agentId' | 'principalId' | 'audience'>;

/** @returns the grant that stands at a place, as far as its ceiling is still the same */
export async function standingAt(
  { db }: { readonly db: Executor },
  { tenant }: Caller,
  place: Place,
  ceiling: Narrowed['ceiling'],
  at: Date,
): Promise<Held> {
  const row = await findStanding(db, tenant, place);
  const found = row && (await findGrant(db, { tenant, agentIds: null }, row.grantId));
  const live = found?.status === 'active' && found.expiresAt > at ? found : undefined;
  const fits = live && isCeiling(live, ceiling);
  return {
    row,
    grant: fits ? heldAsserted(live) : undefined,
    superseded: fits ? undefined : live,
  };
}

const isCeiling = (
  { scopes, authorizationDetails, manifests }: GrantRow,
  ceiling: Narrowed['ceiling'],
): boolean =>
  uncovered(scopes, ceiling.scopes).length === 0 &&
  uncovered(ceiling.scopes, scopes).length === 0 &&
  isDeepStrictEqual(authorizationDetails ?? [], ceiling.details) &&
  isDeepStrictEqual(manifests ?? null, ceiling.manifests);
