import { oauthRefusal } from '../../../platform/errors.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import { cookieNames, readSessionCookie } from '../../people/sso/index.ts';
import { principalOfSession } from '../../people/sso/sso.queries.ts';
import type { AuthenticationDeps, Client } from './oauth.client.service.ts';
import { keepPushed } from './oauth.push.service.ts';
import type { Asked } from './oauth.request.rules.ts';
import type { AuthorizationForm } from './oauth.schema.ts';

/** The browser that follows a client's link. */
export interface Browser {
  readonly requestId: string;
  readonly address: string;
  readonly cookies: Readonly<Record<string, string | undefined>>;
}

interface Naming extends Pick<Asked, 'loginHint' | 'asksSignIn'> {
  /** From an authenticated client. */
  readonly principalId: string | undefined;
  readonly form: AuthorizationForm;
  /** Whether the browser comes from signing in for this very request. */
  readonly isSignedIn: boolean;
}

/** The time that a person has to sign in. */
const SIGN_IN_SECONDS = 600;

/**
 * Finds out whom the request is about. No client that has not authenticated itself is believed about that.
 * @returns the principal, or the address at which the person signs in first
 * @throws access_denied where the service cannot tell
 */
export async function personOf(
  deps: AuthenticationDeps,
  client: Client,
  { principalId, loginHint, asksSignIn, form, isSignedIn }: Naming,
  browser: Browser,
): Promise<{ readonly principalId: string } | { readonly signInAt: string }> {
  const { tenant, mode } = client.caller;
  if (principalId !== undefined) return { principalId };
  if (mode === 'sandbox') return { principalId: loginHint ?? 'sandbox-user' };
  const { consentMode } = await findAccount(deps.db, tenant);
  if (consentMode !== 'sso') throw oauthRefusal('access_denied', 'no sign-in method');
  const needsSignIn = asksSignIn && !isSignedIn;
  const signedOn = needsSignIn ? undefined : await signedOnPerson(deps, client, browser.cookies);
  if (signedOn !== undefined) return { principalId: signedOn };
  // A browser that comes back without a session would be sent away again and again.
  if (isSignedIn) throw oauthRefusal('access_denied', 'no sign-in method');
  const requestUri = await keepPushed(deps, client, form, {
    seconds: SIGN_IN_SECONDS,
    isSignedIn: true,
  });
  const back = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
  const returnTo = `/oauth/authorize?${back}`;
  return { signInAt: signInAddress(deps, client, { returnTo, asksSignIn, loginHint }) };
}

/** The person of the browser's own session of single sign-on with the client's developer. */
export function signedOnPerson(
  { db, clock, publicBaseUrl }: AuthenticationDeps,
  { caller }: Client,
  cookies: Browser['cookies'],
): Promise<string | undefined> {
  const cookie = readSessionCookie(cookies[cookieNames(publicBaseUrl).session]);
  return principalOfSession(db, caller.tenant, { now: clock(), cookie });
}

interface SigningIn extends Partial<Pick<Asked, 'loginHint' | 'asksSignIn'>> {
  /** The path to which the browser comes back. */
  readonly returnTo: string;
}

/** The address at which a browser signs in with the developer's identity provider. */
export function signInAddress(
  { publicBaseUrl }: Pick<AuthenticationDeps, 'publicBaseUrl'>,
  { caller }: Client,
  { returnTo, asksSignIn, loginHint }: SigningIn,
): string {
  const query = new URLSearchParams({
    org: caller.tenant.developerId,
    mode: 'redirect',
    return_to: returnTo,
    ...(asksSignIn && { prompt: 'login' }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
  });
  return `${publicBaseUrl}/sso/login?${query}`;
}
