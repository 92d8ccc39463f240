import type { Act } from '../../../platform/acts.ts';
import { type Caller, systemCaller, type Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { openEnvelope } from '../../../platform/envelope.ts';
import { hook } from '../../../platform/hooks.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { asClient, frozenClient, getProviderRow } from '../providers/index.ts';
import type { FrozenClient } from './connection.rules.ts';
import {
  beginDisconnecting,
  type CredentialRow,
  deleteDisconnected,
  listDisconnectingAcrossTenants,
  OFFBOARDED,
} from './credentials.repo.ts';
import type { CredentialDeps } from './deps.ts';
import { refreshSettings, revocationRequest } from './refresh.rules.ts';

/** The upstream's answer to the end of its tokens. */
export type Revoked = 'revoked' | 'failed' | 'unsupported';

/** An upstream was told of the end of a credential's tokens, in the transaction that deletes the credential. */
export type OnDisconnected = (
  tx: Tx,
  tenant: Tenant,
  credential: Pick<CredentialRow, 'id' | 'principalId' | 'disconnectingAt'>,
  told: { readonly upstream: Revoked; readonly at: Date },
) => Promise<void>;

export const credentialDisconnected = hook<OnDisconnected>('credential disconnected');

interface Disconnecting {
  readonly id: string;
  /** The person who disconnects their own account. Without it, the developer does. */
  readonly principalId?: string;
}

/**
 * Ends a connection: nobody gets its tokens from the first commit on. The upstream is told next, and the row goes with
 * its data key whatever comes of it.
 * @returns false when there is no such connection
 */
export async function disconnect(
  deps: CredentialDeps,
  caller: Caller,
  { id, principalId }: Disconnecting,
): Promise<boolean> {
  const at = deps.clock();
  const named = { id, at, ...(principalId !== undefined && { principalId }) };
  const row = await inTransaction(deps.db, (tx) => beginDisconnecting(tx, caller.tenant, named));
  if (!row) return false;
  await finish(deps, caller, row, principalId === undefined ? 'api' : 'principal_request');
  return true;
}

async function finish(
  deps: CredentialDeps,
  caller: Caller,
  row: CredentialRow,
  reason: 'api' | 'principal_request' | 'developer_deleted' | typeof OFFBOARDED,
): Promise<void> {
  const upstream = await revokeConnection(deps, caller.tenant, row);
  if (upstream === 'failed') deps.onUnrevoked({ credentialId: row.id, failure: 'refused' });
  const { id, principalId, service, providerId } = row;
  const by = reason === 'principal_request' ? 'principal' : caller.actor;
  const disconnected: Act = {
    type: 'vault.connection.disconnected',
    principalId,
    data: { credentialId: id, service, providerId: providerId ?? '', by, upstream },
  };
  const acts: Act[] =
    reason === OFFBOARDED // whose deletion was recorded with the offboarding
      ? [disconnected]
      : [
          { type: 'vault.credential.deleted', principalId, data: { credentialId: id, service, reason } },
          disconnected,
        ];
  await inTransaction(deps.db, async (tx) => {
    if (!(await deleteDisconnected(tx, caller.tenant, row))) return; // another process was first
    await freeQuota(tx, caller, 'vault_credentials', 1);
    const at = deps.clock();
    for (const listener of deps.onDisconnected) await listener(tx, caller.tenant, row, { upstream, at });
    await recordActs(tx, caller, acts, at);
  });
}

/** The tokens of a connection, and the client that got them. */
interface Revocable {
  readonly providerId: string;
  readonly frozen: FrozenClient;
  readonly tokens: {
    readonly refresh_token?: string | undefined;
    readonly access_token?: string | undefined;
  };
}

/** RFC 7009: the refresh token first, because it outlives the access token. */
export async function revokeTokens(
  { db, clock, vault, connected }: Pick<CredentialDeps, 'db' | 'clock' | 'vault' | 'connected'>,
  tenant: Tenant,
  { providerId, frozen, tokens }: Revocable,
): Promise<Revoked> {
  const { revocationEndpoint: url } = frozen;
  if (url === null) return 'unsupported';
  const provider = await getProviderRow(db, tenant, providerId);
  const client = provider && frozenClient(vault, provider, frozen);
  if (!client) return 'failed';
  let outcome: Revoked = 'revoked';
  for (const hint of ['refresh_token', 'access_token'] as const) {
    const token = tokens[hint];
    if (token === undefined) continue;
    const form = new URLSearchParams({ token, token_type_hint: hint });
    const request = await asClient(client, form, { audience: frozen.audience, clock });
    const answer = await connected.send({ url, method: 'POST', ...request });
    if (answer.status !== 200) outcome = 'failed';
  }
  return outcome;
}

async function revokeConnection(deps: CredentialDeps, tenant: Tenant, row: CredentialRow): Promise<Revoked> {
  const envelope = openEnvelope(deps.vault, row.dataKey, [tenant.developerId, row.principalId, row.service]);
  if (row.providerId === null) return (await revokeStored(deps, row)) === undefined ? 'revoked' : 'failed';
  if (!envelope) return 'failed';
  const { refreshToken, accessToken, providerId } = row;
  return revokeTokens(deps, tenant, {
    providerId,
    frozen: Object(row.refresh), // stored by this service
    tokens: {
      refresh_token: refreshToken === null ? undefined : envelope.open('refresh_token', refreshToken),
      access_token: envelope.open('access_token', accessToken),
    },
  });
}

/** Tells the upstream of a stored credential that its tokens are not needed. @returns why it did not take them back */
export async function revokeStored(
  { vault, upstream }: Pick<CredentialDeps, 'vault' | 'upstream'>,
  row: CredentialRow,
): Promise<string | undefined> {
  const { developerId, principalId, service, refreshToken, clientSecret } = row;
  const settings = refreshSettings(row);
  const envelope = openEnvelope(vault, row.dataKey, [developerId, principalId, service]);
  const token = refreshToken === null ? undefined : envelope?.open('refresh_token', refreshToken);
  if (settings?.revocationEndpoint === undefined || token === undefined) return undefined;
  const secret = clientSecret === null ? undefined : envelope?.open('client_secret', clientSecret);
  const request = revocationRequest(settings, token, secret);
  const outcome = await upstream.send({ url: settings.revocationEndpoint, method: 'POST', ...request });
  return outcome.failure ?? (outcome.status === 200 ? undefined : `status ${outcome.status}`);
}

/** A request ends its own disconnection long before. */
const LEFT_AFTER_MS = 30_000;
const BATCH = 50;

/** Finishes disconnections that a crash cut off, and those of principals who are gone and of closed accounts. */
export async function finishDisconnections(deps: CredentialDeps, signal: AbortSignal): Promise<void> {
  const before = new Date(deps.clock().getTime() - LEFT_AFTER_MS);
  for (const row of await listDisconnectingAcrossTenants(deps.db, before, BATCH)) {
    if (signal.aborted) return;
    const tenant = { developerId: row.developerId };
    const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'disconnections');
    const isOffboarded = row.connectionReason === OFFBOARDED;
    await finish(
      deps,
      caller,
      row,
      isOffboarded ? OFFBOARDED : row.closedAt === null ? 'api' : 'developer_deleted',
    );
  }
}
