import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfAllocation {
  readonly allocationId: string;
  readonly currency: string;
}

interface OfBalance extends OfAllocation {
  readonly remaining: string;
}

interface OfTransaction extends OfBalance {
  readonly transactionId: string;
  readonly amount: string;
}

export const acts = {
  'budget.allocated': act<OfAllocation & { readonly initialBudget: string }>(),
  'budget.debited': act<OfTransaction>(),
  'budget.refunded': act<OfTransaction & { readonly refundOf: string }>(),
  'budget.threshold': act<OfBalance & { readonly pct: 50 | 80; readonly initialBudget: string }>(),
  'budget.exhausted': act<OfBalance>(),
  'budget.debit_blocked': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<Omit<typeof acts, 'budget.debit_blocked'>> {}
  interface Attempts {
    'budget.debit_blocked': true;
  }
}
