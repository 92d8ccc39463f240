import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  beginDisconnectingAll,
  type CredentialRow,
  deleteCredentialRow,
  deleteCredentialRowsOf,
  deleteStoredRows,
  OFFBOARDED,
} from './credentials.repo.ts';
import type { CredentialDeps } from './deps.ts';
import { disconnect, revokeStored } from './disconnect.ts';

/** A connected account is disconnected. @throws NOT_FOUND, also when the credential was deleted before */
export async function deleteCredential(deps: CredentialDeps, caller: Caller, id: string): Promise<void> {
  if (await disconnect(deps, caller, { id })) return;
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    const row = await deleteCredentialRow(tx, caller.tenant, id);
    if (!row) throw notFound();
    await freeQuota(tx, caller, 'vault_credentials', 1);
    await recordActs(tx, caller, [deleted(row, 'api')], at);
    await afterCommit(tx, () => void revokeUpstream(deps, row));
  });
}

/** The credential is gone whatever comes of it. */
async function revokeUpstream(deps: CredentialDeps, row: CredentialRow): Promise<void> {
  const failure = await revokeStored(deps, row);
  if (failure !== undefined) deps.onUnrevoked({ credentialId: row.id, failure });
}

/**
 * Deletes the credentials of an account that is closed. Connected accounts are out of use at once; the job for
 * disconnections revokes them at their upstreams, and deletes them within a minute.
 */
export const deleteCredentialsOfAccount: OnAccountClosed = async (tx, caller, at) => {
  await beginDisconnectingAll(tx, caller.tenant, at);
  const rows = await deleteStoredRows(tx, caller.tenant);
  if (rows.length > 0) await freeQuota(tx, caller, 'vault_credentials', rows.length);
  return rows.map((row) => deleted(row, 'developer_deleted'));
};

/**
 * Deletes what is stored for a principal who is gone. The upstreams that can take tokens back are told within a minute;
 * until then those rows keep their place, and are of no use.
 * @returns acts, which the caller records
 */
export async function deleteCredentialsOfPrincipal(
  tx: Tx,
  caller: Caller,
  principalId: string,
  at: Date,
): Promise<Act[]> {
  const gone = await deleteCredentialRowsOf(tx, caller.tenant, principalId, at);
  if (gone.deleted.length > 0) await freeQuota(tx, caller, 'vault_credentials', gone.deleted.length);
  return [...gone.deleted, ...gone.untold].map((row) => deleted(row, OFFBOARDED));
}

const deleted = (
  { id, principalId, service }: Pick<CredentialRow, 'id' | 'principalId' | 'service'>,
  reason: 'api' | 'developer_deleted' | 'principal_offboarded',
) =>
  ({
    type: 'vault.credential.deleted',
    principalId,
    data: { credentialId: id, service, reason },
  }) as const;
