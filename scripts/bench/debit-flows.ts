import type pg from 'pg';
import type { Flow } from './flow.ts';
import { demand } from './load.ts';
import { heldBy, makeGrants, type Tenant, turnOf } from './tenants.ts';

/** Budgets of all developers together, in the flow that spreads its debits. */
const BUDGETS = 1000;

/** Debits of the smallest amount, so that no budget ends: of one budget for each developer, and of many. */
export function debitFlows(tenants: readonly Tenant[], db: pg.Client): Flow[] {
  const funded = new Map<Tenant, string[]>();
  const prepare = async () => {
    if (funded.size > 0) return;
    for (const tenant of tenants) funded.set(tenant, await makeBudgets(db, tenant, BUDGETS / tenants.length));
  };
  const flow = (name: string, budgetOf: (budgets: readonly string[], turn: number) => string): Flow => ({
    name,
    unit: 'debit',
    floor: 'append',
    aim: 0.5,
    prepare,
    operation: (connection) => {
      const tenant = turnOf(tenants, connection);
      const budgets = funded.get(tenant) ?? [];
      let turn = connection;
      return (client) => {
        turn += 1;
        const body = { grantId: budgetOf(budgets, turn), amount: '0.0001' };
        const request = { method: 'POST', path: '/v1/budget/debit', body, apiKey: tenant.apiKey };
        return demand(client, request, 200);
      };
    },
  });
  return [
    flow('debit, one budget', (budgets) => turnOf(budgets, 0)),
    flow('debit, a thousand budgets', turnOf),
  ];
}

/** Makes grants with a budget, as the service would write them. @returns their ids */
async function makeBudgets(db: pg.Client, tenant: Tenant, count: number): Promise<string[]> {
  const ids = await makeGrants(db, heldBy(tenant, 0).grantId, Math.ceil(count));
  await db.query(
    `select open_allocation(developer_id, jsonb_build_object('id', 'bdg' || substr(id, 5), 'developer_id', developer_id,
       'grant_id', id, 'currency', 'USD', 'initial_units', 1e20::numeric, 'created_at', issued_at,
       'updated_at', issued_at))
     from grants where developer_id = $1 and id = any ($2)`,
    [tenant.developerId, ids],
  );
  await db.query('vacuum analyze grants, tokens, budget_allocations, budget_entries');
  return ids;
}
