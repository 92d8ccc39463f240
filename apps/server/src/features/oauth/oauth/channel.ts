import { AppError, oauthRefusal } from '../../../platform/errors.ts';
import {
  type AuthorizationDeps,
  type AuthorizationInput,
  admit,
  mustHaveRoomFor,
  requestConsent,
} from '../../grants/authorization/index.ts';
import { mustHaveActiveConnection } from '../../people/sso/sso.queries.ts';
import type { AuthorizeDeps } from './authorize.ts';
import { mustBeRegistered, requestedScopes, requestingClient } from './authorize.ts';
import type { Client } from './client.ts';
import { authenticateClient, type ClientRequest } from './client.ts';
import { rates } from './oauth.rates.ts';
import type { BackchannelAuthenticationRequest, BackchannelAuthenticationResponse } from './oauth.schema.ts';
import { POLL_SECONDS, startFlow } from './poll.ts';
import type { AcceptedChannelRequest } from './request.rules.ts';
import { acceptChannelForm } from './request.rules.ts';
import { withProposedAgent } from './tenant.ts';

/** A request without a browser of the client, in the words of the one engine. */
interface ByChannel {
  readonly channel: 'device' | 'ciba';
  readonly asked: AcceptedChannelRequest;
  readonly principalId: string;
  /** The text that the person compares. */
  readonly comparedText?: string;
  /** An id that was given out before the request was made. */
  readonly requestId?: string;
  readonly seconds: number;
}

type ChannelDeps = AuthorizationDeps & Parameters<typeof withProposedAgent>[0];

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
    : (await admit(deps, caller, input, { channel: request.channel, isProposed })).facts;
  if (caller.mode === 'live' && consentMode === 'sso') await mustHaveActiveConnection(deps.db, caller.tenant);
}

/** @throws as `requestConsent` */
export async function requestByChannel(deps: ChannelDeps, client: Client, request: ByChannel) {
  const { channel, comparedText, requestId, asked } = request;
  const { input, resources, scopesOfResources } = await inputOf(deps, client, request);
  const {
    agentId,
    caller,
    described,
    isProposed = false,
  } = await withProposedAgent(deps, client, scopesOfResources);
  const asking = described && requestingClient(described, asked);
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
          ...(client.isPublic && asking.vouchedBy === 'host' && { vouchedBy: 'nobody' as const }),
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
  const input: AuthorizationInput = {
    agentId,
    principalId,
    scopes: await requestedScopes(db, caller.tenant, asked, described ? scopesOfResources : []),
    expiresIn: '24h',
    consentExpiresIn: `${Math.max(SHORTEST, seconds)}s`,
    ...(resources.length > 0 && { audience: resources.map((each) => each.resource).join(' ') }),
    ...(purpose !== undefined && { purpose }),
    ...(details && { authorizationDetails: details }),
  };
  return { input, resources, scopesOfResources };
}

const DEFAULT_SECONDS = 300;
const MAX_SECONDS = 86_400;
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
  form: BackchannelAuthenticationRequest,
  request: ClientRequest,
): Promise<BackchannelAuthenticationResponse> {
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
}: BackchannelAuthenticationRequest): string {
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
  if (seconds >= 60 && seconds <= MAX_SECONDS) return seconds;
  throw oauthRefusal('invalid_request', '`requested_expiry` is a number of seconds from 60 to 86400.');
}

function nameUnknown(error: unknown): never {
  if (error instanceof AppError && error.code === 'PRINCIPAL_INACTIVE') {
    throw oauthRefusal('unknown_user_id', 'There is no such principal.');
  }
  throw error;
}
