import type { Proved } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { admit, mustHaveRoomFor } from '../../grants/authorization/index.ts';
import { isFirstUse, type ProofDeps, provedKey } from '../../grants/tokens/index.ts';
import { type AuthorizeDeps, mustBeOwn, mustBeRegistered, requestedScopes } from './authorize.ts';
import { authenticateClient, type Client, type ClientRequest } from './client.ts';
import { rates } from './oauth.rates.ts';
import type { OAuthAuthorizationRequest, PushedAuthorizationResponse } from './oauth.schema.ts';
import { mustBePrincipal } from './person.ts';
import { type AcceptedAuthorization, acceptAuthorization } from './request.rules.ts';

/**
 * Takes an authorization request from its client and not from a browser. The principal that an authenticated client
 * names is proved on the consent page all the same.
 * @see RFC 9126 §2; RFC 9449 §10.1
 * @throws an OAuth error
 */
export async function pushRequest(
  deps: AuthorizeDeps & ProofDeps,
  form: OAuthAuthorizationRequest,
  request: ClientRequest,
  proof: Proved,
): Promise<PushedAuthorizationResponse> {
  const client = await authenticateClient(deps, request, rates.oauthAuthorize);
  const { request_uri, client_secret: _, client_assertion: __, client_assertion_type: ___, ...asked } = form;
  if (request_uri !== undefined)
    throw oauthRefusal('invalid_request', 'A pushed request has no `request_uri`.');
  mustBeOwn(client, asked.redirect_uri);
  const accepted = acceptAuthorization(asked);
  const { keyThumbprint } = accepted;
  const { tenant } = client.caller;
  const registered = await mustBeRegistered(deps, tenant, accepted.resources);
  const ofResources = registered.flatMap((each) => each.scopes);
  const scopes = await requestedScopes(deps.db, tenant, accepted, ofResources);
  if (asked.principal_id !== undefined) mustBeNameable(client, asked.principal_id);
  await mustBeAdmitted(deps, client, { ...accepted, scopes, principalId: asked.principal_id });
  const proved = await provedKey(deps, proof);
  if (proved !== undefined && keyThumbprint !== undefined && proved !== keyThumbprint) {
    throw oauthRefusal('invalid_dpop_proof', '`dpop_jkt` names another key than the proof.');
  }
  const bound = proved === undefined ? {} : { dpop_jkt: proved };
  const requestUri = await keepPushed(
    deps,
    client,
    { ...asked, ...bound },
    { seconds: PUSHED_SECONDS, isSignedIn: false },
  );
  return { request_uri: requestUri, expires_in: PUSHED_SECONDS };
}

interface Pushing extends Pick<AcceptedAuthorization, 'purpose' | 'details'> {
  readonly scopes: string[];
  readonly principalId: string | undefined;
}

/**
 * Refuses what the engine would refuse when the browser comes, full plans included. A client that is not approved yet
 * has no agent, so its request is held to the plan only. A pushed request takes no place: it may never be followed.
 * @see RFC 9126 §2.1
 * @throws as `requestConsent`
 */
async function mustBeAdmitted(
  deps: AuthorizeDeps,
  { agentId, agentDid, caller, isProposed = false }: Client,
  { scopes, purpose, details, principalId = 'unknown-person' }: Pushing,
): Promise<void> {
  const named = { agentId, principalId };
  if (isProposed && agentDid === '') {
    await mustHaveRoomFor(deps, caller, named);
    return;
  }
  const input = {
    ...{ ...named, scopes, expiresIn: '24h', consentExpiresIn: '1h' },
    ...(purpose !== undefined && { purpose }),
    ...(details && { authorizationDetails: details }),
  };
  await admit(deps, caller, input, { isProposed });
}

/**
 * The developer answers for the word of a client of their own. Nobody answers for one that describes itself, whether or not
 * it has a secret or a key: anybody can make one.
 * @throws invalid_request, unauthorized_client
 */
export function mustBeNameable(
  { isPublic, described }: Pick<Client, 'isPublic' | 'described'>,
  principalId: string,
): void {
  if (isPublic || described) {
    const message = 'Only a client that a developer has registered with a secret or key names the principal.';
    throw oauthRefusal('unauthorized_client', message);
  }
  mustBePrincipal('principal_id', principalId);
}

const PREFIX = 'urn:ietf:params:oauth:request_uri:';
const PUSHED_SECONDS = 90;
/** The time that a person has to sign in. */
export const SIGN_IN_SECONDS = 600;
/** No request is kept for longer. */
const MAX_SECONDS = 600;

interface Pushed {
  readonly clientId: string;
  readonly form: OAuthAuthorizationRequest;
  /** Whether the service itself keeps it while its person signs in. */
  readonly isSignedIn: boolean;
  /** The id that the request will have, where its person signs in for it before it is made. */
  readonly requestId?: string;
  /** When the person came first, in ISO 8601, where the service itself keeps it. */
  readonly askedAt?: string;
  /** In ISO 8601. The store may keep it for longer. */
  readonly expiresAt: string;
}

interface StoreDeps {
  readonly store: EphemeralStore;
  readonly clock: Clock;
}

const pushedKey = (secret: string) => `bh:{pushed:${hashOf(secret).toString('base64url')}}`;

/** Keeps a pushed request. The store has the hash of its name, so that no reader of the store can use it. */
export async function keepPushed(
  { store, clock }: StoreDeps,
  { clientId }: Pick<Client, 'clientId'>,
  form: OAuthAuthorizationRequest,
  { seconds, ...kept }: Pick<Pushed, 'isSignedIn' | 'requestId' | 'askedAt'> & { readonly seconds: number },
): Promise<string> {
  const secret = newSecret();
  const expiresAt = new Date(clock().getTime() + seconds * 1000).toISOString();
  const pushed: Pushed = { clientId, form, ...kept, expiresAt };
  await store.put([{ key: pushedKey(secret), value: JSON.stringify(pushed), seconds }]);
  return `${PREFIX}${secret}`;
}

const notThere = () =>
  oauthRefusal('invalid_request', 'The pushed request is not there; go back and start again.');

const secretIn = (requestUri: string) =>
  requestUri.startsWith(PREFIX) ? requestUri.slice(PREFIX.length) : '';

/** Reads a pushed request, which stays. @throws invalid_request as `takePushed` */
export async function getPushed(
  { store, clock }: StoreDeps,
  { clientId }: Pick<Client, 'clientId'>,
  requestUri: string,
): Promise<Pushed> {
  const secret = secretIn(requestUri);
  const found = secret === '' ? undefined : await store.get(pushedKey(secret));
  const pushed: Pushed | undefined = found === undefined ? undefined : JSON.parse(found);
  const isOwn = pushed?.clientId === clientId && new Date(pushed.expiresAt) > clock();
  if (!pushed || !isOwn) throw notThere();
  return pushed;
}

/** Takes a pushed request, once. @throws invalid_request for an unknown, used or foreign one alike */
export async function takePushed(
  deps: StoreDeps,
  client: Pick<Client, 'clientId'>,
  requestUri: string,
): Promise<Pushed> {
  const pushed = await getPushed(deps, client, requestUri);
  const secret = secretIn(requestUri);
  if (!(await isFirstUse(deps.store, 'pushed', secret, MAX_SECONDS))) throw notThere();
  await deps.store.remove(pushedKey(secret));
  return pushed;
}
