import {
  type Caller,
  type KeptRequest,
  type NeededFor,
  systemCaller,
  type Tenant,
} from '../../../platform/caller.ts';
import { capabilitiesOf, mustHold } from '../../../platform/capabilities.ts';
import { BeforeTransaction, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { recordActs } from '../../record/audit/index.ts';
import { changedMeanwhile, lockOpenAccount } from '../developers/index.ts';
import {
  type ChangeRow,
  deleteDecidedAcrossTenants,
  findActiveRole,
  isFullKey,
  listExpiredAcrossTenants,
  lockChange,
  updateChange,
} from './changes.repo.ts';
import type { LooseningChange } from './changes.schema.ts';
import { type ChangeDeps, dataOf, decided, mustBeOpen, toChange } from './propose.ts';

/** An operation, to be done in the request of who agrees to it. */
interface Applicable extends NeededFor {
  run(kept: KeptRequest, as: { readonly caller: Caller; readonly tx: Tx }): Promise<void>;
}

export type FindApplicable = (operation: string) => Applicable | undefined;

interface Agreement {
  readonly id: string;
  /** Of the change as the member saw it. */
  readonly hash: string;
}

/** Work that a request asked for before its transaction. */
const MAX_BEFORE = 5;

/**
 * Agrees to a change as a second member. When enough have agreed, it is done in the same transaction, if what it changes is
 * what they saw.
 * @throws NOT_FOUND, FORBIDDEN, CONFLICT, and what the operation itself throws
 */
export async function approveChange(
  deps: ChangeDeps,
  caller: Caller,
  agreement: Agreement,
  operationOf: FindApplicable,
): Promise<LooseningChange> {
  // One object for all attempts: what was found out before a transaction is kept for it.
  const reached = { isReached: false };
  const agreed = { changeId: agreement.id, difference: undefined as unknown, onReached: () => {} };
  const acting: Caller = { ...caller, agreed };
  for (let before = 0; ; before += 1) {
    reached.isReached = false;
    agreed.onReached = () => {
      reached.isReached = true;
    };
    try {
      return await inTransaction(deps.db, async (tx) => {
        const row = await lockAgreeable(deps, tx, caller, agreement);
        agreed.difference = row.difference;
        return await agree(deps, tx, { caller, acting, row, operationOf, reached });
      });
    } catch (error) {
      if (!(error instanceof BeforeTransaction) || before === MAX_BEFORE) throw error;
      await error.work();
    }
  }
}

/** The change, whose account no other change of the account passes meanwhile. @throws NOT_FOUND, CONFLICT */
async function lockAgreeable(
  { clock }: ChangeDeps,
  tx: Tx,
  { tenant }: Caller,
  { id, hash }: Agreement,
): Promise<ChangeRow> {
  await lockOpenAccount(tx, tenant);
  const row = await lockChange(tx, tenant, id);
  if (!row) throw notFound();
  mustBeOpen(row, clock());
  if (row.hash.toString('hex') !== hash)
    throw new AppError('CONFLICT', 'This is another change than you saw. Read it again.', { field: 'hash' });
  return row;
}

interface Agreeing {
  readonly caller: Caller;
  readonly acting: Caller;
  readonly row: ChangeRow;
  readonly operationOf: FindApplicable;
  readonly reached: { readonly isReached: boolean };
}

async function agree(
  { clock }: ChangeDeps,
  tx: Tx,
  { caller, acting, row, operationOf, reached }: Agreeing,
): Promise<LooseningChange> {
  const at = clock();
  const { tenant, actor } = caller;
  const operation = operationOf(row.operation);
  if (!operation) throw changedMeanwhile();
  const needed = operation.capabilitiesFor(row.body);
  for (const capability of needed) mustHold(caller, capability);
  if (row.proposedBy === actor || row.approvedBy.includes(actor)) throw samePerson();
  await mustStillWant(tx, tenant, row, { needed, at });
  for (const earlier of row.approvedBy) {
    if (!(await mayStill(tx, tenant, earlier, needed))) throw noLonger('A member who agreed');
  }
  const approvedBy = [...row.approvedBy, actor];
  const isEnough = approvedBy.length >= row.needed;
  if (isEnough) {
    const kept = { operation: row.operation, params: row.params, body: row.body };
    await operation.run(kept, { caller: acting, tx });
    // Nothing that weakens was left to do, so it is not what they saw.
    if (!reached.isReached) throw changedMeanwhile();
  }
  const after = await updateChange(tx, tenant, row.id, {
    approvedBy,
    ...(isEnough && decided('applied', at)),
  });
  const data = { ...dataOf(row), approvedBy, applied: isEnough };
  await recordActs(tx, caller, [{ type: 'change.approved', data }], at);
  return toChange(after, at);
}

const samePerson = () =>
  new AppError('FORBIDDEN', 'Another member than those who proposed it or agreed has to agree.', {
    sub_reason: 'same_member',
  });

const noLonger = (who: string) =>
  new AppError('CONFLICT', `${who} may not do this any more. Propose the change again.`, {
    sub_reason: 'proposer',
  });

const OF_KEY = 'developer:';
const OF_MEMBER = 'member:';

interface Needed {
  readonly needed: ReturnType<NeededFor['capabilitiesFor']>;
  readonly at: Date;
}

/** Whoever proposed a change still has to be able to do it. @throws CONFLICT */
async function mustStillWant(
  tx: Tx,
  tenant: Tenant,
  { proposedBy }: ChangeRow,
  { needed, at }: Needed,
): Promise<void> {
  const keyId = proposedBy.startsWith(OF_KEY) ? proposedBy.slice(OF_KEY.length) : undefined;
  const may =
    keyId === undefined
      ? await mayStill(tx, tenant, proposedBy, needed)
      : await isFullKey(tx, tenant, keyId, at);
  if (!may) throw noLonger('Who proposed it');
}

async function mayStill(tx: Tx, tenant: Tenant, actor: string, needed: Needed['needed']): Promise<boolean> {
  const role = await findActiveRole(
    tx,
    tenant,
    actor.startsWith(OF_MEMBER) ? actor.slice(OF_MEMBER.length) : '',
  );
  if (role === undefined) return false;
  return needed.every((each) => each === undefined || capabilitiesOf[role].some((held) => held === each));
}

const BATCH = 100;
const EVERY_SECONDS = 60;
const KEPT_MS = 30 * 86_400_000;

/** Records changes that ran out, and deletes those that were decided long ago. */
export const careOfChanges = (deps: ChangeDeps): Job => ({
  name: 'care of changes',
  everySeconds: EVERY_SECONDS,
  async run(signal) {
    while (!signal.aborted && (await expireChanges(deps)) === BATCH);
    const before = new Date(deps.clock().getTime() - KEPT_MS);
    while (!signal.aborted && (await deleteDecidedAcrossTenants(deps.db, before, BATCH)) === BATCH);
  },
});

async function expireChanges({ db, clock }: ChangeDeps): Promise<number> {
  const at = clock();
  const due = await listExpiredAcrossTenants(db, at, BATCH);
  for (const { developerId, id, mode, plan } of due) {
    const caller = systemCaller({ developerId }, { mode, plan }, 'changes');
    await inTransaction(db, async (tx) => {
      const row = await lockChange(tx, caller.tenant, id);
      if (row?.status !== 'open' || row.expiresAt > at) return;
      await updateChange(tx, caller.tenant, id, decided('expired', at));
      await recordActs(tx, caller, [{ type: 'change.expired', data: dataOf(row) }], at);
    });
  }
  return due.length;
}
