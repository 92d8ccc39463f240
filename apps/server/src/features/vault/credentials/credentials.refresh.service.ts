import { setTimeout as delay } from 'node:timers/promises';
import type { Act } from '../../../platform/acts.ts';
import type { GrantHolder, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { type MasterKeys, openEnvelope } from '../../../platform/envelope.ts';
import { newId } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { ExchangeableRow } from './credentials.exchange.repo.ts';
import {
  findLease,
  type LeasedRow,
  leaseCredential,
  releaseLease,
  settleLease,
} from './credentials.refresh.repo.ts';
import {
  isDue,
  type NewTokens,
  type Refreshing,
  readRefreshing,
  refreshRequest,
} from './credentials.refresh.rules.ts';
import { refreshSettings } from './credentials.service.ts';

export interface RefreshDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly vault: MasterKeys;
  readonly upstream: Egress;
  /** How long before its end an access token is replaced. */
  readonly skewSeconds: number;
}

const LEASE_MS = 15_000; // longer than a call to the upstream may take
const LONGEST_WAIT_MS = 10_000;
const POLL_MS = 50;

/** Whether the exchange asks the upstream for another access token first. */
export const needsRefresh = (
  { clock, skewSeconds }: RefreshDeps,
  { refreshStatus, tokenExpiresAt }: ExchangeableRow,
): boolean => refreshStatus === 'ok' && isDue(tokenExpiresAt, clock(), skewSeconds);

/**
 * Replaces the access token at the upstream, once however many ask: a lease on the row decides who calls, and all others
 * wait for the end of that call. No transaction is open meanwhile. The caller reads the credential again afterwards.
 * @returns whether this call got new tokens
 */
export async function refreshUpstream(
  deps: RefreshDeps,
  holder: GrantHolder,
  row: ExchangeableRow,
): Promise<boolean> {
  const { db, clock } = deps;
  const at = clock();
  const lease = { id: newId('lease', at), at, until: new Date(at.getTime() + LEASE_MS) };
  const leased = await leaseCredential(db, holder.tenant, row, lease);
  if (!leased) {
    await untilSettled(deps, holder.tenant, row);
    return false;
  }
  const refreshing = await askUpstream(deps, holder.tenant, leased).catch(async (error: unknown) => {
    await releaseLease(db, holder.tenant, leased);
    throw error;
  });
  return settle(deps, holder, leased, refreshing);
}

async function untilSettled({ db, clock }: RefreshDeps, tenant: Tenant, { id, version }: ExchangeableRow) {
  for (let waited = 0; waited < LONGEST_WAIT_MS; waited += POLL_MS) {
    const found = await findLease(db, tenant, id);
    const isLeased = found?.leasedUntil && found.leasedUntil > clock();
    if (!found || found.version !== version || !isLeased) return;
    await delay(POLL_MS);
  }
}

/** An upstream's words are read, and reach neither the log nor the agent. */
async function askUpstream(
  { vault, upstream }: RefreshDeps,
  { developerId }: Tenant,
  row: LeasedRow,
): Promise<Refreshing> {
  const settings = refreshSettings(row);
  const envelope = openEnvelope(vault, row.dataKey, [developerId, row.principalId, row.service]);
  const refreshToken =
    row.refreshToken === null ? undefined : envelope?.open('refresh_token', row.refreshToken);
  if (!settings || refreshToken === undefined) return { result: 'failed' };
  const secret = row.clientSecret === null ? undefined : envelope?.open('client_secret', row.clientSecret);
  const { headers, body } = refreshRequest(settings, refreshToken, secret);
  const answer = await upstream.ask({ url: settings.tokenEndpoint, method: 'POST', headers, body });
  return answer.failure === undefined ? readRefreshing(answer.status, answer.body) : { result: 'failed' };
}

/** A store that came meanwhile stays as it is. */
async function settle(
  deps: RefreshDeps,
  holder: GrantHolder,
  row: LeasedRow,
  refreshing: Refreshing,
): Promise<boolean> {
  const { db, clock } = deps;
  if (refreshing.result === 'failed') {
    await releaseLease(db, holder.tenant, row);
    return false;
  }
  const at = clock();
  const { change, act } =
    refreshing.result === 'refreshed'
      ? renewed(deps, holder.tenant, row, refreshing.tokens, at)
      : refused(row, refreshing.error);
  return inTransaction(db, async (tx) => {
    if (!(await settleLease(tx, holder.tenant, row, change))) return false;
    await recordActs(tx, holder, [act], at);
    return refreshing.result === 'refreshed';
  });
}

function renewed(
  { vault }: RefreshDeps,
  { developerId }: Tenant,
  row: LeasedRow,
  { accessToken, refreshToken, expiresInSeconds }: NewTokens,
  at: Date,
) {
  const { id, principalId, service } = row;
  const envelope = openEnvelope(vault, row.dataKey, [developerId, principalId, service]);
  if (!envelope) throw new Error('A credential that was just opened does not open.');
  const tokenExpiresAt =
    expiresInSeconds === undefined ? null : new Date(at.getTime() + expiresInSeconds * 1000);
  const data = { credentialId: id, service, tokenExpiresAt: tokenExpiresAt?.toISOString() ?? null };
  const act: Act = { type: 'vault.credential.refreshed', principalId, data };
  const change = {
    accessToken: envelope.seal('access_token', accessToken),
    ...(refreshToken !== undefined && { refreshToken: envelope.seal('refresh_token', refreshToken) }),
    tokenExpiresAt,
    updatedAt: at,
  };
  return { change, act };
}

function refused({ id, principalId, service }: LeasedRow, error: string) {
  const data = { credentialId: id, service, error };
  const act: Act = { type: 'vault.credential.refresh_failed', principalId, data };
  return { change: { refreshStatus: 'failed' } as const, act };
}
