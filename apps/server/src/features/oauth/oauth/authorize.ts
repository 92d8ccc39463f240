import { isDeepStrictEqual } from 'node:util';
import { distinctResources, isSameResource } from '@behest/protocol/resource-uri';
import { distinctScopes } from '@behest/protocol/scopes';
import { LONGEST_STATE } from '@behest/protocol/shapes';
import type { Tenant } from '../../../platform/caller.ts';
import { type Executor, isDatabaseAway } from '../../../platform/db/db.ts';
import { AppError, oauthRefusal, unavailable } from '../../../platform/errors.ts';
import { inLocales } from '../../../platform/languages.ts';
import { toOAuthError } from '../../../platform/oauth-errors.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import {
  type AuthorizationDeps,
  type RequestingClient,
  redirectTo,
  requestConsent,
} from '../../grants/authorization/index.ts';
import { findCurrentTools } from '../../grants/manifests/manifests.queries.ts';
import { type NamedResource, namedResources } from '../../grants/resources/resources.queries.ts';
import type { DiscoverDeps } from '../../people/passkeys/index.ts';
import { type AuthenticationDeps, type Client, clientOf, findClient, type KnownClient } from './client.ts';
import type { DescribedClient } from './described.ts';
import { rates, unauthenticatedOf } from './oauth.rates.ts';
import type { OAuthAuthorizationRequest } from './oauth.schema.ts';
import { takePushed } from './par.ts';
import { type Browser, type NamedOnPage, type NamedPerson, personOf } from './person.ts';
import { isLocalUri, isNativeUri, isRegisteredUri } from './redirects.ts';
import {
  type AcceptedAuthorization,
  type AcceptedChannelRequest,
  acceptAuthorization,
  connectorsWithoutScope,
  derivedScope,
  mustBeScopes,
} from './request.rules.ts';
import { clientAtDeveloper, developerOfRequest, withProposedAgent } from './tenant.ts';

export interface AuthorizeDeps extends AuthenticationDeps, AuthorizationDeps, DiscoverDeps, RefusalDeps {
  /** Whether every request has to be pushed first. */
  readonly requiresPush: boolean;
  /** The host in the DID of an agent. */
  readonly didHost: string;
}

/**
 * Answers the browser that a client sends: with the consent page, or with the client's own address.
 * @param named how the browser's person was named for this request, on a page of the service
 * @returns the address to which the browser goes on
 * @throws invalid_request for an unknown client or an address that is not its own: nothing is redirected
 * @throws any refusal of a client that no developer has registered, before its person is proved: the person decides where to go
 */
export async function authorize(
  deps: AuthorizeDeps,
  sent: OAuthAuthorizationRequest,
  browser: Browser,
  named: NamedOnPage = {},
): Promise<string> {
  const clientId = sent.client_id ?? '';
  const known = await namedClient(deps, clientId, browser);
  await deps.chargeClient(rates.oauthAuthorize, {
    client: `${clientId} ${browser.address}`,
    // A pushed request was counted when its client pushed it.
    ...('agent' in known && !sent.request_uri && { developer: unauthenticatedOf(known.agent.developerId) }),
  });
  const pushed =
    sent.request_uri === undefined ? undefined : await takePushed(deps, { clientId }, sent.request_uri);
  const form = pushed?.form ?? withoutPrincipal(sent);
  const own = 'agent' in known ? known.agent : { ...known.described, ...known };
  const redirectUri = mustBeOwn(own, form.redirect_uri);
  const isTrusted = 'agent' in known || isNativeUri(redirectUri);
  let isPersonProved = false;
  try {
    if (pushed) mustBeSame(sent, pushed.form);
    const client = await clientFor(deps, known, form, browser);
    if (deps.requiresPush && !pushed) throw oauthRefusal('invalid_request', 'Push the request first.');
    const asked = acceptAuthorization(form);
    const isSignedIn = pushed?.isSignedIn === true;
    const { requestId, askedAt } = pushed ?? {};
    const came = { isSignedIn, requestId, askedAt: askedAt ? new Date(askedAt) : deps.clock(), ...named };
    const naming = { ...asked, principalId: form.principal_id, form, ...came };
    const person = await personOf(deps, client, naming, browser);
    if ('signInAt' in person) return person.signInAt;
    isPersonProved = person.isProven;
    const asksAlways = asked.asksAlways || !(isTrusted || isPersonProved);
    return await ask(deps, client, { ...asked, ...person, asksAlways, redirectUri });
  } catch (error) {
    const back = { redirectUri, isTrusted: isTrusted || isPersonProved, state: form.state };
    return refusedTo(deps, error, back);
  }
}

/**
 * A link may repeat the parameters of its pushed request and not change them. The person is asked exactly what the
 * client pushed.
 * @see RFC 9126 §4; RFC 9101 §5
 * @throws invalid_request
 */
