import type { Act } from '../../../platform/acts.ts';
import { type Caller, systemCaller, type Tenant } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { openEnvelope } from '../../../platform/envelope.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { asClient, frozenClient, getProviderRow } from '../providers/index.ts';
import type { FrozenClient } from './connection.rules.ts';
import {
  beginDisconnecting,
  type CredentialRow,
  deleteDisconnected,
  listDisconnectingAcrossTenants,
} from './credentials.repo.ts';
import type { CredentialDeps } from './deps.ts';

/** The upstream's answer to the end of its tokens. */
type Revoked = 'revoked' | 'failed' | 'unsupported';

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
  reason: 'api' | 'principal_request' | 'developer_deleted',
): Promise<void> {
  const upstream = await revokeConnection(deps, caller.tenant, row);
  if (upstream === 'failed') deps.onUnrevoked({ credentialId: row.id, failure: 'refused' });
  const { id, principalId, service, providerId } = row;
  const by = reason === 'principal_request' ? 'principal' : caller.actor;
  const acts: Act[] = [
    { type: 'vault.credential.deleted', principalId, data: { credentialId: id, service, reason } },
    {
      type: 'vault.connection.disconnected',
      principalId,
      data: { credentialId: id, service, providerId: providerId ?? '', by, upstream },
    },
  ];
  await inTransaction(deps.db, async (tx) => {
    if (!(await deleteDisconnected(tx, caller.tenant, row))) return; // another process was first
    await freeQuota(tx, caller, 'vault_credentials', 1);
    await recordActs(tx, caller, acts, deps.clock());
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
  if (!envelope || row.providerId === null) return 'failed';
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

/** A request ends its own disconnection long before. */
const LEFT_AFTER_MS = 30_000;
const BATCH = 50;

/** Finishes disconnections that a crash cut off, and those of closed accounts. */
export async function finishDisconnections(deps: CredentialDeps, signal: AbortSignal): Promise<void> {
  const before = new Date(deps.clock().getTime() - LEFT_AFTER_MS);
  for (const row of await listDisconnectingAcrossTenants(deps.db, before, BATCH)) {
    if (signal.aborted) return;
    const tenant = { developerId: row.developerId };
    const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'disconnections');
    await finish(deps, caller, row, row.closedAt === null ? 'api' : 'developer_deleted');
  }
}
