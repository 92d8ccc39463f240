import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { openEnvelope } from '../../../platform/envelope.ts';
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
} from './credentials.repo.ts';
import type { CredentialDeps } from './deps.ts';
import { disconnect } from './disconnect.ts';
import { refreshSettings, revocationRequest } from './refresh.rules.ts';

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

/** Tells the upstream that its tokens are not needed. The credential is gone whatever comes of it. */
async function revokeUpstream(
  { vault, upstream, onUnrevoked }: CredentialDeps,
  row: CredentialRow,
): Promise<void> {
  const { developerId, principalId, service, refreshToken, clientSecret } = row;
  const settings = refreshSettings(row);
  const envelope = openEnvelope(vault, row.dataKey, [developerId, principalId, service]);
  const token = refreshToken === null ? undefined : envelope?.open('refresh_token', refreshToken);
  if (settings?.revocationEndpoint === undefined || token === undefined) return;
  const secret = clientSecret === null ? undefined : envelope?.open('client_secret', clientSecret);
  const request = revocationRequest(settings, token, secret);
  const outcome = await upstream.send({ url: settings.revocationEndpoint, method: 'POST', ...request });
  const failure = outcome.failure ?? (outcome.status === 200 ? undefined : `status ${outcome.status}`);
  if (failure !== undefined) onUnrevoked({ credentialId: row.id, failure });
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

/** Deletes what is stored for a principal who is gone. @returns acts, which the caller records */
export async function deleteCredentialsOfPrincipal(
  tx: Tx,
  caller: Caller,
  principalId: string,
): Promise<Act[]> {
  const rows = await deleteCredentialRowsOf(tx, caller.tenant, principalId);
  if (rows.length > 0) await freeQuota(tx, caller, 'vault_credentials', rows.length);
  return rows.map((row) => deleted(row, 'principal_offboarded'));
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
