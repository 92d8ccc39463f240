import { LRUCache } from 'lru-cache';
import { unavailable } from '../errors.ts';
import type { EphemeralStore, PayerCharges, Settled } from './ephemeral-store.ts';
import { patience } from './patience.ts';
import { connectToCluster, connectToServer, nodesOf } from './redis-connection.ts';

const PROBE_SECONDS = 5;

/**
 * @param url `redis://…` or `rediss://…`; several with commas between them are nodes of one Redis Cluster
 * @param onTrouble called once each time Redis goes away, and with undefined when it is back
 */
export function redisStore(url: string, onTrouble: (error?: Error) => void = () => {}): EphemeralStore {
  const lossListeners: (() => void)[] = [];
  const away = new Set<string>(); // nodes
  const onLost = (node: string, error: Error) => {
    for (const listener of lossListeners) listener();
    if (away.size === 0) onTrouble(error);
    away.add(node);
  };
  const onBack = (node: string) => {
    for (const listener of lossListeners) listener();
    if (away.delete(node) && away.size === 0) onTrouble();
  };
  const listeners = new Map<string, Set<(hint: string) => void>>();
  const pass = (hint: string, channel: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(hint);
  };
  const onReady = (node: string) => {
    onBack(node);
    subscribe();
  };

  const nodes = nodesOf(url);
  const connection =
    nodes.length > 1
      ? connectToCluster(nodes, { onLost, onReady })
      : connectToServer(url, { onLost, onReady });
  const { commands, nodeOf } = connection;
  let attempted: Promise<void> | undefined = connection.attempted.then(() => {
    attempted = undefined;
  });
  // A lost connection loses nothing but hints, and subscribes again when it is back.
  const subscribe = () => {
    if (listeners.size > 0) commands.subscribe([...listeners.keys()], pass).catch(() => {});
  };

  const wait = patience({
    onSilence: onLost,
    onAnswer: (node) => {
      if (connection.isReady(node)) onBack(node);
    },
    failureOf: (cause) => Object.assign(unavailable('redis'), { cause }),
  });
  const askNode = <T>(node: string, command: () => Promise<T>): Promise<T> =>
    wait(node, () => (attempted ? attempted.then(command) : command()));
  const ask = <T>(key: string, command: () => Promise<T>) => askNode(nodeOf(key), command);
  const set = (key: string, value: string, seconds: number) =>
    ask(key, () => commands.set(key, value, { expiration: { type: 'EX', value: seconds } }));

  return {
    async put(entries) {
      await Promise.all(entries.map(({ key, value, seconds }) => set(key, value, seconds)));
    },
    get: (key) => ask(key, async () => (await commands.get(key)) ?? undefined),
    async remove(key) {
      await ask(key, () => commands.del(key));
    },
    async keepFor(keys, seconds) {
      await Promise.all(keys.map((key) => ask(key, () => commands.expire(key, seconds))));
    },
    charge: settleBills({
      settle: (bill) => {
        const key = keyOf(bill);
        return key === undefined ? UNCHARGED : ask(key, () => connection.charge(bill));
      },
      takeBack: (bill) => ask(keyOf(bill) ?? '', () => commands.takeBack(bill)),
    }),
    takeSlot: (slot) => ask(slot.key, () => commands.takeSlot(slot)),
    async freeSlot({ key, owner }) {
      await ask(key, () => commands.zRem(key, owner));
    },
    async publish(channel, hint) {
      await askNode(nodeOf(channel), () => connection.publish(channel, hint));
    },
    subscribe(channel, listener) {
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(listener));
      subscribe();
      return () => {
        all.delete(listener);
        if (all.size > 0 || listeners.get(channel) !== all) return;
        listeners.delete(channel);
        connection.unsubscribe(channel).catch(() => {});
      };
    },
    onLost(listener) {
      lossListeners.push(listener);
    },
    // A server that is full, or a replica, answers reads but takes no writes.
    async ping() {
      await Promise.all(connection.probes().map((key) => set(key, '', PROBE_SECONDS)));
    },
    async close() {
      connection.close();
    },
  };
}

const UNCHARGED = Promise.resolve({ outcome: 'charged', used: [] } as const);

/** One of the keys of a bill, which are all on the same node. */
const keyOf = ({ version, charges }: PayerCharges) => version?.key ?? charges[0]?.key;

/** The commands of a store that has one for each bill. */
export interface Till {
  readonly settle: (bill: PayerCharges) => Promise<Settled>;
  /** Undoes what a bill was charged. */
  readonly takeBack: (bill: PayerCharges) => Promise<void>;
}

/** The part of a limit that counts as nearly used up. */
const LITTLE = 0.1;
const MOST = 10_000; // counts that are remembered as nearly used up

/**
 * Charges bills in their order, and none after a refused bill, by one command for each bill.
 *
 * All commands of a request leave together, because a refusal is rare. A bill that was charged although one
 * before it was refused is taken back before the request is answered. A count that was seen nearly used up
 * makes the bills after it wait for its answer instead, so that a subject beyond its limit causes no such
 * charges.
 */
export function settleBills({ settle, takeBack }: Till) {
  const nearlyUsed = new LRUCache<string, true>({ max: MOST });
  const mayBeRefused = ({ charges }: PayerCharges) => charges.some(({ key }) => nearlyUsed.has(key));
  const watch = (bill: PayerCharges, { used }: Settled) => {
    for (let at = 0; at < bill.charges.length; at += 1) {
      const { key = '', limit = 0 } = bill.charges[at] ?? {};
      if (limit - (used[at] ?? 0) <= limit * LITTLE) nearlyUsed.set(key, true);
    }
  };

  const inTurn = async (bills: readonly PayerCharges[]) => {
    const all: Settled[] = [];
    for (const bill of bills) {
      const settled = await settle(bill);
      watch(bill, settled);
      all.push(settled);
      if (settled.outcome === 'refused') break;
    }
    return all;
  };

  const together = async (bills: readonly PayerCharges[]) => {
    const all = await Promise.all(bills.map(settle));
    for (const [at, bill] of bills.entries()) watch(bill, all[at] ?? NOTHING);
    const count = all.findIndex(({ outcome }) => outcome === 'refused') + 1;
    if (count === 0 || count === all.length) return all;
    const inVain = bills.filter((_, at) => at >= count && all[at]?.outcome === 'charged');
    await Promise.all(inVain.map(takeBack));
    return all.slice(0, count);
  };

  return async <Name extends string>(bills: readonly PayerCharges<Name>[]): Promise<Map<Name, Settled>> => {
    const all = await (bills.slice(0, -1).some(mayBeRefused) ? inTurn(bills) : together(bills));
    return new Map(bills.slice(0, all.length).map(({ name }, at) => [name, all[at] ?? NOTHING]));
  };
}

const NOTHING: Settled = { outcome: 'charged', used: [] };
