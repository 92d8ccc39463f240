import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hook } from '../../../platform/hooks.ts';
import type { DeploymentStats, Developer } from './developers.schema.ts';

/**
 * Ends the rows that must not outlive an open account, in the transaction that closes the account. Returns an act for
 * each ended row instead of recording it, because the audit chain is locked after every other row.
 */
export type OnAccountClosed = (tx: Tx, caller: Caller, at: Date) => Promise<Act[]>;

export const accountClosed = hook<OnAccountClosed>('account closed');

/** Refuses a consent mode for which the account lacks something, in the transaction of the change. @throws CONFLICT */
export type OnConsentMode = (tx: Tx, tenant: Tenant, mode: Developer['consentMode']) => Promise<void>;

export const consentModeChosen = hook<OnConsentMode>('consent mode chosen');

/** Refuses agents to which no key may be bound, in the transaction that stores the key. @throws NOT_FOUND */
export type OnKeyBound = (tx: Tx, tenant: Tenant, agentIds: readonly string[]) => Promise<void>;

export const keyBound = hook<OnKeyBound>('API key bound to agents');

/** Counts rows of all accounts for the operator. */
export type CountForOperator = (
  db: Executor,
) => Promise<Partial<Pick<DeploymentStats, 'totalAgents' | 'totalGrants'>>>;

export const deploymentCounts = hook<CountForOperator>('counts of the deployment');
