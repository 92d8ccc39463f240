import type { Act } from '../../../platform/acts.ts';
import type { Caller, GrantHolder, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { inTransaction, isTaken, type Tx } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { currentKey, type MasterKeys, newEnvelope } from '../../../platform/envelope.ts';
import { AppError, principalInactive } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { isConnectable } from '../providers/providers.queries.ts';
import {
  type ConnectionFacts,
  endOf,
  type FrozenClient,
  factsOf,
  obstacleOf,
  type ReconnectReason,
  shownConnection,
} from './connection.rules.ts';
import {
  endConnection,
  FOLDED_INDEX,
  findShownCredentialOf,
  frozenProfile,
  listConnectionRows,
  lockNamed,
  upsertCredential,
} from './credentials.repo.ts';
import { proxyColumn, storedProxy } from './credentials.rules.ts';
import { differsInCase } from './deps.ts';
import type { ExchangeableRow } from './exchange.repo.ts';
import { endedAct, type RefreshDeps } from './refresh.ts';
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

type Deps = Pick<RefreshDeps, 'db' | 'clock'>;

/** The answer for a service at which the principal has no credential. The agent may ask its person to connect one. */
export async function notStored({ db }: Deps, tenant: Tenant, service: string): Promise<AppError> {
  const connectable = await isConnectable(db, tenant, service);
  const details = connectable ? { reason: 'not_connected', connectable } : undefined;
  return new AppError('NOT_FOUND', 'The principal has no credential for this service.', details);
}

/**
 * Looks whether a connected account gives a token still. Its end is recorded once. A credential that was stored by API
 * passes.
 * @param wanted scopes of the upstream that the agent needs
 * @throws REAUTHORIZATION_REQUIRED, of which the agent may tell its person
 */
export async function mustBeConnected(
  deps: Deps,
  holder: GrantHolder,
  { row, service, wanted = [] }: ConnectedUse,
): Promise<void> {
  const now = deps.clock();
  const end = endOf(row, now);
  const isNoted = end !== undefined && (await noteEnd(deps, holder, { row, service }, end));
  const obstacle = obstacleOf(isNoted ? ended(row, end) : row, wanted, now);
  if (!obstacle) return;
  const details = { service, providerId: row.providerId, ...obstacle };
  throw new AppError('REAUTHORIZATION_REQUIRED', 'The person has to connect this account again.', details);
}

interface ConnectedUse {
  readonly row: ExchangeableRow;
  readonly service: string;
  readonly wanted?: readonly string[];
}

const ended = (row: ExchangeableRow, reason: ReconnectReason): ExchangeableRow => ({
  ...row,
  connectionStatus: 'reauthorization_required',
  connectionReason: reason,
});

/** Records that the upstream refused an access token which it had just given. */
export async function noteRefusedByUpstream(deps: Deps, holder: GrantHolder, use: ConnectedUse) {
  if (factsOf(use.row)) await noteEnd(deps, holder, use, 'upstream_refused');
}

/** @returns false when the credential was changed meanwhile: it has to be read again */
function noteEnd(
  { db, clock }: Deps,
  holder: GrantHolder,
  { row, service }: ConnectedUse,
  reason: ReconnectReason,
): Promise<boolean> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const change = { connectionReason: reason, updatedAt: at };
    if (!(await endConnection(tx, holder.tenant, row, change))) return false;
    const named = { ...row, service, principalId: holder.principalId };
    await recordActs(tx, holder, [endedAct(named, reason)], at);
    return true;
  });
}
