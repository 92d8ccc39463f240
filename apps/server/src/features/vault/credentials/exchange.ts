import { concerning } from '../../../platform/acts.ts';
import type { GrantHolder } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { currentKey, openEnvelope } from '../../../platform/envelope.ts';
import { AppError, grantTokenRefused, unavailable } from '../../../platform/errors.ts';
import { listDetailsAbove } from '../../grants/grants/grants.queries.ts';
import { prepareActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import { mustBeConnected, notStored } from './connection.ts';
import { frozenProfile } from './credentials.repo.ts';
import { isForProxyOnly, limitsCallsOf, matchingScope } from './credentials.rules.ts';
import type { CredentialExchange, ExchangedCredential } from './credentials.schema.ts';
import { type ExchangeableRow, findExchangeable, writeExchange } from './exchange.repo.ts';
import { isResting } from './refresh.rules.ts';
import { needsRefresh, type RefreshDeps, refreshUpstream } from './refresh.ts';

/** A stored credential did not open: its row was changed, or its key is another. */
export interface Unopened {
  readonly credentialId: string;
  readonly keyId: string;
}

export interface ExchangeDeps extends RefreshDeps {
  /** Tells the operator that a stored credential does not open. */
  readonly onUnopened: (facts: Unopened) => void;
}

const ATTEMPTS = 4; // a credential that is stored again meanwhile is read again

/**
 * Gives an agent the credential of its principal for a service. The entry is committed before the secret leaves.
 * @throws FORBIDDEN, NOT_FOUND, REAUTHORIZATION_REQUIRED, NOT_CONFIGURED, UPSTREAM_ERROR, INTERNAL_ERROR for a credential that does not open,
 * UNAUTHORIZED when the grant ended meanwhile, SERVICE_UNAVAILABLE
 */
export async function exchangeCredential(
  deps: ExchangeDeps,
  holder: GrantHolder,
  { service, upstreamScopes = [] }: CredentialExchange,
): Promise<ExchangedCredential> {
  const matchedScope = matchingScope(holder.scopes, service);
  if (matchedScope === undefined) {
    await block(deps, holder, { service, reason: 'scope' });
    throw new AppError('FORBIDDEN', 'The grant has no scope for the credential of this service.');
  }
  if (await isLimited(deps, holder, service)) {
    await refuseForProxy(deps, holder, service, 'The grant limits the calls of this connector.');
  }
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { row, refreshed } = await findFresh(deps, holder, service, upstreamScopes);
    const opened = await openStored(deps, holder, service, row);
    const { sealedAgain } = opened;
    const lost = await record(deps, holder, { row, service, matchedScope, sealedAgain, refreshed });
    if (lost === 'token_ended') throw grantTokenRefused();
    if (lost === null) {
      const { credentialType, tokenExpiresAt, metadata } = row;
      return {
        accessToken: opened.accessToken,
        service,
        credentialType,
        tokenExpiresAt: tokenExpiresAt?.toISOString() ?? null,
        metadata: Object(metadata),
      };
    }
  }
  throw unavailable('db');
}

/**
 * Reads the credential, and replaces an access token that is about to end. When that fails, a token that has not ended
 * is still good.
 * @throws NOT_FOUND, REAUTHORIZATION_REQUIRED, UPSTREAM_ERROR
 */
async function findFresh(
  deps: ExchangeDeps,
  holder: GrantHolder,
  service: string,
  wanted: readonly string[],
) {
  const found = await findStored(deps, holder, service);
  await mustBeConnected(deps, holder, { row: found, service, wanted });
  if (!needsRefresh(deps, found)) return { row: mustBeUsable(found, service, deps), refreshed: false };
  currentKey(deps.vault);
  const refreshed = await refreshUpstream(deps, holder, found);
  const row = await findStored(deps, holder, service);
  await mustBeConnected(deps, holder, { row, service, wanted });
  return { row: mustBeUsable(row, service, deps), refreshed };
}

async function findStored(deps: ExchangeDeps, holder: GrantHolder, service: string) {
  const row = await findExchangeable(deps.db, holder.tenant, holder.principalId, service);
  const isForProxy = row ? row.isProxyOnly || isForProxyOnly(row) : await isProxied(deps, holder, service);
  if (isForProxy) await refuseForProxy(deps, holder, service, 'The service is for the vault proxy alone.');
  if (row) return row;
  await block(deps, holder, { service, reason: 'not_found' });
  throw await notStored(deps, holder.tenant, service);
}

/** Where there is no credential, the profile alone decides: a refusal for the proxy comes before one for absence. */
async function isProxied({ db }: ExchangeDeps, { tenant }: GrantHolder, service: string): Promise<boolean> {
  const profile = await frozenProfile(db, tenant, service);
  return profile?.exchange === 'proxy_only';
}

/** @throws FORBIDDEN */
async function refuseForProxy(deps: ExchangeDeps, holder: GrantHolder, service: string, why: string) {
  await block(deps, holder, { service, reason: 'proxy_only' });
  const message = `${why} Its credential is not handed out; call through the vault proxy.`;
  throw new AppError('FORBIDDEN', message, { reason: 'proxy_only' });
}

/** A credential that does not refresh itself is given as it is, whatever its end. @throws UPSTREAM_ERROR */
function mustBeUsable(row: ExchangeableRow, service: string, { clock }: ExchangeDeps): ExchangeableRow {
  const { refreshStatus, tokenExpiresAt, refreshAfter } = row;
  const now = clock();
  if (refreshStatus === 'none' || tokenExpiresAt === null || tokenExpiresAt > now) return row;
  const rest = isResting(row, now) && refreshAfter ? refreshAfter.getTime() - now.getTime() : 0;
  const details = {
    service,
    reason: 'refresh_failed',
    ...(rest > 0 && refreshStatus === 'ok' && { retryAfter: Math.ceil(rest / 1000) }),
  };
  throw new AppError('UPSTREAM_ERROR', 'The upstream gave no new access token for this credential.', details);
}

