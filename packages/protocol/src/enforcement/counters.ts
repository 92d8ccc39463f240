import { MAX_COUNT } from '../counts.ts';
import type { Windows } from '../manifest/manifest.ts';
import { capWindows } from '../tools-entry.ts';
import type { CapsByTool } from './entry-parts.ts';
import type { RequestedCall } from './grant-checks.ts';
import type { Counter } from './meter.ts';
import type { ChargedCounter } from './result.ts';

/** A counter of a call with what a denial says about it. */
export interface CallCounter extends Pick<ChargedCounter, 'scope' | 'kind' | 'window' | 'limit'> {
  /** The grant whose cap it is; absent for a cap of the manifest. */
  readonly grantId?: string;
  readonly counter: Counter;
}

/** The length of each window; 0 for a case, whose units never leave it. */
export const windowMs = { per_hour: 3_600_000, per_day: 86_400_000, per_case: 0 };
/** Up to this limit a counter keeps each millisecond apart; above it, a 3,600th of the window. */
const EXACT_LIMIT = 1_000;
const STEPS = 3_600;
/** The name under which the caps of a grant limit cost units. No tool has it. */
export const BUDGET = 'cost_units';

/** The caps that a call counts against, before its case and units are known. */
export interface Metering {
  readonly isMetered: boolean;
  readonly grants: readonly {
    readonly scope: 'grant' | 'ancestor';
    readonly id: string;
    readonly caps: CapsByTool;
  }[];
}

/** Finds the caps of a call: those of the manifest, of the grant, and of each grant above it, the root first. */
export function meteringOf({ token, connector, tool, declared, entry }: RequestedCall): Metering {
  const { entries, claims } = token;
  const above = (entries.ok && entries.ancestors.get(connector)) || [];
  const grants = [
    ...(entry?.caps ? [{ scope: 'grant' as const, id: claims.grantId, caps: entry.caps }] : []),
    ...above.map(({ grant, caps }) => ({ scope: 'ancestor' as const, id: grant, caps })),
  ];
  const applies = ({ caps }: { caps: CapsByTool }) =>
    caps.has(tool) || (caps.has(BUDGET) && !!declared.cost_units);
  return { isMetered: !!declared.caps || !!declared.cost_units || grants.some(applies), grants };
}

/** Tells whether a cap on the calls of a tool is 0, so that no call can pass. */
export function isDisabled(asked: RequestedCall): boolean {
  const caps = [asked.declared.caps, ...meteringOf(asked).grants.map((grant) => grant.caps.get(asked.tool))];
  return caps.some((windows) => Object.values(windows ?? {}).includes(0));
}

/** Adds up the cost units of a call. @returns undefined when the components are not those of the tool */
export function costOf({ declared }: RequestedCall, components: unknown): number | undefined {
  const units = new Map(Object.entries(declared.cost_units ?? {}));
  const named: unknown = components === undefined ? [...units.keys()] : components;
  if (!Array.isArray(named) || new Set(named).size !== named.length) return undefined;
  if (named.length === 0 && units.size > 0) return undefined;
  let cost = 0;
  for (const name of named) {
    const unit = units.get(name);
    if (unit === undefined) return undefined;
    cost += unit;
  }
  return cost <= MAX_COUNT ? cost : undefined;
}

/**
 * Lists the counters of a call in the order in which a denial is looked for. A budget that the call takes nothing from
 * has 0 units: it needs the case, and is not charged.
 *
 * @param caseId undefined when the call names no case; a counter by case then has no usable key
 */
export function countersOf(
  asked: RequestedCall,
  metering: Metering,
  cost: number,
  caseId: string | undefined,
) {
  const { connector, tool, declared } = asked;
  const counters: CallCounter[] = [];
  const add = (
    facts: Pick<CallCounter, 'scope' | 'kind' | 'grantId'>,
    identity: string[],
    units: number,
    caps?: Windows,
  ) => {
    for (const window of capWindows) {
      const limit = caps?.[window];
      if (limit === undefined) continue;
      const isByCase = window === 'per_case';
      const key = JSON.stringify([
        ...identity,
        window,
        ...(isByCase && caseId !== undefined ? [caseId] : []),
      ]);
      counters.push({ ...facts, window, limit, counter: { key, limit, units, ...spans(window, limit) } });
    }
  };
  add({ scope: 'manifest', kind: 'calls' }, ['manifest', connector, tool, 'calls'], 1, declared.caps);
  for (const kind of ['calls', BUDGET] as const) {
    if (kind === BUDGET && !declared.cost_units) continue;
    for (const { scope, id, caps } of metering.grants) {
      const identity = ['grant', id, connector, ...(kind === 'calls' ? [tool, kind] : [kind])];
      const units = kind === 'calls' ? 1 : cost;
      add({ scope, kind, grantId: id }, identity, units, caps.get(kind === 'calls' ? tool : kind));
    }
  }
  return counters;
}

function spans(window: keyof typeof windowMs, limit: number): Pick<Counter, 'windowMs' | 'grainMs'> {
  const span = windowMs[window];
  if (span === 0) return { windowMs: 0, grainMs: 0 };
  return { windowMs: span, grainMs: limit <= EXACT_LIMIT ? 1 : span / STEPS };
}
