import { realRedisUrl } from '../../../config/addresses.ts';
import { boolean, integer, notInProduction, oneOf } from '../../../config/readers.ts';
import { defaulted, optional } from '../../../config/setting.ts';

export const settings = {
  CAPS_METER: defaulted(
    notInProduction(
      oneOf('postgres', 'redis', 'memory'),
      (store) => store === 'memory',
      'CAPS_METER must not be memory in production',
    ),
    'postgres',
    'The store that counts calls and cost units against caps, one for all processes. Another store begins all counters from zero. `memory` counts in one process and forgets when it ends; the service refuses it in production.',
  ),
  CAPS_REDIS_URL: optional(
    realRedisUrl,
    '`REDIS_URL`',
    'The Redis of `CAPS_METER=redis`, 6.0 or later with `maxmemory-policy noeviction`. The service does not start with another one. While it is away, calls with a cap are denied.',
  ),
  CAPS_REDIS_ASSERT_SAFE: defaulted(
    boolean,
    'false',
    'Whether the operator vouches for the version and the `maxmemory-policy` of a Redis that does not tell its settings.',
  ),
  CAPS_CALL_RECORD_SECONDS: defaulted(
    integer(60, 604_800),
    '3600',
    'How long a call can be repeated without a second charge, and refunded.',
  ),
};
