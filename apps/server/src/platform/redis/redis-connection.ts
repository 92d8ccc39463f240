import { setTimeout as delay } from 'node:timers/promises';
import { createClient, createCluster } from '@redis/client';
import type { PayerCharges, Settled, Slot } from './ephemeral-store.ts';
import { type ChargeReply, charge, chargeCommand, settledOf, takeBack, takeSlot } from './scripts.ts';

// All in milliseconds.
const PING_EVERY = 2000; // so that a good connection is never silent for long
const LONGEST_SILENCE = 5000; // after which a new connection replaces this one
const LONGEST_PAUSE = 1000; // between two attempts to reconnect

/** A Redis server, or the nodes of a Redis Cluster, with the commands that the store sends. */
export interface RedisConnection {
  readonly commands: Commands;
  /** Charges a bill so many times, or not at all. */
  charge(bill: PayerCharges, times: number): Promise<Settled>;
  /** Sends any command to the node that holds `key`. */
  send(command: string[], key: string): Promise<unknown>;
  /** The node that holds a key. */
  nodeOf(key: string): string;
  /** A key on each node, for a probe. */
  probes(): string[];
  /** Says something to the subscribers of all nodes. */
  publish(channel: string, message: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  /** Resolves when the first attempt to connect is over, whatever its end. */
  readonly attempted: Promise<void>;
  isReady(node: string): boolean;
  close(): void;
}

type Listener = (message: string, channel: string) => void;

interface Commands {
  takeBack(bill: Pick<PayerCharges, 'charges'>, times: number): Promise<void>;
  takeSlot(slot: Slot): Promise<boolean>;
  get(key: string): Promise<string | null>;
  set(key: string, value: string, options: { expiration: { type: 'EX'; value: number } }): Promise<unknown>;
  del(key: string): Promise<unknown>;
  expire(key: string, seconds: number): Promise<unknown>;
  zRem(key: string, member: string): Promise<unknown>;
  subscribe(channels: string[], listener: Listener): Promise<unknown>;
}

/** Called with the name of a node, as `nodeOf` tells it. */
interface Watcher {
  readonly onLost: (node: string, error: Error) => void;
  readonly onReady: (node: string) => void;
}

const OPTIONS = {
  scripts: { charge, takeBack, takeSlot },
  // The store gives up late commands by itself: here each would cost a timer and an abort signal.
  commandOptions: { timeout: 0 },
};

const connectionOptions = {
  disableOfflineQueue: true, // a request does not wait for Redis to come back
  pingInterval: PING_EVERY,
  socket: {
    socketTimeout: LONGEST_SILENCE,
    reconnectStrategy: (attempt: number) => Math.min(50 * 2 ** attempt, LONGEST_PAUSE),
  },
};

const SERVER = 'server';

export function connectToServer(url: string, { onLost, onReady }: Watcher): RedisConnection {
  const client = createClient({ ...OPTIONS, ...connectionOptions, url });
  const attempted = new Promise<void>((resolve) => {
    client.once('ready', () => resolve());
    client.once('error', () => resolve());
  });
  client.on('error', (error) => onLost(SERVER, error));
  client.on('ready', () => onReady(SERVER));
  // Not awaited: the service starts without Redis, and /health says that it is away.
  client.connect().catch(() => {});
  return {
    commands: client,
    charge(bill, times) {
      const command = chargeCommand(bill, times);
      return client.sendCommand<ChargeReply>(command).then(settledOf, (error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error;
        return client.sendCommand<ChargeReply>(['EVAL', charge.SCRIPT, ...command.slice(2)]).then(settledOf);
      });
    },
    send: (command) => client.sendCommand(command),
    nodeOf: () => SERVER,
    probes: () => ['bh:{probe:0}'],
    publish: (channel, message) => client.publish(channel, message),
    unsubscribe: (channel) => client.unsubscribe(channel),
    attempted,
    isReady: () => client.isReady,
    close: () => {
      if (client.isOpen) client.destroy();
    },
  };
}

const CLUSTER = 'cluster'; // the name of the node that is not known yet
const MAX_PROBES = 1000; // keys that are tried, to find one on each node

/** @param urls some nodes of the cluster, which name the others */
export function connectToCluster(urls: readonly string[], { onLost, onReady }: Watcher): RedisConnection {
  const { username, password, protocol } = new URL(urls[0] ?? '');
  const cluster = createCluster({
    ...OPTIONS,
    rootNodes: urls.map((url) => ({ url })),
    defaults: {
      ...connectionOptions,
      // The driver does not pass on what the addresses of the first nodes say.
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      socket: { ...connectionOptions.socket, ...(protocol === 'rediss:' && { tls: true }) },
    },
    // Otherwise a node that is away would keep the driver from starting.
    minimizeConnections: true,
    topologyRefreshOnReconnectionAttemptStrategy: false, // see below
  });
  let isClosed = false;
  const nameOf = ({ host, port }: { host?: string; port?: number }) => `${host}:${port}`;
  const connectToAll = () => {
    for (const master of cluster.masters) cluster.nodeClient(master).catch(() => {});
  };
  cluster.on('node-error', (error: Error, node) => {
    onLost(nameOf(node), error);
    // Another node may have taken its place. The driver would not look before it had reached the node once.
    if (cluster.isReady) cluster._slots.rediscover().then(connectToAll, () => {});
  });
  cluster.on('node-ready', (node) => onReady(nameOf(node)));
  // A node that left the cluster, or a connection that is no longer of use.
  cluster.on('node-disconnect', (node) => {
    if (!isClosed) onReady(nameOf(node));
  });
  cluster.on('error', () => {}); // a node does not name the others: the next one is asked

  const connect = async () => {
    await cluster.connect();
    onReady(CLUSTER);
    connectToAll();
  };
  const attempted = connect().catch((error: Error) => {
    if (!isClosed) onLost(CLUSTER, error);
    void again();
  });
  const again = async () => {
    while (!(isClosed || cluster.isOpen)) {
      await delay(LONGEST_PAUSE, undefined, { ref: false });
      if (!isClosed) await connect().catch(() => {});
    }
  };
  const masterOf = (key: string) => cluster.slots[slotOf(key)]?.master;
  const nodeOf = (key: string) => masterOf(key)?.address ?? CLUSTER;
  return {
    commands: cluster,
    charge: (bill, times) => cluster.charge(bill, times),
    send: (command, key) => cluster.sendCommand(key, false, command),
    nodeOf,
    probes() {
      const byNode = new Map<string, string>();
      for (let at = 0; at < MAX_PROBES && byNode.size < Math.max(1, cluster.masters.length); at += 1) {
        const key = `bh:{probe:${at}}`;
        byNode.set(nodeOf(key), key);
      }
      return [...byNode.values()];
    },
    async publish(channel, message) {
      const node = masterOf(channel);
      if (!node) throw new Error('The nodes of the Redis Cluster are not known.');
      return (await cluster.nodeClient(node)).publish(channel, message);
    },
    unsubscribe: (channel) => cluster.unsubscribe(channel),
    attempted,
    isReady: (node) =>
      node === CLUSTER ? cluster.isReady : cluster.nodeByAddress.get(node)?.client?.isReady === true,
    close: () => {
      isClosed = true;
      if (cluster.isOpen) cluster.destroy();
    },
  };
}

const SLOTS = 16_384;

/** CRC16 in its XMODEM form: polynomial 0x1021, begun with 0. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/**
 * The hash slot of a key in a Redis Cluster: that of its hash tag, if it has one. The driver keeps the same
 * function to itself.
 * @see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
 */
export function slotOf(key: string): number {
  const hashed = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key; // `{}` at the first brace hides any later tag
  let crc = 0;
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) ^ Number(TABLE[(crc >> 8) ^ byte])) & 0xffff;
  return crc % SLOTS;
}

/** The URLs of a comma list. A password may have a comma. */
export const nodesOf = (urls: string): string[] => urls.split(/,(?=rediss?:\/\/)/);
