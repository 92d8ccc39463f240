import type { Caller, Proved } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import {
  type AssertedTokens,
  type DelegateDeps,
  type DelegatedTokens,
  exchangeCode,
  type IssuedTokens,
  type ProofDeps,
  provedKey,
  type RequestedToken,
  refreshTokens,
  type TokensOfCode,
} from '../../grants/tokens/index.ts';
import { type AssertionDeps, issueAsserted } from '../assertions/index.ts';
import { type AuthenticationDeps, authenticateClient, type Client, type ClientRequest } from './client.ts';
import { CIBA_GRANT, DEVICE_GRANT } from './described.ts';
import { ACCESS_TOKEN, exchangeToken, issueToResource, resourceCredentialIn } from './exchange.ts';
import { rates } from './oauth.rates.ts';
import { renewDynamicClient } from './oauth.repo.ts';
import type { TokenRequest, TokenResponse } from './oauth.schema.ts';
import { type PollDeps, pollRequest, pollsTooFast } from './poll.ts';
import { CLIENT_CREDENTIALS, issueToReceiver } from './receiver.ts';
import { fewerScopesOf, formatOf, mustAskNoCredential } from './request.rules.ts';
import { withDeveloper, withoutDeveloper } from './tenant.ts';

export { currentNonce, type ProofDeps } from '../../grants/tokens/index.ts';

export interface TokenEndpointDeps
  extends AuthenticationDeps,
    DelegateDeps,
    PollDeps,
    ProofDeps,
    AssertionDeps {}

/** A grant type of the token endpoint, for a client that is authenticated. */
type GrantType = (
  deps: TokenEndpointDeps,
  client: Client,
  form: TokenRequest,
  key: ProvedKey,
) => Promise<Issued>;

type Issued = (IssuedTokens | DelegatedTokens | TokensOfCode | AssertedTokens) & {
  /** Stated where the client did not name them. */
  readonly resources?: readonly string[];
};

interface ProvedKey {
  readonly keyThumbprint?: string;
}

/**
 * Issues tokens by one of the grant types.
 * @see RFC 6749 §3.2
 * @throws an OAuth error, or a refusal of the engine, which the error handler names as OAuth does
 */
export async function issueByForm(
  deps: TokenEndpointDeps,
  form: TokenRequest,
  request: ClientRequest,
  proof: Proved,
): Promise<{ answer: TokenResponse; caller: Caller }> {
  const { grant_type: name } = form;
  if (name === undefined) throw oauthRefusal('invalid_request', 'Send `grant_type`.');
  if (name === CLIENT_CREDENTIALS) return issueToReceiver(deps, form.scope, request);
  const grantType = grantTypes.get(name);
  if (!grantType || (name === JWT_BEARER && !deps.acceptsAssertions))
    throw oauthRefusal('unsupported_grant_type', 'The metadata lists the grant types.');
  const credential = name === TOKEN_EXCHANGE ? resourceCredentialIn(request) : undefined;
  if (credential !== undefined) return issueToResource(deps, form, { request, credential, proof });
  const polled = polledSecret(form);
  let isTooFast = false;
  const client = await authenticateClient(deps, request, rates.oauthToken, async (proved) => {
    isTooFast = polled !== undefined && (await pollsTooFast(deps, polled, proved));
    return isTooFast;
  });
  if (client.described && polled !== undefined) isTooFast = await pollsTooFast(deps, polled, client);
  if (isTooFast) throw oauthRefusal('slow_down', 'Wait five seconds longer between two requests.');
  // The engine judges the agents of a grant, and the client of an exchange need not be one of them.
  if (!client.isActive)
    throw oauthRefusal('invalid_grant', 'The agent of this client is suspended or revoked.');
  if (form.authorization_details !== undefined && KEEPS_DETAILS.has(name)) {
    const message = 'The token has the details of its grant; leave `authorization_details` out.';
    throw oauthRefusal('invalid_authorization_details', message);
  }
  const keyThumbprint = await provedKey(deps, proof);
  if (client.dpopBound && keyThumbprint === undefined) {
    throw oauthRefusal('invalid_dpop_proof', 'This client has to send a `DPoP` proof.');
  }
  const key = keyThumbprint === undefined ? {} : { keyThumbprint };
  const issued = await grantType(deps, client, form, key);
  if (client.clientId.startsWith('dcr_')) await renewDynamicClient(deps.db, client.clientId, deps.clock());
  const answer = toAnswer(issued, key, { now: deps.clock(), client });
  const isExchange = name === TOKEN_EXCHANGE;
  const { caller } = client;
  return { answer: { ...answer, ...(isExchange && { issued_token_type: ACCESS_TOKEN }) }, caller };
}