/** A delegated grant is held to the limits above it, which its own entries may lack. */
async function isLimited({ db }: ExchangeDeps, holder: GrantHolder, service: string): Promise<boolean> {
  const { tenant, grantId, parentGrantId, authorizationDetails } = holder;
  if (limitsCallsOf(service, authorizationDetails)) return true;
  if (parentGrantId === null) return false;
  const above = await listDetailsAbove(db, tenant, grantId);
  return above.some((details) => limitsCallsOf(service, details));
}

/** @throws NOT_CONFIGURED, INTERNAL_ERROR, and never NOT_FOUND: the credential is there */
async function openStored(deps: ExchangeDeps, holder: GrantHolder, service: string, row: ExchangeableRow) {
  const current = currentKey(deps.vault);
  const owner = [holder.tenant.developerId, holder.principalId, service] as const;
  const envelope = openEnvelope(deps.vault, row.dataKey, owner);
  const accessToken = envelope?.open('access_token', row.accessToken);
  if (envelope === undefined || accessToken === undefined) {
    deps.onUnopened({ credentialId: row.id, keyId: row.keyId });
    await block(deps, holder, { service, reason: 'decrypt' }, 'failure');
    throw new AppError('INTERNAL_ERROR', 'The stored credential cannot be opened.');
  }
  const again = envelope.keyId === current.id ? undefined : envelope.under(current);
  return { accessToken, sealedAgain: again && { dataKey: again.dataKey, keyId: again.keyId } };
}

interface Recorded {
  readonly row: ExchangeableRow;
  readonly service: string;
  readonly matchedScope: string;
  readonly refreshed: boolean;
  readonly sealedAgain: Pick<ExchangeableRow, 'dataKey' | 'keyId'> | undefined;
}

/** @throws SERVICE_UNAVAILABLE when the entry cannot be written, whatever the reason */
async function record(
  { db, clock }: ExchangeDeps,
  holder: GrantHolder,
  { row, service, matchedScope, sealedAgain, refreshed }: Recorded,
) {
  const at = clock();
  const records = prepareActs(
    holder,
    [
      {
        ...concerning(holder),
        type: 'vault.credential.exchanged',
        data: { credentialId: row.id, service },
        evidence: { jti: holder.tokenId, matchedScope, refreshed },
      },
    ],
    at,
  );
  try {
    return await writeExchange(db, holder.tenant, at, { holder, row, sealedAgain, records });
  } catch (error) {
    throw Object.assign(unavailable('db'), { cause: error });
  }
}

interface Blocked {
  readonly service: string;
  readonly reason: 'scope' | 'proxy_only' | 'not_found' | 'decrypt';
}

function block(
  { db, clock }: ExchangeDeps,
  holder: GrantHolder,
  data: Blocked,
  status: 'blocked' | 'failure' = 'blocked',
): Promise<void> {
  const about = concerning(holder);
  const attempt = { action: 'vault.exchange_blocked', about, data: { ...data }, status } as const;
  return inTransaction(db, (tx) => recordBlockedAttempt(tx, holder, attempt, clock()));
}

export type LendDeps = ExchangeDeps;
/** A credential that was read and not opened. */
export type StoredRow = ExchangeableRow;

export const findStoredCredential = ({ db }: LendDeps, holder: GrantHolder, service: string) =>
  findExchangeable(db, holder.tenant, holder.principalId, service);

/** An opened credential. It stays in the process. */
export interface Lent {
  readonly row: StoredRow;
  readonly secret: string;
}

/**
 * Opens a credential for a call that the service makes itself, with a new access token if the stored one is about to
 * end.
 * @returns undefined when the credential is gone meanwhile
 * @throws NOT_CONFIGURED, UPSTREAM_ERROR, INTERNAL_ERROR
 */
export async function lend(
  deps: LendDeps,
  holder: GrantHolder,
  service: string,
  found: StoredRow,
): Promise<Lent | undefined> {
  if (!needsRefresh(deps, found)) return opened(deps, holder, service, found);
  return lendRefreshed(deps, holder, service, found);
}

const REFRESH_REST_MS = 60_000; // one refresh a minute after refusals of the upstream

/** Whether an upstream that refuses the access token is worth another token. */
export const mayRefresh = ({ clock }: LendDeps, row: StoredRow): boolean =>
  row.refreshStatus === 'ok' &&
  !isResting(row, clock()) &&
  clock().getTime() - row.updatedAt.getTime() >= REFRESH_REST_MS;

/** As `lend`, after the upstream refused the access token: gets a new one first. */
export async function lendRefreshed(
  deps: LendDeps,
  holder: GrantHolder,
  service: string,
  found: StoredRow,
): Promise<Lent | undefined> {
  currentKey(deps.vault);
  await refreshUpstream(deps, holder, found);
  const row = await findStoredCredential(deps, holder, service);
  return row && opened(deps, holder, service, row);
}

async function opened(deps: LendDeps, holder: GrantHolder, service: string, row: StoredRow): Promise<Lent> {
  const usable = mustBeUsable(row, service, deps);
  const { accessToken } = await openStored(deps, holder, service, usable);
  return { row: usable, secret: accessToken };
}
