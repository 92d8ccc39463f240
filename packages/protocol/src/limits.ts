import { isObject } from './arguments/rules.ts';
import { isCount } from './counts.ts';
import { BUDGET, windowMs } from './enforcement/counters.ts';
import { allocate, type BudgetedGrant, type Budgets, budgetUse, move, unmatched } from './limits-budgets.ts';
import {
  type CapUse,
  isPartial,
  type LimitEntry,
  type LimitFault,
  type LimitsReport,
  MAX_DEPTH,
  type Problem,
} from './limits-report.ts';
import { capWindows, TOOLS_TYPE } from './tools-entry.ts';

/**
 * Recomputes from the entries of a tree of grants how far each cap and each budget was used. A window is any span of its
 * length, up to the end of which a call was charged; the time is that of the store that counts, which the entry has. A call
 * whose units were given back, because it was never sent, does not count. A call that is repeated counts once.
 *
 * The caps of manifests are not among them: calls of other trees count against them too. Nor are calls that an enforcer
 * allowed by itself, because the service has no entry of them.
 *
 * @param entries in the order of `seq`
 * @param withheld how many entries of the tree are not shown at all
 * @example
 * ```ts
 * const { holds, first, caps } = checkLimits(entries);
 * if (holds === false) throw new Error(`Entry ${first?.seq} exceeds a limit: ${first?.problem}`);
 * ```
 */