function mustBeSame(
  { request_uri: _, client_id: __, ...sent }: OAuthAuthorizationRequest,
  pushed: OAuthAuthorizationRequest,
): void {
  const known = new Map<string, unknown>(Object.entries(pushed));
  const other = Object.entries(sent).find(
    ([name, value]) =>
      value !== undefined && !isDeepStrictEqual(inOneSpelling(value), inOneSpelling(known.get(name))),
  );
  if (!other) return;
  const message = `The pushed request has another \`${other[0]}\`; send \`client_id\` and \`request_uri\` alone.`;
  throw oauthRefusal('invalid_request', message);
}

/** Of the values of a form, only its resources are a list. */
const inOneSpelling = (value: unknown) =>
  Array.isArray(value) ? distinctResources(value.map(String)) : value;

/** @throws invalid_request */
export async function namedClient(
  deps: AuthorizeDeps,
  clientId: string,
  { address }: Browser,
): Promise<KnownClient> {
  const found = clientId === '' ? undefined : await findClient(deps, clientId, address);
  if (!found) throw oauthRefusal('invalid_request', 'The client of this link is not known to the service.');
  return found;
}

/**
 * The client at the developer whom the request is about. If the client belongs to no developer, the service counts its
 * request twice: for the client when it looks the client up, and here for that developer.
 * @throws invalid_target, RATE_LIMITED
 */
export async function clientFor(
  deps: AuthorizeDeps,
  known: KnownClient,
  { resource }: Pick<OAuthAuthorizationRequest, 'resource'>,
  browser: Omit<Browser, 'cookies'>,
): Promise<Client> {
  if ('agent' in known) return clientOf(known.agent, browser);
  const developerId = await developerOfRequest(deps, { ...(resource && { resource }) });
  const client = await clientAtDeveloper(deps, known.described, developerId, browser);
  await deps.chargeClient(rates.oauthAuthorize, { developer: unauthenticatedOf(developerId) });
  return client;
}

/** Compared text by text: a browser must not go where the client has not said. @throws invalid_request */
export function mustBeOwn({ redirectUris, described }: Own, redirectUri = ''): string {
  const isOwn = described ? isRegisteredUri(redirectUris, redirectUri) : redirectUris.includes(redirectUri);
  if (isOwn) return redirectUri;
  throw oauthRefusal('invalid_request', 'The link names an address that its client has not registered.');
}

type Own = Pick<Client, 'redirectUris' | 'described'>;

/** Only a client that has authenticated itself names the person. */
const withoutPrincipal = ({
  principal_id: _,
  ...form
}: OAuthAuthorizationRequest): OAuthAuthorizationRequest => form;

interface Ready extends AcceptedAuthorization, NamedPerson {
  readonly redirectUri: string;
}

/** @returns the address of the consent page, or that of the client where no person has to be asked */
async function ask(deps: AuthorizeDeps, client: Client, asked: Ready): Promise<string> {
  const resources = await mustBeRegistered(deps, client.caller.tenant, asked.resources);
  const scopes = [...new Set(resources.flatMap((each) => each.scopes))];
  const wanted = await requestedScopes(deps.db, client.caller.tenant, asked, scopes);
  const { agentId, caller, isProposed = false, described } = await withProposedAgent(deps, client, scopes);
  const { redirectUri, state, purpose, details, keyThumbprint } = asked;
  const isSandbox = caller.mode === 'sandbox';
  const made = await requestConsent(
    deps,
    caller,
    {
      agentId,
      principalId: asked.principalId,
      scopes: wanted,
      expiresIn: '24h',
      consentExpiresIn: '1h',
      redirectUri,
      codeChallenge: asked.codeChallenge,
      codeChallengeMethod: 'S256',
      ...(state !== undefined && { state }),
      ...(resources.length > 0 && { audience: resources.map((each) => each.resource).join(' ') }),
      ...(purpose !== undefined && { purpose }),
      ...(details && { authorizationDetails: details }),
      ...(isSandbox && asked.asksAlways && { autoApprove: false }),
    },
    {
      ...(keyThumbprint !== undefined && { keyThumbprint }),
      client: {
        ...(described ? requestingClient(described, asked) : registered(client)),
        resourceNames: resources.map((each) => each.name),
      },
      isProposed,
      needsPerson: asked.asksAlways || (described !== undefined && !asked.isProven),
      ...(asked.requestId !== undefined && { requestId: asked.requestId }),
      ...(asked.authenticatedSince && { authenticatedSince: asked.authenticatedSince }),
      ...(described && { tokenSeconds: Math.min(...resources.map((each) => each.tokenTtlSeconds)) }),
    },
  );
  const { hint } = asked;
  if (made.code === undefined) {
    const page = inLocales(made.consentUrl, asked.uiLocales);
    return hint ? `${page}&hint=${hint}` : page;
  }
  return redirectTo(redirectUri, { code: made.code, state, iss: deps.issuer });
}

