import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { isTaken, type Tx } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { currentKey, type MasterKeys, newEnvelope } from '../../../platform/envelope.ts';
import { principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { useQuota } from '../../accounts/quotas/index.ts';
import { listConnectionRows } from './connection.repo.ts';
import { type ConnectionFacts, type FrozenClient, factsOf, shownConnection } from './connection.rules.ts';
import { FOLDED_INDEX, findShownCredentialOf, lockNamed, upsertCredential } from './credentials.repo.ts';
import { differsInCase } from './deps.ts';
import { frozenProfile } from './profiles.repo.ts';
import { proxyColumn, storedProxy } from './proxy.rules.ts';
import type { NewTokens } from './tokens.rules.ts';

interface StoreDeps {
  readonly clock: Clock;
  readonly vault: MasterKeys;
  readonly quotas: Quotas;
}

/** An account that a person has confirmed. */
export interface NewConnection {
  readonly principalId: string;
  readonly service: string;
  readonly providerId: string;
  readonly tokens: NewTokens;
  readonly tokenExpiresAt: Date | null;
  readonly facts: ConnectionFacts;
  readonly frozen: FrozenClient;
}

/**
 * Stores a connected account within the caller's transaction, in the place of any credential of the same service.
 * @returns the acts, for the caller to record
 * @throws PLAN_LIMIT_EXCEEDED, CONFLICT, NOT_CONFIGURED
 */
export async function storeConnection(
  deps: StoreDeps,
  tx: Tx,
  caller: Caller,
  connection: NewConnection,
): Promise<{ readonly credentialId: string; readonly replaced: boolean; readonly act: Act }> {
  const { principalId, service, providerId, tokens, tokenExpiresAt, facts, frozen } = connection;
  const at = deps.clock();
  if (!(await holdPrincipal(tx, caller.tenant, principalId))) throw principalInactive();
  const before = await lockNamed(tx, caller.tenant, connection);
  if (!before) await useQuota(tx, deps.quotas, caller, 'vault_credentials', at); // counts rows, so before the insert
  const envelope = newEnvelope(currentKey(deps.vault), [caller.tenant.developerId, principalId, service]);
  const { accessToken, refreshToken } = tokens;
  const row = {
    id: newId('vault', at),
    principalId,
    service,
    credentialType: 'oauth2',
    metadata: JSON.stringify({ account: facts.account, scopes: facts.scopesGranted }),
    tokenExpiresAt,
    keyId: envelope.keyId,
    dataKey: envelope.dataKey,
    accessToken: envelope.seal('access_token', accessToken),
    refreshToken: refreshToken === undefined ? null : envelope.seal('refresh_token', refreshToken),
    refresh: JSON.stringify(frozen),
    clientSecret: null,
    refreshStatus: refreshToken === undefined ? 'none' : 'ok',
    providerId,
    connection: JSON.stringify(facts),
    connectionStatus: 'connected',
    connectionReason: null,
    proxy: proxyColumn(limitsOf(before), await originsFor(tx, caller, connection)),
    disconnectingAt: null,
    createdAt: at,
    updatedAt: at,
  } as const;
  const stored = await upsertCredential(tx, caller.tenant, row).catch((error: unknown) => {
    throw isTaken(error, FOLDED_INDEX) ? differsInCase() : error;
  });
  const replaced = stored.id !== row.id;
  const data = { credentialId: stored.id, service, credentialType: 'oauth2', replaced };
  return { credentialId: stored.id, replaced, act: { type: 'vault.credential.stored', principalId, data } };
}

/** The developer's limits of the credential before. They hold for the account that takes its place. */
function limitsOf(before: { readonly proxy: unknown } | undefined) {
  const stored = before && storedProxy(before);
  if (!stored) return undefined;
  const { frozen: _, ...limits } = stored;
  return limits;
}

/** The token of an MCP server goes to that server alone. */
async function originsFor(tx: Tx, { tenant }: Caller, { service, frozen }: NewConnection) {
  const profile = await frozenProfile(tx, tenant, service);
  if (frozen.resource === null) return profile;
  const origins = [new URL(frozen.resource).origin];
  return { origins, exchange: profile?.exchange ?? 'allowed' } as const;
}

interface Named {
  readonly principalId: string;
  readonly service: string;
}

/** The credential that a new connection would replace. `facts` is undefined for one that was stored by API. */
export async function findReplaced(
  db: Parameters<typeof findShownCredentialOf>[0],
  { tenant }: Pick<Caller, 'tenant'>,
  named: Named,
) {
  const row = await findShownCredentialOf(db, tenant, named);
  return row && { facts: factsOf(row) };
}

/** A person's connections, for the page of their session. */
export async function listConnections(
  db: Parameters<typeof listConnectionRows>[0],
  { tenant }: Pick<Caller, 'tenant'>,
  principalId: string,
  page: { readonly cursor?: string; readonly limit: number },
) {
  const { rows, ...rest } = await listConnectionRows(db, tenant, principalId, page);
  return {
    ...rest,
    rows: rows.flatMap((row) => {
      const connection = shownConnection(row);
      return connection ? [{ ...row, connection }] : [];
    }),
  };
}
