import { oauthRefusal } from '../../../platform/errors.ts';
import { type AuthorizationDeps, getRequest } from '../../grants/authorization/index.ts';
import {
  type DelegateDeps,
  exchangeRequest,
  type TokensOfCode,
  type TokenWish,
} from '../../grants/tokens/index.ts';
import type { Client } from './client.ts';
import { expiredFlow, type Flow, getFlow, unknownFlow } from './flow.ts';
import type { CredentialFormat } from './format.rules.ts';

export interface PollDeps extends DelegateDeps, AuthorizationDeps {}

interface Asking {
  readonly channel: Flow['channel'];
  /** `device_code` or `auth_req_id`. */
  readonly secret: string | undefined;
  readonly credentialFormat: CredentialFormat;
}

/**
 * Answers a client that asks whether the person has decided, with tokens once they have approved.
 * @see RFC 8628 §3.5; OpenID CIBA Core 1.0 §11
 * @throws authorization_pending, access_denied, expired_token, invalid_grant, or a refusal of the engine
 */
export async function pollRequest(
  deps: PollDeps,
  client: Client,
  { channel, secret, credentialFormat }: Asking,
  wish: TokenWish,
): Promise<TokensOfCode> {
  if (!secret) throw oauthRefusal('invalid_request', 'Send `device_code` or `auth_req_id`.');
  const flow = await getFlow(deps, secret);
  const isOwn = flow.clientId === client.clientId && flow.developerId === client.caller.tenant.developerId;
  if (!isOwn || flow.channel !== channel) throw unknownFlow();
  if (new Date(flow.expiresAt) <= deps.clock()) throw expiredFlow();
  if (flow.refusal) throw oauthRefusal(flow.refusal.error, flow.refusal.error_description);
  if (flow.requestId === null) throw pending();
  const { caller, agentId } = client;
  const { status } = await getRequest(deps, caller, flow.requestId);
  if (status === 'pending') throw pending();
  if (status === 'expired') throw expiredFlow();
  if (status === 'denied' || status === 'cancelled') {
    throw oauthRefusal('access_denied', 'The request was denied.');
  }
  const { requestId } = flow;
  return exchangeRequest(deps, caller, { requestId, agentId, credentialFormat }, wish);
}

const pending = () => oauthRefusal('authorization_pending', 'The person has not decided yet.');
