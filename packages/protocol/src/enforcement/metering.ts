import { type CallCounter, costOf, countersOf, meteringOf } from './counters.ts';
import type { RequestedCall } from './grant-checks.ts';
import type { Usage } from './meter.ts';
import { askMeter, type Charge, type MeterLink } from './meter-link.ts';
import { type Denial, type Details, deny } from './reasons.ts';
import type { Reservation } from './result.ts';

/** The inputs of check 13 that come with the call. */
export interface CallToMeter {
  readonly caseId: unknown;
  readonly costComponents: unknown;
  readonly callId: string;
  readonly reserve: boolean;
  /** True in `caps_mode` `warn`, where every full counter is named. */
  readonly namesAll: boolean;
}

/** The outcome of check 13. */
export type Metered =
  | { readonly ok: true; readonly reservation: Reservation | null }
  | { readonly ok: false; readonly denials: readonly [Denial, ...Denial[]] };

const FREE: Metered = { ok: true, reservation: null };
const MAX_CASE_ID = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a case id has none
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Tells whether a value is a case id: 1 to 256 code points, no control character. */
export function isCaseId(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || !value.isWellFormed() || CONTROL.test(value)) return false;
  return value.length <= MAX_CASE_ID || [...value].length <= MAX_CASE_ID;
}

/**
 * Check 13, the last: all counters of the call are charged in one operation, or none.
 *
 * @returns without a promise when no cap or cost unit applies, so that a plain call never touches the meter
 */
export function checkCaps(
  asked: RequestedCall,
  call: CallToMeter,
  link: MeterLink | undefined,
): Metered | Promise<Metered> {
  const metering = meteringOf(asked);
  if (!metering.isMetered) return FREE;
  if (!link) return denied(meterUnavailable('none'));
  const { caseId } = call;
  if (caseId !== undefined && !isCaseId(caseId)) return denied(deny('cap_exceeded', 'invalid_case_id'));
  const cost = costOf(asked, call.costComponents);
  if (cost === undefined) return denied(deny('cap_exceeded', 'invalid_cost_component'));
  const all = countersOf(asked, metering, cost, caseId);
  const byCase = all.find(({ window }) => window === 'per_case');
  if (byCase && caseId === undefined) return denied(deny('case_required', null, { scope: byCase.scope }));
  const counters = all.filter(({ counter }) => counter.units > 0);
  return charge({ asked, call, link, counters, units: cost });
}

interface Charging {
  readonly asked: RequestedCall;
  readonly call: CallToMeter;
  readonly link: MeterLink;
  readonly counters: readonly CallCounter[];
  readonly units: number;
}

async function charge(charging: Charging): Promise<Metered> {
  const { asked, call, link, counters, units } = charging;
  const tenant = asked.token.claims.developerId;
  const disabled = counters.filter(({ counter }) => counter.limit === 0 && counter.units > 0);
  if (disabled.length > 0) return deniedAll(charging, (counter) => disabled.includes(counter));
  if (counters.length === 0) {
    const health = await askMeter(link, (meter) => meter.health());
    if (!health.ok) return denied(meterUnavailable(health.problem));
    return health.answer.ok === true ? FREE : denied(meterUnavailable('misconfigured'));
  }
  if (!call.reserve) return look(charging, tenant);
  const charged = await link.charge(
    tenant,
    call.callId,
    counters.map(({ counter }) => counter),
  );
  if (!charged.ok) return denied(meterUnavailable(charged.problem));
  const { outcome } = charged;
  if ('full' in outcome) return full(charging, outcome);
  return { ok: true, reservation: reservationOf(counters, outcome.used, { id: outcome.id, units }) };
}

/** Reports a full counter; in `caps_mode` `warn` with all others that are full. */
async function full(charging: Charging, { full: index, used, retryAtMs }: Extract<Charge, { full: number }>) {
  const first = charging.counters[index];
  if (!first) return denied(meterUnavailable('unreachable'));
  if (!charging.call.namesAll) return denied(limitReached(first, { used, retryAtMs }));
  return deniedAll(charging, (counter) => counter === first, { used, retryAtMs });
}

/** `reserve: false`: reads the counters, and answers as a reservation would. */
async function look({ call, link, counters, units }: Charging, tenant: string): Promise<Metered> {
  const usage = await link.usage(
    tenant,
    counters.map(({ counter }) => counter),
  );
  if (!usage.ok) return denied(meterUnavailable(usage.problem));
  const denials = counters.flatMap((counter, at) => {
    const state = usage.answer[at];
    return state && isFull(counter, state) ? [limitReached(counter, state)] : [];
  });
  const [first, ...others] = denials;
  if (first) return { ok: false, denials: call.namesAll ? [first, ...others] : [first] };
  const used = usage.answer.map((state) => state.used);
  return { ok: true, reservation: reservationOf(counters, used, { id: null, units }) };
}

/** Lists the counters that are full for certain, and in `caps_mode` `warn` those that the meter says are full. */
async function deniedAll(
  { asked, call, link, counters }: Charging,
  isCertain: (counter: CallCounter) => boolean,
  known: Usage = { used: 0, retryAtMs: null },
): Promise<Metered> {
  const certain = counters.filter(isCertain).map((counter) => limitReached(counter, known));
  const [first] = certain;
  if (!call.namesAll && first) return denied(first);
  const tenant = asked.token.claims.developerId;
  const usage = await link.usage(
    tenant,
    counters.map(({ counter }) => counter),
  );
  const denials = counters.flatMap((counter, at) => {
    if (isCertain(counter)) return [limitReached(counter, known)];
    const state = usage.ok ? usage.answer[at] : undefined;
    return state && isFull(counter, state) ? [limitReached(counter, state)] : [];
  });
  const [head, ...rest] = denials;
  return head ? { ok: false, denials: [head, ...rest] } : denied(meterUnavailable('unreachable'));
}

function isFull({ counter }: CallCounter, { used }: Usage): boolean {
  return used + counter.units > counter.limit;
}

function limitReached(
  { scope, kind, window, limit, grantId, counter }: CallCounter,
  { used, retryAtMs }: Usage,
) {
  const details: Details = {
    limit,
    window,
    used,
    requested: counter.units,
    scope,
    kind,
    ...(grantId !== undefined && { grant_id: grantId }),
    retry_at: retryAtMs === null ? null : new Date(retryAtMs).toISOString(),
  };
  return deny('cap_exceeded', 'limit_reached', details);
}

function reservationOf(
  counters: readonly CallCounter[],
  used: readonly number[],
  { id, units }: Pick<Reservation, 'id' | 'units'>,
): Reservation {
  const charged = counters.map(({ scope, kind, window, limit }, at) => {
    const taken = used[at] ?? 0;
    return { scope, kind, window, limit, used: taken, remaining: Math.max(0, limit - taken) };
  });
  return { id, units, counters: charged };
}

function meterUnavailable(cause: string): Denial {
  return deny('cap_exceeded', 'meter_unavailable', { cause });
}

function denied(denial: Denial): Metered {
  return { ok: false, denials: [denial] };
}
