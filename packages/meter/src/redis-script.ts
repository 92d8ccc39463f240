/**
 * The one script of the Redis meter, for Redis 6.0 and later. All keys of a call share a hash tag, so the script runs
 * on one slot of a Redis Cluster and is atomic there.
 *
 * KEYS[1] is the tenant: a hash of the epoch `e`, a sequence `q` and the latest time `w` in milliseconds. KEYS[2] is
 * the call: a hash of its state `st`, fingerprint `fp`, time `at`, and for each counter `c<i>` its name, units and slot.
 * For each counter follow a sorted set of slots, whose members are their own scores (when the units leave), and a hash of units
 * by slot with their total `n`.
 *
 * ARGV: the operation; a time for tests, or nothing; the expected epoch; whether the tenant may begin now; the highest
 * sequence that the caller has seen; how long the call is kept, in milliseconds; the fingerprint. For each counter
 * follow its name, limit, units, window and grain.
 */
export const script = `
local HEAD, EACH = 7, 5
local op, epoch, floor = ARGV[1], ARGV[3], tonumber(ARGV[5])
local tenant, call = KEYS[1], KEYS[2]
local count = (#KEYS - 2) / 2

-- Lua would print 1763710000000 as 1.76371e+12, and minus nothing as -0.
local function int(n) return n == 0 and '0' or string.format('%.0f', n) end

-- Lost data is noticed before anything is read or written for the call.
local m = redis.call('HMGET', tenant, 'e', 'q', 'w')
if not m[1] then
  if ARGV[4] ~= '1' then return {'lost', 'missing'} end
  redis.call('HSET', tenant, 'e', epoch)
elseif m[1] ~= epoch then
  return {'lost', 'changed'}
end
local seq = tonumber(m[2] or '0')
if seq < floor then return {'lost', 'rewound'} end

-- A clock that steps back frees nothing.
local now, high = tonumber(ARGV[2]), tonumber(m[3] or '0')
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
if now < high then now = high end

local function text(i, field) return ARGV[HEAD + (i - 1) * EACH + field] end
local function arg(i, field) return tonumber(text(i, field)) end
local function slots(i) return KEYS[1 + 2 * i] end
local function units(i) return KEYS[2 + 2 * i] end

-- Forgets what has left the window, and returns what is inside it.
local function live(i)
  if arg(i, 4) > 0 then
    local gone = redis.call('ZRANGEBYSCORE', slots(i), '-inf', int(now))
    if #gone > 0 then
      local freed = 0
      for a = 1, #gone, 1000 do
        local part = {}
        for b = a, math.min(a + 999, #gone) do part[#part + 1] = gone[b] end
        local values = redis.call('HMGET', units(i), unpack(part))
        for b = 1, #values do freed = freed + tonumber(values[b] or '0') end
        redis.call('HDEL', units(i), unpack(part))
      end
      redis.call('ZREMRANGEBYSCORE', slots(i), '-inf', int(now))
      redis.call('HINCRBY', units(i), 'n', int(-freed))
    end
  end
  return tonumber(redis.call('HGET', units(i), 'n') or '0')
end

-- When will this many units more have left the window? 0 is never.
local function frees_at(i, missing)
  if arg(i, 4) == 0 or arg(i, 3) > arg(i, 2) then return 0 end
  local at, size = 0, redis.call('ZCARD', slots(i))
  while at < size do
    local slot = redis.call('ZRANGE', slots(i), at, at)[1]
    missing = missing - tonumber(redis.call('HGET', units(i), slot) or '0')
    if missing <= 0 then return tonumber(slot) end
    at = at + 1
  end
  return 0
end

if op == 'usage' then
  local out = {'usage', int(seq)}
  for i = 1, count do
    local held = live(i)
    local over = held + arg(i, 3) - arg(i, 2)
    out[#out + 1] = int(held)
    out[#out + 1] = int((over > 0 and arg(i, 3) > 0) and frees_at(i, over) or 0)
  end
  redis.call('HSET', tenant, 'w', int(now))
  return out
end

local found = redis.call('HMGET', call, 'st', 'fp', 'at')
local state = found[1]

if op == 'sent' then
  if state == 'held' then redis.call('HSET', call, 'st', 'sent') end
  return {'was', int(seq), state or ''}
end

if op == 'charges' then
  local out = {'was', int(seq), state or ''}
  local i = 1
  local charge = redis.call('HGET', call, 'c1')
  while charge do
    out[#out + 1] = charge
    i = i + 1
    charge = redis.call('HGET', call, 'c' .. i)
  end
  return out
end

if op == 'refund' then
  if state ~= 'held' then return {'was', int(seq), state or ''} end
  for i = 1, count do
    local charge = redis.call('HGET', call, 'c' .. i)
    local name, back, slot = string.match(charge, '^(%S+) (%d+) (%S+)$')
    if back == '0' then
      -- nothing was charged, and Redis knows no -0
    elseif slot == '-' then
      if redis.call('EXISTS', units(i)) == 1 then redis.call('HINCRBY', units(i), 'n', '-' .. back) end
    elseif redis.call('HEXISTS', units(i), slot) == 1 then
      if redis.call('HINCRBY', units(i), slot, '-' .. back) <= 0 then
        redis.call('HDEL', units(i), slot)
        redis.call('ZREM', slots(i), slot)
      end
      redis.call('HINCRBY', units(i), 'n', '-' .. back)
    end
  end
  redis.call('HSET', call, 'st', 'refunded')
  return {'was', int(seq), state}
end

-- A call that arrives again before it was sent costs nothing.
if state then
  if state ~= 'held' or found[2] ~= ARGV[7] then return {'reused', int(seq)} end
  local out = {'held', int(seq), found[3] or '0'}
  for i = 1, count do out[#out + 1] = int(live(i)) end
  return out
end

-- Every counter is checked before any is charged.
local used = {}
for i = 1, count do
  local limit, want = arg(i, 2), arg(i, 3)
  used[i] = live(i)
  local over = used[i] + want - limit
  if want > 0 and over > 0 then
    redis.call('HSET', tenant, 'w', int(now))
    return {'full', int(seq), int(i - 1), int(used[i]), int(frees_at(i, over))}
  end
end

local record, out = {'st', 'held', 'fp', ARGV[7], 'at', int(now)}, {'held', int(seq + 1), int(now)}
for i = 1, count do
  local want, window, grain = arg(i, 3), arg(i, 4), arg(i, 5)
  local slot = '-'
  if window == 0 then
    redis.call('HINCRBY', units(i), 'n', int(want))
  else
    local expiry = math.ceil((now + window) / grain) * grain
    slot = int(expiry)
    redis.call('ZADD', slots(i), slot, slot)
    redis.call('HINCRBY', units(i), slot, int(want))
    redis.call('HINCRBY', units(i), 'n', int(want))
    local until_ms = int(expiry + 60000) -- later than any grain, so that an earlier slot never ends a later one
    redis.call('PEXPIREAT', slots(i), until_ms)
    redis.call('PEXPIREAT', units(i), until_ms)
  end
  record[#record + 1] = 'c' .. i
  record[#record + 1] = text(i, 1) .. ' ' .. int(want) .. ' ' .. slot
  out[#out + 1] = int(used[i] + want)
end
redis.call('HSET', call, unpack(record))
redis.call('PEXPIRE', call, ARGV[6])
redis.call('HSET', tenant, 'q', int(seq + 1), 'w', int(now))
return out
`;
