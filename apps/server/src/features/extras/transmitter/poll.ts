import { inTransaction } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Waits } from '../../record/events/index.ts';
import { hasSets, settleSets, takeSets } from '../../record/webhooks/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { deliveryOf, jtiOf, makeSet } from './set.ts';
import { notePoll } from './streams.repo.ts';
import { mustFind, type Receiving, type StreamDeps } from './streams.ts';
import type { PollRequest, PollResponse } from './transmitter.schema.ts';

export interface PollDeps extends StreamDeps {
  readonly keyRing: KeyRing;
  readonly waits: Waits;
  readonly isStopping: () => boolean;
  /** How long a poll waits for a first signal. */
  readonly waitMilliseconds?: number;
}

const MAX_SETS = 100; // RFC 8936 §2.2: what a receiver asks for is a bound, and a transmitter may have a lower one
const WAIT_MS = 30_000;
const NOTED_EVERY_MS = 60_000; // the precision of the inactivity timeout

/** The client that waits. */
export interface Waiting {
  /** Aborts when it has left. */
  readonly gone: AbortSignal;
  /** Asks whether its token is still good. */
  readonly isLet: () => Promise<boolean>;
}

/**
 * Takes acknowledgements, and returns signals that wait (RFC 8936). A signal that is not acknowledged within a minute comes
 * again, and until then holds back the next of its subject.
 * @throws NOT_FOUND, SERVICE_UNAVAILABLE before it leases anything
 */
export async function pollStream(
  deps: PollDeps,
  { caller, receiverId }: Receiving,
  streamId: string,
  { maxEvents, returnImmediately, ...answered }: PollRequest,
  { gone, isLet }: Waiting,
): Promise<PollResponse> {
  const { db, clock, keyRing, waits, isStopping, waitMilliseconds = WAIT_MS } = deps;
  const { tenant } = caller;
  const stream = await mustFind(db, caller, receiverId, streamId);
  if (stream.method !== 'poll') throw notFound();
  const at = clock();
  const isDue = stream.polledAt === null || at.getTime() - stream.polledAt.getTime() >= NOTED_EVERY_MS;
  if (isDue) await notePoll(db, tenant, streamId, at);
  await settle(deps, { caller, receiverId }, streamId, answered);
  const most = Math.min(maxEvents, MAX_SETS);
  if (most === 0) return { sets: {} };

  keyRing.rsaSigner();
  const deadline = AbortSignal.any([gone, AbortSignal.timeout(waitMilliseconds)]);
  // A poll without a seat is answered at once, and so is that of a stream that has nothing but the news of its pause.
  const mayWait = !returnImmediately && stream.status === 'enabled';
  using seat = mayWait ? waits.seat(tenant.developerId, streamId) : undefined;
  let claimed = await takeSets(db, tenant, streamId, { at: clock(), most });
  while (claimed.length === 0 && seat && !deadline.aborted && !isStopping()) {
    await waits.next(tenant.developerId, deadline);
    if (gone.aborted) break;
    if (!(await hasSets(db, tenant, streamId, clock()))) continue;
    if (!(await isLet())) break; // its token has ended meanwhile
    claimed = await takeSets(db, tenant, streamId, { at: clock(), most });
  }
  const sets: Record<string, string> = {};
  for (const event of claimed) {
    sets[jtiOf(event.id)] = await makeSet(deps, event).catch(async (error: unknown) => {
      await mustFind(db, caller, receiverId, streamId); // no signal can be made for a stream that was deleted meanwhile
      throw error;
    });
  }
  const moreAvailable = claimed.length > 0 && (await hasSets(db, tenant, streamId, clock()));
  return { sets, ...(moreAvailable && { moreAvailable }) };
}

/** A name of an error that fits a column; the receiver's description is not kept. */
const errorOf = (err: string): string => `set_${/^[a-z_]{1,40}$/.test(err) ? err : 'error'}`;

function settle(
  { db, clock }: PollDeps,
  { caller: { tenant } }: Receiving,
  streamId: string,
  { ack = [], setErrs = {} }: Pick<PollRequest, 'ack' | 'setErrs'>,
): Promise<void> {
  const errors = Map.groupBy(Object.entries(setErrs), ([, { err }]) => errorOf(err));
  const at = clock();
  if (ack.length === 0 && errors.size === 0) return Promise.resolve();
  return inTransaction(db, async (tx) => {
    await settleSets(tx, tenant, streamId, idsIn(ack), { at, lastError: null });
    for (const [lastError, refused] of errors) {
      await settleSets(tx, tenant, streamId, idsIn(refused.map(([jti]) => jti)), { at, lastError });
    }
  });
}

const idsIn = (jtis: readonly string[]): string[] => jtis.flatMap((jti) => deliveryOf(jti) ?? []);
