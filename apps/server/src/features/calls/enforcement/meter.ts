import { memoryMeter } from '@behest/meter/memory-meter';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import { realRedisUrl } from '../../../config/addresses.ts';
import { boolean, integer, notInProduction, oneOf } from '../../../config/readers.ts';
import { defaulted, optional, type ValuesOf } from '../../../config/setting.ts';
import type { OpenedFeature, ServiceContext } from '../../../feature.ts';
import { postgresCapsMeter, redisCapsMeter } from '../caps/index.ts';

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

type OpenedMeter = Pick<OpenedFeature, 'prepare' | 'finish'> & { readonly meter: CapsMeter };

type Chosen = ValuesOf<typeof settings>;

/** The store in which the meter counts, as `/health` names it. */
export const storeOfMeter = ({ CAPS_METER }: Chosen): 'db' | 'redis' =>
  CAPS_METER === 'redis' ? 'redis' : 'db';

/** Opens the meter that the operator has chosen. There is no second one: two stores would admit twice the cap. */
export function openMeter(context: ServiceContext, chosen: Chosen): OpenedMeter {
  const { aside, clock, logger, redisUrl } = context;
  const { CAPS_METER, CAPS_REDIS_URL, CAPS_REDIS_ASSERT_SAFE: assertSafe } = chosen;
  const callRecordSeconds = chosen.CAPS_CALL_RECORD_SECONDS;
  if (CAPS_METER === 'memory') return { meter: memoryMeter(() => clock().getTime()) };
  if (CAPS_METER === 'postgres')
    return { meter: postgresCapsMeter(aside, { callRecordSeconds, timeoutMs: METER_TIMEOUT_MS }) };
  const losses = context.metrics.counter('caps_data_loss_total');
  const url = CAPS_REDIS_URL ?? redisUrl;
  const { meter, mustBeSafe, close } = redisCapsMeter({
    ...{ aside, url, callRecordSeconds, assertSafe, onDataLoss: () => losses.inc() },
    ...(logger && { logger }),
  });
  return {
    meter,
    async prepare() {
      if (url === 'memory:')
        throw new Error('CAPS_METER=redis needs CAPS_REDIS_URL, because REDIS_URL is no Redis.');
      await mustBeSafe();
    },
    finish: async () => close(),
  };
}

/**
 * Longer than the half second of a caller's own meter. Calls with one cap wait in a row for its counter, and one that is
 * given up has been counted by then: it would lose its unit, and be denied.
 */
export const METER_TIMEOUT_MS = 5_000;

/**
 * The meter as the calls of one agent see it. The call ids of agents are kept apart, so that an agent cannot repeat the
 * call of another one without paying for it.
 * @param onCharged gets the time of each charge
 */
export function meterOfAgent(
  meter: CapsMeter,
  agentId = '',
  onCharged?: (atMs: number | undefined) => void,
): CapsMeter {
  const own = (callId: string) => `${agentId}/${callId}`;
  return {
    async reserve(tenant, callId, counters) {
      const answer = await meter.reserve(tenant, own(callId), counters);
      if ('reserved' in answer) onCharged?.(answer.atMs);
      return answer;
    },
    sent: (tenant, callId) => meter.sent(tenant, own(callId)),
    refundUnsent: (tenant, callId) => meter.refundUnsent(tenant, own(callId)),
    usage: (tenant, counters) => meter.usage(tenant, counters),
    prune: (options) => meter.prune(options),
    health: () => meter.health(),
  };
}
