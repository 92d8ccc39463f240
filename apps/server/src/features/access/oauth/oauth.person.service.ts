import { oauthRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import { readNaming } from '../../people/consent/index.ts';
import { cookieNames, readSessionCookie } from '../../people/sso/index.ts';
import { principalOfSession } from '../../people/sso/sso.queries.ts';
import { namedResources } from '../resources/resources.queries.ts';
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
  /** The id that the developer's application was told, and the hint by which it names the person. */
  readonly requestId: string | undefined;
  readonly hint: string | undefined;
}

/** The person of a request, and the hint that proves them on the consent page too. */
export interface NamedPerson {
  readonly principalId: string;
  readonly requestId?: string;
  readonly hint?: string;
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
  naming: Naming,
  browser: Browser,
): Promise<NamedPerson | { readonly signInAt: string }> {
  const { principalId, loginHint, asksSignIn, form, isSignedIn } = naming;
  const { tenant, mode } = client.caller;
  if (principalId !== undefined) return { principalId };
  if (mode === 'sandbox') return { principalId: loginHint ?? 'sandbox-user' };
  const { consentMode, consentKeys } = await findAccount(deps.db, tenant);
  if (consentMode === 'developer') return personAtApplication(deps, client, naming, consentKeys);
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

/**
 * The developer's application signs the person in, at the address of the resource, and names them by a hint for this
 * very request (RFC 6749 leaves open how a person is authenticated).
 */
async function personAtApplication(
  deps: AuthenticationDeps,
  client: Client,
  { form, hint, requestId }: Naming,
  consentKeys: unknown,
): Promise<NamedPerson | { readonly signInAt: string }> {
  const { tenant } = client.caller;
  if (requestId !== undefined) {
    const use = { issuer: deps.issuer, now: deps.clock() };
    const named = hint && readNaming(hint, { ...tenant, consentKeys, requestId }, use);
    if (!named) throw oauthRefusal('access_denied', 'no sign-in method');
    return { principalId: named.principalId, requestId, hint };
  }
  const resources = await namedResources(deps.db, tenant, form.resource ?? []);
  const loginUrl = resources.find((each) => each.loginUrl !== null)?.loginUrl;
  if (!loginUrl) throw oauthRefusal('access_denied', 'no sign-in method');
  const id = newId('areq', deps.clock());
  const kept = { seconds: SIGN_IN_SECONDS, isSignedIn: true, requestId: id };
  const requestUri = await keepPushed(deps, client, form, kept);
  const back = new URLSearchParams({ req: id, client_id: client.clientId, request_uri: requestUri });
  const address = new URL(loginUrl);
  address.searchParams.set('areq', id);
  address.searchParams.set('return', `${deps.publicBaseUrl}/consent?${back}`);
  return { signInAt: address.href };
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
