import type { CapsMeter } from '@behest/protocol/enforcement/meter';

/**
 * Longer than the half second of a caller's own meter. Calls with one cap wait in a row for its counter, and one that is
 * given up has been counted by then: it would lose its unit, and be denied.
 */
export const METER_TIMEOUT_MS = 5_000;

/**
 * The meter as the calls of one agent see it. The call ids of agents are kept apart, so that an agent cannot repeat the
 * call of another one without paying for it.
 */
export function meterOfAgent(meter: CapsMeter, agentId = ''): CapsMeter {
  const own = (callId: string) => `${agentId}/${callId}`;
  return {
    reserve: (tenant, callId, counters) => meter.reserve(tenant, own(callId), counters),
    sent: (tenant, callId) => meter.sent(tenant, own(callId)),
    refundUnsent: (tenant, callId) => meter.refundUnsent(tenant, own(callId)),
    usage: (tenant, counters) => meter.usage(tenant, counters),
    prune: (options) => meter.prune(options),
    health: () => meter.health(),
  };
}
