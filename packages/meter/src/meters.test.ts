import type { Counter, Full } from '@behest/protocol/enforcement/meter';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { backends, counterOf, HOUR, newTenant } from '../test/stores.ts';
import { hexOf } from './hashes.ts';
import { memoryMeter } from './memory-meter.ts';

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
class Model {
  #charges: Charge[] = [];
  readonly #calls = new Map<string, { state: 'held' | 'sent' | 'refunded'; what: string; at: number }>();

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
      return isSame ? { reserved: true, used: used(), atMs: call.at } : { reused: true };
    }
    const full = counters.findIndex((counter) => !this.fits(counter, now));
    const found = counters[full];
    if (found) return { full, used: this.used(found, now) } satisfies Omit<Full, 'retryAtMs'>;
    for (const { key, units, windowMs, grainMs } of counters) {
      const ends =
        windowMs === 0 ? Number.POSITIVE_INFINITY : Math.ceil((now + windowMs) / grainMs) * grainMs;
      this.#charges.push({ callId, key, units, at: now, ends });
    }
    this.#calls.set(callId, { state: 'held', what, at: now });
    return { reserved: true, used: used(), atMs: now };
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

const RUNS = process.env.TEST_LONG ? 100 : 6;
const STEPS = process.env.TEST_LONG ? 400 : 80;

interface Step {
  readonly wait: number;
  readonly isLater: boolean;
  readonly act: string;
  readonly chosen: Counter[];
  readonly units: number;
  readonly isClosed: boolean;
  readonly which: number;
}

