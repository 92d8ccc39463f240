import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hotCall } from '../../../platform/db/hot-writes.ts';
import type { Records } from '../../../platform/db/records.ts';

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

export interface RefundStep extends Step {
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

export type DebitWrite = Movement<DebitStep> & {
  /** The ids of the grant and those above it. */
  readonly chain: readonly string[];
};

export type RefundWrite = Movement<RefundStep> & {
  readonly refundOf: string;
  /** The text that stands for the refunded amount, in the acts. */
  readonly stands: string;
};

/** The rest of each allocation by the text that stands for it, or why nothing was written. */
export type Written = { readonly fills: Readonly<Record<string, string>> } | { readonly refusal: string };

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