export function checkLimits(entries: Iterable<LimitEntry>, withheld = 0): LimitsReport {
  const count = countLimits();
  for (const entry of entries) count.add(entry);
  const steps = count.report(withheld);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The check of entries that arrive one by one, in the order of `seq`. */
export interface LimitsCount {
  add(entry: LimitEntry): void;
  /** Works the report out in steps of a few milliseconds, between which a server lets others go first. */
  report(withheld?: number): Generator<void, LimitsReport>;
}

/** Begins a check as `checkLimits` makes it, for entries that do not arrive at once. */
export function countLimits(): LimitsCount {
  const tree: Tree = {
    ...{ grants: new Map(), allocations: new Map(), caps: [], uses: 0 },
    ...{ charges: [], held: new Map(), closings: new Map() },
  };
  const faults: LimitFault[] = [];
  let hidden = 0;
  return {
    add(entry) {
      const problem = follow(tree, entry);
      if (problem === 'unread') hidden += 1;
      else if (problem) faults.push({ seq: entry.seq, grantId: String(entry.grantId), problem });
    },
    report: (withheld = 0) => reportOf(tree, faults, hidden + withheld),
  };
}

/** Uses that are looked at in one step. */
const STEP = 50_000;

function* reportOf(tree: Tree, found: readonly LimitFault[], unread: number): Generator<void, LimitsReport> {
  const caps: CapUse[] = [];
  const faults = [...found];
  let counted = 0;
  for (const cap of tree.caps) {
    const { taken, ...named } = cap;
    const { peak, over } = measured(cap, tree);
    caps.push({ ...named, peak });
    if (over !== undefined) faults.push({ seq: over, grantId: cap.grantId, problem: 'cap_exceeded' });
    counted += 10 + taken.reduce((sum, { length }) => sum + length, 0);
    if (counted < STEP) continue;
    counted = 0;
    yield;
  }
  for (const fault of yield* unmatched(tree)) faults.push(fault);
  const first = faults.reduce<LimitFault | null>(
    (least, fault) => (least === null || fault.seq < least.seq ? fault : least),
    null,
  );
  const refunded = tree.charges.filter(({ held }) => held.isRefunded).length;
  return {
    holds: unread > 0 ? null : first === null,
    first: unread > 0 ? null : first,
    calls: tree.charges.length - refunded,
    refunded,
    unread,
    caps,
    budgets: [...tree.allocations.values()].map(budgetUse),
  };
}

interface Grant extends BudgetedGrant {
  readonly parent: Grant | undefined;
  /** By connector and tool, as `keyOf` names them. */
  readonly caps: ReadonlyMap<string, readonly CapCount[]>;
  /** What its own calls took from these caps and those of the grants above it, once a call has asked. */
  readonly counted: Map<string, Taken>;
}

/** What the calls of one grant took from the same caps. */
interface Taken {
  /** The number of these caps. */
  readonly caps: number;
  readonly uses: { readonly charge: Charge; readonly units: number }[];
}

/** Units that a meter holds under an id from one time on. */
interface Held {
  readonly at: number;
  readonly actions: Set<unknown>;
  isRefunded: boolean;
}

/** A call of which units were taken. */
interface Charge {
  readonly seq: number;
  readonly held: Held;
  /** The case, as `keyOf` names it. */
  readonly ofCase: string;
}

interface CapCount extends Omit<CapUse, 'peak'> {
  /** Of each grant below whose calls count. */
  readonly taken: Taken['uses'][];
}

interface Tree extends Budgets {
  readonly grants: Map<string, Grant>;
  readonly caps: CapCount[];
  readonly charges: Charge[];
  /** The newest under each id of a call. */
  readonly held: Map<string, Held>;
  /** The entries that closed cases, by grant and case. */
  readonly closings: Map<unknown, Map<string, number[]>>;
  /** The pairs of a call and a cap that it counts against. */
  uses: number;
}

function follow(tree: Tree, entry: LimitEntry): Problem {
  if (entry.action === 'grant.created') return addGrant(tree, entry);
  if (entry.action === 'tool.enforce') return count(tree, entry);
  if (entry.action === 'tool.refunded') return refund(tree, entry);
  if (entry.action === 'case.caps_reset') return close(tree, entry);
  if (entry.action === 'budget.allocated') return allocate(tree, entry);
  if (entry.action === 'budget.debited' || entry.action === 'budget.refunded') return move(tree, entry);
  return undefined;
}

/**
 * So many are counted, and what comes after them is unread: 100,000 calls eleven grants deep, each against three caps and three
 * on cost units, are seven million uses.
 */
const MAX_USES = 10_000_000;
const MAX_CAPS = 100_000;

const keyOf = (...names: readonly unknown[]) => JSON.stringify(names);

function addGrant(tree: Tree, entry: LimitEntry): Problem {
  const { grantId, metadata } = entry;
  const { parentGrantId, authorizationDetails, delegationDepth } = metadata;
  const parent = tree.grants.get(String(parentGrantId));
  if (!grantId || tree.grants.has(grantId)) return undefined;
  const depth = parent ? parent.depth + 1 : 0;
  const own = Array.isArray(authorizationDetails) ? authorizationDetails.flatMap(capsIn) : [];
  const isRoom = tree.caps.length + own.length <= MAX_CAPS;
  const caps = isRoom ? own.map((cap): CapCount => ({ grantId, ...cap, taken: [] })) : [];
  const byTool = Map.groupBy(caps, ({ connector, tool = null }) => keyOf(connector, tool));
  tree.grants.set(grantId, { id: grantId, parent, depth, caps: byTool, counted: new Map() });
  for (const cap of caps) tree.caps.push(cap);
  const isCut = parentGrantId !== undefined && !parent;
  const mayHide =
    authorizationDetails === undefined || (parentGrantId === undefined && delegationDepth !== 0);
  return isCut || !isRoom || depth > MAX_DEPTH || (mayHide && isPartial(entry)) ? 'unread' : undefined;
}

function capsIn(detail: unknown): Pick<CapCount, 'connector' | 'tool' | 'window' | 'limit'>[] {
  const { type, connector, caps } = Object(detail);
  if (type !== TOOLS_TYPE || !isObject(caps)) return [];
  // The order of members is not part of JSON, and two readers have to come to the same report.
  const named = Object.entries(caps).sort(([one], [other]) => (one < other ? -1 : 1));
  return named.flatMap(([name, windows]) =>
    capWindows.flatMap((window) => {
      const limit: unknown = Object(windows)[window];
      if (!isCount(limit)) return [];
      return [{ connector: String(connector), ...(name !== BUDGET && { tool: name }), window, limit }];
    }),
  );
}

/** What a grant took from its caps and those above it on one tool, or, with null, on cost units. */
function takenBy(tree: Tree, grant: Grant, names: readonly [connector: unknown, tool: unknown]): Taken {
  const key = keyOf(...names);
  const known = grant.counted.get(key);
  if (known) return known;
  const uses: Taken['uses'] = [];
  let caps = 0;
  for (let each: Grant | undefined = grant; each && each.depth <= MAX_DEPTH; each = each.parent) {
    const own = each.caps.get(key) ?? [];
    caps += own.length;
    if (tree.uses + caps > MAX_USES) break; // no call of the grant has room either
    for (const cap of own) cap.taken.push(uses);
  }
  const taken = { caps, uses };
  grant.counted.set(key, taken);
  tree.uses += caps;
  return taken;
}

function count(tree: Tree, entry: LimitEntry): Problem {
  const { seq, status, agentId, grantId, metadata } = entry;
  if (status !== 'success' || !grantId || metadata.checkOnly === true) return undefined;
  const { connector, tool, charge: charged, caseId, callId, actionHash } = metadata;
  const grant = tree.grants.get(grantId);
  if (!grant || ([connector, tool].includes(undefined) && isPartial(entry))) return 'unread';
  const taken = takenBy(tree, grant, [connector, tool]);
  if (charged === undefined && taken.caps === 0) return undefined;
  const { at, id = callId, units = 0 } = Object(charged);
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(time) || !isCount(units)) return isPartial(entry) ? 'unread' : 'not_counted';

  const key = keyOf(agentId, id);
  const before = tree.held.get(key);
  const held = before?.at === time ? before : { at: time, actions: new Set(), isRefunded: false };
  if (held.actions.has(actionHash)) return undefined; // the same call again
  const costs = units > 0 ? takenBy(tree, grant, [connector, null]) : undefined;
  const uses = taken.caps + (costs?.caps ?? 0);
  if (tree.uses + uses > MAX_USES) return 'unread';
  tree.uses += uses;
  held.actions.add(actionHash);
  tree.held.set(key, held);
  const charge = { seq, held, ofCase: keyOf(caseId) };
  tree.charges.push(charge);
  taken.uses.push({ charge, units: 1 });
  costs?.uses.push({ charge, units });
  return undefined;
}

