import {
  type AuthorizationDeps,
  admit,
  mustHaveRoomFor,
  type NewRequest,
  requestConsent,
} from '../../grants/authorization/index.ts';
import { mustHaveActiveConnection } from '../../people/sso/sso.queries.ts';
import { mustBeRegistered, toAsking } from './authorize.ts';
import type { Client } from './client.ts';
import type { AskedByChannel } from './request.rules.ts';
import { scopesAsked } from './scopes.ts';
import { proposed } from './seat.ts';

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

type ChannelDeps = AuthorizationDeps & Parameters<typeof proposed>[0];

/**
 * Checks what can be checked before there is a request. A client that asks at this developer for the first time has no
 * agent yet, so its request is held to the plan only.
 * @throws as `requestConsent`
 */
export async function admitByChannel(deps: ChannelDeps, client: Client, request: ByChannel): Promise<void> {
  const { caller, agentDid, isProposed = false } = client;
  const { input } = await inputOf(deps, client, request);
  const isNew = isProposed && agentDid === '';
  const { consentMode } = isNew
    ? await mustHaveRoomFor(deps, caller, input)
    : (await admit(deps, caller, input, { channel: request.channel, isProposed })).asker;
  if (caller.mode === 'live' && consentMode === 'sso') await mustHaveActiveConnection(deps.db, caller.tenant);
}

/** @throws as `requestConsent` */
export async function requestByChannel(deps: ChannelDeps, client: Client, request: ByChannel) {
  const { channel, comparedText, requestId, asked } = request;
  const { input, resources, scopesOfResources } = await inputOf(deps, client, request);
  const { agentId, caller, described, isProposed = false } = await proposed(deps, client, scopesOfResources);
  const asking = described && toAsking(described, asked);
  return requestConsent(
    deps,
    caller,
    { ...input, agentId },
    {
      channel,
      isProposed,
      ...(asking && {
        // Its program is on another device than the browser of its person.
        client: {
          ...asking,
          // Anybody can send the address of a client without a secret, and no redirect leads the answer to its host.
          ...(client.isPublic && asking.vouchedBy === 'host' && { vouchedBy: 'none' as const }),
          isLocal: false,
          resourceNames: resources.map(({ name }) => name),
        },
        tokenSeconds: Math.min(...resources.map((each) => each.tokenTtlSeconds)),
      }),
      ...(comparedText !== undefined && { comparedText }),
      ...(requestId !== undefined && { requestId }),
    },
  );
}

const SHORTEST = 60; // seconds that the engine keeps a request open

async function inputOf(
  { db }: AuthorizationDeps,
  { agentId, caller, described }: Client,
  { asked, principalId, seconds }: ByChannel,
) {
  const { purpose, details } = asked;
  const resources = await mustBeRegistered({ db }, caller.tenant, asked.resources);
  const scopesOfResources = [...new Set(resources.flatMap((each) => each.scopes))];
  const input: NewRequest = {
    agentId,
    principalId,
    scopes: await scopesAsked(db, caller.tenant, asked, described ? scopesOfResources : []),
    expiresIn: '24h',
    consentExpiresIn: `${Math.max(SHORTEST, seconds)}s`,
    ...(resources.length > 0 && { audience: resources.map((each) => each.resource).join(' ') }),
    ...(purpose !== undefined && { purpose }),
    ...(details && { authorizationDetails: details }),
  };
  return { input, resources, scopesOfResources };
}
