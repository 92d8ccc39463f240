import { oauthRefusal } from '../../../platform/errors.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { AuthorizeDeps } from './authorize.ts';
import type { DeviceAnswer, DeviceForm } from './channel.schema.ts';
import { admitByChannel } from './channel.ts';
import { authenticateClient, type Client, type ClientRequest } from './client.ts';
import { DEVICE_GRANT } from './described.ts';
import { flowIdOf, POLL_SECONDS, startFlow } from './flow.ts';
import { rates } from './oauth.rates.ts';
import { mustBeNameable } from './par.ts';
import { findLoginUrl, noSignInMethod, sandboxPerson } from './person.ts';
import { acceptChannelForm } from './request.rules.ts';
import { keepWaiting, newUserCode } from './user-code.ts';

export interface DeviceDeps extends AuthorizeDeps {
  readonly keyRing: KeyRing;
}

const SECONDS = 600;

/**
 * Takes the request of a device that has no browser. A person enters its code on the page `/device`, and only then is it
 * known whom the request is about: until then the store has it.
 * @see RFC 8628 §3.1
 * @throws an OAuth error, or a refusal of the engine
 */
export async function authorizeDevice(
  deps: DeviceDeps,
  form: DeviceForm,
  request: ClientRequest,
): Promise<DeviceAnswer> {
  // Only the resources say whom the request is about: other members are ignored here.
  const clues = form.resource === undefined ? {} : { resource: form.resource };
  const client = await authenticateClient(deps, { ...request, clues }, rates.oauthAuthorize);
  if (client.described && !client.described.usesDevice) {
    throw oauthRefusal(
      'unauthorized_client',
      `Register the client with the grant type \`${DEVICE_GRANT}\` first.`,
    );
  }
  const asked = acceptChannelForm(form);
  const principalId = await principalOf(deps, client, form);
  const someone = principalId ?? 'unknown-person';
  await admitByChannel(deps, client, { channel: 'device', asked, principalId: someone, seconds: SECONDS });
  const expiresAt = new Date(deps.clock().getTime() + SECONDS * 1000).toISOString();
  const { clientId, caller } = client;
  const flow = { ...caller.tenant, clientId, expiresAt };
  const secret = await startFlow(deps, { ...flow, channel: 'device', requestId: null });
  const userCode = newUserCode();
  const { client_secret: _, client_assertion: __, client_assertion_type: ___, ...kept } = form;
  const waiting = { ...flow, flowId: flowIdOf(secret), form: kept, principalId };
  await keepWaiting(deps, userCode, waiting);
  const page = `${deps.publicBaseUrl}/device`;
  return {
    device_code: secret,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: SECONDS,
    interval: POLL_SECONDS,
  };
}

/** @returns null where the person signs in at the page. @throws access_denied where no way is known */
async function principalOf(deps: DeviceDeps, client: Client, form: DeviceForm): Promise<string | null> {
  const { tenant, mode } = client.caller;
  if (form.principal_id !== undefined) {
    mustBeNameable(client, form.principal_id);
    return form.principal_id;
  }
  if (mode === 'sandbox') return sandboxPerson(form.login_hint);
  const { consentMode } = await findAccount(deps.db, tenant);
  const isAtApplication =
    consentMode === 'developer' && (await findLoginUrl(deps, client, form.resource)) !== undefined;
  if (consentMode !== 'sso' && !isAtApplication) throw noSignInMethod();
  return null;
}
