import type { Counter, Full } from '@behest/protocol/enforcement/meter';

interface Charge {
  readonly callId: string;
  readonly key: string;
  readonly units: number;
  readonly at: number;
  readonly ends: number;
}

/**
 * A meter that keeps every charge and adds up what is inside. It is slow, has no store and no race, and says in the
 * plainest way what the meters have to answer.
 */
export class Model {
  #charges: Charge[] = [];
  readonly #calls = new Map<string, { state: 'held' | 'sent' | 'refunded'; what: string }>();

  used({ key }: Pick<Counter, 'key'>, now: number): number {
    const inside = this.#charges.filter((charge) => charge.key === key && charge.ends > now);
    return inside.reduce((units, charge) => units + charge.units, 0);
  }

  /** The units that a window without any rounding holds. */
  inTrueWindow({ key, windowMs }: Counter, now: number): number {
    const inside = this.#charges.filter((charge) => charge.key === key && charge.at > now - windowMs);
    return inside.reduce((units, charge) => units + charge.units, 0);
  }

  fits(counter: Counter, now: number): boolean {
    return counter.units === 0 || this.used(counter, now) + counter.units <= counter.limit;
  }

  reserve(callId: string, counters: readonly Counter[], now: number) {
    const what = JSON.stringify(counters.map(({ key, units }) => [key, units]));
    const call = this.#calls.get(callId);
    const used = () => counters.map((counter) => this.used(counter, now));
    if (call) {
      const isSame = call.state === 'held' && call.what === what;
      return isSame ? { reserved: true, used: used() } : { reused: true };
    }
    const full = counters.findIndex((counter) => !this.fits(counter, now));
    const found = counters[full];
    if (found) return { full, used: this.used(found, now) } satisfies Omit<Full, 'retryAtMs'>;
    for (const { key, units, windowMs, grainMs } of counters) {
      const ends =
        windowMs === 0 ? Number.POSITIVE_INFINITY : Math.ceil((now + windowMs) / grainMs) * grainMs;
      this.#charges.push({ callId, key, units, at: now, ends });
    }
    this.#calls.set(callId, { state: 'held', what });
    return { reserved: true, used: used() };
  }

  /** @returns whether the meter has to accept it */
  sent(callId: string): boolean {
    const call = this.#calls.get(callId);
    if (!call || call.state === 'refunded') return false;
    call.state = 'sent';
    return true;
  }

  refund(callId: string): boolean {
    const call = this.#calls.get(callId);
    if (!call || call.state === 'sent') return false;
    call.state = 'refunded';
    this.#charges = this.#charges.filter((charge) => charge.callId !== callId);
    return true;
  }
}
