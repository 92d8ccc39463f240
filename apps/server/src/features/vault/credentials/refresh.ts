import { setTimeout as delay } from 'node:timers/promises';
import type { Act } from '../../../platform/acts.ts';
import type { GrantHolder, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { type MasterKeys, openEnvelope } from '../../../platform/envelope.ts';
import { newId } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  asClient,
  frozenClient,
  getProviderRow,
  noteClientAccepted,
  noteClientRefused,
  settingsOf,
} from '../providers/index.ts';
import { readTokenAnswer, type TokenAnswer } from './answers.rules.ts';
import {
  type ConnectionFacts,
  type FrozenClient,
  factsOf,
  missingIn,
  type ReconnectReason,
} from './connection.rules.ts';
import type { ExchangeableRow } from './exchange.repo.ts';
import { findLease, type LeasedRow, leaseCredential, releaseLease, settleLease } from './refresh.repo.ts';
import { isDue, isResting, refreshRequest, refreshSettings, restSeconds } from './refresh.rules.ts';
import type { NewTokens } from './tokens.rules.ts';

export interface RefreshDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly vault: MasterKeys;
  readonly upstream: Egress;
  /** The addresses of connected accounts. */
  readonly connected: Egress;
  /** How long before its end an access token is replaced. */
  readonly skewSeconds: number;
}

const LEASE_MS = 15_000; // longer than a call to the upstream may take
const LONGEST_WAIT_MS = 10_000;
const POLL_MS = 50;

/** Whether the exchange asks the upstream for another access token first. */
export const needsRefresh = ({ clock, skewSeconds }: RefreshDeps, row: ExchangeableRow): boolean =>
  row.refreshStatus === 'ok' && isDue(row.tokenExpiresAt, clock(), skewSeconds) && !isResting(row, clock());

/** The outcome of a refresh. */
type Refreshing =
  | TokenAnswer
  /** The provider is another client of another server now, so nothing was sent. */
  | { readonly result: 'provider_changed' };

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
  if (leased.providerId !== null) {
    const { providerId: id, service, principalId } = leased;
    if (refreshing.result === 'client_refused')
      await noteClientRefused(deps, holder, { id, service }, principalId);
    if (refreshing.result === 'tokens') await noteClientAccepted(deps, holder.tenant, id);
  }
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
async function askUpstream(deps: RefreshDeps, tenant: Tenant, row: LeasedRow): Promise<Refreshing> {
  const { vault, upstream, clock } = deps;
  const { developerId } = tenant;
  if (row.providerId !== null) return askProvider(deps, tenant, row, row.providerId);
  const settings = refreshSettings(row);
  const envelope = openEnvelope(vault, row.dataKey, [developerId, row.principalId, row.service]);
  const refreshToken =
    row.refreshToken === null ? undefined : envelope?.open('refresh_token', row.refreshToken);
  if (!settings || refreshToken === undefined) return { result: 'failed' };
  const secret = row.clientSecret === null ? undefined : envelope?.open('client_secret', row.clientSecret);
  const { headers, body } = refreshRequest(settings, refreshToken, secret);
  const answer = await upstream.ask({ url: settings.tokenEndpoint, method: 'POST', headers, body });
  const { tokenLifetimeSeconds } = settings;
  return readTokenAnswer(answer, { tokenLifetimeSeconds, isRefresh: true }, clock());
}

/** The endpoint and the client are those with which the person connected. */
async function askProvider(
  { db, clock, vault, connected }: RefreshDeps,
  tenant: Tenant,
  row: LeasedRow,
  providerId: string,
): Promise<Refreshing> {
  const frozen: FrozenClient = Object(row.refresh); // stored by this service
  const provider = await getProviderRow(db, tenant, providerId);
  const client = provider && frozenClient(vault, provider, frozen);
  if (!client) return { result: 'provider_changed' };
  const envelope = openEnvelope(vault, row.dataKey, [tenant.developerId, row.principalId, row.service]);
  const token = row.refreshToken === null ? undefined : envelope?.open('refresh_token', row.refreshToken);
  if (token === undefined) return { result: 'failed' };
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token });
  if (frozen.resource !== null) form.set('resource', frozen.resource);
  const request = await asClient(client, form, { audience: frozen.audience, clock });
  const answer = await connected.ask({ url: frozen.tokenEndpoint, method: 'POST', ...request });
  const { tokenLifetimeSeconds } = settingsOf(provider);
  return readTokenAnswer(
    answer,
    { pointers: frozen.pointers, tokenLifetimeSeconds, isRefresh: true },
    clock(),
  );
}

