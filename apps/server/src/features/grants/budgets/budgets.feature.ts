import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { grantsRead } from '../grants/index.ts';
import { budgetsOfGrants } from './allocate.ts';
import { eraseBudgets } from './budgets.repo.ts';
import { budgetRoutes } from './budgets.routes.ts';

const tables: TableUse = {
  owns: {
    budget_allocations: { rate: 'plan' },
    budget_transactions: { rate: 'plan', kib: 12 },
    budget_entries: { of: 'budget_transactions', each: 2 },
  },
  reads: ['agents', 'grants'], // a debit reads and locks the grants above
  writes: [],
};

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

const acts = {
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

export const budgets = defineFeature({
  name: 'budgets',
  tags: { budgets: 'The money that a grant may spend, and what was spent of it.' },
  tables,
  acts,
  attempts: ['budget.debit_blocked'],
  listens: [on(grantsRead, budgetsOfGrants), on(tenantErased, eraseBudgets)],
  open: (context) => ({ routes: (app) => budgetRoutes(app, context) }),
});
