import { defineScript } from '@redis/client';
import type { Slot } from './ephemeral-store.ts';

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
