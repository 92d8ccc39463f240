import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, type Tx } from '../../../platform/db/db.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import type { EphemeralEntry, EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';

/**
 * The secrets of an open request, stored by their hashes: the ticket that opens its consent page, and the
 * codes of an approved request. The store may lose them; then the developer asks again. The presence of a
 * secret decides nothing: the request's row decides whether it may still be used.
 */
interface InFlight {
  /** The request that a ticket or code belongs to. */
  readonly developerId: string;
  readonly requestId: string;
}

/** The request's row decides whether a code has expired, so the store keeps a code a little longer. */
const CODE_MARGIN = 60; // seconds
/** For this long, a person who comes late reads that the request expired, not that it is unknown. */
export const LATE_SECONDS = 3600;

const codeKey = (code: string) => `bh:{code:${hashOf(code).toString('base64url')}}`;
const ticketKey = (requestId: string) => `bh:{${requestId}}:ticket`;
/** Where the consent page keeps the session of a request. */
export const sessionKey = (requestId: string) => `bh:{${requestId}}:session`;
/** Where the consent page keeps the manifests that it has shown to its session. */
export const shownKey = (requestId: string) => `bh:{${requestId}}:shown`;

/** Makes a code and its entry, which the caller puts into the store before the approval commits. */
export function newCode(inFlight: InFlight, seconds: number): { code: string; entry: EphemeralEntry } {
  const code = newSecret();
  const value = JSON.stringify(inFlight);
  return { code, entry: { key: codeKey(code), value, seconds: seconds + CODE_MARGIN } };
}

export function newTicket(inFlight: InFlight, seconds: number): { ticket: string; entry: EphemeralEntry } {
  const ticket = newSecret();
  const value = JSON.stringify({ ...inFlight, hash: hashOf(ticket).toString('base64url') });
  const key = ticketKey(inFlight.requestId);
  return { ticket, entry: { key, value, seconds: seconds + LATE_SECONDS } };
}

export async function findByCode(store: EphemeralStore, code: string): Promise<InFlight | undefined> {
  const found = await store.get(codeKey(code));
  return found === undefined ? undefined : JSON.parse(found);
}

/** @returns the request and the hash of its ticket. */
export async function findTicket(
  store: EphemeralStore,
  requestId: string,
): Promise<(InFlight & { readonly hash: string }) | undefined> {
  const found = await store.get(ticketKey(requestId));
  return found === undefined ? undefined : JSON.parse(found);
}

/**
 * Keeps what belongs to the pages of decided requests no longer than those of requests that ran out. Until their own time they
 * would fill the store: an account that cancels each request at once has room for the next. The commit holds when the
 * store is away; then they stay until their own time.
 */
export async function letGo(
  store: EphemeralStore,
  requestIds: readonly string[],
  codeSeconds = 0,
): Promise<void> {
  const keys = requestIds.flatMap((id) => [ticketKey(id), sessionKey(id), shownKey(id)]);
  await store.keepFor(keys, codeSeconds + LATE_SECONDS).catch(() => {});
}

/**
 * Gives the places of ended requests back: those of the plan, and after the commit those in the store. Call it after
 * grants have given their places back: every transaction that needs both counters locks that of grants first.
 */
export async function freeRequests(
  tx: Tx,
  caller: Caller,
  { requestIds, store }: { readonly requestIds: readonly string[]; readonly store: EphemeralStore },
): Promise<void> {
  if (requestIds.length === 0) return;
  await freeQuota(tx, caller, 'open_requests', requestIds.length);
  await afterCommit(tx, () => letGo(store, requestIds));
}
