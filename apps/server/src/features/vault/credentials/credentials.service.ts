import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction, isTaken, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { currentKey, type MasterKey, newEnvelope, openEnvelope } from '../../../platform/envelope.ts';
import { AppError, badField, notFound, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, mustBeWhole, pageOf, positionOf } from '../../../platform/paging.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { holdPrincipal } from '../../people/scim/scim.principals.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { frozenProfile } from '../proxy/proxy.queries.ts';
import { shownConnection } from './credentials.connection.rules.ts';
import { type CredentialDeps, differsInCase } from './credentials.deps.service.ts';
import { disconnect } from './credentials.disconnect.service.ts';
import { mustBeProxyLimits, proxyColumn, storedProxy } from './credentials.proxy.rules.ts';
import { revocationRequest } from './credentials.refresh.rules.ts';
import {
  type CredentialRow,
  countCredentials,
  deleteCredentialRow,
  deleteCredentialRows,
  deleteCredentialRowsOf,
  FOLDED_INDEX,
  findShownCredential,
  isStored,
  listCredentialRows,
  lockNamed,
  type ShownRow,
  upsertCredential,
} from './credentials.repo.ts';
import { mustBeStorable } from './credentials.rules.ts';
import type {
  Credential,
  CredentialPage,
  CredentialQuery,
  NewCredential,
  RefreshSettings,
  StoredCredential,
} from './credentials.schema.ts';

/**
 * Stores a credential, or replaces the one of the same principal and service with every field.
 * @throws BAD_REQUEST, NOT_CONFIGURED, CONFLICT, PLAN_LIMIT_EXCEEDED
 */
export async function storeCredential(
  deps: CredentialDeps,
  caller: Caller,
  input: NewCredential,
): Promise<StoredCredential> {
  mustBeStorable(input);
  mustBeProxyLimits(input);
  mustBeCallable(deps.upstream, input);
  const at = deps.clock();
  const id = newId('vault', at);
  const { principalId, service, credentialType, metadata, tokenExpiresAt } = input;
  const sealed = seal(currentKey(deps.vault), caller, input);
  const row = {
    ...sealed,
    id,
    principalId,
    service,
    credentialType,
    metadata: JSON.stringify(metadata),
    tokenExpiresAt: tokenExpiresAt ? new Date(tokenExpiresAt) : null,
    refreshStatus: input.refresh ? 'ok' : 'none',
    providerId: null,
    connection: null,
    connectionStatus: null,
    connectionReason: null,
    disconnectingAt: null,
    createdAt: at,
    updatedAt: at,
  } as const;

  const attempt = () =>
    inTransaction(deps.db, async (tx) => {
      if (!(await holdPrincipal(tx, caller.tenant, principalId))) throw principalInactive();
      const proxy = proxyColumn(input.proxy, await frozenProfile(tx, caller.tenant, service));
      const isNew = !(await lockNamed(tx, caller.tenant, input));
      if (isNew) await useQuota(tx, deps.quotas, caller, 'vault_credentials', at); // counts rows, so before the insert
      const stored = await upsertCredential(tx, caller.tenant, { ...row, proxy });
      const replaced = stored.id !== id;
      if (isNew && replaced) await freeQuota(tx, caller, 'vault_credentials', 1); // another call was first
      const data = { credentialId: stored.id, service, credentialType, replaced };
      await recordActs(tx, caller, [{ type: 'vault.credential.stored', principalId, data }], at);
      const hasRefreshToken = stored.refreshToken !== null;
      return { ...toShown({ ...stored, hasRefreshToken }), replaced };
    });
  try {
    return await attempt();
  } catch (error) {
    if (isTaken(error, FOLDED_INDEX)) throw differsInCase();
    // A full plan takes a replacement of what another call has stored meanwhile.
    const isFull = error instanceof AppError && error.code === 'PLAN_LIMIT_EXCEEDED';
    if (isFull && (await isStored(deps.db, caller.tenant, input))) return attempt();
    throw error;
  }
}

/** @throws BAD_REQUEST without the URL in it */
function mustBeCallable({ rules }: Egress, { refresh }: NewCredential): void {
  for (const name of ['tokenEndpoint', 'revocationEndpoint'] as const) {
    const url = refresh?.[name];
    if (url === undefined || acceptUrl(url, rules)) continue;
    const message = 'Send an absolute `https` URL of a public host, without user name, password or fragment.';
    throw badField(`refresh.${name}`, 'not_allowed', message);
  }
}

/** The names of the columns are bound into their values. */
function seal(
  key: MasterKey,
  { tenant }: Caller,
  { principalId, service, accessToken, refreshToken, refresh }: NewCredential,
) {
  const envelope = newEnvelope(key, [tenant.developerId, principalId, service]);
  const { clientSecret, ...settings } = refresh ?? {};
  return {
    keyId: envelope.keyId,
    dataKey: envelope.dataKey,
    accessToken: envelope.seal('access_token', accessToken),
    refreshToken: refreshToken ? envelope.seal('refresh_token', refreshToken) : null,
    refresh: refresh ? JSON.stringify(settings) : null,
    clientSecret: clientSecret === undefined ? null : envelope.seal('client_secret', clientSecret),
  };
}

/** The stored settings, without the client's secret. */
export const refreshSettings = ({ refresh }: Pick<CredentialRow, 'refresh'>) =>
  refresh === null ? undefined : (refresh as Omit<RefreshSettings, 'clientSecret'>); // stored by this service

/** @throws BAD_REQUEST for a page that the query cannot name */
export async function listCredentials(
  deps: CredentialDeps,
  { tenant }: Caller,
  query: CredentialQuery,
): Promise<CredentialPage> {
  const position = positionOf(query, PAGE_SIZE);
  const rows = await listCredentialRows(deps.db, tenant, query, position);
  const total = await countCredentials(deps.db, tenant, query);
  const shown = pageOf(rows, byId, toCredential);
  mustBeWhole(position, shown);
  const { page, pageSize } = position;
  return { credentials: shown.page, total, page, pageSize, nextCursor: shown.nextCursor };
}

const PAGE_SIZE = 50;

/** @throws NOT_FOUND for an unknown credential and for one of another developer alike */
export async function getCredential(
  deps: CredentialDeps,
  { tenant }: Caller,
  id: string,
): Promise<Credential> {
  const row = await findShownCredential(deps.db, tenant, id);
  if (!row) throw notFound();
  return toCredential(row);
}

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

/** Deletes the credentials of an account that is closed. */
export const deleteCredentialsOfAccount: OnAccountClosed = async (tx, caller) => {
  const rows = await deleteCredentialRows(tx, caller.tenant);
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

type ShownFields = Omit<ShownRow, 'keyId' | 'lastExchangedAt'>;

function toShown(row: ShownFields) {
  const { id, principalId, service, credentialType, hasRefreshToken, refreshStatus } = row;
  return {
    id,
    principalId,
    service,
    credentialType,
    tokenExpiresAt: row.tokenExpiresAt?.toISOString() ?? null,
    metadata: Object(row.metadata),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    hasRefreshToken,
    refreshStatus,
    proxy: storedProxy(row),
  };
}

const toCredential = (row: ShownRow): Credential => ({
  ...toShown(row),
  lastExchangedAt: row.lastExchangedAt?.toISOString() ?? null,
  keyId: row.keyId,
  connection: shownConnection(row),
});
