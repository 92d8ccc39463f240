import type { Caller } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import {
  callerOfReceiver,
  isReceiverId,
  issueReceiverToken,
  provedReceiver,
  unknownReceiver,
} from '../../record/transmitter/index.ts';
import { type AuthenticationDeps, authenticateClient, type ClientRequest } from './oauth.client.service.ts';
import { claimedBy } from './oauth.credentials.rules.ts';
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
  const claimed = claimedBy(request.authorization, request.sent);
  const { clientId } = claimed;
  if (!isReceiverId(clientId)) {
    await authenticateClient(deps, request, rates.oauthToken);
    throw oauthRefusal('unauthorized_client', 'Only receivers of signals have this grant type.');
  }
  const receiver = 'secret' in claimed ? await provedReceiver(deps, clientId, claimed.secret) : undefined;
  // A stranger who knows only the id must not use up the requests of the receiver.
  const client = receiver ? clientId : `${clientId} ${request.address}`;
  await deps.chargeClient(rates.oauthToken, { client });
  if (!receiver) throw unknownReceiver();
  const { requestId, address } = request;
  const caller: Caller = { ...callerOfReceiver(receiver), requestId, address };
  return { answer: await issueReceiverToken(deps, receiver, scope), caller };
}
