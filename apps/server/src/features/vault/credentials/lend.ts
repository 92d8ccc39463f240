import type { GrantHolder } from '../../../platform/caller.ts';
import { currentKey } from '../../../platform/envelope.ts';
import { type ExchangeableRow, findExchangeable } from './exchange.repo.ts';
import { type ExchangeDeps, mustBeUsable, openStored } from './exchange.ts';
import { isResting } from './refresh.rules.ts';
import { needsRefresh, refreshUpstream } from './refresh.ts';

export type LendDeps = ExchangeDeps;
/** A credential that was read and not opened. */
export type StoredRow = ExchangeableRow;

export const findStoredCredential = ({ db }: LendDeps, holder: GrantHolder, service: string) =>
  findExchangeable(db, holder.tenant, holder.principalId, service);

/** An opened credential. It stays in the process. */
export interface Lent {
  readonly row: StoredRow;
  readonly secret: string;
}

/**
 * Opens a credential for a call that the service makes itself, with a new access token if the stored one is about to
 * end.
 * @returns undefined when the credential is gone meanwhile
 * @throws NOT_CONFIGURED, UPSTREAM_ERROR, INTERNAL_ERROR
 */
export async function lend(
  deps: LendDeps,
  holder: GrantHolder,
  service: string,
  found: StoredRow,
): Promise<Lent | undefined> {
  if (!needsRefresh(deps, found)) return opened(deps, holder, service, found);
  return lendRefreshed(deps, holder, service, found);
}

const REFRESH_REST_MS = 60_000; // one refresh a minute after refusals of the upstream

/** Whether an upstream that refuses the access token is worth another token. */
export const mayRefresh = ({ clock }: LendDeps, row: StoredRow): boolean =>
  row.refreshStatus === 'ok' &&
  !isResting(row, clock()) &&
  clock().getTime() - row.updatedAt.getTime() >= REFRESH_REST_MS;

/** As `lend`, after the upstream refused the access token: gets a new one first. */
export async function lendRefreshed(
  deps: LendDeps,
  holder: GrantHolder,
  service: string,
  found: StoredRow,
): Promise<Lent | undefined> {
  currentKey(deps.vault);
  await refreshUpstream(deps, holder, found);
  const row = await findStoredCredential(deps, holder, service);
  return row && opened(deps, holder, service, row);
}

async function opened(deps: LendDeps, holder: GrantHolder, service: string, row: StoredRow): Promise<Lent> {
  const usable = mustBeUsable(row, service, deps);
  const { accessToken } = await openStored(deps, holder, service, usable);
  return { row: usable, secret: accessToken };
}
