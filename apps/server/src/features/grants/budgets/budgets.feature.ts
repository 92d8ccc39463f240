import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts } from './budgets.acts.ts';
import { eraseBudgets } from './budgets.repo.ts';
import { budgetRoutes } from './budgets.routes.ts';
import { tables } from './budgets.tables.ts';

export const budgets = defineFeature({
  name: 'budgets',
  tags: { budgets: 'The money that a grant may spend, and what was spent of it.' },
  tables,
  acts,
  attempts: ['budget.debit_blocked'],
  listens: [on(tenantErased, eraseBudgets)],
  open: (house) => ({ routes: (app) => app.register(budgetRoutes, house) }),
});
