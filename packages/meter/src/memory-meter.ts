import type { CapsMeter, Counter } from '@behest/protocol/enforcement/meter';
import { fingerprintOf, mustBeCounters, mustBeHeld } from './hashes.ts';

interface Charge {
  readonly units: number;
  readonly expiresMs: number;
}

interface Call {
  state: 'held' | 'sent' | 'refunded';
  readonly fingerprint: string;
  readonly atMs: number;
  readonly charges: readonly { readonly counter: string; readonly charge: Charge }[];
}

/**
 * A meter for tests and the quickstart. It counts in this process alone, and forgets when the process ends.
 *
 * @param clock in milliseconds since 1970
 * @throws Error unless `NODE_ENV` is `development` or `test`; unset means production
 */
export function memoryMeter(clock: () => number = Date.now): CapsMeter {
  const environment = environmentName();
  if (environment !== 'development' && environment !== 'test') {
    throw new Error(
      'memoryMeter() counts in one process alone. Use redisMeter or postgresMeter, or set NODE_ENV to development or test.',
    );
  }
  const counters = new Map<string, Set<Charge>>();
  const calls = new Map<string, Call>();
  let high = 0;
  const now = () => {
    high = Math.max(high, clock());
    return high;
  };
  const idOf = (tenant: string, key: string) => JSON.stringify([tenant, key]);
  const liveIn = (id: string, at: number) => {
    const charges = counters.get(id) ?? new Set();
    counters.set(id, charges);
    let used = 0;
    for (const charge of charges) {
      if (charge.expiresMs <= at) charges.delete(charge);
      else used += charge.units;
    }
    return { charges, used };
  };
  const usedBy = (tenant: string, all: readonly Counter[], at: number) =>
    all.map(({ key }) => liveIn(idOf(tenant, key), at).used);

  return {
    async reserve(tenant, callId, wanted) {
      mustBeCounters(wanted);
      const [at, fingerprint, id] = [now(), fingerprintOf(wanted), idOf(tenant, callId)];
      const call = calls.get(id);
      if (call) {
        if (call.state !== 'held' || call.fingerprint !== fingerprint) return { reused: true };
        return { reserved: true, used: usedBy(tenant, wanted, at), atMs: call.atMs };
      }
      for (const [index, { key, units, limit }] of wanted.entries()) {
        const { charges, used } = liveIn(idOf(tenant, key), at);
        if (units === 0 || used + units <= limit) continue;
        const retryAtMs = units > limit ? null : freesAt(charges, used + units - limit);
        return { full: index, used, retryAtMs };
      }
      const charges = wanted.map(({ key, units, windowMs, grainMs }) => {
        const ends = Math.ceil((at + windowMs) / grainMs) * grainMs;
        const charge = { units, expiresMs: windowMs === 0 ? Number.POSITIVE_INFINITY : ends };
        liveIn(idOf(tenant, key), at).charges.add(charge);
        return { counter: idOf(tenant, key), charge };
      });
      calls.set(id, { state: 'held', fingerprint, atMs: at, charges });
      return { reserved: true, used: usedBy(tenant, wanted, at), atMs: at };
    },
    async sent(tenant, callId) {
      const call = calls.get(idOf(tenant, callId));
      mustBeHeld(call?.state);
      if (call) call.state = 'sent';
    },
    async refundUnsent(tenant, callId) {
      const call = calls.get(idOf(tenant, callId));
      if (call?.state === 'held') {
        for (const { counter, charge } of call.charges) counters.get(counter)?.delete(charge);
        call.state = 'refunded';
      }
      return call?.state === 'refunded';
    },
    usage: async (tenant, all) => {
      mustBeCounters(all);
      const at = now();
      return all.map(({ key, units, limit }) => {
        const { charges, used } = liveIn(idOf(tenant, key), at);
        const fits = units === 0 || units > limit || used + units <= limit;
        return { used, retryAtMs: fits ? null : freesAt(charges, used + units - limit) };
      });
    },
    prune: async () => 0,
    health: async () => ({ ok: true, backend: 'memory', version: '', epoch: '', problems: [] }),
  };
}

function freesAt(charges: Iterable<Charge>, wanted: number): number | null {
  let missing = wanted;
  for (const { units, expiresMs } of [...charges].sort((one, other) => one.expiresMs - other.expiresMs)) {
    missing -= units;
    if (missing <= 0) return Number.isFinite(expiresMs) ? expiresMs : null;
  }
  return null;
}

function environmentName(): string | undefined {
  // biome-ignore lint/style/noProcessEnv: a meter that admits too much in production must not depend on a caller's word
  return globalThis.process?.env.NODE_ENV; // absent in browsers and at the edge, which therefore count as production
}
