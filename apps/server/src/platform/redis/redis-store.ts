import { createClient, defineScript } from 'redis';
import { unavailable } from '../errors.ts';
import type { Charge, EphemeralStore, Spent } from './ephemeral-store.ts';

// All in milliseconds.
const COMMAND_TIMEOUT = 2000; // a Redis that hangs is one that is away
const PING_EVERY = 2000; // so that a good connection is never silent for long
const LONGEST_SILENCE = 5000; // after which the connection is given up for a new one
const LONGEST_PAUSE = 1000; // between two attempts to reconnect

/**
 * All or none of the charges, decided where the counters are. ARGV holds limit, cost and seconds of each key.
 * Returns whether they were admitted, then the counts.
 */
const spend = defineScript({
  SCRIPT: `
    local admitted = 1
    local counts = {}
    for at, key in ipairs(KEYS) do
      counts[at] = tonumber(redis.call('GET', key) or '0')
      if counts[at] >= tonumber(ARGV[at * 3 - 2]) then admitted = 0 end
    end
    if admitted == 1 then
      for at, key in ipairs(KEYS) do
        local cost = tonumber(ARGV[at * 3 - 1])
        if cost > 0 then
          counts[at] = redis.call('INCRBY', key, cost)
          redis.call('EXPIRE', key, ARGV[at * 3])
        end
      end
    end
    table.insert(counts, 1, admitted)
    return counts`,
  parseCommand(parser, charges: readonly Charge[]) {
    parser.push(String(charges.length));
    for (const { key } of charges) parser.pushKey(key);
    for (const { limit, cost, seconds } of charges) parser.push(String(limit), String(cost), String(seconds));
  },
  transformReply: ([admitted, ...used]: number[]): Spent => ({ isAdmitted: admitted === 1, used }),
});

/** @param onTrouble told once each time Redis goes away, and with undefined when it is back. */
export function redisStore(url: string, onTrouble: (error?: Error) => void = () => {}): EphemeralStore {
  const client = createClient({
    url,
    scripts: { spend },
    disableOfflineQueue: true, // a request does not wait for Redis to come back
    pingInterval: PING_EVERY,
    socket: {
      socketTimeout: LONGEST_SILENCE,
      reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, LONGEST_PAUSE),
    },
  });
  let isAway = false;
  let overdue = 0; // commands that nobody waits for any more, and that Redis has not answered
  const isLost = (error: Error) => {
    if (!isAway) onTrouble(error);
    isAway = true;
  };
  const isBack = () => {
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
      // Sent together, since commands of one turn of the event loop are; no MULTI, which one hash tag would need.
      const set = () =>
        Promise.all(
          entries.map(({ key, value, seconds }) =>
            client.set(key, value, { expiration: { type: 'EX', value: seconds } }),
          ),
        );
      await answerOf(set);
    },
    get: (key) => answerOf(async () => (await client.get(key)) ?? undefined),
    async remove(key) {
      await answerOf(() => client.del(key));
    },
    spend: (charges) => answerOf(() => client.spend(charges)),
    async ping() {
      await answerOf(() => client.ping());
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
}
