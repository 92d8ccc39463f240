import { defineScript } from '@redis/client';
import type { Bill, Settled } from './ephemeral-store.ts';

/**
 * Settles bill after bill, as `parseCommand` writes them: the version's key and arguments, then those of each charge.
 * The keys are of several subjects, so they are not on one node of a Redis Cluster; each bill alone would be.
 */
export const spend = defineScript({
  SCRIPT: `
    local keys, args = 0, 0
    local function key() keys = keys + 1 return KEYS[keys] end
    local function arg() args = args + 1 return ARGV[args] end

    local function read_version()
      local check = { key = key() }
      check.fresh = arg()
      check.seconds = arg()
      check.expected = arg()
      local version = redis.call('GET', check.key)
      if not version then
        version = check.fresh
        redis.call('SET', check.key, version, 'EX', check.seconds)
      end
      return version, check.expected ~= '' and check.expected ~= version
    end

    local function read_charge()
      local charge = { key = key() }
      charge.limit = tonumber(arg())
      charge.cost = tonumber(arg())
      charge.seconds = arg()
      charge.count = tonumber(redis.call('GET', charge.key) or '0')
      return charge
    end

    local function take(charge)
      if charge.cost == 0 then return end
      charge.count = redis.call('INCRBY', charge.key, charge.cost)
      if charge.count == charge.cost then redis.call('EXPIRE', charge.key, charge.seconds) end
    end

    local bills, is_refused = {}, false
    while args < #ARGV do
      local version, is_stale = '', false
      if arg() == 'versioned' then version, is_stale = read_version() end

      local charges, is_over = {}, false
      for at = 1, tonumber(arg()) do
        charges[at] = read_charge()
        if charges[at].count >= charges[at].limit then is_over = true end
      end

      local outcome = 'charged'
      if is_refused then outcome = 'skipped'
      elseif is_stale then outcome = 'stale'
      elseif is_over then outcome = 'refused' end
      is_refused = is_refused or outcome == 'refused'

      local used = {}
      for at, charge in ipairs(charges) do
        if outcome == 'charged' then take(charge) end
        used[at] = charge.count
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
      if (!version) parser.push('unversioned');
      else parser.push('versioned', version.fresh, String(version.seconds), version.expected ?? '');
      parser.push(String(charges.length));
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