describe.each(Object.entries(backends))('the %s meter', (name, open) => {
  const call = (index: number) => `call-${name}-${index}`;

  test('admits a call again at the millisecond at which the first leaves the window, and not before', async () => {
    const start = Date.now();
    let now = start;
    const [meter, tenant] = [(await open())({ clock: () => now }), newTenant()];
    const counter = counterOf({ limit: 2 });

    expect(await meter.reserve(tenant, call(1), [counter])).toEqual({
      reserved: true,
      used: [1],
      atMs: start,
    });
    now += HOUR / 2;
    expect(await meter.reserve(tenant, call(2), [counter])).toEqual({ reserved: true, used: [2], atMs: now });
    expect(await meter.reserve(tenant, call(1), [counter])).toEqual({
      reserved: true,
      used: [2],
      atMs: start,
    });
    now += HOUR / 2 - 1;
    const full = { full: 0, used: 2, retryAtMs: start + HOUR };
    expect(await meter.reserve(tenant, call(3), [counter])).toEqual(full);
    expect(await meter.usage(tenant, [counter])).toEqual([{ used: 2, retryAtMs: full.retryAtMs }]);
    now += 1;
    expect(await meter.reserve(tenant, call(3), [counter])).toEqual({ reserved: true, used: [2], atMs: now });
    expect(await meter.usage(tenant, [counterOf({ limit: 3 })])).toEqual([{ used: 2, retryAtMs: null }]);
  });

  test('charges nothing when the last of several counters is full, and names that one', async () => {
    const [meter, tenant] = [(await open())(), newTenant()];
    const free = counterOf({ key: 'free' });
    const full = counterOf({ key: 'full', limit: 4, units: 5 });

    const answer = await meter.reserve(tenant, call(1), [free, full]);

    expect(answer).toEqual({ full: 1, used: 0, retryAtMs: null });
    expect(await meter.usage(tenant, [free, full])).toMatchObject([{ used: 0 }, { used: 0 }]);
  });

  test('counts tenants, and cases and windows by their keys, apart', async () => {
    const [meter, one, other] = [(await open())(), newTenant(), newTenant()];
    const inCase = counterOf({ key: 'case a', limit: 1, windowMs: 0, grainMs: 0 });

    await meter.reserve(one, call(1), [inCase]);

    expect(await meter.reserve(one, call(2), [inCase])).toEqual({ full: 0, used: 1, retryAtMs: null });
    expect(await meter.reserve(one, call(2), [{ ...inCase, key: 'case b' }])).toMatchObject({ used: [1] });
    expect(await meter.reserve(other, call(1), [inCase])).toMatchObject({ used: [1] });
  });

  test('charges a repeated call once until it is sent, and no other call under its id', async () => {
    const [meter, tenant] = [(await open())(), newTenant()];
    const counter = counterOf();

    const first = await meter.reserve(tenant, call(1), [counter]);
    expect(await meter.reserve(tenant, call(1), [counter])).toEqual(first);
    expect(await meter.reserve(tenant, call(1), [counterOf({ units: 2 })])).toEqual({ reused: true });
    await meter.sent(tenant, call(1));
    await meter.sent(tenant, call(1));

    expect(await meter.reserve(tenant, call(1), [counter])).toEqual({ reused: true });
    expect(await meter.refundUnsent(tenant, call(1))).toBe(false);
    expect(await meter.usage(tenant, [counter])).toMatchObject([{ used: 1 }]);
  });

  test('gives the units of an unsent call back once, and takes no call that it does not know', async () => {
    const [meter, tenant] = [(await open())(), newTenant()];
    const counters = [counterOf(), counterOf({ key: 'case', windowMs: 0, grainMs: 0, units: 7 })];
    await meter.reserve(tenant, call(1), counters);
    await meter.reserve(tenant, call(2), counters);

    expect(await meter.refundUnsent(tenant, call(1))).toBe(true);
    expect(await meter.refundUnsent(tenant, call(1))).toBe(true);

    expect(await meter.usage(tenant, counters)).toMatchObject([{ used: 1 }, { used: 7 }]);
    expect(await meter.refundUnsent(tenant, 'unknown')).toBe(false);
    await expect(meter.sent(tenant, call(1))).rejects.toThrow('refunded');
    await expect(meter.sent(tenant, 'unknown')).rejects.toThrow('does not know');
  });

  test('frees nothing early when the clock steps back, and everything one window after its charge', async () => {
    const start = Date.now();
    let now = start + 1_000;
    const [meter, tenant] = [(await open())({ clock: () => now }), newTenant()];
    const counter = counterOf({ limit: 2 });
    const reserveAt = (at: number, index: number) => {
      now = at;
      return meter.reserve(tenant, call(index), [counter]);
    };

    await reserveAt(start + 1_000, 1);
    expect(await reserveAt(start - HOUR, 2)).toMatchObject({ used: [2] }); // charged as of the first call
    expect(await reserveAt(start + HOUR, 3)).toMatchObject({ full: 0, used: 2 });
    expect(await reserveAt(start - HOUR, 4)).toMatchObject({ full: 0, used: 2 });
    expect(await reserveAt(start + 1_000 + HOUR, 5)).toMatchObject({ used: [1] });
  });

  test('refuses counters that no call has', async () => {
    const [meter, tenant] = [(await open())(), newTenant()];
    const many = Array.from({ length: 129 }, (_, at) => counterOf({ key: `${at}` }));

    await expect(async () => meter.reserve(tenant, call(1), many)).rejects.toThrow(RangeError);
    await expect(async () => meter.reserve(tenant, call(1), [])).rejects.toThrow(RangeError);
    await expect(async () => meter.usage(tenant, [counterOf(), counterOf()])).rejects.toThrow(RangeError);
  });

  test('answers as a model that keeps every charge, whatever the calls, and no true window holds more', async () => {
    let now = Date.now();
    const meter = (await open())({ clock: () => now });
    const counters = [
      counterOf({ key: 'tool hour', limit: 7 }),
      counterOf({ key: 'tool day', limit: 25, windowMs: 24 * HOUR, grainMs: 24_000 }),
      counterOf({ key: 'parent hour', limit: 6, grainMs: 1_000 }),
      counterOf({ key: 'units day', limit: 90, windowMs: 24 * HOUR }),
      counterOf({ key: 'case', limit: 30, windowMs: 0, grainMs: 0 }),
    ];
    const waits = [0, 1, 500, 30_000, 400_000, 900_000, HOUR - 1, HOUR, 5 * HOUR];
    const step = fc.record({
      wait: fc.constantFrom(...waits),
      isLater: fc.boolean(),
      act: fc.constantFrom('reserve', 'reserve', 'reserve', 'repeat', 'refund', 'send', 'usage'),
      chosen: fc.subarray(counters, { minLength: 1 }),
      units: fc.nat({ max: 20 }),
      isClosed: fc.integer({ min: 0, max: 30 }).map((number) => number === 0),
      which: fc.nat({ max: 10_000 }),
    });

    const tenantRun = async (steps: Step[]) => {
      const [tenant, model] = [newTenant(), new Model()];
      const made: { id: string; counters: Counter[] }[] = [];
      for (const { wait, isLater, act, chosen, units, isClosed, which } of steps) {
        if (isLater) now += wait;
        const wanted = chosen.map((counter) => ({
          ...counter,
          units: counter.key === 'units day' ? units : 1,
          ...(isClosed && { limit: 0 }),
        }));
        const earlier = made[which % Math.max(1, made.length)];
        if (act === 'usage') {
          const used = counters.map((counter) => model.used(counter, now));
          expect((await meter.usage(tenant, counters)).map((one) => one.used)).toEqual(used);
        } else if (act === 'refund' && earlier) {
          expect(await meter.refundUnsent(tenant, earlier.id)).toBe(model.refund(earlier.id));
        } else if (act === 'send' && earlier) {
          const isTaken = await meter.sent(tenant, earlier.id).then(
            () => true,
            () => false,
          );
          expect(isTaken).toBe(model.sent(earlier.id));
        } else {
          const isRepeat = act === 'repeat' && earlier;
          const id = isRepeat ? earlier.id : `call-${made.length}`;
          const these = isRepeat && which % 4 > 0 ? earlier.counters : wanted;
          const answer = await meter.reserve(tenant, id, these);
          expect(answer).toMatchObject(model.reserve(id, these, now));
          if ('full' in answer && answer.retryAtMs !== null) {
            const counter = these[answer.full];
            expect(counter && model.fits(counter, answer.retryAtMs)).toBe(true);
            expect(counter && model.fits(counter, answer.retryAtMs - 1)).toBe(false);
          }
          if (!isRepeat) made.push({ id, counters: these });
        }
        for (const counter of counters.filter(({ windowMs }) => windowMs > 0))
          expect(model.inTrueWindow(counter, now)).toBeLessThanOrEqual(counter.limit);
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS }), tenantRun), {
      numRuns: RUNS,
      endOnFailure: true, // the clock has moved, so a smaller case is another case
    });
  });
});

afterEach(() => void vi.unstubAllEnvs());

test('the memory meter is refused unless the environment is development or test', async () => {
  for (const name of ['production', '', 'Test', undefined]) {
    vi.stubEnv('NODE_ENV', name);
    expect(() => memoryMeter()).toThrow('in one process alone');
  }
  for (const name of ['development', 'test']) {
    vi.stubEnv('NODE_ENV', name);
    expect(await memoryMeter().health()).toMatchObject({ ok: true, backend: 'memory' });
  }
});

const texts = ['', 'call-1', 'é€😀', 'half \ud800 a pair', 'x'.repeat(1_000)];

test('a runtime without Node has the same hashes', async () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  vi.resetModules();
  const elsewhere = await import('./hashes.ts');
  vi.restoreAllMocks();

  expect(elsewhere.hexOf).not.toBe(hexOf);
  for (const text of texts) {
    expect(hexOf(text)).toBe(bytesToHex(sha256(utf8ToBytes(text))));
    expect(elsewhere.hexOf(text)).toBe(hexOf(text));
  }
});
