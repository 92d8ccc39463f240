import type { IncomingMessage, ServerResponse } from 'node:http';
import { namesResource } from '@behest/protocol/resource-uri';
import type { Behest } from '../behest.ts';
import { BehestTokenError } from '../errors.ts';
import { type GuardOptions, guardBy, oneHeader } from '../http/guard.ts';
import type { VerifiedGrant } from '../verify/verified-grant.ts';
import { createVerifier, type Detailed, type PresentedProof, type Verifier } from '../verify.ts';
import { challengeOf, type McpResource } from './resource-metadata.ts';
import { fail, refuse } from './sending.ts';

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
