import { deliveredOf } from './events.rules.ts';
import {
  POLL,
  PUSH,
  type StreamChange,
  type StreamConfiguration,
  type StreamStatus,
} from './transmitter.schema.ts';

export const VERIFICATION_SECONDS = 60;
/** A stream that nobody polls for so long is paused, and signals wait no longer. */
export const KEPT_SECONDS = 604_800;

/** The states of queues, by the statuses of their streams. */
export const STATES = { enabled: 'open', paused: 'holding', disabled: 'off' } as const;

export const methodOf = (urn: string): 'push' | 'poll' | undefined =>
  urn === PUSH ? 'push' : urn === POLL ? 'poll' : undefined;

/** A stream as its queue and its row have it. */
export interface ConfiguredStream {
  readonly id: string;
  readonly eventsRequested: readonly string[] | null;
  readonly description: string | null;
  readonly method: 'push' | 'poll';
  /** Empty for a stream that is polled. */
  readonly url: string;
}

interface Ceiling {
  readonly audience: string;
  readonly events: readonly string[];
}

interface Origin {
  readonly issuer: string;
  readonly publicBaseUrl: string;
}

/** The configuration of a stream, without the header that its receiver has sent. */
export function configurationOf(
  stream: ConfiguredStream,
  receiver: Ceiling,
  { issuer, publicBaseUrl }: Origin,
): StreamConfiguration {
  const { id, eventsRequested, description, method, url } = stream;
  const isPolled = method === 'poll';
  return {
    stream_id: id,
    iss: issuer,
    aud: receiver.audience,
    events_supported: [...receiver.events],
    events_requested: [...(eventsRequested ?? receiver.events)],
    events_delivered: deliveredOf(receiver.events, eventsRequested),
    delivery: isPolled
      ? { method: POLL, endpoint_url: `${publicBaseUrl}/ssf/poll/${id}` }
      : { method: PUSH, endpoint_url: url },
    min_verification_interval: VERIFICATION_SECONDS,
    ...(description !== null && { description }),
    ...(isPolled && { inactivity_timeout: KEPT_SECONDS }),
  };
}

/** The first member of the service's own that a receiver wants otherwise (SSF 1.0 §8.1.1.3). */
export function mismatchIn(change: StreamChange, current: StreamConfiguration): string | undefined {
  const own = {
    iss: current.iss,
    aud: current.aud,
    min_verification_interval: current.min_verification_interval,
    inactivity_timeout: current.inactivity_timeout,
  };
  const sent: Readonly<Record<string, unknown>> = { ...change, aud: [change.aud].flat().at(-1) };
  const plain = Object.entries(own).find(([name, value]) => sent[name] !== undefined && sent[name] !== value);
  if (plain) return plain[0];
  if ([change.aud].flat().length > 1) return 'aud';
  return (['events_supported', 'events_delivered'] as const).find((name) => {
    const wanted = change[name];
    return wanted !== undefined && !isSameSet(wanted, current[name]);
  });
}

const isSameSet = (some: readonly string[], others: readonly string[]) =>
  some.length === others.length && some.every((one) => others.includes(one));

interface StreamState {
  readonly id: string;
  readonly status: StreamStatus['status'];
  readonly statusReason: string | null;
}

export const statusOf = ({ id, status, statusReason }: StreamState): StreamStatus => ({
  stream_id: id,
  status,
  ...(statusReason !== null && { reason: statusReason }),
});
