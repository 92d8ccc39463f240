import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hotCall, type Records } from '../../../platform/db/hot-writes.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';
import type { PagePosition } from '../../../platform/paging.ts';
import { grantEndsOf } from '../grants/grants.queries.ts';
import { type NewAllocationRow, newAllocation } from './budgets.queries.ts';
import type { AllocationRow, TransactionRow } from './budgets.rules.ts';
import type { BudgetAllocationQuery } from './budgets.schema.ts';

/** A grant of a chain, with its allocation if it has one. */
export interface ChainRow {
  readonly grantId: string;
  readonly status: 'active' | 'revoked';
  readonly expiresAt: Date;
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly purpose: string | null;
  readonly allocationId: string | null;
  readonly currency: string | null;
  readonly initial: string | null;
  readonly remaining: string | null;
  readonly announced: number | null;
}

const chain = lookUp<ChainRow, [developerId: string, grantId: string]>(
  'budget_chain',
  `select grant_id as "grantId", status, expires_at as "expiresAt", agent_id as "agentId", agent_did as "agentDid",
     principal_id as "principalId", purpose, allocation_id as "allocationId", currency, initial_units as initial,
     remaining_units as remaining, announced
   from budget_chain($1, $2)`,
);

/** A grant and those above it, the grant first; none when the grant is out of reach. */
export async function listChain(db: Executor, { tenant, agentIds }: Reach, grantId: string) {
  const rows = await chain(db, tenant.developerId, grantId);
  const isWithin = agentIds === null || agentIds.includes(rows[0]?.agentId ?? '');
  return isWithin ? rows : [];
}

type AllocationRefusal = 'revoked' | 'expired' | 'allocated' | 'currency_mismatch' | 'insufficient' | null;

/** A hot write. @returns why it wrote nothing, or null */
export function insertAllocation(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { allocation, records }: { allocation: NewAllocationRow; records: Records },
): Promise<AllocationRefusal> {
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: hotCall('write_allocation', newAllocation(tenant, allocation, at)),
    turn: `budget ${allocation.grantId}`,
  });
}

function allocations(db: Executor, { tenant, agentIds }: Reach) {
  const all = db
    .selectFrom('budgetAllocations as allocation')
    .innerJoin(grantEndsOf(db, tenant), 'grant.grantId', 'allocation.grantId')
    .select(['allocation.id', 'allocation.developerId', 'allocation.grantId', 'allocation.currency'])
    .select(['allocation.initialUnits as initial', 'allocation.remainingUnits as remaining'])
    .select(['allocation.createdAt', 'allocation.updatedAt'])
    .select(['grant.agentId', 'grant.grantStatus', 'grant.grantExpiresAt'])
    .where('allocation.developerId', '=', tenant.developerId);
  return agentIds ? all.where('grant.agentId', 'in', agentIds) : all;
}

export function findAllocation(
  db: Executor,
  reach: Reach,
  grantId: string,
): Promise<AllocationRow | undefined> {
  return allocations(db, reach).where('allocation.grantId', '=', grantId).executeTakeFirst();
}

/** Newest first. */
export function listAllocationRows(
  db: Executor,
  reach: Reach,
  { status, cursor, limit }: BudgetAllocationQuery,
  now: Date,
) {
  let page = allocations(db, reach);
  if (status === 'closed') {
    page = page.where(({ eb, or }) =>
      or([eb('grant.grantStatus', '=', 'revoked'), eb('grant.grantExpiresAt', '<=', now)]),
    );
  } else if (status) {
    page = page
      .where('grant.grantStatus', '=', 'active')
      .where('grant.grantExpiresAt', '>', now)
      .where('allocation.remainingUnits', status === 'exhausted' ? '=' : '>', '0');
  }
  if (cursor) page = page.where('allocation.id', '<', cursor);
  return readPage<AllocationRow>(db, page.orderBy('allocation.id', 'desc'), limit);
}

const transactions = (db: Executor, { developerId }: Tenant, allocationId: string) =>
  db
    .selectFrom('budgetTransactions')
    .where('developerId', '=', developerId)
    .where('allocationId', '=', allocationId);

const shown = [
  ...(['id', 'grantId', 'allocationId', 'amountUnits as amount', 'balanceUnits as balanceAfter'] as const),
  ...(['description', 'metadata', 'sourceTransactionId', 'sourceGrantId', 'refundOf', 'createdAt'] as const),
] as const;

