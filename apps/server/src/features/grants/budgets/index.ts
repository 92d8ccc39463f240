export { allocationRefused, budgetAllocated, budgetsOfGrants } from './budgets.ts';