/** A store that came meanwhile stays as it is. */
async function settle(
  deps: RefreshDeps,
  holder: GrantHolder,
  row: LeasedRow,
  refreshing: Refreshing,
): Promise<boolean> {
  const { db, clock } = deps;
  const at = clock();
  if (refreshing.result === 'failed' || refreshing.result === 'client_refused') {
    const refreshFailures = row.refreshFailures + 1;
    const told = refreshing.result === 'failed' ? refreshing.retryAfterSeconds : undefined;
    const refreshAfter = new Date(at.getTime() + restSeconds(refreshFailures, told) * 1000);
    await releaseLease(db, holder.tenant, row, { refreshFailures, refreshAfter });
    return false;
  }
  const { change, acts } = outcomeOf(deps, holder.tenant, row, refreshing, at);
  return inTransaction(db, async (tx) => {
    if (!(await settleLease(tx, holder.tenant, row, change))) return false;
    await recordActs(tx, holder, acts, at);
    return refreshing.result === 'tokens';
  });
}

type Settling = Exclude<Refreshing, { readonly result: 'failed' | 'client_refused' }>;

interface Outcome {
  readonly change: Parameters<typeof settleLease>[3];
  readonly acts: readonly Act[];
}

function outcomeOf(
  deps: RefreshDeps,
  tenant: Tenant,
  row: LeasedRow,
  refreshing: Settling,
  at: Date,
): Outcome {
  if (refreshing.result === 'tokens') return renewed(deps, tenant, row, refreshing.tokens, at);
  if (refreshing.result === 'provider_changed') {
    return { change: ended('provider_changed'), acts: [endedAct(row, 'provider_changed')] };
  }
  const { change, act } = refused(row, refreshing.error);
  if (row.providerId === null) return { change, acts: [act] };
  return {
    change: { ...change, ...ended('refresh_refused') },
    acts: [act, endedAct(row, 'refresh_refused')],
  };
}

const ended = (reason: ReconnectReason) =>
  ({ connectionStatus: 'reauthorization_required', connectionReason: reason }) as const;

type EndedRow = Pick<ExchangeableRow, 'id' | 'providerId' | 'connection'> & {
  readonly principalId: string;
  readonly service: string;
};

/** The person has to connect the account again. */
export function endedAct(row: EndedRow, reason: ReconnectReason, missingScopes: readonly string[] = []): Act {
  const { id, principalId, service, providerId } = row;
  const missing = missingScopes.length > 0 && { missingScopes };
  const data = { credentialId: id, service, providerId: providerId ?? '', reason, ...missing };
  return { type: 'vault.connection.reauthorization_required', principalId, data };
}

function renewed(
  { vault }: RefreshDeps,
  { developerId }: Tenant,
  row: LeasedRow,
  tokens: NewTokens,
  at: Date,
): Outcome {
  const { accessToken, refreshToken, expiresInSeconds } = tokens;
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
    refreshFailures: 0,
    refreshAfter: null,
    updatedAt: at,
  };
  const facts = factsOf(row);
  if (!facts) return { change, acts: [act] };
  const next = regranted(facts, tokens, at);
  const missing = missingIn(next);
  const isNew = missing.length > missingIn(facts).length;
  return {
    change: { ...change, connection: JSON.stringify(next), ...(isNew && ended('scopes_missing')) },
    acts: [act, ...(isNew ? [endedAct(row, 'scopes_missing', missing)] : [])],
  };
}

/** RFC 6749, section 6: an answer without a scope grants what was granted before. */
function regranted(facts: ConnectionFacts, { scopes, refreshExpiresInSeconds }: NewTokens, at: Date) {
  const end = refreshExpiresInSeconds;
  return {
    ...facts,
    ...(scopes && { scopesGranted: scopes }),
    ...(end !== undefined && { refreshTokenExpiresAt: new Date(at.getTime() + end * 1000).toISOString() }),
  };
}

function refused({ id, principalId, service }: LeasedRow, error: string) {
  const data = { credentialId: id, service, error };
  const act: Act = { type: 'vault.credential.refresh_failed', principalId, data };
  return { change: { refreshStatus: 'failed' } as const, act };
}
