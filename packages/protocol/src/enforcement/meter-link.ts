import { isObject } from '../arguments/rules.ts';
import { isCount } from '../counts.ts';
import {
  type CapsMeter,
  type Counter,
  type Full,
  MeterError,
  type MeterProblem,
  type Usage,
} from './meter.ts';

/** The answer of a meter, or the reason why there is none. */
export type MeterAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly problem: MeterProblem };

/** A charge under the call id that the meter holds it under, or the first full counter. */
export type Charge = Full | { readonly id: string; readonly used: readonly number[] };

/** A meter behind its time limit, whose answers are checked. */
export interface MeterLink {
  readonly meter: CapsMeter;
  readonly timeoutMs: number;
  /** Charges under the call id, or under `<callId>.<n>` where that was used up: each transmission is paid for. */
  charge(
    tenant: string,
    callId: string,
    counters: readonly Counter[],
  ): Promise<
    { readonly ok: true; readonly outcome: Charge } | { readonly ok: false; readonly problem: MeterProblem }
  >;
  usage(tenant: string, counters: readonly Counter[]): Promise<MeterAnswer<readonly Usage[]>>;
  /** Gives a charge back whose call was never sent. Without an answer the units stay charged. */
  refund(tenant: string, id: string): Promise<void>;
}

/** A call that was sent so often is not a retry after a lost answer. */
const MAX_TRANSMISSIONS = 100;

/** Puts a time limit before a meter. */
export function linkMeter(meter: CapsMeter, timeoutMs: number): MeterLink {
  const link = { meter, timeoutMs };
  return {
    ...link,
    async charge(tenant, callId, counters) {
      for (let transmission = 0; transmission < MAX_TRANSMISSIONS; transmission += 1) {
        const id = transmission === 0 ? callId : `${callId}.${transmission}`;
        const asked = await askMeter(link, () => meter.reserve(tenant, id, counters));
        if (!asked.ok) return asked;
        const answer: unknown = asked.answer;
        if (isObject(answer) && answer.reused === true) continue;
        const outcome = readCharge(answer, id, counters);
        return outcome ? { ok: true, outcome } : { ok: false, problem: 'unreachable' };
      }
      return { ok: false, problem: 'unreachable' };
    },
    async usage(tenant, counters) {
      const asked = await askMeter(link, () => meter.usage(tenant, counters));
      if (!asked.ok || areUsages(asked.answer, counters.length)) return asked;
      return { ok: false, problem: 'unreachable' };
    },
    async refund(tenant, id) {
      await askMeter(link, () => meter.refundUnsent(tenant, id));
    },
  };
}

/** Asks a meter once. An exception or an answer after the time limit is no answer. */
export async function askMeter<Answer>(
  { meter, timeoutMs }: Pick<MeterLink, 'meter' | 'timeoutMs'>,
  ask: (meter: CapsMeter) => Promise<Answer>,
): Promise<MeterAnswer<Answer>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<MeterAnswer<Answer>>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, problem: 'timeout' }), timeoutMs);
  });
  try {
    return await Promise.race([ask(meter).then((answer) => ({ ok: true as const, answer })), late]);
  } catch (error) {
    return { ok: false, problem: error instanceof MeterError ? error.problem : 'unreachable' };
  } finally {
    clearTimeout(timer);
  }
}

function readCharge(answer: unknown, id: string, counters: readonly Counter[]): Charge | undefined {
  if (!isObject(answer)) return undefined;
  if (answer.reserved === true) {
    const { used } = answer;
    return Array.isArray(used) && used.length === counters.length && used.every(isUse)
      ? { id, used }
      : undefined;
  }
  const { full, used, retryAtMs } = answer;
  const isIndex = isCount(full) && full < counters.length;
  return isIndex && isUse(used) && isInstant(retryAtMs) ? { full, used, retryAtMs } : undefined;
}

function areUsages(answer: unknown, length: number): boolean {
  return (
    Array.isArray(answer) &&
    answer.length === length &&
    answer.every((usage) => isObject(usage) && isUse(usage.used) && isInstant(usage.retryAtMs))
  );
}

/** A counter whose cap was lowered may have been used beyond any count. */
function isUse(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** An instant that `Date` can hold, or none. */
function isInstant(value: unknown): value is number | null {
  return value === null || (typeof value === 'number' && value >= 0 && value <= 8_640_000_000_000_000);
}
