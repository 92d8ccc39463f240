import { writeAmount } from '@behest/protocol/amounts';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { ATTEMPTS, inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import { prepareActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import { type BudgetDeps, insufficient } from './allocate.ts';
import {
  type ChainRow,
  type DebitStep,
  findTransaction,
  listChain,
  listRowsOfDebit,
  writeDebit,
  writeRefund,
} from './budgets.repo.ts';
import { grantInactive, mustBeSmall, unitsOf } from './budgets.rules.ts';
import type { BudgetDebit, BudgetDebitRequest, BudgetRefund, BudgetRefundRequest } from './budgets.schema.ts';

/**
 * Debits the nearest allocation of a grant, and all above it, or none.
 * @throws BAD_REQUEST, NOT_FOUND, GRANT_INACTIVE, INSUFFICIENT_BUDGET
 */
export async function debit(
  deps: BudgetDeps,
  caller: Caller,
  input: BudgetDebitRequest,
): Promise<BudgetDebit> {
  const amount = unitsOf('amount', input.amount);
  const { description = '', metadata = {} } = input;
  mustBeSmall(metadata);
  const at = deps.clock();

  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const chain = (await listChain(deps.db, caller, input.grantId)).toReversed();
    const [root, own] = [chain[0], chain.at(-1)];
    const held = chain.filter(isAllocated);
    const nearest = held.at(-1);
    if (!root || !own || !nearest) throw notFound();
    // A rival may have spent so much since the read that more shares have to be announced.
    const { acts, allocations } = prepareDebit(held, {
      at,
      amount,
      grantId: own.grantId,
      announcesAll: attempt > 1,
    });
    const write = {
      units: amount,
      description,
      metadata,
      allocations,
      chain: chain.map(({ grantId }) => grantId),
    };
    const records = prepareActs(caller, acts, at);
    const recorded = { write, records, rootGrantId: root.grantId };
    const written = await writeDebit(deps.db, caller.tenant, at, recorded);
    if ('refusal' in written) {
      if (written.refusal === 'changed') continue;
      throw await refusalOf(deps, caller, { own, held, at, amount, refusal: written.refusal });
    }
    const { transactionId, stands } = allocations[allocations.length - 1] ?? {};
    return {
      remaining: String(written.fills[String(stands)]),
      transactionId: String(transactionId),
      grantId: input.grantId,
      currency: nearest.currency,
      allocationId: nearest.allocationId,
    };
  }
  throw new Error('The allocations of a grant keep changing.');
}

type AllocatedRow = ChainRow & {
  readonly allocationId: string;
  readonly currency: string;
  readonly initial: string;
  readonly remaining: string;
  readonly announced: number;
};

const isAllocated = (row: ChainRow): row is AllocatedRow => row.allocationId !== null;

interface DebitInput {
  readonly grantId: string;
  readonly amount: string;
  readonly at: Date;
}

const SHARES = [50, 80, 100] as const; // percent of a budget

/** The acts that may follow of a debit, and which of them are those of each allocation. */
function prepareDebit(
  held: readonly AllocatedRow[],
  { grantId, amount, at, announcesAll }: DebitInput & { readonly announcesAll: boolean },
): { acts: Act[]; allocations: DebitStep[] } {
  const acts: Act[] = [];
  const ids = held.map(() => newId('btx', at));
  const ownId = ids.at(-1) ?? '';
  const allocations = held.map((row, place) => {
    const { allocationId, currency, initial, announced } = row;
    const transactionId = ids[place] ?? '';
    const stands = newSalt();
    const about = concerning(row);
    const ofBalance = { allocationId, remaining: stands, currency };
    const add = (act: Act) => acts.push(act) - 1;
    const debited = add({
      type: 'budget.debited',
      ...about,
      data: { ...ofBalance, transactionId, amount: writeAmount(amount) },
    });
    const spent = BigInt(initial) - BigInt(row.remaining) + BigInt(amount);
    const isDue = (share: number) =>
      share > announced && (announcesAll || spent * 100n >= BigInt(initial) * BigInt(share));
    const shares: Record<string, number> = {};
    for (const share of SHARES.filter(isDue)) {
      shares[share] = add(
        share === 100
          ? { type: 'budget.exhausted', ...about, data: ofBalance }
          : {
              type: 'budget.threshold',
              ...about,
              data: { ...ofBalance, pct: share, initialBudget: writeAmount(initial) },
            },
      );
    }
    return {
      id: allocationId,
      transactionId,
      ...sourceOf(row, { ownId, transactionId, grantId }),
      stands,
      debited,
      shares,
    };
  });
  return { acts, allocations };
}

/** The names in a row of the grant that moved the money, and of the row next to it. */
const sourceOf = (
  row: { readonly grantId: string },
  { ownId, transactionId, grantId }: { ownId: string; transactionId: string; grantId: string },
) => ({
  sourceTransactionId: transactionId === ownId ? null : ownId,
  sourceGrantId: row.grantId === grantId ? null : grantId,
});

interface Refused {
  readonly own: ChainRow;
  readonly held: readonly AllocatedRow[];
  readonly amount: string;
  readonly at: Date;
  readonly refusal: string;
}

async function refusalOf(
  { db }: BudgetDeps,
  caller: Caller,
  { own, held, amount, at, refusal }: Refused,
): Promise<AppError> {
  if (refusal === 'revoked' || refusal === 'expired') return grantInactive(refusal);
  const short: { readonly allocationId: string; readonly units: string } = JSON.parse(refusal);
  const found = held.filter(({ allocationId }) => allocationId === short.allocationId);
  const error = insufficient(
    found.map((row) => ({ ...row, remaining: short.units })),
    amount,
  );
  const { grantId: _, ...data } = error.details ?? {}; // the entry names the grant that was to be debited
  const attempt = { action: 'budget.debit_blocked', about: concerning(own), data } as const;
  await inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, at));
  return error;
}

