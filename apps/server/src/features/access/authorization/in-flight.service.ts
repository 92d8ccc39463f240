import { hashOf, newSecret } from '../../../platform/ids.ts';
import type { EphemeralEntry, EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';

/**
 * What only whoever was handed it can know, kept by its hash and only until it is of no more use: the ticket that
 * opens a request's page, and the codes that stand for an approved request. The store may lose them; then the
 * request has to be made again. What they lead to is decided by the request's row, never by their being here.
 */
export interface InFlight {
  /** The request that a ticket or code belongs to. */
  readonly developerId: string;
  readonly requestId: string;
}

/** Whether a code is too old is read from the request's row, so it is kept a little longer than it is good. */
const CODE_MARGIN = 60; // seconds
/** A person who comes late is told that the request expired, and not that there never was one. */
export const LATE_SECONDS = 3600;

const codeKey = (code: string) => `bh:{code:${hashOf(code).toString('base64url')}}`;
const ticketKey = (requestId: string) => `bh:{${requestId}}:ticket`;

/** A new code with what to put in the store, before the approval commits. */
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
