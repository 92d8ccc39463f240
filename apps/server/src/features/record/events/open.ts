import { definePart } from '../../../platform/parts.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import type { EventsDeps } from './events.ts';
import { createStreams, type Streams } from './streams.ts';

/** The parts of the process that streams need. */
interface StreamsHouse extends EventsDeps {
  readonly store: EphemeralStore;
  readonly metrics: Pick<Metrics, 'gauge' | 'counter'>;
  readonly logger?: Logger;
}

/** The live streams of a process. Every feature that sends events to somebody opens its streams here. */
export const eventStreams = definePart<Streams>('the streams of events');

export function openStreams(house: StreamsHouse): Streams {
  const open = house.metrics.gauge('event_streams_open');
  const sent = house.metrics.counter('events_sent_total');
  return createStreams({
    ...house,
    meter: {
      streamOpened: () => open.inc(),
      streamClosed: () => open.dec(),
      eventSent: () => sent.inc(),
    },
    onTrouble: (err: unknown) =>
      house.logger?.warn({ err }, 'live streams wait, because Postgres or Redis does not answer'),
  });
}