/**
 * Gives a debit back, or a part of it, to every allocation that it came from: as entries, because nothing in the ledger
 * changes. The grant may have ended, since the allocations above it may go on.
 * @throws BAD_REQUEST, NOT_FOUND, CONFLICT
 */
export async function refund(
  { db, clock }: BudgetDeps,
  caller: Caller,
  input: BudgetRefundRequest,
): Promise<BudgetRefund> {
  const amount = input.amount === undefined ? null : unitsOf('amount', input.amount);
  const { description = '', metadata = {} } = input;
  mustBeSmall(metadata);
  const debit = await findTransaction(db, caller.tenant, input.transactionId);
  if (!debit) throw notFound();
  const grantId = debit.sourceGrantId ?? debit.grantId;
  const chain = (await listChain(db, caller, grantId)).toReversed();
  const [root] = chain;
  if (!root) throw notFound();
  if (debit.refundOf !== null || debit.sourceTransactionId !== null) {
    throw badField('transactionId', 'not_allowed', 'Name the transaction that the debit answered.');
  }

  const at = clock();
  const ownId = newId('btx', at);
  const debits = new Map(
    (await listRowsOfDebit(db, caller.tenant, debit.id)).map((row) => [row.allocationId, row]),
  );
  const given = newSalt();
  const acts: Act[] = [];
  const allocations = chain.filter(isAllocated).flatMap((row) => {
    const { allocationId, currency } = row;
    const refundOf = debits.get(allocationId)?.id;
    if (refundOf === undefined) return []; // it was allocated after the debit
    const transactionId = refundOf === debit.id ? ownId : newId('btx', at);
    const stands = newSalt();
    acts.push({
      type: 'budget.refunded',
      ...concerning(row),
      data: { allocationId, transactionId, refundOf, amount: given, remaining: stands, currency },
    });
    const source = sourceOf(row, { ownId, transactionId, grantId });
    return [{ id: allocationId, transactionId, ...source, stands, refundOf }];
  });
  const nearest = allocations.at(-1);
  if (!nearest) throw new Error('A debit has no allocation.');

  const write = { units: amount, description, metadata, allocations, refundOf: debit.id, stands: given };
  const records = prepareActs(caller, acts, at);
  const written = await writeRefund(db, caller.tenant, at, { write, records, rootGrantId: root.grantId });
  if ('refusal' in written) {
    if (written.refusal === 'too_large') throw badField('amount', 'too_large', 'Less of the debit is left.');
    throw new AppError('CONFLICT', 'The whole debit was given back before.');
  }
  return {
    remaining: String(written.fills[nearest.stands]),
    transactionId: nearest.transactionId,
    grantId,
    currency: String(chain.find(({ allocationId }) => allocationId === nearest.id)?.currency),
    allocationId: nearest.id,
    refundOf: debit.id,
    amount: String(written.fills[given]),
  };
}
