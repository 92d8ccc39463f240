import type { OnEnforced } from '../../people/sso/index.ts';
import { openRequests } from '../authorization/authorization.queries.ts';
import { sessionKey } from '../authorization/index.ts';
import type { SignOn } from './consent.schema.ts';
import { type ConsentDeps, type ConsentSession, requestOfSession } from './session.ts';
import { signInUrl } from './verify.ts';

/**
 * The address at which the person signs in, and from which the browser comes back to the page.
 * @throws as `requestOfSession`, CONFLICT where the service cannot tell the provider of this person
 */
export async function signOnAddress(deps: ConsentDeps, session: ConsentSession): Promise<SignOn> {
  const { row, standing } = await requestOfSession(deps, session);
  const { principalId } = row;
  const returnTo = `/consent?req=${session.requestId}`;
  return { redirectTo: signInUrl(deps.publicBaseUrl, standing, { principalId, returnTo }) };
}

/**
 * Ends the pages of open requests of whose principals single sign-on is demanded from now on. The store may lose or keep
 * them: each approval looks at the demand itself.
 */
export const endPages: OnEnforced = async (tx, { tenant }, { concerned, store }) => {
  const open = await openRequests(tx, tenant);
  const ending = new Set(await concerned([...new Set(open.map(({ principalId }) => principalId))]));
  const ended = open.filter(({ principalId }) => ending.has(principalId));
  await Promise.all(ended.map(({ id }) => store.remove(sessionKey(id)))).catch(() => {});
};
