import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { unavailable } from '../errors.ts';
import type { EphemeralStore, PayerCharges, Settled } from './ephemeral-store.ts';
import { countLeases, LEASE, type Leases } from './leases.ts';
import { patience } from './patience.ts';
import { connectToCluster, connectToServer, nodesOf } from './redis-connection.ts';

const PROBE_SECONDS = 5;
/** Milliseconds after which no process goes by a former version: a timer may be early, and clocks differ in their pace. */
const ALL_KNOW = LEASE + 10;

/**
 * @param url `redis://…` or `rediss://…`; several with commas between them are nodes of one Redis Cluster
 * @param onTrouble called once each time Redis goes away, and with undefined when it is back
 */
export function redisStore(url: string, onTrouble: (error?: Error) => void = () => {}): EphemeralStore {
  const leases = countLeases((key, times) => {
    const charge = { key, cost: 1, limit: 0, seconds: 0 } as const;
    return ask(key, () => commands.takeBack({ charges: [charge] }, times));
  });
  const lossListeners: (() => void)[] = [leases.forget];
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
  const charge = settleBills({
    settle: mergeBills((bill, times) => ask(keyOf(bill) ?? '', () => connection.charge(bill, times)), leases),
    takeBack: (bill) => ask(keyOf(bill) ?? '', () => commands.takeBack(bill, 1)),
  });

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
    chargeLeased: leases.take,
    charge,
    takeSlot: (slot) => ask(slot.key, () => commands.takeSlot(slot)),
    async freeSlot({ key, owner }) {
      await ask(key, () => commands.zRem(key, owner));
    },
    async replaceVersion({ key, value, seconds }) {
      await set(key, value, seconds);
      await delay(ALL_KNOW);
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
      await leases.end();
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

interface Taker {
  readonly resolve: (settled: Settled) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Settles the bills of a turn that are alike, such as those of one API key, by one command that charges all of
 * them. If a limit has no room for all, each is asked alone, in their order.
 * @param charge charges a bill so many times, or not at all
 * @param leases say how many later requests are charged too
 */
export function mergeBills(
  charge: (bill: PayerCharges, times: number) => Promise<Settled>,
  leases: Pick<Leases, 'ask'>,
) {
  let waiting = new Map<string, { readonly bill: PayerCharges; readonly takers: Taker[] }>();

  const chargeAll = async (bill: PayerCharges, times: number): Promise<Settled> => {
    const { more, learn } = leases.ask(bill, times);
    const settled = await charge(bill, times + more);
    learn(settled);
    if (more === 0) return settled;
    if (settled.outcome === 'refused') return charge(bill, times);
    return { ...settled, used: settled.used.map((count) => count - more) };
  };
  const send = async (bill: PayerCharges, takers: readonly Taker[]) => {
    const settled = await chargeAll(bill, takers.length);
    if (settled.outcome === 'refused' && takers.length > 1) {
      for (const { resolve, reject } of takers) charge(bill, 1).then(resolve, reject);
      return;
    }
    for (const [at, { resolve }] of takers.entries()) {
      const later = settled.outcome === 'charged' ? takers.length - 1 - at : 0;
      const used = settled.used.map((count, each) => count - later * (bill.charges[each]?.cost ?? 0));
      resolve(later === 0 ? settled : { ...settled, used });
    }
  };
  const sendAll = () => {
    const all = [...waiting.values()];
    waiting = new Map();
    for (const { bill, takers } of all) {
      send(bill, takers).catch((error) => {
        for (const { reject } of takers) reject(error);
      });
    }
  };

  return (bill: PayerCharges): Promise<Settled> => {
    const { version, charges } = bill;
    if (keyOf(bill) === undefined) return UNCHARGED;
    if (charges.length > 1 && new Set(charges.map(({ key }) => key)).size < charges.length)
      return charge(bill, 1);
    return new Promise((resolve, reject) => {
      const name = JSON.stringify([version?.key, version?.expected, charges]);
      const alike = waiting.get(name);
      if (waiting.size === 0) setImmediate(sendAll);
      if (alike) alike.takers.push({ resolve, reject });
      else waiting.set(name, { bill, takers: [{ resolve, reject }] });
    });
  };
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
