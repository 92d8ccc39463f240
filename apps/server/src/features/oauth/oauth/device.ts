import { createHmac, randomInt } from 'node:crypto';
import { oauthRefusal } from '../../../platform/errors.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import type { AuthorizeDeps } from './authorize.ts';
import { admitByChannel } from './channel.ts';
import { authenticateClient, type Client, type ClientRequest } from './client.ts';
import { DEVICE_GRANT } from './described.ts';
import { rates } from './oauth.rates.ts';
import type { DeviceAuthorizationRequest, DeviceAuthorizationResponse } from './oauth.schema.ts';
import { mustBeNameable } from './par.ts';
import { findLoginUrl, noSignInMethod, sandboxPerson } from './person.ts';
import { type FlowDeps, flowIdOf, POLL_SECONDS, secondsLeft, startFlow } from './poll.ts';
import { acceptChannelForm } from './request.rules.ts';

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
  form: DeviceAuthorizationRequest,
  request: ClientRequest,
): Promise<DeviceAuthorizationResponse> {
  // Only the resources say whom the request is about: other members are ignored here.
  const tenantHints = form.resource === undefined ? {} : { resource: form.resource };
  const client = await authenticateClient(deps, { ...request, tenantHints }, rates.oauthAuthorize);
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
  await keepPendingCode(deps, userCode, waiting);
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
async function principalOf(
  deps: DeviceDeps,
  client: Client,
  form: DeviceAuthorizationRequest,
): Promise<string | null> {
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

export const USER_CODE_KEY_USE = 'behest/user-code/v1';

/** Neither vowels, so that no code is a word, nor letters that look like others (RFC 8628 §6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** The request of a device that waits for its person to enter the code. */
export interface PendingUserCode {
  readonly flowId: string;
  readonly developerId: string;
  readonly clientId: string;
  readonly form: DeviceAuthorizationRequest;
  /** Null where the person says at this browser who they are. */
  readonly principalId: string | null;
  /** The id that the request will have, once the developer's application got it. */
  readonly requestId?: string;
  /** In ISO 8601. */
  readonly expiresAt: string;
}

interface CodeDeps extends FlowDeps {
  readonly keyRing: KeyRing;
}

/** @example `BCDF-GHJK` */
function newUserCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return shown(letters);
}

const shown = (letters: string) => `${letters.slice(0, 4)}-${letters.slice(4)}`;

/** Case and everything but letters do not matter. @returns undefined for a text that is no code */
export function readUserCode(text: string): string | undefined {
  const letters = text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return letters.length === LENGTH && [...letters].every((letter) => LETTERS.includes(letter))
    ? shown(letters)
    : undefined;
}

/** A code is short, so its plain hash would tell it to a reader of the store. */
function keyOf({ keyRing }: CodeDeps, userCode: string): string {
  const { current } = keyRing.derive(USER_CODE_KEY_USE);
  return `bh:{user-code:${createHmac('sha256', current).update(userCode).digest('base64url')}}`;
}

export async function keepPendingCode(
  deps: CodeDeps,
  userCode: string,
  waiting: PendingUserCode,
): Promise<void> {
  const seconds = secondsLeft(waiting, deps.clock());
  await deps.store.put([{ key: keyOf(deps, userCode), value: JSON.stringify(waiting), seconds }]);
}

export async function findPendingCode(
  deps: CodeDeps,
  userCode: string,
): Promise<PendingUserCode | undefined> {
  const found = await deps.store.get(keyOf(deps, userCode));
  const waiting: PendingUserCode | undefined = found === undefined ? undefined : JSON.parse(found);
  return waiting && new Date(waiting.expiresAt) > deps.clock() ? waiting : undefined;
}

export const forgetPendingCode = (deps: CodeDeps, userCode: string): Promise<void> =>
  deps.store.remove(keyOf(deps, userCode));
