import { type AuthorizationDeps, admit, type NewRequest, requestConsent } from '../authorization/index.ts';
import { mustBeRegistered } from './oauth.authorize.service.ts';
import type { Client } from './oauth.client.service.ts';
import type { AskedByChannel } from './oauth.request.rules.ts';
import { scopesAsked } from './oauth.scopes.service.ts';

/** A request without a browser of the client, in the words of the one engine. */
interface ByChannel {
  readonly channel: 'device' | 'ciba';
  readonly asked: AskedByChannel;
  readonly principalId: string;
  /** The text that the person compares. */
  readonly comparedText?: string;
  /** An id that was told before the request was made. */
  readonly requestId?: string;
  readonly seconds: number;
}

/** @throws as `requestConsent`, before there is a request */
export async function admitByChannel(
  deps: AuthorizationDeps,
  client: Client,
  request: ByChannel,
): Promise<void> {
  const { channel } = request;
  await admit(deps, client.caller, await inputOf(deps, client, request), { channel });
}

/** @throws as `requestConsent` */
export async function requestByChannel(deps: AuthorizationDeps, client: Client, request: ByChannel) {
  const { channel, comparedText, requestId } = request;
  return requestConsent(deps, client.caller, await inputOf(deps, client, request), {
    channel,
    ...(comparedText !== undefined && { comparedText }),
    ...(requestId !== undefined && { requestId }),
  });
}

const SHORTEST = 60; // seconds that the engine keeps a request open

async function inputOf(
  { db }: AuthorizationDeps,
  { agentId, caller }: Client,
  { asked, principalId, seconds }: ByChannel,
): Promise<NewRequest> {
  const { purpose, details } = asked;
  const resources = await mustBeRegistered({ db }, caller.tenant, asked.resources);
  return {
    agentId,
    principalId,
    scopes: await scopesAsked(db, caller.tenant, asked, []),
    expiresIn: '24h',
    consentExpiresIn: `${Math.max(SHORTEST, seconds)}s`,
    ...(resources.length > 0 && { audience: resources.map((each) => each.resource).join(' ') }),
    ...(purpose !== undefined && { purpose }),
    ...(details && { authorizationDetails: details }),
  };
}
