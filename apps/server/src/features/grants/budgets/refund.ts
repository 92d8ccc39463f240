import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import { prepareActs } from '../../record/audit/index.ts';
import { findTransaction, listChain, listRowsOfDebit } from './budgets.repo.ts';
import { mustBeSmall, unitsOf } from './budgets.rules.ts';
import type { Refund, Refunded } from './budgets.schema.ts';
import type { BudgetDeps } from './budgets.ts';
import { writeRefund } from './debit.repo.ts';
import { isAllocated, sourceOf } from './debit.ts';

/**
 * Gives a debit back, or a part of it, to every allocation that it came from: as entries, because nothing in the ledger
 * changes. The grant may have ended, since the allocations above it may go on.
 * @throws BAD_REQUEST, NOT_FOUND, CONFLICT
 */
export async function refund({ db, clock }: BudgetDeps, caller: Caller, input: Refund): Promise<Refunded> {
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
