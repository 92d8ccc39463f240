import { AppError, oauthRefusal } from '../../../platform/errors.ts';
import { toOAuthError } from '../../../platform/oauth-errors.ts';
import { type AuthorizationDeps, redirectTo, requestConsent } from '../authorization/index.ts';
import { namedResources } from '../resources/resources.queries.ts';
import { type AuthenticationDeps, type Client, clientOf } from './oauth.client.service.ts';
import { type Browser, personOf } from './oauth.person.service.ts';
import { takePushed } from './oauth.push.service.ts';
import { rates } from './oauth.rates.ts';
import { findOAuthClientAcrossTenants } from './oauth.repo.ts';
import { type Asked, acceptAuthorization } from './oauth.request.rules.ts';
import type { AuthorizationForm } from './oauth.schema.ts';

export interface AuthorizeDeps extends AuthenticationDeps, AuthorizationDeps {
  /** Whether every request has to be pushed first. */
  readonly requiresPush: boolean;
}

/**
 * Answers the browser that a client sends: with the consent page, or with the client's own address.
 * @returns the address to which the browser goes on
 * @throws invalid_request for an unknown client or an address that is not its own: nothing is redirected
 */
export async function authorize(
  deps: AuthorizeDeps,
  sent: AuthorizationForm,
  browser: Browser,
): Promise<string> {
  const client = await namedClient(deps, sent.client_id, browser);
  await countRequest(deps, client, browser);
  const pushed =
    sent.request_uri === undefined ? undefined : await takePushed(deps, client, sent.request_uri);
  const form = pushed?.form ?? withoutPrincipal(sent);
  const redirectUri = ownAddress(client, form.redirect_uri);
  try {
    if (deps.requiresPush && !pushed) throw oauthRefusal('invalid_request', 'Push the request first.');
    const asked = acceptAuthorization(form);
    const isSignedIn = pushed?.isSignedIn === true;
    const naming = { ...asked, principalId: form.principal_id, form, isSignedIn };
    const person = await personOf(deps, client, naming, browser);
    if ('signInAt' in person) return person.signInAt;
    return await ask(deps, client, { ...asked, ...person, redirectUri });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const state = (form.state ?? '').length > 1024 ? undefined : form.state;
    return redirectTo(redirectUri, { ...refusalAt(error), state, iss: deps.issuer });
  }
}

/** RFC 6749 §4.1.2.1 has other names than the token endpoint for a client that may not ask. */
function refusalAt(error: AppError): Readonly<Record<'error' | 'error_description', string>> {
  const told = toOAuthError(error);
  const isClientAtFault = error.code === 'AGENT_INACTIVE' || error.code === 'NOT_FOUND';
  return isClientAtFault ? { ...told, error: 'unauthorized_client' } : told;
}

async function namedClient(deps: AuthorizeDeps, clientId = '', browser: Browser): Promise<Client> {
  const found = clientId === '' ? undefined : await findOAuthClientAcrossTenants(deps.db, clientId);
  if (!found) throw oauthRefusal('invalid_request', 'The client of this link is not known to the service.');
  return clientOf(found, browser);
}

/** @throws RATE_LIMITED */
function countRequest(
  { chargeClient }: AuthorizeDeps,
  { clientId, caller }: Client,
  { address }: Browser,
): Promise<void> {
  const subjects = { client: `${clientId} ${address}`, developer: caller.tenant.developerId };
  return chargeClient(rates.oauthAuthorize, subjects);
}

/** Compared text by text: a browser must not go where the client has not said. @throws invalid_request */
export function ownAddress({ redirectUris }: Client, redirectUri: string | undefined): string {
  if (redirectUri !== undefined && redirectUris.includes(redirectUri)) return redirectUri;
  throw oauthRefusal('invalid_request', 'The link names an address that its client has not registered.');
}

/** Only a client that has authenticated itself names the person. */
const withoutPrincipal = ({ principal_id: _, ...form }: AuthorizationForm): AuthorizationForm => form;

interface Ready extends Asked {
  readonly redirectUri: string;
  readonly principalId: string;
}

/** @returns the address of the consent page, or that of the client where nobody has to be asked */
async function ask(deps: AuthorizeDeps, { agentId, caller }: Client, asked: Ready): Promise<string> {
  await mustBeRegistered(deps, caller.tenant, asked.resources);
  const { redirectUri, state, purpose, details, keyThumbprint } = asked;
  const isSandbox = caller.mode === 'sandbox';
  const made = await requestConsent(
    deps,
    caller,
    {
      agentId,
      principalId: asked.principalId,
      scopes: asked.scopes,
      expiresIn: '24h',
      consentExpiresIn: '1h',
      redirectUri,
      codeChallenge: asked.codeChallenge,
      codeChallengeMethod: 'S256',
      ...(state !== undefined && { state }),
      ...(asked.resources.length > 0 && { audience: asked.resources.join(' ') }),
      ...(purpose !== undefined && { purpose }),
      ...(details && { authorizationDetails: details }),
      ...(isSandbox && asked.asksAlways && { autoApprove: false }),
    },
    { ...(keyThumbprint !== undefined && { keyThumbprint }) },
  );
  if (made.code === undefined) return made.consentUrl;
  return redirectTo(redirectUri, { code: made.code, state, iss: deps.issuer });
}

/** @throws invalid_target */
export async function mustBeRegistered(
  { db }: Pick<AuthorizeDeps, 'db'>,
  tenant: Client['caller']['tenant'],
  resources: readonly string[],
): Promise<void> {
  if (resources.length === 0) return;
  const known = await namedResources(db, tenant, resources);
  if (known.length < resources.length) {
    throw oauthRefusal('invalid_target', 'A resource is not registered at the service.');
  }
}
