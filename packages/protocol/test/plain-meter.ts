import type { CapsMeter, Counter, Full, Reserved, Reused, Usage } from '../src/enforcement/meter.ts';

interface Charge {
  readonly units: number;
  /** The instant at which the units leave the window. */
  readonly until: number;
}
interface Held {
  readonly print: string;
  readonly counters: readonly Counter[];
  state: 'held' | 'sent' | 'refunded';
}

/** A meter that keeps every charge in a list, for tests. Its clock is the test's. */
export class PlainMeter implements CapsMeter {
  readonly now: () => number;
  readonly #charges = new Map<string, Charge[]>();
  readonly #calls = new Map<string, Held>();

  constructor(now: () => number) {
    this.now = now;
  }

  async reserve(_: string, callId: string, counters: readonly Counter[]): Promise<Reserved | Full | Reused> {
    const print = JSON.stringify(counters.map(({ key, units, windowMs }) => [key, units, windowMs]));
    const known = this.#calls.get(callId);
    if (known && (known.state !== 'held' || known.print !== print)) return { reused: true };
    if (!known) {
      const full = counters.findIndex((counter) => this.usedOf(counter.key) + counter.units > counter.limit);
      const first = counters[full];
      if (first) return { full, ...this.#usage(first) };
      for (const counter of counters) this.#charge(counter);
      this.#calls.set(callId, { print, counters, state: 'held' });
    }
    return { reserved: true, used: counters.map(({ key }) => this.usedOf(key)) };
  }

  async sent(_: string, callId: string): Promise<void> {
    const call = this.#calls.get(callId);
    if (call?.state === 'held') call.state = 'sent';
  }

  async refundUnsent(_: string, callId: string): Promise<boolean> {
    const call = this.#calls.get(callId);
    if (call?.state !== 'held') return false;
    call.state = 'refunded';
    for (const { key, units } of call.counters) {
      const charges = this.#charges.get(key) ?? [];
      charges.splice(
        charges.findLastIndex((charge) => charge.units === units),
        1,
      );
    }
    return true;
  }

  async usage(_: string, counters: readonly Counter[]): Promise<Usage[]> {
    return counters.map((counter) => this.#usage(counter));
  }

  async prune(): Promise<number> {
    return 0;
  }

  async health() {
    return { ok: true, backend: 'memory', version: '', epoch: '', problems: [] } as const;
  }

  usedOf(key: string): number {
    return this.#live(key).reduce((sum, { units }) => sum + units, 0);
  }

  #charge({ key, units, windowMs, grainMs }: Counter): void {
    const until = windowMs === 0 ? Infinity : Math.ceil((this.now() + windowMs) / grainMs) * grainMs;
    this.#charges.set(key, [...(this.#charges.get(key) ?? []), { units, until }]);
  }

  #live(key: string): Charge[] {
    return (this.#charges.get(key) ?? []).filter(({ until }) => until > this.now());
  }

  #usage({ key, limit, units }: Counter): Usage {
    const live = this.#live(key).toSorted((a, b) => a.until - b.until);
    const used = this.usedOf(key);
    let left = used;
    for (const { units: freed, until } of used + units > limit ? live : []) {
      left -= freed;
      if (left + units <= limit) return { used, retryAtMs: Number.isFinite(until) ? until : null };
    }
    return { used, retryAtMs: null };
  }
}
