import { useEffect, useSyncExternalStore } from 'react';
import { queries } from '../queries.ts';
import { useSession } from '../session/session.ts';
import { lead } from './lead.ts';
import type { LiveEvent } from './stream.ts';

/** `lost` after ten seconds without a stream. */
export type Connection = 'connecting' | 'open' | 'lost';

/** What the tab that holds the stream tells the others, and they ask of it. */
export type Message =
  | { readonly event: LiveEvent }
  | { readonly connection: Connection }
  | { readonly gap: true }
  | { readonly ask: true };

export interface Received {
  readonly event: LiveEvent;
  /** By the clock of the browser. */
  readonly at: number;
}

interface Live {
  readonly connection: Connection;
  /** The newest, oldest first. */
  readonly received: readonly Received[];
}

const KEPT = 500;

let live: Live = { connection: 'connecting', received: [] };
let isStarted = false;
const listeners = new Set<() => void>();

function become(next: Partial<Live>): void {
  live = { ...live, ...next };
  for (const listener of listeners) listener();
}

function take(message: Message): void {
  if ('connection' in message) become({ connection: message.connection });
  // Any record on the page may have changed in the gap, so all of them are read again.
  if ('gap' in message)
    void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'get' });
  if (!('event' in message)) return;
  const { event } = message;
  if (live.received.some((each) => each.event.id === event.id)) return;
  become({ received: [...live.received, { event, at: Date.now() }].slice(-KEPT) });
}

/**
 * One tab of the browser holds the one stream, for as long as it is open, and tells the others. When it closes, another
 * takes over after the last event that it knows.
 */
function start(developerId: string): void {
  if (isStarted) return;
  isStarted = true;
  const name = `behest-events-${developerId}`;
  const channel = new BroadcastChannel(name);
  let isLeader = false;
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (isLeader && 'ask' in data) channel.postMessage({ connection: live.connection } satisfies Message);
    else take(data);
  });
  channel.postMessage({ ask: true } satisfies Message);
  void navigator.locks.request(name, () => {
    isLeader = true;
    return lead({
      last: () => live.received.at(-1)?.event,
      tell(message) {
        take(message);
        channel.postMessage(message);
      },
    });
  });
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** What happens in the account, as it happens. The first part that asks for it opens the stream. */
export function useLive(): Live {
  const { developerId } = useSession().developer;
  useEffect(() => start(developerId), [developerId]);
  return useSyncExternalStore(subscribe, () => live);
}

/** Whether a type is one of the areas and types that are named, as in a subscription. */
export const matches = (patterns: readonly string[], type: string): boolean =>
  patterns.some(
    (each) => each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))),
  );
