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
  const cookie = readSessionCookie(browser.cookies[cookieNames(deps.publicBaseUrl).session]);
  const needsSignIn = asksSignIn && !isSignedIn;
  const signedOn = needsSignIn
    ? undefined
    : await principalOfSession(deps.db, tenant, { now: deps.clock(), cookie });
  if (signedOn !== undefined) return { principalId: signedOn };
  // A browser that comes back without a session would be sent away again and again.
  if (isSignedIn) throw oauthRefusal('access_denied', 'no sign-in method');
  const requestUri = await keepPushed(deps.store, client, form, {
    seconds: SIGN_IN_SECONDS,
    isSignedIn: true,
  });
  const back = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
  const query = new URLSearchParams({
    org: tenant.developerId,
    mode: 'redirect',
    return_to: `/oauth/authorize?${back}`,
    ...(asksSignIn && { prompt: 'login' }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
  });
  return { signInAt: `${deps.publicBaseUrl}/sso/login?${query}` };
}