/** Newest first. */
export function listTransactionRows(
  db: Executor,
  tenant: Tenant,
  allocationId: string,
  { pageSize, offset, cursor }: PagePosition,
) {
  const all = transactions(db, tenant, allocationId).select(shown);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage<TransactionRow>(db, page.orderBy('id', 'desc').offset(offset), pageSize);
}

export async function countTransactions(db: Executor, tenant: Tenant, allocationId: string) {
  const counted = transactions(db, tenant, allocationId).select(({ fn }) =>
    fn.countAll<string>().as('total'),
  );
  return Number((await counted.executeTakeFirstOrThrow()).total);
}

export function findTransaction(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('budgetTransactions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The rows of a debit, one for each allocation that it concerns. */
export function listRowsOfDebit(db: Executor, { developerId }: Tenant, transactionId: string) {
  const rows = db.selectFrom('budgetTransactions').selectAll().where('developerId', '=', developerId);
  // Two look-ups by keys: one search with `or` would read all transactions of the developer.
  return rows
    .where('id', '=', transactionId)
    .unionAll(rows.where('sourceTransactionId', '=', transactionId))
    .execute();
}

const ledger = statement<
  { allocations: string; faults: { allocationId: string; fault: string }[] },
  [developerId: string]
>(
  'find_budget_faults',
  `select (select count(*) from budget_allocations where developer_id = $1) as allocations,
     array(select jsonb_build_object('allocationId', f.allocation_id, 'fault', f.fault)
           from find_budget_faults($1) f order by 1 limit 100) as faults`,
);

/** Adds up all entries of a developer. */
export async function addUpLedger(db: Executor, { developerId }: Tenant) {
  const [sums] = await ledger(db, developerId);
  return { allocations: Number(sums?.allocations), faults: sums?.faults ?? [] };
}

/** Erases rows of a closed account. */
export const eraseBudgets = eraserOf('budget_entries', 'budget_transactions', 'budget_allocations');

/** The part of a movement that concerns one allocation of a chain. */
interface Step {
  readonly id: string;
  readonly transactionId: string;
  /** The row of the nearest allocation; null in that row itself. */
  readonly sourceTransactionId: string | null;
  /** The grant that was debited; null in the row of its own allocation. */
  readonly sourceGrantId: string | null;
  /** The text that stands for what remains, in the acts. */
  readonly stands: string;
}

export interface DebitStep extends Step {
  /** Places of acts: of the debit, and of each share spent that may be announced, by its percentage. */
  readonly debited: number;
  readonly shares: Readonly<Record<string, number>>;
}

interface RefundStep extends Step {
  readonly refundOf: string;
}

interface Movement<Steps extends Step> {
  /** The amount, in billionths; null for all that is left of a debit. */
  readonly units: string | null;
  readonly description: string;
  readonly metadata: object;
  /** Root first. */
  readonly allocations: readonly Steps[];
}

type DebitWrite = Movement<DebitStep> & {
  /** The ids of the grant and those above it. */
  readonly chain: readonly string[];
};

type RefundWrite = Movement<RefundStep> & {
  readonly refundOf: string;
  /** The text that stands for the refunded amount, in the acts. */
  readonly stands: string;
};

/** The rest of each allocation by the text that stands for it, or why nothing was written. */
type Written = { readonly fills: Readonly<Record<string, string>> } | { readonly refusal: string };

interface Recorded<Write> {
  readonly write: Write;
  readonly records: Records;
  readonly rootGrantId: string;
}

/** A hot write. @returns `changed` when an allocation or an act is missing, and has written nothing */
export async function writeDebit(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { write, records, rootGrantId }: Recorded<DebitWrite>,
): Promise<Written> {
  const fact = hotCall('write_debit', { ...write });
  return toWritten(await records.writeChosen(db, { tenant, at, fact, turn: turnOf(rootGrantId) }));
}

/** A hot write. */
export async function writeRefund(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { write, records, rootGrantId }: Recorded<RefundWrite>,
): Promise<Written> {
  const fact = hotCall('write_refund', { ...write });
  return toWritten(await records.writeChosen(db, { tenant, at, fact, turn: turnOf(rootGrantId) }));
}

/** Before all other turns: trees of grants in one order. */
const turnOf = (rootGrantId: string) => `budget ${rootGrantId}`;

const toWritten = (outcome: Awaited<ReturnType<Records['writeChosen']>>): Written =>
  'made' in outcome ? { fills: outcome.made.fills } : outcome;