/** The newest units under an id are free again. They may all be those of caps of a manifest. */
function refund(tree: Tree, entry: LimitEntry): Problem {
  const { callId } = entry.metadata;
  const newest = tree.held.get(keyOf(entry.agentId, callId));
  if (newest) newest.isRefunded = true;
  return callId === undefined && isPartial(entry) ? 'unread' : undefined;
}

/** The caps by case of a grant begin from zero for this case. */
function close(tree: Tree, { seq, grantId, metadata }: LimitEntry): Problem {
  const ofGrant = tree.closings.get(grantId) ?? new Map<string, number[]>();
  const key = keyOf(metadata.caseId);
  const before = ofGrant.get(key);
  if (before) before.push(seq);
  else tree.closings.set(grantId, ofGrant.set(key, [seq]));
  return metadata.caseId === undefined ? 'unread' : undefined;
}

interface Measured {
  readonly peak: number;
  /** The first entry that went over. */
  readonly over: number | undefined;
}

/** How far the calls of the grant and all below it used a cap. */
function measured(cap: CapCount, { closings }: Tree): Measured {
  const span = windowMs[cap.window];
  const inOrder = cap.taken
    .flatMap((uses) => uses.filter(({ charge }) => !charge.held.isRefunded))
    .sort(({ charge: one }, { charge: other }) => one.held.at - other.held.at || one.seq - other.seq);
  const ended = closings.get(cap.grantId);
  const cases = new Map<string, number>();
  let [sum, from, peak] = [0, 0, 0];
  let over: number | undefined;
  for (const { charge, units } of inOrder) {
    if (cap.window === 'per_case') {
      const closed = ended?.get(charge.ofCase);
      const ofCase = closed ? `${placeIn(closed, charge.seq)} ${charge.ofCase}` : charge.ofCase;
      sum = (cases.get(ofCase) ?? 0) + units;
      cases.set(ofCase, sum);
    } else {
      sum += units;
      for (
        let oldest = inOrder[from];
        oldest && oldest.charge.held.at + span <= charge.held.at;
        oldest = inOrder[from]
      ) {
        sum -= oldest.units;
        from += 1;
      }
    }
    peak = Math.max(peak, sum);
    if (sum > cap.limit) over = Math.min(over ?? charge.seq, charge.seq);
  }
  return { peak, over };
}

/** How many of ascending numbers are below one. */
function placeIn(numbers: readonly number[], one: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < one) low = middle + 1;
    else high = middle;
  }
  return low;
}
