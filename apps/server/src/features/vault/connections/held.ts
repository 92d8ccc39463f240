import { notFound } from '../../../platform/errors.ts';
import { verifyPerson } from '../../grants/consent/index.ts';
import { gone } from './ask.ts';
import { type PageHold, pageKey, type StoredPage, storedPage, ticketKey } from './browser.ts';
import { findShownSession, type ShownRow } from './connections.repo.ts';
import { isOpen, statusAt } from './connections.rules.ts';
import type { ConnectVerified } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';

/** A browser at the page, with the session as it is now. */
export interface Held {
  readonly row: ShownRow;
  readonly page: StoredPage;
  readonly hold: PageHold;
}

/**
 * The session as it is now, with what its browser has proved.
 * @throws UNAUTHORIZED for another browser, GONE
 */
export async function pageOf(deps: ConnectDeps, hold: PageHold): Promise<Held> {
  const page = await storedPage(deps, hold);
  return { page, row: await openRow(deps, page.developerId, hold.sessionId), hold };
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
export const rememberStart = (deps: ConnectDeps, { row, page }: Held, state: string) =>
  keepPage(deps, row, { ...page, started: { state, at: deps.clock().toISOString() } });

/** Keeps the page with another proof. */
export async function keepProof(deps: ConnectDeps, held: Held): Promise<ConnectVerified> {
  await keepPage(deps, held.row, held.page);
  return { verification: await verifiedNow(deps, held) };
}

/** Reads the proofs of the browser, as they stand. The first proof that is enough spends the ticket. */
export async function verifiedNow(deps: ConnectDeps, held: Held): Promise<ConnectVerified['verification']> {
  const { verification } = await verificationFor(deps, held, deps.clock());
  if (verification.satisfied) await deps.store.remove(ticketKey(held.row.id));
  return verification;
}

/** A link alone proves nothing here, whatever the operator's settings say of consent. */
export function verificationFor({ db }: Pick<ConnectDeps, 'db'>, { row, page, hold }: Held, at: Date) {
  const { proofs } = page;
  return verifyPerson(db, { ...row, proofs, proofIsRequired: true, signOn: hold.signOn }, at);
}
