import { type OperatorCaller, systemCaller } from '../../../platform/caller.ts';
import { afterCommit, type Executor, inTransaction } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs } from '../../record/audit/index.ts';
import { recordForOperator } from '../../service/operator/index.ts';
import type { KeyDeps } from './api-keys.ts';
import type { CountForOperator } from './developers.hooks.ts';
import { findCallerParts } from './developers.queries.ts';
import {
  countDevelopersAcrossTenants,
  listDevelopersAcrossTenants,
  lockAccount,
  setPlan,
} from './developers.repo.ts';
import type {
  CreatedDeveloper,
  DeploymentStats,
  DeveloperListQuery,
  DeveloperPage,
  DeveloperPlan,
  DeveloperPlanChange,
  SignUp,
} from './developers.schema.ts';
import { type DeveloperDeps, openAccount } from './manage.ts';

export interface AdminDeps extends DeveloperDeps, Pick<KeyDeps, 'publishChange'> {
  readonly deploymentCounts: readonly CountForOperator[];
}

/** Counts the accounts that are not closed, and what all accounts have. */
export async function countDeployment({ db, clock, deploymentCounts }: AdminDeps): Promise<DeploymentStats> {
  const { all, day, week, month, sandbox } = await countDevelopersAcrossTenants(db, clock());
  const stats = {
    ...{ totalDevelopers: all, last24h: day, last7d: week, last30d: month },
    byMode: { live: all - sandbox, sandbox },
    ...{ totalAgents: 0, totalGrants: 0 },
  };
  for (const count of deploymentCounts) Object.assign(stats, await count(db));
  return stats;
}

export async function listDevelopers(
  { db }: { readonly db: Executor },
  query: DeveloperListQuery,
): Promise<DeveloperPage> {
  const rows = await listDevelopersAcrossTenants(db, query);
  const { page, nextCursor } = pageOf(rows, byId, ({ createdAt, ...row }) => ({
    ...row,
    createdAt: createdAt.toISOString(),
  }));
  return { developers: page, nextCursor };
}

/** Opens an account as a sign-up does, also where strangers may not sign up. */
export function addDeveloper(
  deps: AdminDeps,
  operator: OperatorCaller,
  input: SignUp,
): Promise<CreatedDeveloper> {
  return inTransaction(deps.db, async (tx) => {
    const account = await openAccount(tx, deps, input, {
      requestId: operator.requestId,
      actor: operator.actor,
    });
    const data = { developerId: account.developerId, mode: account.mode };
    await recordForOperator(tx, operator, [{ action: 'developer.created', data }], deps.clock());
    return account;
  });
}

/** Sets a plan until the next event of a subscription. @throws NOT_FOUND for an unknown or closed account */
export function changePlan(
  deps: AdminDeps,
  operator: OperatorCaller,
  developerId: string,
  { plan }: DeveloperPlanChange,
): Promise<DeveloperPlan> {
  const at = deps.clock();
  const tenant = { developerId };
  return inTransaction(deps.db, async (tx) => {
    if (!(await findCallerParts(tx, tenant))) throw notFound();
    const account = await lockAccount(tx, tenant);
    if (!account) throw notFound();
    await setPlan(tx, tenant, plan, at);
    await afterCommit(tx, () => deps.publishChange(tenant));
    const { mode, plan: previousPlan } = account;
    const caller = { ...systemCaller(tenant, { mode, plan }, operator.requestId), actor: operator.actor };
    const updated = { type: 'developer.updated', developerId, data: { changed: ['plan'] } } as const;
    await recordActs(tx, caller, [updated], at);
    const data = { developerId, previousPlan, plan };
    await recordForOperator(tx, operator, [{ action: 'developer.plan_changed', data }], at);
    return { developerId, plan };
  });
}
