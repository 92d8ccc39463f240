export { allocationRefused, budgetAllocated, budgetsOfGrants } from './allocate.ts';
