import type { IncomingMessage, ServerResponse } from 'node:http';
import { namesResource } from '@behest/protocol/resource-uri';
import type { Behest } from '../behest.ts';
import { BehestError, BehestTokenError } from '../errors.ts';
import { type GuardOptions, guardBy, oneHeader, PROOF_ALGS, type Refusal } from '../http/guard.ts';
import type { VerifiedGrant } from '../verify/verified-grant.ts';
import { createVerifier, type Detailed, type PresentedProof, type Verifier } from '../verify.ts';

export interface McpResource extends Pick<GuardOptions, 'onError' | 'dpop'> {
  /** The address of the MCP server, as clients have it. Tokens have to name it as their audience. */
  readonly resource: string;
  /** The address of the service. */
  readonly authorizationServer: string;
  /** The scopes that a client asks for first. */
  readonly scopes?: readonly string[];
  /** A name for people. */
  readonly resourceName?: string;
}

export const METADATA = '/.well-known/oauth-protected-resource';

/**
 * The protected-resource metadata, by which a client finds the authorization server.
 *
 * @see RFC 9728
 */
export function protectedResourceMetadata(options: McpResource): object {
  const { resource, authorizationServer, scopes, resourceName, dpop } = options;
  return {
    resource,
    authorization_servers: [authorizationServer],
    ...(scopes && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    ...(dpop && { dpop_signing_alg_values_supported: PROOF_ALGS }),
    ...(resourceName !== undefined && { resource_name: resourceName }),
    authorization_details_types_supported: ['urn:service:tools:v1'],
    dpop_bound_access_tokens_required: false,
  };
}

/**
 * The metadata's address has the path of the resource behind the well-known path (RFC 9728, section 3.1).
 *
 * @throws BehestError for a resource that is no address
 */
export function metadataAddress(resource: string): URL {
  if (!URL.canParse(resource))
    throw new BehestError('CONFIGURATION', 'resource has to be the address of the MCP server.');
  const { origin, pathname } = new URL(resource);
  return new URL(`${METADATA}${pathname === '/' ? '' : pathname}`, origin);
}

/** The parameters by which a challenge leads to the metadata. */
export const challengeOf = ({ resource, scopes = [] }: McpResource) => [
  `resource_metadata="${metadataAddress(resource).href}"`,
  ...(scopes.length > 0 ? [`scope="${scopes.join(' ')}"`] : []),
];

/** What the official SDK hands to the server's tools as `extra.authInfo`. */
export interface McpAuth {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: string[];
  readonly expiresAt: number;
  readonly extra: { readonly grant: VerifiedGrant };
}

/** A request that the middleware let through. */
export interface McpRequest extends IncomingMessage {
  auth?: McpAuth;
  mcpGrant?: VerifiedGrant;
  /** The whole path, where Express hands it over. */
  readonly originalUrl?: string;
  /** The parsed body, which the transport takes as the third argument of `handleRequest`. */
  body?: unknown;
}

/** Whose tokens are taken: those of a client, or of the accounts that are named. Neither form needs an API key. */
export type McpTokens =
  | {
      /** Verifies the tokens, with its `developerId` and its keys. */
      readonly behest: Behest;
      readonly developerId?: never;
    }
  | (Omit<GuardOptions, 'jwksUri' | 'audience' | 'tokenExtractor'> & {
      readonly behest?: never;
      /** Default: `<authorizationServer>/.well-known/jwks.json`. */
      readonly jwksUri?: string;
    });

/** The settings of a resource and of its tokens, which have to name the resource as their audience. */
export type McpAuthOptions = McpResource & McpTokens;

/**
 * Lets requests with a good grant token for this resource through, with `req.auth` and `req.mcpGrant`.
 *
 * @throws BehestError without `behest` and `developerId`, and for a resource that is no address
 *
 * @example
 * ```ts
 * const resource = 'https://mcp.example.com/mcp';
 * app.use('/mcp', requireMcpAuth({ resource, authorizationServer: 'https://auth.example.com', developerId }));
 * ```
 */
export function requireMcpAuth(
  options: McpAuthOptions,
): (request: McpRequest, response: ServerResponse, next: () => void) => Promise<void> {
  const guard = guardBy(verifierOf(options), options, challengeOf(options));
  return async (request, response, next) => {
    // A router may have taken a part of the path away.
    const { method = 'GET', originalUrl, url = '/', headers } = request;
    const proved = { method, path: originalUrl ?? url, proof: oneHeader(headers.dpop) };
    const guarded = await guard(headers.authorization, proved).catch(() => undefined); // `onError` was told
    if (!guarded) return fail(response); // no caller need wait for a middleware
    if (!guarded.ok) return refuse(response, guarded.refusal);
    const { token, grant } = guarded;
    request.mcpGrant = grant;
    request.auth = {
      ...{ token, clientId: grant.clientId ?? grant.agentDid ?? '', scopes: [...grant.scopes] },
      ...{ expiresAt: Math.floor(grant.expiresAt.getTime() / 1_000), extra: { grant } },
    };
    next();
  };
}

/** Each request is verified by itself: a session is no authorization. */
function verifierOf(options: McpAuthOptions): Pick<Verifier, 'detailed'> {
  const { behest, resource, authorizationServer } = options;
  if (behest) return clientVerifier(behest, resource);
  const { dpop: _, ...settings } = options;
  const issuer = authorizationServer.replace(/\/$/, '');
  return createVerifier({
    jwksUri: `${issuer}/.well-known/jwks.json`,
    ...(settings.issuerDid === undefined && { issuer }),
    ...settings,
    audience: resource,
  });
}

function clientVerifier(behest: Behest, resource: string): Pick<Verifier, 'detailed'> {
  return {
    async detailed(token: string, proof?: PresentedProof): Promise<Detailed> {
      try {
        const grant = await behest.verify(token, proof);
        const isForUs = namesResource(grant.audience, resource);
        return isForUs ? { ok: true, grant } : { ok: false, reason: 'audience_mismatch' };
      } catch (error) {
        if (!(error instanceof BehestTokenError)) throw error;
        const { reason } = error;
        const isOfService = reason === 'revoked' || reason === 'not_found' || reason === 'agent_inactive';
        return { ok: false, reason: isOfService ? 'bad_signature' : reason };
      }
    },
  };
}

export function refuse(response: ServerResponse, { status, headers, body }: Refusal): void {
  send(response, status, headers, body);
}

/** Says that the fault is the server's, in the form of JSON-RPC. */
export function fail(response: ServerResponse): void {
  send(response, 500, {}, { jsonrpc: '2.0', id: null, error: { code: -32_603, message: 'Internal error' } });
}

export function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
