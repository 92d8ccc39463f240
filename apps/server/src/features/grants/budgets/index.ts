export { shownBudget } from './budgets.rules.ts';
export { allocationRefused, budgetAllocated } from './budgets.ts';
