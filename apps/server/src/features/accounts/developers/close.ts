import { setTimeout } from 'node:timers/promises';
import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { afterCommit, type Executor, inTransaction, isReferredTo } from '../../../platform/db/db.ts';
import type { EraseRows } from '../../../platform/db/personal-data.ts';
import { badField } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import { endKey, eraseKeys, lockUsableKeys } from './api-keys.repo.ts';
import type { KeyDeps } from './api-keys.ts';
import type { OnAccountClosed } from './developers.hooks.ts';
import {
  deleteClosedDeveloper,
  eraseLogos,
  listClosedAcrossTenants,
  lockOpenAccount,
  updateDeveloper,
} from './developers.repo.ts';
import { describeKey } from './developers.rules.ts';
import type { CloseAccount, ClosedAccount } from './developers.schema.ts';

export interface CloseDeps extends KeyDeps {
  readonly onAccountClosed: readonly OnAccountClosed[];
}

const KEPT_MS = 30 * 86_400_000;

/**
 * Ends everything that the account can do, at once and for good. @throws BAD_REQUEST without the account's id as
 * confirmation, UNAUTHORIZED when another call closed the account first
 */
export function closeAccount(
  deps: CloseDeps,
  caller: Caller,
  { confirm }: CloseAccount,
): Promise<ClosedAccount> {
  const { tenant } = caller;
  const { developerId } = tenant;
  if (confirm !== developerId) {
    throw badField('confirm', 'not_allowed', 'Repeat the `developerId` of the account as `confirm`.');
  }
  const at = deps.clock();
  const erasedAfter = new Date(at.getTime() + KEPT_MS).toISOString();

  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    await updateDeveloper(tx, tenant, { closedAt: at, updatedAt: at });
    const acts: Act[] = [];
    for (const key of await lockUsableKeys(tx, tenant, at)) {
      await endKey(tx, tenant, key.id, { revokedAt: at });
      acts.push({ type: 'apikey.revoked', data: describeKey(key) });
    }
    for (const end of deps.onAccountClosed) acts.push(...(await end(tx, caller, at)));
    acts.push({ type: 'developer.closed', developerId, data: { erasedAfter } });
    await recordActs(tx, caller, acts, at);
    await afterCommit(tx, () => deps.publishChange(tenant));
    return { closedAt: at.toISOString(), erasedAfter };
  });
}

export interface ErasureDeps {
  readonly db: Executor;
  readonly clock: Clock;
  /** The listeners of all nouns, in any order. */
  readonly erasers: readonly EraseRows[];
}

const ACCOUNTS = 10; // looked up at once
const MAX_IDLE = 20; // rounds in which nothing could be erased
const PAUSE_MS = 50;
const ROWS = 1000; // in one transaction, so that none locks many rows or runs long

/** Erases the accounts that were closed 30 days ago. The audit chain stays. */
export async function eraseClosedAccounts(deps: ErasureDeps, signal: AbortSignal): Promise<void> {
  const before = new Date(deps.clock().getTime() - KEPT_MS);
  for (;;) {
    const accounts = await listClosedAcrossTenants(deps.db, before, ACCOUNTS);
    for (const account of accounts) {
      await eraseRows(deps, account, signal);
      if (signal.aborted) return;
      await inTransaction(deps.db, (tx) => deleteClosedDeveloper(tx, account));
    }
    if (accounts.length < ACCOUNTS) return;
  }
}

/** Erases the rows of all nouns. Rows that others refer to wait for the next round. */
async function eraseRows({ db, erasers }: ErasureDeps, tenant: Caller['tenant'], signal: AbortSignal) {
  for (let idle = 0; ; ) {
    let [erased, waits]: [number, unknown] = [0, undefined];
    for (const erase of [...erasers, eraseKeys, eraseLogos]) {
      try {
        for (let rows = 1; rows > 0 && !signal.aborted; erased += rows) {
          rows = await inTransaction(db, (tx) => erase(tx, tenant, ROWS));
        }
      } catch (error) {
        if (!isReferredTo(error)) throw error;
        waits = error;
      }
    }
    if (waits === undefined || signal.aborted) return;
    idle = erased === 0 ? idle + 1 : 0;
    if (idle === MAX_IDLE) throw waits;
    if (idle > 0) await setTimeout(PAUSE_MS); // another instance erases the rows that refer to these
  }
}
