import { createClient } from '@redis/client';
import { unavailable } from '../errors.ts';
import { byName, charge } from './charge.script.ts';
import type { EphemeralStore } from './ephemeral-store.ts';
import { takeSlot } from './take-slot.script.ts';

// All in milliseconds.
const COMMAND_TIMEOUT = 2000; // a Redis that hangs counts as away
const PING_EVERY = 2000; // so that a good connection is never silent for long
const LONGEST_SILENCE = 5000; // after which a new connection replaces this one
const LONGEST_PAUSE = 1000; // between two attempts to reconnect

/** @param onTrouble called once each time Redis goes away, and with undefined when it is back */
export function redisStore(url: string, onTrouble: (error?: Error) => void = () => {}): EphemeralStore {
  const client = createClient({
    url,
    scripts: { charge, takeSlot },
    disableOfflineQueue: true, // a request does not wait for Redis to come back
    pingInterval: PING_EVERY,
    socket: {
      socketTimeout: LONGEST_SILENCE,
      reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, LONGEST_PAUSE),
    },
  });
  let isAway = false;
  const lossListeners: (() => void)[] = [];
  let overdue = 0; // commands whose callers gave up, and that Redis has not answered
  const isLost = (error: Error) => {
    for (const listener of lossListeners) listener();
    if (!isAway) onTrouble(error);
    isAway = true;
  };
  const isBack = () => {
    for (const listener of lossListeners) listener();
    if (isAway) onTrouble();
    isAway = false;
  };
  client.on('error', isLost);
  client.on('ready', isBack);
  const firstOutcome = new Promise<void>((resolve) => {
    client.once('ready', () => resolve());
    client.once('error', () => resolve());
  });
  // Not awaited: the service starts without Redis, and /health says that it is away.
  client.connect().catch(() => {});

  const listeners = new Map<string, Set<(hint: string) => void>>();
  const pass = (hint: string, channel: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(hint);
  };
  // A lost connection loses nothing but hints, and subscribes again when it is back.
  const subscribe = () => {
    if (client.isReady && listeners.size > 0) client.subscribe([...listeners.keys()], pass).catch(() => {});
  };
  client.on('ready', subscribe);

  const giveUp = (answer: Promise<unknown>, reject: (error: Error) => void) => {
    const error = new Error(`Redis has not answered for ${COMMAND_TIMEOUT} ms.`);
    isLost(error);
    reject(error);
    overdue += 1;
    const answered = () => {
      overdue -= 1;
      if (overdue === 0 && client.isReady) isBack();
    };
    answer.then(answered, answered);
  };

  const answerOf = async <T>(command: () => Promise<T>): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    try {
      // One request has waited in vain, so the others need not. They send no command, so the silence is
      // noticed.
      if (overdue > 0) throw new Error('Redis does not answer.');
      const answer = firstOutcome.then(command);
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => giveUp(answer, reject), COMMAND_TIMEOUT);
      });
      return await Promise.race([answer, late]);
    } catch (cause) {
      throw Object.assign(unavailable('redis'), { cause });
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async put(entries) {
      const set = () => {
        const all = client.multi();
        for (const { key, value, seconds } of entries)
          all.set(key, value, { expiration: { type: 'EX', value: seconds } });
        return all.exec();
      };
      await answerOf(set);
    },
    get: (key) => answerOf(async () => (await client.get(key)) ?? undefined),
    async remove(key) {
      await answerOf(() => client.del(key));
    },
    charge: async (bills) => byName(bills, await answerOf(() => client.charge(bills))),
    takeSlot: (slot) => answerOf(() => client.takeSlot(slot)),
    async freeSlot({ key, owner }) {
      await answerOf(() => client.zRem(key, owner));
    },
    async publish(channel, hint) {
      await answerOf(() => client.publish(channel, hint));
    },
    subscribe(channel, listener) {
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(listener));
      subscribe();
      return () => {
        all.delete(listener);
        if (all.size > 0 || listeners.get(channel) !== all) return;
        listeners.delete(channel);
        if (client.isReady) client.unsubscribe(channel, pass).catch(() => {});
      };
    },
    onLost(listener) {
      lossListeners.push(listener);
    },
    async ping() {
      await answerOf(() => client.ping());
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
}
