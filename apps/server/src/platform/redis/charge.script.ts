import { defineScript } from '@redis/client';
import type { Bill, Settled } from './ephemeral-store.ts';

/**
 * ARGV is bill after bill: the number of charges, the expected version, the version for a key that has none,
 * and its seconds; then the limit, cost and seconds of each charge. KEYS have the same order, a version's key
 * before those of its charges. They belong to several subjects, so they are not on one node of a Redis
 * Cluster: there, each bill would be a command of its own.
 */
export const charge = defineScript({
  SCRIPT: `
    local bills, is_refused = {}, false
    local key, arg = 1, 1
    while ARGV[arg] do
      local size, expected, fresh, seconds = unpack(ARGV, arg, arg + 3)
      arg = arg + 4
      local version = ''
      if fresh ~= '' then
        version = redis.call('GET', KEYS[key])
        if not version then
          version = fresh
          redis.call('SET', KEYS[key], fresh, 'EX', seconds)
        end
        key = key + 1
      end

      local used, is_over = {}, false
      for at = 1, size do
        local limit = ARGV[arg + 3 * (at - 1)]
        used[at] = tonumber(redis.call('GET', KEYS[key + at - 1]) or '0')
        if used[at] >= tonumber(limit) then is_over = true end
      end

      local outcome = 'charged'
      if is_refused then outcome = 'skipped'
      elseif expected ~= '' and expected ~= version then outcome = 'stale'
      elseif is_over then outcome = 'refused' end
      is_refused = is_refused or outcome == 'refused'

      for at = 1, size do
        local _, cost, seconds = unpack(ARGV, arg, arg + 2)
        if outcome == 'charged' and cost ~= '0' then
          used[at] = redis.call('INCRBY', KEYS[key], cost)
          if used[at] == tonumber(cost) then redis.call('EXPIRE', KEYS[key], seconds) end
        end
        key = key + 1
        arg = arg + 3
      end
      bills[#bills + 1] = { outcome, version, used }
    end
    return bills`,
  parseCommand(parser, bills: readonly Bill[]) {
    const keys = bills.flatMap(({ version, charges }) => [
      ...(version ? [version.key] : []),
      ...charges.map(({ key }) => key),
    ]);
    parser.push(String(keys.length));
    for (const key of keys) parser.pushKey(key);
    for (const { version, charges } of bills) {
      const { expected = '', fresh = '', seconds: keptSeconds = 0 } = version ?? {};
      parser.push(String(charges.length), expected, fresh, String(keptSeconds));
      for (const { limit, cost, seconds } of charges)
        parser.push(String(limit), String(cost), String(seconds));
    }
  },
  transformReply: (bills: readonly [Settled['outcome'], string, number[]][]): Settled[] =>
    bills.map(([outcome, version, used]) => ({ outcome, used, ...(version !== '' && { version }) })),
});

/** The script answers bill after bill. */
export function byName<Name extends string>(bills: readonly Bill<Name>[], all: readonly Settled[]) {
  const named = new Map<Name, Settled>();
  for (const [at, settled] of all.entries()) {
    const bill = bills[at];
    if (bill) named.set(bill.name, settled);
  }
  return named;
}
