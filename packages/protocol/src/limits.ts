import { readAmount, writeAmount } from './amounts.ts';
import { isObject } from './arguments/rules.ts';
import type { Digest } from './audit-parts.ts';
import { encodeBase64url } from './base64url.ts';
import { canonicalJson } from './canonical-json.ts';
import { isCount } from './counts.ts';
import { BUDGET, windowMs } from './enforcement/counters.ts';
import { type CapWindow, capWindows, TOOLS_TYPE } from './tools-entry.ts';

/** An audit entry as far as limits need it. */
export interface LimitEntry {
  readonly seq: number;
  readonly action: string;
  readonly status: string;
  readonly agentId?: string | null;
  readonly grantId?: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How many members of the metadata are not shown. */
  readonly hidden?: number;
  /** As in an export: some members were erased. */
  readonly erased?: true;
}

/** A cap of a grant and the most units that calls of the grant and its descendants took in any window. */
export interface CapUse {
  readonly grantId: string;
  readonly connector: string;
  /** Absent for the cap on cost units. */
  readonly tool?: string;
  readonly window: CapWindow;
  readonly limit: number;
  readonly peak: number;
}

/** A budget of a grant and the most that the grant and its descendants had spent of it. */
export interface BudgetUse {
  readonly grantId: string;
  readonly allocationId: string;
  readonly currency: string;
  readonly limit: string;
  readonly peak: string;
  readonly spent: string;
}

/** The first entry that breaks a limit, or that says another balance than the entries before it add up to. */
export interface LimitFault {
  readonly seq: number;
  readonly grantId: string;
  readonly problem: 'cap_exceeded' | 'not_counted' | 'budget_exceeded' | 'balance_differs';
}

export interface LimitsReport {
  /** Whether no limit was ever exceeded; null where entries are not shown, so that nobody can tell. */
  readonly holds: boolean | null;
  readonly first: LimitFault | null;
  /** The calls that were counted, without those of which the units were given back. */
  readonly calls: number;
  readonly refunded: number;
  /** The entries of which too little is shown. */
  readonly unread: number;
  readonly caps: readonly CapUse[];
  readonly budgets: readonly BudgetUse[];
}

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
  return count.report(withheld);
}

/** The hash of a report in canonical JSON, in base64url. The statement of a receipt has it, signed. */
export const digestOfLimits = (report: LimitsReport, sha256: Digest): string =>
  encodeBase64url(sha256(new TextEncoder().encode(canonicalJson(report))));

/** The check of entries that arrive one by one, in the order of `seq`. */
export interface LimitsCount {
  add(entry: LimitEntry): void;
  report(withheld?: number): LimitsReport;
}