type Described = Omit<RequestingClient, 'resourceNames'>;

/** A developer answers for their own client, whose name is that of its agent. */
const registered = ({ redirectUris }: Client): Described => ({
  name: null,
  vouchedBy: 'developer',
  host: null,
  isLocal: redirectUris.every(isLocalUri),
  refreshes: true,
});

export function requestingClient(
  { name, host, redirectUris, refreshes }: DescribedClient,
  { asksRefresh }: Pick<AcceptedAuthorization, 'asksRefresh'>,
): Described {
  return {
    name,
    vouchedBy: host === null ? 'nobody' : 'host',
    host,
    isLocal: redirectUris.every(isLocalUri),
    refreshes: refreshes || asksRefresh,
  };
}

/** @returns the resources in the order in which they were asked for, as the developer spells them. @throws invalid_target */
export async function mustBeRegistered(
  { db }: Pick<AuthorizeDeps, 'db'>,
  tenant: Client['caller']['tenant'],
  resources: readonly string[],
): Promise<readonly NamedResource[]> {
  if (resources.length === 0) return [];
  const known = await namedResources(db, tenant, resources);
  return distinctResources(resources).map((uri) => {
    const found = known.find(({ resource }) => isSameResource(resource, uri));
    if (!found) throw oauthRefusal('invalid_target', 'A resource is not registered at the service.');
    return found;
  });
}

/**
 * The scopes of a request. An entry of `authorization_details` without a scope for its connector adds one (RFC 9396 §3.1),
 * which the person is shown like the others. A client that sends neither gets the scopes of its resources as default
 * (RFC 6749 §3.3). MCP clients before revision 2025-11-25 rely on that.
 * @throws invalid_scope, invalid_authorization_details
 */
export async function requestedScopes(
  db: Executor,
  tenant: Tenant,
  { scopes, details = [] }: Pick<AcceptedChannelRequest, 'scopes' | 'details'>,
  ofResources: readonly string[],
): Promise<string[]> {
  if (scopes.length === 0 && details.length === 0) return mustBeScopes(distinctScopes(ofResources));
  const connectors = connectorsWithoutScope(scopes, details);
  const tools = await findCurrentTools(db, tenant, connectors);
  const derived = connectors.map((connector) => derivedScope(connector, details, tools.get(connector)));
  if (scopes.length + derived.length > 0) return mustBeScopes([...scopes, ...derived]);
  throw oauthRefusal(
    'invalid_authorization_details',
    'Each entry of `authorization_details` has a `connector`.',
  );
}

interface RefusalDeps {
  readonly issuer: string;
  readonly logger?: Logger;
}

interface Back {
  /** An address that the client has registered. */
  readonly redirectUri: string;
  /** Whether the browser may be sent there before the person has seen a page of the service. */
  readonly isTrusted: boolean;
  readonly state: string | undefined;
}

/**
 * Makes the address at which a client learns why its request failed.
 * @see RFC 6749 §4.1.2.1
 * @throws the refusal with `details.leadsTo`, where a page names the address and the person decides: anybody registers a
 * client with any web address, so a link that only fails would be a link to that address under the service's name
 * (RFC 9700 §4.11.2)
 */
function refusedTo(deps: RefusalDeps, error: unknown, { redirectUri, isTrusted, state }: Back): string {
  const refusal = error instanceof AppError ? error : failed(deps, error);
  const oauthError = oauthErrorOf(refusal);
  const kept = (state ?? '').length > LONGEST_STATE ? undefined : state;
  const leadsTo = redirectTo(redirectUri, { ...oauthError, state: kept, iss: deps.issuer });
  if (isTrusted) return leadsTo;
  const details = { ...refusal.details, oauth: oauthError.error, leadsTo };
  throw new AppError(refusal.code, refusal.message, details, refusal.headers);
}

/** A status of 500 cannot travel with a redirect, so the client learns of a failure by its name. */
function failed({ logger }: RefusalDeps, err: unknown): AppError {
  logger?.error({ err }, 'an authorization request failed');
  return isDatabaseAway(err) ? unavailable('db') : new AppError('INTERNAL_ERROR', 'Something went wrong.');
}

/** The authorization endpoint has other names than the token endpoint for a client that may not ask. */
function oauthErrorOf(error: AppError): Readonly<Record<'error' | 'error_description', string>> {
  const named = toOAuthError(error);
  const isClientAtFault = error.code === 'AGENT_INACTIVE' || error.code === 'NOT_FOUND';
  return isClientAtFault ? { ...named, error: 'unauthorized_client' } : named;
}
