import { memoryMeter } from '@behest/meter/memory-meter';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { ValuesOf } from '../../../config/setting.ts';
import type { House, OpenedFeature } from '../../../feature.ts';
import { postgresCapsMeter, redisCapsMeter } from '../caps/index.ts';
import type { settings } from './enforcement.settings.ts';
import { METER_TIMEOUT_MS } from './meter.ts';

type OpenedMeter = Pick<OpenedFeature, 'prepare' | 'finish'> & { readonly meter: CapsMeter };

type Chosen = ValuesOf<typeof settings>;

/** The store in which the meter counts, as `/health` names it. */
export const storeOfMeter = ({ CAPS_METER }: Chosen): 'db' | 'redis' =>
  CAPS_METER === 'redis' ? 'redis' : 'db';

/** Opens the meter that the operator has chosen. There is no second one: two stores would admit twice the cap. */
export function openMeter(house: House, chosen: Chosen): OpenedMeter {
  const { aside, clock, logger, redisUrl } = house;
  const { CAPS_METER, CAPS_REDIS_URL, CAPS_REDIS_ASSERT_SAFE: assertSafe } = chosen;
  const callRecordSeconds = chosen.CAPS_CALL_RECORD_SECONDS;
  if (CAPS_METER === 'memory') return { meter: memoryMeter(() => clock().getTime()) };
  if (CAPS_METER === 'postgres')
    return { meter: postgresCapsMeter(aside, { callRecordSeconds, timeoutMs: METER_TIMEOUT_MS }) };
  const losses = house.metrics.counter('caps_data_loss_total');
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
