import { notFound } from '../../../platform/errors.ts';
import { thumbprintsOf } from '../../accounts/developers/index.ts';
import { verificationOf } from '../consent/index.ts';
import { gone } from './connections.ask.service.ts';
import { type PageHold, type StoredPage, storedPage } from './connections.browser.service.ts';
import type { ConnectDeps } from './connections.deps.service.ts';
import { pageKey, ticketKey } from './connections.keys.service.ts';
import { findShownSession, type ShownRow } from './connections.repo.ts';
import { isOpen, statusAt } from './connections.rules.ts';

/**
 * The session as it is now, with what its browser has proved.
 * @throws UNAUTHORIZED for another browser, GONE
 */
export async function pageOf(deps: ConnectDeps, hold: PageHold) {
  const page = await storedPage(deps, hold);
  return { page, row: await openRow(deps, page.developerId, hold.sessionId) };
}

/** @throws NOT_FOUND, GONE */
export async function openRow(deps: ConnectDeps, developerId: string, id: string): Promise<ShownRow> {
  const row = await findShownSession(deps.db, { developerId }, id);
  if (!row) throw notFound();
  if (!isOpen(row, deps.clock())) throw gone(statusAt(row, deps.clock()));
  return row;
}

const LATE_SECONDS = 3600;

export async function keepPage(
  { store, clock }: ConnectDeps,
  row: ShownRow,
  page: StoredPage,
): Promise<void> {
  const left = Math.ceil((row.expiresAt.getTime() - clock().getTime()) / 1000);
  const value = JSON.stringify(page);
  await store.put([{ key: pageKey(row.id), value, seconds: Math.max(left, 600) + LATE_SECONDS }]);
}

/** Keeps the state of a start, which voids the one before. */
export const rememberStart = (deps: ConnectDeps, row: ShownRow, page: StoredPage, state: string) =>
  keepPage(deps, row, { ...page, started: { state, at: deps.clock().toISOString() } });

/** The first proof spends the ticket. */
export async function spendTicket(deps: ConnectDeps, row: ShownRow, page: StoredPage): Promise<void> {
  if (verificationFor(deps, row, page, deps.clock()).satisfied) await deps.store.remove(ticketKey(row.id));
}

/** A link alone proves nothing here, whatever the operator's settings say of consent. */
export function verificationFor(
  _deps: Pick<ConnectDeps, 'clock'>,
  row: ShownRow,
  page: Pick<StoredPage, 'proofs'>,
  now: Date,
) {
  return verificationOf({
    mode: row.mode,
    consentMode: row.consentMode,
    consentKeys: thumbprintsOf(row.consentKeys),
    proofs: page.proofs,
    proofIsRequired: true,
    now,
  });
}
