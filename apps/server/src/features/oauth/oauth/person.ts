import { secondOf } from '@behest/protocol/authentication';
import type { Clock } from '../../../platform/clock.ts';
import { AppError, oauthRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { inLocales } from '../../../platform/languages.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import { readNaming } from '../../grants/consent/index.ts';
import { namedResources } from '../../grants/resources/resources.queries.ts';
import type { PasskeyDeps } from '../../people/passkeys/index.ts';
import { cookieNames, readSessionCookie } from '../../people/sso/index.ts';
import { principalOfSession } from '../../people/sso/sessions.queries.ts';
import { mustHaveActiveConnection } from '../../people/sso/sso.queries.ts';
import type { AuthenticationDeps, Client } from './client.ts';
import type { OAuthAuthorizationRequest } from './oauth.schema.ts';
import { keepPushed, SIGN_IN_SECONDS } from './par.ts';
import type { AcceptedAuthorization } from './request.rules.ts';

/** The browser that follows a client's link. */
export interface Browser {
  readonly requestId: string;
  readonly address: string;
  readonly cookies: Readonly<Record<string, string | undefined>>;
}

/** How a page of the service has found out who the person is: at most one of the two. */
export interface NamedOnPage {
  /** By a hint of the developer's application, which has signed them in for this request. */
  readonly hint?: string;
  /** By a passkey of theirs, which they have shown for this request. The service has checked it. */
  readonly byPasskey?: string;
}

interface Naming
  extends NamedOnPage,
    Pick<AcceptedAuthorization, 'loginHint' | 'asksSignIn' | 'maxAgeSeconds' | 'uiLocales'> {
  /** From an authenticated client. */
  readonly principalId: string | undefined;
  readonly form: OAuthAuthorizationRequest;
  /** Whether the browser comes from signing in for this very request. */
  readonly isSignedIn: boolean;
  /** When the browser came first. */
  readonly askedAt: Date;
  /** The id that the developer's application got, or for which the person has shown their passkey. */
  readonly requestId: string | undefined;
}

/** The person of a request, and the hint that proves them on the consent page too. */
export interface NamedPerson {
  readonly principalId: string;
  /** Whether the browser's session, a passkey or the developer's application says so, and not the client. */
  readonly isProven: boolean;
  readonly requestId?: string;
  readonly hint?: string;
  /** The earliest sign-in that counts for the request. */
  readonly authenticatedSince?: Date | undefined;
}

interface PersonDeps extends AuthenticationDeps, Pick<PasskeyDeps, 'relyingParty'> {}

/** The person, or the address at which they sign in first. */
type Named = NamedPerson | { readonly signInAt: string };

export const noSignInMethod = () => oauthRefusal('access_denied', 'no sign-in method');

/**
 * Finds out whom the request is about. No client that has not authenticated itself is believed about that.
 * @returns the principal, or the address at which the person signs in first
 * @throws access_denied where the service cannot tell, unmet_authentication_requirements
 */
export async function personOf(
  deps: PersonDeps,
  client: Client,
  naming: Naming,
  browser: Browser,
): Promise<Named> {
  const { principalId, loginHint } = naming;
  const { tenant, mode } = client.caller;
  // Nobody signs in there.
  if (mode === 'sandbox') return { principalId: principalId ?? sandboxPerson(loginHint), isProven: false };
  const since = sinceOf(naming);
  if (principalId !== undefined && !since) return { principalId, isProven: false };
  const { consentMode, consentKeys } = await findAccount(deps.db, tenant);
  const isSignOn = consentMode === 'sso' || consentMode === 'passkey';
  if (naming.maxAgeSeconds !== undefined && !isSignOn) {
    const message = 'The service does not learn when the people of this account sign in.';
    throw oauthRefusal('unmet_authentication_requirements', message);
  }
  const authenticatedSince = isSignOn ? since : undefined;
  if (principalId !== undefined) return { principalId, isProven: false, authenticatedSince };
  if (consentMode === 'developer') return personAtApplication(deps, client, naming, consentKeys);
  if (consentMode === 'passkey' && deps.relyingParty) return personByPasskey(deps, client, naming, since);
  if (consentMode !== 'sso') throw noSignInMethod();
  return personSignedOn(deps, client, { ...naming, since: since ?? null }, browser);
}

/** @throws invalid_request */
export function sandboxPerson(hint = 'sandbox-user'): string {
  mustBePrincipal('login_hint', hint);
  return hint;
}

/** @throws invalid_request */
export function mustBePrincipal(field: 'principal_id' | 'login_hint', principalId: string): void {
  if (/^[^\p{Cc}]{1,256}$/u.test(principalId)) return;
  throw new AppError('BAD_REQUEST', `\`${field}\` is malformed.`);
}

/** The earliest sign-in that the client takes; undefined for any. @see OpenID Connect Core 1.0 §3.1.2.1; RFC 9470 §4 */
function sinceOf({ asksSignIn, maxAgeSeconds, askedAt }: Naming): Date | undefined {
  const age = asksSignIn ? 0 : maxAgeSeconds;
  return age === undefined ? undefined : secondOf(askedAt.getTime() - age * 1000);
}

/** The person whom the browser's own session of single sign-on names, late enough. */
async function personSignedOn(
  deps: AuthenticationDeps,
  client: Client,
  naming: Naming & { readonly since: Date | null },
  browser: Browser,
): Promise<Named> {
  const { loginHint, asksSignIn, maxAgeSeconds, uiLocales, form, isSignedIn, askedAt, since } = naming;
  const needsSignIn = asksSignIn && !isSignedIn;
  const session = { cookies: browser.cookies, since, isSignedIn };
  const signedOn = needsSignIn ? undefined : await signedOnPerson(deps, client, session);
  if (signedOn !== undefined) {
    return { principalId: signedOn, isProven: true, authenticatedSince: since ?? undefined };
  }
  // A browser that comes back without a session would be sent away again and again.
  if (isSignedIn) throw noSignInMethod();
  await mustHaveActiveConnection(deps.db, client.caller.tenant);
  const requestUri = await keepPushed(deps, client, form, {
    seconds: SIGN_IN_SECONDS,
    isSignedIn: true,
    askedAt: askedAt.toISOString(),
  });
  const back = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
  const returnTo = `/oauth/authorize?${back}`;
  const asked = { asksSignIn, loginHint, maxAgeSeconds, uiLocales };
  return { signInAt: signInAddress(deps, client, { returnTo, ...asked }) };
}

/**
 * The developer's application signs the person in, at the address of the resource, and names them by a hint for this
 * very request (RFC 6749 leaves open how a person is authenticated).
 */
async function personAtApplication(
  deps: AuthenticationDeps,
  client: Client,
  { form, hint, requestId, asksSignIn, loginHint, uiLocales }: Naming,
  consentKeys: unknown,
): Promise<Named> {
  const { tenant } = client.caller;
  if (requestId !== undefined) {
    const use = { issuer: deps.issuer, now: deps.clock() };
    const named = hint && readNaming(hint, { ...tenant, consentKeys, requestId }, use);
    if (!named) throw noSignInMethod();
    return { principalId: named.principalId, isProven: true, requestId, ...(hint && { hint }) };
  }
  const loginUrl = await findLoginUrl(deps, client, form.resource);
  if (loginUrl === undefined) throw noSignInMethod();
  const id = newId('areq', deps.clock());
  const kept = { seconds: SIGN_IN_SECONDS, isSignedIn: true, requestId: id };
  const requestUri = await keepPushed(deps, client, form, kept);
  const back = new URLSearchParams({ req: id, client_id: client.clientId, request_uri: requestUri });
  const returnTo = inLocales(`${deps.publicBaseUrl}/consent?${back}`, uiLocales);
  const address = applicationAddress(loginUrl, id, returnTo);
  if (asksSignIn) address.searchParams.set('prompt', 'login');
  if (loginHint !== undefined) address.searchParams.set('login_hint', loginHint);
  if (uiLocales !== undefined) address.searchParams.set('ui_locales', uiLocales);
  return { signInAt: address.href };
}

/** The page at which the developer's application signs people in for these resources. */
export async function findLoginUrl(
  { db }: Pick<AuthenticationDeps, 'db'>,
  { caller }: Client,
  resources: readonly string[] = [],
): Promise<string | undefined> {
  const known = await namedResources(db, caller.tenant, resources);
  return known.find((each) => each.loginUrl !== null)?.loginUrl ?? undefined;
}

/** The page of the application for one request. It leads the browser back with a hint for the request's id in the fragment. */
export function applicationAddress(loginUrl: string, requestId: string, returnTo: string): URL {
  const address = new URL(loginUrl);
  address.searchParams.set('areq', requestId);
  address.searchParams.set('return', returnTo);
  return address;
}

interface Session {
  readonly cookies: Browser['cookies'];
  /** The earliest sign-in that counts; null for any. */
  readonly since: Date | null;
  readonly isSignedIn: boolean;
}

/** The person of the browser's own session of single sign-on with the client's developer. */
export function signedOnPerson(
  { db, clock, publicBaseUrl }: AuthenticationDeps,
  { caller }: Client,
  { cookies, since, isSignedIn }: Session,
): Promise<string | undefined> {
  const cookie = readSessionCookie(cookies[cookieNames(publicBaseUrl).session]);
  return principalOfSession(db, caller.tenant, { now: clock(), cookie, since, isSignedIn });
}

interface SigningIn
  extends Partial<Pick<AcceptedAuthorization, 'loginHint' | 'asksSignIn' | 'maxAgeSeconds' | 'uiLocales'>> {
  /** The path to which the browser comes back. */
  readonly returnTo: string;
}

/** The address at which a browser signs in with the developer's identity provider. */
export function signInAddress(
  { publicBaseUrl }: Pick<AuthenticationDeps, 'publicBaseUrl'>,
  { caller }: Client,
  { returnTo, asksSignIn, loginHint, maxAgeSeconds, uiLocales }: SigningIn,
): string {
  const query = new URLSearchParams({
    org: caller.tenant.developerId,
    mode: 'redirect',
    return_to: returnTo,
    ...(asksSignIn && { prompt: 'login' }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
    ...(maxAgeSeconds !== undefined && { max_age: String(maxAgeSeconds) }),
    ...(uiLocales !== undefined && { ui_locales: uiLocales }),
  });
  return `${publicBaseUrl}/sso/login?${query}`;
}

interface KeepDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

interface PasskeyInput extends Pick<AcceptedAuthorization, 'uiLocales'> {
  readonly form: OAuthAuthorizationRequest;
  /** When the browser came first. */
  readonly askedAt: Date;
  /** The id for which the person has shown their passkey, and the principal of that passkey. */
  readonly requestId: string | undefined;
  readonly byPasskey?: string;
}

/**
 * The person shows a passkey on the page `/sign-in`, without saying a name. Each request asks for it, so the sign-in is
 * never older than the request.
 */
async function personByPasskey(
  deps: KeepDeps,
  client: Client,
  { byPasskey, form, askedAt, requestId, uiLocales }: PasskeyInput,
  authenticatedSince: Date | undefined,
) {
  if (byPasskey !== undefined && requestId !== undefined) {
    return { principalId: byPasskey, isProven: true, requestId, authenticatedSince };
  }
  const requestUri = await keepPushed(deps, client, form, {
    seconds: SIGN_IN_SECONDS,
    isSignedIn: false,
    requestId: newId('areq', deps.clock()),
    askedAt: askedAt.toISOString(),
  });
  const page = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
  return { signInAt: inLocales(`${deps.publicBaseUrl}/sign-in?${page}`, uiLocales) };
}
