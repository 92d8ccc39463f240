import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, isTaken } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { currentKey, type MasterKey, newEnvelope } from '../../../platform/envelope.ts';
import { AppError, badField, notFound, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { byId, mustBeWhole, pageOf, positionOf } from '../../../platform/paging.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { shownConnection } from './connection.rules.ts';
import {
  countCredentials,
  FOLDED_INDEX,
  findShownCredential,
  frozenProfile,
  isStored,
  listCredentialRows,
  lockNamed,
  type ShownRow,
  upsertCredential,
} from './credentials.repo.ts';
import { mustBeProxyLimits, mustBeStorable, proxyColumn, storedProxy } from './credentials.rules.ts';
import type {
  CredentialQuery,
  NewVaultCredential,
  StoredCredential,
  VaultCredential,
  VaultCredentialPage,
} from './credentials.schema.ts';
import { type CredentialDeps, differsInCase } from './deps.ts';

/**
 * Stores a credential, or replaces the one of the same principal and service with every field.
 * @throws BAD_REQUEST, NOT_CONFIGURED, CONFLICT, PLAN_LIMIT_EXCEEDED
 */
export async function storeCredential(
  deps: CredentialDeps,
  caller: Caller,
  input: NewVaultCredential,
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
function mustBeCallable({ rules }: Egress, { refresh }: NewVaultCredential): void {
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
  { principalId, service, accessToken, refreshToken, refresh }: NewVaultCredential,
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

/** @throws BAD_REQUEST for a page that the query cannot name */
export async function listCredentials(
  deps: CredentialDeps,
  { tenant }: Caller,
  query: CredentialQuery,
): Promise<VaultCredentialPage> {
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
): Promise<VaultCredential> {
  const row = await findShownCredential(deps.db, tenant, id);
  if (!row) throw notFound();
  return toCredential(row);
}

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

const toCredential = (row: ShownRow): VaultCredential => ({
  ...toShown(row),
  lastExchangedAt: row.lastExchangedAt?.toISOString() ?? null,
  keyId: row.keyId,
  connection: shownConnection(row),
});
