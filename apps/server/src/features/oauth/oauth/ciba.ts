import { AppError, oauthRefusal } from '../../../platform/errors.ts';
import type { AuthorizeDeps } from './authorize.ts';
import type { BackchannelAnswer, BackchannelForm } from './channel.schema.ts';
import { requestByChannel } from './channel.ts';
import { authenticateClient, type ClientRequest } from './client.ts';
import { POLL_SECONDS, startFlow } from './flow.ts';
import { rates } from './oauth.rates.ts';
import { acceptChannelForm } from './request.rules.ts';

const DEFAULT_SECONDS = 300;
const LONGEST_SECONDS = 86_400;
const PRINCIPAL = /^[^\p{Cc}]{1,256}$/u;
/** A person compares it, so it has no characters that they do not see. */
const BINDING_MESSAGE = /^(?=.*\S)[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u;

/**
 * Asks a person whom the client names, without a browser. Their developer hears of the request, and leads them to it.
 * @see OpenID CIBA Core 1.0 §7
 * @throws an OAuth error, or a refusal of the engine
 */
export async function askByBackchannel(
  deps: AuthorizeDeps,
  form: BackchannelForm,
  request: ClientRequest,
): Promise<BackchannelAnswer> {
  const client = await authenticateClient(deps, request, rates.oauthAuthorize);
  if (client.isPublic || client.described) {
    const message = 'Only a client that a developer has registered with a secret or key names the principal.';
    throw oauthRefusal('unauthorized_client', message);
  }
  const asked = acceptChannelForm(form);
  const principalId = namedIn(form);
  const comparedText = form.binding_message;
  if (comparedText !== undefined && !BINDING_MESSAGE.test(comparedText)) {
    throw oauthRefusal('invalid_binding_message', 'A message has 1 to 64 characters that a person sees.');
  }
  const seconds = secondsOf(form.requested_expiry);
  const { clientId, caller } = client;
  const message = comparedText === undefined ? {} : { comparedText };
  const { id: requestId } = await requestByChannel(deps, client, {
    channel: 'ciba',
    asked,
    principalId,
    seconds,
    ...message,
  }).catch(nameUnknown);
  const expiresAt = new Date(deps.clock().getTime() + seconds * 1000).toISOString();
  const secret = await startFlow(deps, {
    ...{ ...caller.tenant, clientId, channel: 'ciba', requestId, expiresAt },
  });
  return { auth_req_id: secret, expires_in: seconds, interval: POLL_SECONDS };
}

/** @throws invalid_request, unknown_user_id */
function namedIn({
  login_hint: hint,
  login_hint_token: token,
  id_token_hint: idToken,
}: BackchannelForm): string {
  if (hint === undefined || token !== undefined || idToken !== undefined) {
    throw oauthRefusal(
      'invalid_request',
      'Send `login_hint` with the id of the principal, and no other hint.',
    );
  }
  if (!PRINCIPAL.test(hint)) throw oauthRefusal('unknown_user_id', 'There is no such principal.');
  return hint;
}

/** @throws invalid_request */
function secondsOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SECONDS;
  const seconds = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= 60 && seconds <= LONGEST_SECONDS) return seconds;
  throw oauthRefusal('invalid_request', '`requested_expiry` is a number of seconds from 60 to 86400.');
}

function nameUnknown(error: unknown): never {
  if (error instanceof AppError && error.code === 'PRINCIPAL_INACTIVE') {
    throw oauthRefusal('unknown_user_id', 'There is no such principal.');
  }
  throw error;
}
