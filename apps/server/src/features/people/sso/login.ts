import type { Tenant } from '../../../platform/caller.ts';
import { domainName } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newSecret } from '../../../platform/ids.ts';
import { ownerOfDomainAcrossTenants } from '../../accounts/domains/domains.queries.ts';
import type { SsoDeps } from './deps.ts';
import { type Flight, keepFlight, newBrowser, newState } from './flight.ts';
import type { LoginQuery, SsoLoginStart } from './login.schema.ts';
import { oidcAuthorizeUrl } from './oidc.ts';
import { samlAuthorizeUrl } from './saml.ts';
import { membersOf } from './secrets.ts';
import {
  type ConnectionRow,
  findConnection,
  findOfDomain,
  findTwoActive,
  findTwoWithoutDomains,
} from './sso.repo.ts';
import { directoryPath, domainOf, isOwnPath, loginPath } from './sso.rules.ts';

const callbackUrl = ({ publicBaseUrl }: Pick<SsoDeps, 'publicBaseUrl'>) => `${publicBaseUrl}/sso/callback`;

interface Begun {
  readonly start: SsoLoginStart;
  /** The secret of the browser's cookie, in browser mode. */
  readonly browserSecret: string | undefined;
}

/**
 * Begins a login.
 * @param isBrowser whether the caller is a browser that is to be sent to the provider
 * @throws BAD_REQUEST, SSO_DOMAIN_REQUIRED, NOT_FOUND, SSO_ERROR
 */
export async function beginLogin(deps: SsoDeps, query: LoginQuery, isBrowser: boolean): Promise<Begun> {
  const tenant = { developerId: query.org };
  const row = await chosen(deps, tenant, query);
  const { id: connectionId, protocol } = row;
  const { redirectUri, returnTo } = addressesOf(deps, row, query, isBrowser);
  if (protocol === 'ldap' && !isBrowser) {
    const message = 'Post `username` and `password` to `/sso/callback/ldap`.';
    return { start: { authorizeUrl: '', protocol, connectionId, message }, browserSecret: undefined };
  }
  const browser = isBrowser ? newBrowser() : undefined;
  const flight: Flight = {
    ...tenant,
    connectionId,
    version: row.version,
    redirectUri,
    returnTo,
    isBrowser,
    nonce: newSecret(),
    verifier: newSecret(),
    requestId: `_${newSecret()}`,
    browserHash: browser?.hash ?? null,
    ...(query.max_age !== undefined && { maxAgeSeconds: query.max_age }),
  };
  const state = newState(deps.stateKeys);
  const { login_hint: loginHint, ui_locales: uiLocales } = query;
  const ask = { flight, state, loginHint, uiLocales, isAfresh: query.prompt === 'login' };
  const ways = {
    oidc: () => oidcAuthorizeUrl(deps, row, ask),
    saml: () => samlAuthorizeUrl(row, ask),
    ldap: () => `${deps.publicBaseUrl}${directoryPath(state)}`,
  };
  const authorizeUrl = await ways[protocol]();
  await keepFlight(deps, state, flight);
  return { start: { authorizeUrl, protocol, connectionId }, browserSecret: browser?.secret };
}

/** @throws NOT_FOUND, SSO_DOMAIN_REQUIRED */
async function chosen(deps: SsoDeps, tenant: Tenant, query: LoginQuery): Promise<ConnectionRow> {
  if (query.connection !== undefined) {
    const row = await findConnection(deps.db, tenant, query.connection);
    if (!row || row.status === 'inactive') throw notFound();
    return row;
  }
  if (query.domain !== undefined && query.domain !== '') {
    const domain = domainName(query.domain, { allowsSpecialUse: !deps.isProduction });
    const listing = domain === undefined ? undefined : await findOfDomain(deps.db, tenant, domain);
    if (listing) return listing;
    const [only, other] = await findTwoWithoutDomains(deps.db, tenant);
    if (!only || other) throw notFound();
    return only;
  }
  const [only, other] = await findTwoActive(deps.db, tenant);
  if (only && !other) return only;
  throw new AppError('SSO_DOMAIN_REQUIRED', 'Send the `domain` of the person who signs in.');
}

/**
 * Where the provider sends the browser, and where the service sends it then. A browser of the service's own comes back
 * to the service, whose cookie it holds.
 * @throws BAD_REQUEST for an address that the connection does not list
 */
function addressesOf(deps: SsoDeps, row: ConnectionRow, query: LoginQuery, isBrowser: boolean) {
  const own = callbackUrl(deps);
  const { redirectUris } = membersOf(row);
  const { redirect_uri: said, return_to: back } = query;
  if (said !== undefined && said !== own && !redirectUris.includes(said)) {
    throw badField(
      'redirect_uri',
      'not_allowed',
      'The connection does not list this address in `redirectUris`.',
    );
  }
  if (back !== undefined && !redirectUris.includes(back) && !isOwnPath(back, deps.publicBaseUrl)) {
    throw badField(
      'return_to',
      'not_allowed',
      'Send a path of this service, or an address of `redirectUris`.',
    );
  }
  if (!isBrowser) return { redirectUri: said ?? redirectUris[0] ?? own, returnTo: null };
  return { redirectUri: own, returnTo: back ?? (said === own ? undefined : said) ?? redirectUris[0] ?? null };
}

/**
 * Finds the connection of a verified domain.
 * @throws NOT_FOUND for a domain that nobody has verified, and for an unknown one alike
 */
export async function discoverConnection(
  deps: Pick<SsoDeps, 'db' | 'isProduction' | 'publicBaseUrl'>,
  query: { domain?: string; email?: string },
) {
  const said = query.email === undefined ? query.domain : domainOf(query.email);
  if (said === undefined || said === '') throw badField('domain', 'required');
  const domain = domainName(said, { allowsSpecialUse: !deps.isProduction }) ?? '';
  const tenant = (await ownerOfDomainAcrossTenants(deps.db, domain)) ?? { developerId: '' };
  const row = await findOfDomain(deps.db, tenant, domain);
  if (!row) throw notFound();
  const { developerId: org, id: connectionId, protocol, enforce: enforced } = row;
  return {
    org,
    connectionId,
    protocol,
    enforced,
    loginUrl: `${deps.publicBaseUrl}${loginPath(org, connectionId)}`,
  };
}
