import { createClient, defineScript } from '@redis/client';
import { unavailable } from '../errors.ts';
import type { EphemeralStore, Order, Place, Spent } from './ephemeral-store.ts';

// All in milliseconds.
const COMMAND_TIMEOUT = 2000; // a Redis that hangs is one that is away
const PING_EVERY = 2000; // so that a good connection is never silent for long
const LONGEST_SILENCE = 5000; // after which the connection is given up for a new one
const LONGEST_PAUSE = 1000; // between two attempts to reconnect

/**
 * ARGV holds how many keys are watched, what is expected of the last, what an empty one is given and for how long;
 * then for each group how many charges it has, and their limit, cost and seconds. Returns whether what was expected
 * is stale, the group that had no room, the values watched, and the counts. Its keys are of several subjects, so
 * they are not on one node of a Redis Cluster.
 */
const spend = defineScript({
  SCRIPT: `
    local watched = tonumber(ARGV[1])
    local values, counts = {}, {}
    for at = 1, watched do
      values[at] = redis.call('GET', KEYS[at])
      if not values[at] then
        values[at] = ARGV[3]
        redis.call('SET', KEYS[at], ARGV[3], 'EX', ARGV[4])
      end
    end
    local stale = ARGV[2] ~= '' and values[watched] ~= ARGV[2]
    local refused, group, key, arg = 0, 0, watched, 5
    while arg <= #ARGV do
      local size = tonumber(ARGV[arg])
      local last = arg + 3 * size
      group = group + 1
      local charges = refused == 0 and not (stale and last == #ARGV)
      local over = false
      for each = 1, size do
        local count = tonumber(redis.call('GET', KEYS[key + each]) or '0')
        counts[key - watched + each] = count
        if count >= tonumber(ARGV[arg + 3 * each - 2]) then over = true end
      end
      if charges and over then
        refused = group
      elseif charges then
        for each = 1, size do
          local cost = tonumber(ARGV[arg + 3 * each - 1])
          if cost > 0 then
            local count = redis.call('INCRBY', KEYS[key + each], cost)
            if count == cost then redis.call('EXPIRE', KEYS[key + each], ARGV[arg + 3 * each]) end
            counts[key - watched + each] = count
          end
        end
      end
      key = key + size
      arg = last + 1
    end
    return {stale and 1 or 0, refused, values, counts}`,
  parseCommand(parser, { groups, watch }: Order) {
    const keys = watch?.keys ?? [];
    const charges = groups.flat();
    parser.push(String(keys.length + charges.length));
    for (const key of keys) parser.pushKey(key);
    for (const { key } of charges) parser.pushKey(key);
    parser.push(String(keys.length), watch?.expected ?? '', watch?.fresh ?? '', String(watch?.seconds ?? 0));
    for (const group of groups) {
      parser.push(String(group.length));
      for (const { limit, cost, seconds } of group) parser.push(String(limit), String(cost), String(seconds));
    }
    parser.preserve = groups.map(({ length }) => length);
  },
  transformReply(
    [stale, refused, values, counts]: [number, number, string[], number[]],
    sizes: readonly number[],
  ): Spent {
    const rest = [...counts];
    const used = sizes.map((size) => rest.splice(0, size));
    return { ...(refused > 0 && { refusedAt: refused - 1 }), isStale: stale === 1, values, used };
  },
});

/** Those whose time is over make room first. The time is that of Redis, which all processes share. */
const hold = defineScript({
  SCRIPT: `
    local now = tonumber(redis.call('TIME')[1])
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
    local has = redis.call('ZSCORE', KEYS[1], ARGV[1])
    if not has and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
    redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
    redis.call('EXPIRE', KEYS[1], ARGV[3])
    return 1`,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, { key, holder, most, seconds }: Place) {
    parser.pushKey(key);
    parser.push(holder, String(most), String(seconds));
  },
  transformReply: (reply: number) => reply === 1,
});

/** @param onTrouble told once each time Redis goes away, and with undefined when it is back. */
export function redisStore(url: string, onTrouble: (error?: Error) => void = () => {}): EphemeralStore {
  const client = createClient({
    url,
    scripts: { spend, hold },
    disableOfflineQueue: true, // a request does not wait for Redis to come back
    pingInterval: PING_EVERY,
    socket: {
      socketTimeout: LONGEST_SILENCE,
      reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, LONGEST_PAUSE),
    },
  });
  let isAway = false;
  const lossListeners: (() => void)[] = [];
  let overdue = 0; // commands that nobody waits for any more, and that Redis has not answered
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
  // Not awaited: the service starts without Redis, and says in /health that it is away.
  client.connect().catch(() => {});

  const listeners = new Map<string, Set<(hint: string) => void>>();
  const pass = (hint: string, channel: string) => {
    for (const listener of listeners.get(channel) ?? []) listener(hint);
  };
  // Of a connection that is away nothing is lost but hints, and it subscribes when it is back.
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
      // One request has waited in vain; the others need not. No command is sent, so the silence is noticed.
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
    spend: (order) => answerOf(() => client.spend(order)),
    hold: (place) => answerOf(() => client.hold(place)),
    async letGo({ key, holder }) {
      await answerOf(() => client.zRem(key, holder));
    },
    async tell(channel, hint) {
      await answerOf(() => client.publish(channel, hint));
    },
    listen(channel, listener) {
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
