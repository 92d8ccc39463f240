import type { Caller } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import {
  callerOfReceiver,
  isReceiverId,
  issueReceiverToken,
  provedReceiver,
  revokeReceiverToken,
  unknownReceiver,
} from '../../extras/transmitter/index.ts';
import { type AuthenticationDeps, authenticateClient, type ClientRequest } from './client.ts';
import { presentedCredentials } from './credentials.rules.ts';
import { rates } from './oauth.rates.ts';

export const CLIENT_CREDENTIALS = 'client_credentials';

/**
 * Issues an access token to a receiver of signals (RFC 6749 §4.4). No other client has this grant type.
 * @throws invalid_client, unauthorized_client, invalid_scope, RATE_LIMITED
 */
export async function issueToReceiver(
  deps: AuthenticationDeps,
  scope: string | undefined,
  request: ClientRequest,
) {
  if (!isReceiver(request)) {
    await authenticateClient(deps, request, rates.oauthToken);
    throw oauthRefusal('unauthorized_client', 'Only receivers of signals have this grant type.');
  }
  const { receiver, caller } = await authenticateReceiver(deps, request, rates.oauthToken);
  return { answer: await issueReceiverToken(deps, receiver, scope), caller };
}

/**
 * Ends an access token of the receiver that asks. Unknown tokens and those of others are answered alike.
 * @see RFC 7009 §2
 * @throws invalid_client, invalid_request, RATE_LIMITED
 */
export async function revokeOfReceiver(
  deps: AuthenticationDeps,
  token: string | undefined,
  request: ClientRequest,
): Promise<void> {
  const { receiver, caller } = await authenticateReceiver(deps, request, rates.oauthRevoke);
  if (!token) throw oauthRefusal('invalid_request', 'Send `token`.');
  await revokeReceiverToken(deps, caller, receiver.id, token);
}

/** Whether a request names a receiver as its client. @throws invalid_request, invalid_client */
export const isReceiver = ({ authorization, sent }: ClientRequest): boolean =>
  isReceiverId(presentedCredentials(authorization, sent).clientId);

/** Authenticates a receiver by its secret, and counts its request. @throws invalid_client, RATE_LIMITED */
async function authenticateReceiver(
  deps: AuthenticationDeps,
  { authorization, sent, requestId, address }: ClientRequest,
  rule: Parameters<AuthenticationDeps['chargeClient']>[0],
) {
  const claimed = presentedCredentials(authorization, sent);
  const { clientId } = claimed;
  const receiver = 'secret' in claimed ? await provedReceiver(deps, clientId, claimed.secret) : undefined;
  // A party that knows only the id must not use up the requests of the receiver.
  const client = receiver ? clientId : `${clientId} ${address}`;
  await deps.chargeClient(rule, { client });
  if (!receiver) throw unknownReceiver();
  const caller: Caller = { ...callerOfReceiver(receiver), requestId, address };
  return { receiver, caller };
}
