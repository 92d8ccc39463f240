import { defineScript } from '@redis/client';
import type { PayerCharges, Settled, Slot } from './ephemeral-store.ts';

/**
 * Settles one bill, whose keys share a hash tag. KEYS are the version's key, if the bill has one, and then
 * those of its charges. ARGV tells whether there is a version, and then has three texts for each key: what the
 * version is expected to be, what a key without a version gets and for how many seconds; of a charge the limit,
 * the cost and the seconds. Last comes how many times the bill is charged: as often as that, or not at all.
 */
export const charge = defineScript({
  SCRIPT: `
    local version, first, times = '', 1, tonumber(ARGV[#ARGV])
    if ARGV[1] == 'version' then
      first = 2
      local expected, fresh, seconds = unpack(ARGV, 2, 4)
      version = redis.call('GET', KEYS[1])
      if not version then
        version = fresh
        redis.call('SET', KEYS[1], fresh, 'EX', seconds)
      end
      if expected ~= '' and expected ~= version then return { 'stale', version, {} } end
    end

    local used, is_over = {}, false
    for at = first, #KEYS do
      local limit, cost, seconds = unpack(ARGV, 3 * at - 1, 3 * at + 1)
      local count
      if cost == '0' then
        count = tonumber(redis.call('GET', KEYS[at]) or '0')
        is_over = is_over or count >= tonumber(limit)
      else
        count = redis.call('INCRBY', KEYS[at], times)
        if count == times then redis.call('EXPIRE', KEYS[at], seconds) end
        is_over = is_over or count > tonumber(limit)
      end
      used[#used + 1] = count
    end
    if not is_over then return { 'charged', version, used } end

    for at = first, #KEYS do
      if ARGV[3 * at] ~= '0' then used[at - first + 1] = redis.call('DECRBY', KEYS[at], times) end
    end
    return { 'refused', version, used }`,
  parseCommand(parser, bill: PayerCharges, times: number) {
    const { keys, texts } = partsOf(bill, times);
    parser.push(String(keys.length));
    for (const key of keys) parser.pushKey(key);
    parser.push(...texts);
  },
  transformReply: (reply: ChargeReply): Settled => settledOf(reply),
});

/** The command that settles a bill by the script that Redis has, for a client that sends commands as they are. */
export function chargeCommand(bill: PayerCharges, times: number): string[] {
  const { keys, texts } = partsOf(bill, times);
  return ['EVALSHA', charge.SHA1, String(keys.length), ...keys, ...texts];
}

function partsOf({ version, charges }: PayerCharges, times: number) {
  const keys: string[] = [];
  const texts: string[] = [version ? 'version' : ''];
  if (version) {
    keys.push(version.key);
    texts.push(version.expected ?? '', version.fresh, String(version.seconds));
  }
  for (const { key, limit, cost, seconds } of charges) {
    keys.push(key);
    texts.push(String(limit), String(cost), String(seconds));
  }
  texts.push(String(times));
  return { keys, texts };
}

export type ChargeReply = [outcome: Settled['outcome'], version: string, used: number[]];

export const settledOf = ([outcome, version, used]: ChargeReply): Settled =>
  version === '' ? { outcome, used } : { outcome, used, version };

/** Takes so many charges of a bill back. A count that is gone meanwhile stays so. */
export const takeBack = defineScript({
  SCRIPT: `
    for _, key in ipairs(KEYS) do
      local count = tonumber(redis.call('GET', key) or '0')
      if count > 0 then redis.call('DECRBY', key, math.min(count, ARGV[1])) end
    end`,
  parseCommand(parser, { charges }: Pick<PayerCharges, 'charges'>, times: number) {
    const taken = charges.filter(({ cost }) => cost > 0);
    parser.push(String(taken.length));
    for (const { key } of taken) parser.pushKey(key);
    parser.push(String(times));
  },
  transformReply: (): void => {},
});

/** Slots whose time is over make room first. The time is that of Redis, which all processes share. */
export const takeSlot = defineScript({
  SCRIPT: `
    local now = tonumber(redis.call('TIME')[1])
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
    local has = redis.call('ZSCORE', KEYS[1], ARGV[1])
    if not has and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
    redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
    redis.call('EXPIRE', KEYS[1], ARGV[3])
    return 1`,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, { key, owner, most, seconds }: Slot) {
    parser.pushKey(key);
    parser.push(owner, String(most), String(seconds));
  },
  transformReply: (reply: number) => reply === 1,
});
