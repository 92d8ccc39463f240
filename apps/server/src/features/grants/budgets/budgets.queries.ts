import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import { row } from '../../../platform/db/values.ts';

export interface NewAllocationRow {
  readonly id: string;
  readonly grantId: string;
  readonly currency: string;
  /** In billionths, as all amounts of the sources. */
  readonly initial: string;
}

/** An allocation as the functions that make it take it. */
export const newAllocation = ({ developerId }: Tenant, allocation: NewAllocationRow, at: Date) =>
  row({
    ...{ id: allocation.id, grantId: allocation.grantId, currency: allocation.currency, developerId },
    initialUnits: allocation.initial,
    createdAt: at,
    updatedAt: at,
  });

/** An allocation as answers about its grant show it, in billionths. */
export interface GrantBudget {
  readonly grantId: string;
  readonly initial: string;
  readonly remaining: string;
  readonly currency: string;
}

export type Budgets = ReadonlyMap<string, GrantBudget>;

const ofGrants = lookUp<GrantBudget, [developerId: string, grantIds: readonly string[]]>(
  'find_budgets_of_grants',
  // One look-up for each grant: without statistics Postgres reads all rows of the developer for \`= any\`.
  `select b.grant_id as "grantId", b.initial_units as initial, b.remaining_units as remaining, b.currency from unnest($2::text[]) wanted cross join lateral
     (select * from budget_allocations where developer_id = $1 and grant_id = wanted limit 1) b`,
);

const restOf = lookUp<
  { readonly remaining: string; readonly currency: string },
  [developerId: string, grantId: string]
>('rest_of_budget', 'select remaining_units as remaining, currency from grant_budget($1, $2)');

/** The money that a grant may still spend, in billionths; undefined without a budget. */
export async function findRestOfBudget(db: Executor, { developerId }: Tenant, grantId: string) {
  return (await restOf(db, developerId, grantId))[0];
}

/** The grants' own allocations, by grant. */
export async function findBudgets(
  db: Executor,
  { developerId }: Tenant,
  grantIds: readonly string[],
): Promise<Budgets> {
  const rows = grantIds.length > 0 ? await ofGrants(db, developerId, grantIds) : [];
  return new Map(rows.map((row) => [row.grantId, row]));
}