const byCode: GrantType = (deps, client, form, key) => {
  const { code, redirect_uri: redirectUri, code_verifier: codeVerifier } = form;
  if (!code || !redirectUri) throw oauthRefusal('invalid_request', 'Send `code` and `redirect_uri`.');
  if (codeVerifier !== undefined && !/^[A-Za-z0-9._~-]{43,128}$/.test(codeVerifier)) {
    throw oauthRefusal('invalid_grant', '`code_verifier` has 43 to 128 unreserved characters.');
  }
  const presented = {
    code,
    agentId: client.agentId,
    redirectUri,
    codeVerifier,
    credentialFormat: formatOf(form),
  };
  return exchangeCode(deps, client.caller, presented, requestedToken(client, form, key));
};

const byRefreshToken: GrantType = (deps, client, form, key) => {
  const { refresh_token: sent } = form;
  if (!sent) throw oauthRefusal('invalid_request', 'Send `refresh_token`.');
  mustAskNoCredential(form);
  const refreshToken = client.described ? withoutDeveloper(sent) : sent;
  const scopes = fewerScopesOf(form.scope);
  const requested = { ...requestedToken(client, form, key), ...(scopes && { scopes }) };
  return refreshTokens(deps, client.caller, { refreshToken, agentId: client.agentId }, requested);
};

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

const byToken: GrantType = (deps, client, form, { keyThumbprint }) => {
  if (client.described) {
    throw oauthRefusal(
      'unauthorized_client',
      'Only agents that their developer has registered get delegations.',
    );
  }
  return exchangeToken(deps, client, form, keyThumbprint);
};

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const byAssertion: GrantType = async (deps, client, form, { keyThumbprint }) => {
  mustAskNoCredential(form);
  const { issued, resources } = await issueAsserted(deps, { ...client, keyThumbprint }, form);
  return { ...issued, resources };
};

/** The secret by which a client asks again and again for a decision. */
function polledSecret({ grant_type: name, device_code: device, auth_req_id: backchannel }: TokenRequest) {
  if (name === DEVICE_GRANT) return device;
  return name === CIBA_GRANT ? backchannel : undefined;
}

const pollOf =
  (channel: 'device' | 'ciba'): GrantType =>
  (deps, client, form, key) => {
    const asking = { channel, secret: polledSecret(form), credentialFormat: formatOf(form) };
    return pollRequest(deps, client, asking, requestedToken(client, form, key));
  };

const grantTypes: ReadonlyMap<string, GrantType> = new Map([
  ['authorization_code', byCode],
  ['refresh_token', byRefreshToken],
  [TOKEN_EXCHANGE, byToken],
  [JWT_BEARER, byAssertion],
  [DEVICE_GRANT, pollOf('device')],
  [CIBA_GRANT, pollOf('ciba')],
]);

/** The grant types that make a grant from a request. */
export const MAKES_GRANT: ReadonlySet<string> = new Set(['authorization_code', DEVICE_GRANT, CIBA_GRANT]);

/** The grant types whose tokens have the details that were approved. A client that asks for fewer gets an error (RFC 9396 §6). */
const KEEPS_DETAILS: ReadonlySet<string> = new Set([...MAKES_GRANT, 'refresh_token']);

/** As the metadata lists them. */
export const GRANT_TYPES = [...grantTypes.keys(), CLIENT_CREDENTIALS];

const requestedToken = (
  { isPublic }: Client,
  { resource }: TokenRequest,
  key: ProvedKey,
): RequestedToken => ({
  ...key,
  ...(resource && { resources: resource }),
  bindsRefresh: isPublic,
});

/** @see RFC 6749 §5.1, RFC 9396 §7 */
function toAnswer(
  issued: Issued,
  { keyThumbprint }: ProvedKey,
  { now, client: { described, caller } }: { readonly now: Date; readonly client: Client },
): TokenResponse {
  const { grantToken, expiresAt, refreshToken, scopes, authorizationDetails, grantId } = issued;
  return {
    access_token: grantToken,
    token_type: keyThumbprint === undefined ? 'Bearer' : 'DPoP',
    expires_in: Math.floor((Date.parse(expiresAt) - now.getTime()) / 1000),
    scope: scopes.join(' '),
    ...(refreshToken !== null &&
      !('refreshes' in issued) && {
        refresh_token: described ? withDeveloper(refreshToken, caller.tenant.developerId) : refreshToken,
      }),
    ...(issued.resources && issued.resources.length > 0 && { resource: [...issued.resources] }),
    ...(authorizationDetails && { authorization_details: authorizationDetails }),
    'urn:service:grant': { grant_id: grantId },
    ...('verifiableCredential' in issued && { verifiableCredential: issued.verifiableCredential }),
    ...('sdJwtCredential' in issued && { sdJwtCredential: issued.sdJwtCredential }),
  };
}
