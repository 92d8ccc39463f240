import { randomBytes } from 'node:crypto';
import { emptyRoot } from '@behest/protocol/merkle';
import { encodeBase64 } from '@behest/protocol/signed-note';
import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { type Operator, recordForOperator } from '../../service/operator/index.ts';
import { recordEntry } from '../audit/index.ts';
import type { LogDeps } from './integrate.ts';
import { closeLog, findAccount, insertLog } from './transparency.repo.ts';
import { originOf, sha256 } from './transparency.rules.ts';
import type { LogRestart } from './transparency.schema.ts';
import { isContradicted } from './witness.repo.ts';

/**
 * Ends a log that is halted or that a witness contradicts, and begins another over all entries. What was published of the old one stays where it is, and the chain
 * says that it ended.
 * @throws NOT_FOUND for an unknown account, and for one without a log; CONFLICT for a log that is good
 */
export async function restartLog(
  { db, clock, publicBaseUrl }: Pick<LogDeps, 'db' | 'clock' | 'publicBaseUrl'>,
  operator: Operator,
  tenant: Tenant,
): Promise<LogRestart> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const account = await findAccount(tx, tenant);
    const closed = account && (await closeLog(tx, tenant, at));
    if (!closed) throw notFound();
    if (!closed.halted && !(await isContradicted(tx, tenant, closed.gen)))
      throw new AppError('CONFLICT', 'The log is not halted, and no witness contradicts it.');
    const logId = randomBytes(16).toString('hex');
    const newOrigin = originOf(publicBaseUrl, logId);
    const root = Buffer.from(emptyRoot(sha256));
    await insertLog(tx, tenant, { gen: closed.gen + 1, logId, origin: newOrigin, root, createdAt: at });
    const data = {
      oldOrigin: closed.origin,
      oldSize: Number(closed.size),
      oldRoot: encodeBase64(closed.root),
      newOrigin,
    };
    await recordForOperator(
      tx,
      operator,
      [{ action: 'transparency.restarted', data: { ...tenant, ...data } }],
      at,
    );
    const caller = systemCaller(tenant, account, operator.requestId);
    await recordEntry(tx, caller, { action: 'transparency.restarted', data }, at);
    return data;
  });
}
