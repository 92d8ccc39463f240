import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import type { SsoDeps } from './deps.ts';
import { badState, type Flight, takeFlight } from './flight.ts';
import { type OnceOnly, type OpenedSession, openSsoSession } from './identity.ts';
import type { OidcCallback } from './login.schema.ts';
import { oidcClaims } from './oidc.ts';
import { authFailed, type Claimed, OtherSubject, refusalOf } from './outcomes.ts';
import { samlClaims } from './saml.ts';
import { type ConnectionRow, findConnection } from './sso.repo.ts';

/** The browser or program that brings an answer. */
export interface SignInClient {
  readonly requestId: string;
  readonly address: string;
  /** The secrets of the cookies that bind logins to the browser, one for each tab. */
  readonly secrets: readonly string[];
}

export interface Ended extends OpenedSession {
  /** Where a browser goes now. Null: it gets the session as JSON. */
  readonly returnTo: string | null;
  readonly isBrowser: boolean;
  /** The hash of the cookie of this login. */
  readonly browserHash: string | null;
}

/** @throws as `openSsoSession`, BAD_REQUEST, SSO_ERROR */
export async function takeOidcAnswer(
  deps: SsoDeps,
  { code, state, redirect_uri: redirectUri, iss, error }: OidcCallback & { readonly error?: string },
  bringer: SignInClient,
): Promise<Ended> {
  if (state === undefined) throw badField('state', 'required');
  const flight = await takeFlight(deps, state, bringer.secrets);
  return land(deps, flight, 'oidc', bringer, async (row) => {
    if (redirectUri !== undefined && redirectUri !== flight.redirectUri) {
      throw badField('redirect_uri', 'not_allowed', 'The login was begun with another `redirect_uri`.');
    }
    // A parameter without a value is left out (RFC 6749, section 3.1).
    if (error) throw authFailed('refused_by_provider');
    if (!code) throw badField('code', 'required');
    return { claimed: await oidcClaims(deps, row, flight, { code, iss: iss || undefined }) };
  });
}

/** @throws as `takeOidcAnswer` */
export async function takeSamlAnswer(
  deps: SsoDeps,
  {
    SAMLResponse: response,
    RelayState: state,
  }: { readonly SAMLResponse: string; readonly RelayState: string },
  bringer: SignInClient,
): Promise<Ended> {
  const flight = await takeFlight(deps, state, bringer.secrets);
  return land(deps, flight, 'saml', bringer, (row) => samlClaims(deps, row, flight, response));
}

interface Landed {
  readonly claimed: Claimed;
  readonly onceOnly?: OnceOnly;
}

async function land(
  deps: SsoDeps,
  flight: Flight,
  protocol: 'oidc' | 'saml',
  { requestId }: SignInClient,
  read: (row: ConnectionRow) => Promise<Landed>,
): Promise<Ended> {
  const { returnTo, isBrowser, browserHash } = flight;
  const caller = await callerFor(deps, flight, flight.connectionId, requestId);
  const row = await findConnection(deps.db, caller.tenant, flight.connectionId);
  if (!row) throw notFound();
  const opened = await reporting(deps, caller, row, async () => {
    if (row.status === 'inactive') throw notFound();
    if (row.version !== flight.version || row.protocol !== protocol) throw badState();
    const { claimed, onceOnly } = await read(row);
    return openSsoSession(deps, caller, row, claimed, onceOnly);
  });
  return { ...opened, returnTo, isBrowser, browserHash };
}

/** The service at work for a person whom nobody knows yet. @throws NOT_FOUND */
export async function callerFor(
  { db }: Pick<SsoDeps, 'db'>,
  { developerId }: Tenant,
  connectionId: string,
  requestId: string,
): Promise<Caller> {
  const parts = await findCallerParts(db, { developerId });
  if (!parts) throw notFound();
  const actor = `sso:${connectionId}`;
  return { tenant: { developerId }, agentIds: null, actor, role: 'runtime', ...parts, requestId };
}

/** Records the reason of a refused login, which its person does not learn. */
export async function reporting<T>(
  { db, clock }: Pick<SsoDeps, 'db' | 'clock'>,
  caller: Caller,
  { id: connectionId, protocol }: Pick<ConnectionRow, 'id' | 'protocol'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== undefined) {
      const isOther = error instanceof OtherSubject;
      const data = { connectionId, protocol, ...refusal, ...(isOther && error.found) };
      const about = { action: 'sso.login_failed', about: {}, status: 'failure' } as const;
      const attempt = { ...about, data, ...(isOther && ({ hasOwnEntry: true } as const)) };
      await inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
    }
    throw error;
  }
}
