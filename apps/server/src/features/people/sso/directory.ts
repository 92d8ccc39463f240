import { AppError } from '../../../platform/errors.ts';
import type { Ended, SignInClient } from './callback.ts';
import type { SsoDeps } from './deps.ts';
import { keepFlight, newState, takeFlight } from './flight.ts';
import { takePassword } from './ldap.ts';
import type { LdapLoginForm } from './login.schema.ts';
import { directoryPath } from './sso.rules.ts';

/**
 * Takes the name and password that a person typed. A state works once, so after a wrong password the same login goes on
 * under another one.
 * @returns the session, or the page for the next try
 * @throws as `takePassword`
 */
export async function takeDirectoryForm(
  deps: SsoDeps,
  { state, username, password }: LdapLoginForm,
  bringer: SignInClient,
): Promise<Ended | { readonly nextTry: string }> {
  const flight = await takeFlight(deps, state, bringer.secrets);
  const { developerId: org, connectionId, version, returnTo, isBrowser, browserHash } = flight;
  try {
    const input = { org, connectionId, version, username, password };
    return { ...(await takePassword(deps, input, bringer)), returnTo, isBrowser, browserHash };
  } catch (error) {
    const isRefusal = error instanceof AppError && error.code === 'SSO_AUTH_FAILED';
    if (!isRefusal || error.details?.sub_reason !== undefined) throw error; // another password would not help
    const again = newState(deps.stateKeys);
    await keepFlight(deps, again, flight);
    return { nextTry: `${directoryPath(again)}&failed=1` };
  }
}
