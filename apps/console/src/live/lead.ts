import { ApiError, isSignedOut } from '../api/errors.ts';
import type { Message } from './live.ts';
import { eventsSince, followOnce, type LiveEvent } from './stream.ts';

// In milliseconds.
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const LOST_AFTER = 10_000;
const POLLED_EVERY = 30_000;

interface Leading {
  /** The newest event that this tab knows. */
  readonly last: () => LiveEvent | undefined;
  readonly tell: (message: Message) => void;
}

/** Holds the stream, connects again with growing pauses, and asks the list of events meanwhile. Ends with the session. */
export async function lead({ last, tell }: Leading): Promise<void> {
  const beganAt = new Date().toISOString();
  const loss = lossOf({
    lost: () => tell({ connection: 'lost' }),
    async poll() {
      const events = await eventsSince(last()?.createdAt ?? beganAt);
      for (const event of events) tell({ event });
    },
  });
  let wait = FIRST_WAIT;
  loss.begin();
  for (;;) {
    const ended: unknown = await followOnce({
      lastEventId: last()?.id,
      opened() {
        wait = FIRST_WAIT;
        loss.end();
        tell({ connection: 'open' });
      },
      take: tell,
    }).catch((error: unknown) => error);
    loss.begin();
    if (isSignedOut(ended)) {
      loss.end();
      return location.reload(); // so that the next person who signs in sees nothing of this one
    }
    const asked = ended instanceof ApiError ? (ended.retryAfter ?? 0) * 1000 : 0;
    await pause(Math.max(wait, asked));
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}

/** What is done while there is no stream: ten seconds nothing, then a look every 30 seconds. */
function lossOf({ lost, poll }: { readonly lost: () => void; readonly poll: () => Promise<void> }) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    timer = setTimeout(look, POLLED_EVERY);
    poll().catch(() => {}); // the service is away altogether, and is asked again
  };
  return {
    begin() {
      timer ??= setTimeout(() => {
        lost();
        look();
      }, LOST_AFTER);
    },
    end() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
