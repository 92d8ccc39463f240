import type { Caller } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { beginNaming, finishNaming } from '../../people/passkeys/index.ts';
import { type AuthorizeDeps, authorize, namedClient } from './authorize.ts';
import type { BrowserRedirect, PasskeySignIn, PasskeySignInRequest } from './oauth.schema.ts';
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
  const known = await namedClient(deps, clientId, browser);
  const developerId =
    'agent' in known
      ? known.agent.developerId
      : await developerOfRequest(deps, { ...(resource && { resource }) });
  const caller = await personAt(deps, developerId, browser);
  const place = { requestId, browserId: browser.browserId };
  const byPasskey = await finishNaming(deps, caller, place, { challengeId, response });
  const sent = { client_id: clientId, request_uri: requestUri };
  return { redirectTo: await authorize(deps, sent, browser, { byPasskey }) };
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
