import type { Caller } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { findBrand, findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { beginNaming, finishNaming } from '../../people/passkeys/index.ts';
import { type AuthorizeDeps, authorize, namedClient } from './authorize.ts';
import type { BrowserRedirect, PasskeySignIn, PasskeySignInRequest, WaitingBrand } from './oauth.schema.ts';
import { getPushed } from './par.ts';
import type { Browser } from './person.ts';
import { developerOfRequest } from './tenant.ts';

/** A browser at the page, by its cookie. */
interface SigningBrowser extends Browser {
  readonly browserId: string;
}

/**
 * Asks for a passkey of the person for whom a request waits, and who says no name.
 * @throws invalid_request for a request that does not wait, CONFLICT
 */
export async function beginSignIn(
  deps: AuthorizeDeps,
  asked: PasskeySignInRequest,
  { browserId }: SigningBrowser,
) {
  const { requestId } = await waitingRequest(deps, asked);
  return beginNaming(deps, { requestId, browserId });
}

/**
 * Takes the answer of the person's authenticator, and goes on with the request. After a failed attempt the request waits
 * on, and the page asks again.
 * @returns the address of the consent page, or that of the client with a refusal
 * @throws as `finishNaming`, and invalid_request as `beginSignIn`
 */
export async function finishSignIn(
  deps: AuthorizeDeps,
  { challengeId, response, ...asked }: PasskeySignIn,
  browser: SigningBrowser,
): Promise<BrowserRedirect> {
  const { requestId, resource } = await waitingRequest(deps, asked);
  const { clientId, requestUri } = asked;
  const developerId = await developerOfWaiting(deps, { clientId, resource }, browser);
  const caller = await personAt(deps, developerId, browser);
  const place = { requestId, browserId: browser.browserId };
  const byPasskey = await finishNaming(deps, caller, place, { challengeId, response });
  const sent = { client_id: clientId, request_uri: requestUri };
  return { redirectTo: await authorize(deps, sent, browser, { byPasskey }) };
}

/**
 * The account that stands first on the page, which only those who hold the request's address may see.
 * @throws invalid_request as `beginSignIn`
 */
export async function brandOfSignIn(
  deps: AuthorizeDeps,
  asked: PasskeySignInRequest,
  browser: Browser,
): Promise<WaitingBrand> {
  const { resource } = await waitingRequest(deps, asked);
  const { clientId } = asked;
  return findBrand(deps.db, { developerId: await developerOfWaiting(deps, { clientId, resource }, browser) });
}

interface Waiting {
  readonly clientId: string;
  readonly resource: string[] | undefined;
}

async function developerOfWaiting(
  deps: AuthorizeDeps,
  { clientId, resource }: Waiting,
  browser: Browser,
): Promise<string> {
  const known = await namedClient(deps, clientId, browser);
  if ('agent' in known) return known.agent.developerId;
  return developerOfRequest(deps, { ...(resource && { resource }) });
}

/** A request that waits for its person, as `personOf` has kept it. @throws invalid_request */
async function waitingRequest(deps: AuthorizeDeps, { clientId, requestUri }: PasskeySignInRequest) {
  const { requestId, askedAt, form } = await getPushed(deps, { clientId }, requestUri);
  // Requests that a client has pushed itself have no id yet, and lead no person to the page.
  if (requestId === undefined || askedAt === undefined) {
    throw oauthRefusal('invalid_request', 'This request waits for no passkey.');
  }
  return { requestId, resource: form.resource };
}

/** The person as caller. */
async function personAt(
  { db }: AuthorizeDeps,
  developerId: string,
  { requestId, address }: Browser,
): Promise<Caller> {
  const tenant = { developerId };
  const account = await findCallerParts(db, tenant);
  if (!account) throw oauthRefusal('invalid_request', 'The account of this request is closed.');
  return { tenant, agentIds: null, actor: 'principal', role: 'runtime', requestId, address, ...account };
}