/** Begins a check as `checkLimits` makes it, for entries that do not arrive at once. */
export function countLimits(): LimitsCount {
  const tree: Tree = {
    ...{ grants: new Map(), allocations: new Map(), caps: [] },
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

function reportOf(tree: Tree, found: readonly LimitFault[], unread: number): LimitsReport {
  const caps = tree.caps.map(measured);
  const overCaps = caps.flatMap(({ over, use: { grantId } }) =>
    over === undefined ? [] : [{ seq: over, grantId, problem: 'cap_exceeded' as const }],
  );
  const [first = null] = [...found, ...overCaps, ...unmatched(tree)].sort(
    (one, other) => one.seq - other.seq,
  );
  const refunded = tree.charges.filter(({ held }) => held.isRefunded).length;
  return {
    holds: unread > 0 ? null : first === null,
    first: unread > 0 ? null : first,
    calls: tree.charges.length - refunded,
    refunded,
    unread,
    caps: caps.map(({ use }) => use),
    budgets: [...tree.allocations.values()].map(budgetUse),
  };
}

interface Grant {
  readonly id: string;
  readonly parent: Grant | undefined;
  /** The grants above it. */
  readonly depth: number;
  /** By connector and tool, as `keyOf` names them. */
  readonly caps: ReadonlyMap<string, readonly CapCount[]>;
  /** Those of the grants above it too, once a call has asked. */
  readonly counted: Map<string, readonly CapCount[]>;
  allocation?: Allocation;
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
}

interface CapCount extends Omit<CapUse, 'peak'> {
  /** The units of each charge; `ofCase` tells the counters of a cap by case apart. */
  readonly uses: { readonly charge: Charge; readonly units: number; readonly ofCase: string }[];
}

interface Allocation extends Pick<BudgetUse, 'grantId' | 'allocationId' | 'currency'> {
  readonly seq: number;
  readonly grant: Grant;
  readonly limit: bigint;
  /** The debits by their transaction. */
  readonly debits: Map<string, { readonly seq: number; readonly units: bigint; refunded: bigint }>;
  spent: bigint;
  peak: bigint;
}

interface Tree {
  readonly grants: Map<string, Grant>;
  readonly allocations: Map<string, Allocation>;
  readonly caps: CapCount[];
  readonly charges: Charge[];
  /** The newest under each id of a call. */
  readonly held: Map<string, Held>;
  /** How often each case was closed for a grant. */
  readonly closings: Map<string, number>;
}

const isPartial = ({ hidden = 0, erased }: LimitEntry) => hidden > 0 || erased === true;

type Problem = LimitFault['problem'] | 'unread' | undefined;

function follow(tree: Tree, entry: LimitEntry): Problem {
  if (entry.action === 'grant.created') return addGrant(tree, entry);
  if (entry.action === 'tool.enforce') return count(tree, entry);
  if (entry.action === 'tool.refunded') return refund(tree, entry);
  if (entry.action === 'case.caps_reset') return close(tree, entry);
  if (entry.action === 'budget.allocated') return allocate(tree, entry);
  if (entry.action === 'budget.debited' || entry.action === 'budget.refunded') return move(tree, entry);
  return undefined;
}

/** No chain of grants is as long. A forged one could make the check slow. */
const MAX_DEPTH = 64;

const keyOf = (...names: readonly unknown[]) => JSON.stringify(names);

function addGrant(tree: Tree, entry: LimitEntry): Problem {
  const { grantId, metadata } = entry;
  const { parentGrantId, authorizationDetails, delegationDepth } = metadata;
  const parent = tree.grants.get(String(parentGrantId));
  if (!grantId || tree.grants.has(grantId)) return undefined;
  const depth = parent ? parent.depth + 1 : 0;
  const own = Array.isArray(authorizationDetails) ? authorizationDetails.flatMap(capsIn) : [];
  const caps = own.map((cap): CapCount => ({ grantId, ...cap, uses: [] }));
  const byTool = Map.groupBy(caps, ({ connector, tool = null }) => keyOf(connector, tool));
  tree.grants.set(grantId, { id: grantId, parent, depth, caps: byTool, counted: new Map() });
  tree.caps.push(...caps);
  const isCut = parentGrantId !== undefined && !parent;
  const mayHide =
    authorizationDetails === undefined || (parentGrantId === undefined && delegationDepth !== 0);
  return isCut || depth > MAX_DEPTH || (mayHide && isPartial(entry)) ? 'unread' : undefined;
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

/** The caps of a grant and of those above it on one tool, or, with null, on cost units. */
function capsFor(grant: Grant, connector: unknown, tool: unknown): readonly CapCount[] {
  const key = keyOf(connector, tool);
  const known = grant.counted.get(key);
  if (known) return known;
  const caps: CapCount[] = [];
  for (let each: Grant | undefined = grant; each && each.depth <= MAX_DEPTH; each = each.parent)
    caps.push(...(each.caps.get(key) ?? []));
  grant.counted.set(key, caps);
  return caps;
}

function count(tree: Tree, entry: LimitEntry): Problem {
  const { seq, status, agentId, grantId, metadata } = entry;
  if (status !== 'success' || !grantId || metadata.checkOnly === true) return undefined;
  const { connector, tool, charge: charged, caseId, callId, actionHash } = metadata;
  const grant = tree.grants.get(grantId);
  if (!grant || ([connector, tool].includes(undefined) && isPartial(entry))) return 'unread';
  const caps = capsFor(grant, connector, tool);
  if (charged === undefined && caps.length === 0) return undefined;
  const { at, id = callId, units = 0 } = Object(charged);
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(time) || !isCount(units)) return isPartial(entry) ? 'unread' : 'not_counted';

  const key = keyOf(agentId, id);
  const before = tree.held.get(key);
  const held = before?.at === time ? before : { at: time, actions: new Set(), isRefunded: false };
  if (held.actions.has(actionHash)) return undefined; // the same call again
  held.actions.add(actionHash);
  tree.held.set(key, held);
  const charge = { seq, held };
  tree.charges.push(charge);
  const take = (cap: CapCount, taken: number) => {
    const isByCase = cap.window === 'per_case';
    const closing = isByCase && tree.closings.get(keyOf(cap.grantId, caseId));
    cap.uses.push({ charge, units: taken, ofCase: isByCase ? keyOf(caseId, closing || 0) : '' });
  };
  for (const cap of caps) take(cap, 1);
  if (units > 0) for (const cap of capsFor(grant, connector, null)) take(cap, units);
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
function close(tree: Tree, { grantId, metadata }: LimitEntry): Problem {
  const key = keyOf(grantId, metadata.caseId);
  tree.closings.set(key, (tree.closings.get(key) ?? 0) + 1);
  return metadata.caseId === undefined ? 'unread' : undefined;
}

function measured({ uses, ...cap }: CapCount): { readonly use: CapUse; readonly over: number | undefined } {
  const span = windowMs[cap.window] || Number.POSITIVE_INFINITY;
  const counted = uses.filter(({ charge }) => !charge.held.isRefunded);
  let peak = 0;
  let over: number | undefined;
  for (const ofCase of Map.groupBy(counted, (use) => use.ofCase).values()) {
    const inOrder = ofCase.sort((one, other) => one.charge.held.at - other.charge.held.at);
    let [sum, from] = [0, 0];
    for (const { charge, units } of inOrder) {
      sum += units;
      for (
        let oldest = inOrder[from];
        oldest && oldest.charge.held.at + span <= charge.held.at;
        oldest = inOrder[from]
      ) {
        sum -= oldest.units;
        from += 1;
      }
      peak = Math.max(peak, sum);
      if (sum > cap.limit) over = Math.min(over ?? charge.seq, charge.seq);
    }
  }
  return { use: { ...cap, peak }, over };
}

/** Billionths; zero for what is no amount above zero. */
const unitsOf = (amount: unknown): bigint => (typeof amount === 'string' && readAmount(amount)) || 0n;

function allocate(tree: Tree, entry: LimitEntry): Problem {
  const { seq, grantId, metadata } = entry;
  const { allocationId, currency, initialBudget } = metadata;
  const grant = tree.grants.get(String(grantId));
  if (!grant || ([allocationId, currency, initialBudget].includes(undefined) && isPartial(entry)))
    return 'unread';
  if (grant.allocation) return 'balance_differs';
  const limit = unitsOf(initialBudget);
  const named = { grantId: grant.id, allocationId: String(allocationId), currency: String(currency) };
  const made = { ...named, seq, grant, limit, debits: new Map(), spent: 0n, peak: 0n };
  grant.allocation = made;
  tree.allocations.set(made.allocationId, made);
  return undefined;
}

/** The nearest allocation above a grant that was there before an entry. */
function allocationAbove({ parent }: Grant, seq: number): Allocation | undefined {
  for (let each = parent; each && each.depth <= MAX_DEPTH; each = each.parent)
    if (each.allocation && each.allocation.seq < seq) return each.allocation;
  return undefined;
}

function move(tree: Tree, entry: LimitEntry): Problem {
  const { seq, action, metadata } = entry;
  const { allocationId, amount, remaining, transactionId, refundOf } = metadata;
  const from = tree.allocations.get(String(allocationId));
  if (!from || ([amount, remaining, transactionId].includes(undefined) && isPartial(entry))) return 'unread';
  const units = unitsOf(amount);
  if (action === 'budget.debited') {
    from.debits.set(String(transactionId), { seq, units, refunded: 0n });
    from.spent += units;
    if (from.spent > from.peak) from.peak = from.spent;
    if (from.spent > from.limit) return 'budget_exceeded';
  } else {
    const debit = from.debits.get(String(refundOf));
    if (!debit) return isPartial(entry) ? 'unread' : 'balance_differs';
    debit.refunded += units;
    from.spent -= units;
    if (debit.refunded > debit.units) return 'balance_differs';
  }
  return unitsOf(remaining) === from.limit - from.spent ? undefined : 'balance_differs';
}

/** The last debits of allocations of which more was spent than was taken from the allocation above them. */
function unmatched({ allocations }: Tree): LimitFault[] {
  const passedOn = new Map<Allocation, { units: bigint; seq: number; grantId: string }>();
  for (const { grant, debits } of allocations.values()) {
    for (const { seq, units, refunded } of debits.values()) {
      const above = allocationAbove(grant, seq);
      const sum = above && (passedOn.get(above)?.units ?? 0n) + units - refunded;
      if (above && sum !== undefined) passedOn.set(above, { units: sum, seq, grantId: grant.id });
    }
  }
  return [...passedOn].flatMap(([above, { units, seq, grantId }]) =>
    units > above.spent ? [{ seq, grantId, problem: 'balance_differs' as const }] : [],
  );
}

const budgetUse = ({ grantId, allocationId, currency, limit, peak, spent }: Allocation): BudgetUse => ({
  ...{ grantId, allocationId, currency },
  ...{ limit: writeAmount(limit), peak: writeAmount(peak), spent: writeAmount(spent) },
});
