import type { Connection } from './credentials.schema.ts';

/** The facts of a connection at the time when the person connected, as the row keeps them. */
export interface ConnectionFacts {
  readonly account: { readonly id: string; readonly label: string | null } | null;
  readonly scopesAsked: readonly string[];
  readonly scopesGranted: readonly string[];
  readonly requiredScopes: readonly string[];
  readonly connectedAt: string;
  readonly method: string;
  readonly refreshTokenExpiresAt: string | null;
}

/** The endpoints and the client that serve a connection for as long as it lasts. */
export interface FrozenClient {
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | null;
  readonly clientId: string;
  readonly authMethod: string;
  /** The audience of the client's assertions. */
  readonly audience: string;
  readonly resource: string | null;
  readonly pointers: Readonly<
    Partial<Record<'accessToken' | 'refreshToken' | 'expiresIn' | 'scope', string>>
  >;
}

/** The reasons for which a person has to connect an account again. */
export type ReconnectReason =
  | 'refresh_refused'
  | 'refresh_expired'
  | 'no_refresh_token'
  | 'scopes_missing'
  | 'upstream_refused'
  | 'provider_changed';

interface ConnectedRow {
  readonly providerId: string | null;
  readonly connection: unknown;
  readonly connectionStatus: 'connected' | 'reauthorization_required' | null;
  readonly connectionReason: string | null;
}

/** @returns undefined for a credential that was stored by API */
export const factsOf = ({ providerId, connection }: Pick<ConnectedRow, 'providerId' | 'connection'>) =>
  providerId === null ? undefined : (Object(connection) as ConnectionFacts); // stored by this service

export const missingIn = ({ requiredScopes, scopesGranted }: ConnectionFacts): string[] =>
  requiredScopes.filter((scope) => !scopesGranted.includes(scope));

export function shownConnection(row: ConnectedRow): Connection | null {
  const facts = factsOf(row);
  if (!facts || row.providerId === null) return null;
  const { account, scopesAsked, scopesGranted, connectedAt, method, refreshTokenExpiresAt } = facts;
  return {
    providerId: row.providerId,
    account,
    scopesAsked: [...scopesAsked],
    scopesGranted: [...scopesGranted],
    missingScopes: missingIn(facts),
    status: row.connectionStatus ?? 'connected',
    reason: row.connectionReason,
    connectedAt,
    method,
    refreshTokenExpiresAt,
  };
}

interface Usable extends ConnectedRow {
  readonly tokenExpiresAt: Date | null;
}

/** Why an agent does not get this connection's token, if so. A token that has not ended is handed out until then. */
export function obstacleOf(
  row: Usable,
  wanted: readonly string[],
  now: Date,
): { readonly reason: string; readonly missingScopes: readonly string[] } | undefined {
  const facts = factsOf(row);
  if (!facts) return undefined;
  const ungranted = wanted.filter((scope) => !facts.scopesGranted.includes(scope));
  if (ungranted.length > 0) return { reason: 'scopes_missing', missingScopes: ungranted };
  const { tokenExpiresAt, connectionStatus, connectionReason } = row;
  if (connectionStatus !== 'reauthorization_required') return undefined;
  const isLive = tokenExpiresAt === null || tokenExpiresAt > now;
  if (isLive && connectionReason !== 'upstream_refused') return undefined;
  return { reason: connectionReason ?? 'refresh_refused', missingScopes: missingIn(facts) };
}

/** Why a connection can get no new access token, known without asking the upstream. */
export function endOf(
  row: Usable & { readonly refreshStatus: 'none' | 'ok' | 'failed' },
  now: Date,
): ReconnectReason | undefined {
  const facts = factsOf(row);
  if (!facts || row.connectionStatus !== 'connected') return undefined;
  const isPast = row.tokenExpiresAt !== null && row.tokenExpiresAt <= now;
  if (isPast && row.refreshStatus === 'none') return 'no_refresh_token';
  const { refreshTokenExpiresAt: end } = facts;
  return isPast && end !== null && new Date(end) <= now ? 'refresh_expired' : undefined;
}
