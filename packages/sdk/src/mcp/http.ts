import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behest } from '../behest.ts';
import { BehestError, BehestTokenError } from '../errors.ts';
import { type GuardOptions, guardBy, insufficientScope, oneHeader, type Refusal } from '../http/guard.ts';
import { provedIn, type VerifiedGrant } from '../verify/verified-grant.ts';
import { createVerifier, type Detailed, type PresentedProof, type Verifier } from '../verify.ts';
import { callFor, type ToolEnforcement } from './enforcing-transport.ts';
import { type Message, toolCallOf } from './messages.ts';
import {
  challengeOf,
  type McpResource,
  METADATA,
  metadataAddress,
  protectedResourceMetadata,
} from './resource-metadata.ts';

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

/** The tools of the server, for which `protectMcp` asks clients to get the scopes that their calls lack. */
export type McpTools =
  | { readonly connector?: never; readonly calls?: never }
  | {
      readonly behest: Behest;
      /** The connector of the server's tools, as for `withToolEnforcement`. */
      readonly connector: string;
      /** The functions of the call, as for `withToolEnforcement`. */
      readonly calls?: Pick<ToolEnforcement, 'resource' | 'amount' | 'caseId' | 'caseVersion'>;
    };

export type ProtectedMcp = McpAuthOptions & McpTools;

const MOST_BYTES = 4 * 1_024 * 1_024;

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
    const guarded = await guard(headers.authorization, proved);
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
        const isForUs = [grant.audience].flat().includes(resource);
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

/**
 * Protects the HTTP side of an MCP server: it serves the metadata, challenges requests without a good token, and
 * challenges calls whose token lacks a scope. `withToolEnforcement` decides all else about calls.
 *
 * @param handler gets the request with `auth` and the parsed `body`
 * @throws BehestError as `requireMcpAuth`
 * @see the MCP specification, authorization
 */
export function protectMcp(
  handler: (request: McpRequest, response: ServerResponse) => unknown,
  options: ProtectedMcp,
): (request: McpRequest, response: ServerResponse) => Promise<void> {
  const [root, own] = [METADATA, metadataAddress(options.resource).pathname];
  const authorize = requireMcpAuth(options);
  if (options.connector !== undefined && !options.behest)
    throw new BehestError(
      'CONFIGURATION',
      'connector needs behest, which decides about the calls of its tools.',
    );

  async function handle(request: McpRequest, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*/, '');
    if (request.method === 'GET' && (path === root || path === own)) {
      return send(response, 200, { 'cache-control': 'max-age=3600' }, protectedResourceMetadata(options));
    }
    let isLet = false;
    await authorize(request, response, () => {
      isLet = true;
    });
    if (!isLet) return;
    if (request.method === 'POST') {
      try {
        request.body ??= await readBody(request);
      } catch {
        return send(response, 400, {}, PARSE_ERROR);
      }
      const missing = await missingScope(request, options);
      if (missing)
        return refuse(
          response,
          insufficientScope([...(options.scopes ?? []), missing], challengeWithout(options)),
        );
    }
    await handler(request, response);
  }
  return async (request, response) => {
    try {
      await handle(request, response);
    } catch (error) {
      options.onError?.(error);
      if (response.headersSent) response.destroy();
      else
        send(
          response,
          500,
          {},
          { jsonrpc: '2.0', id: null, error: { code: -32_603, message: 'Internal error' } },
        );
    }
  };
}

const PARSE_ERROR = { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } };

const challengeWithout = (options: McpResource) => challengeOf({ ...options, scopes: [] });

/** The scope that a call in the body lacks, with which the client asks the person once more. */
async function missingScope(
  { body, auth }: McpRequest,
  { behest, connector, calls }: ProtectedMcp,
): Promise<string | undefined> {
  if (connector === undefined || !behest) return undefined;
  const messages: readonly Message[] = [body ?? []].flat().map(Object);
  for (const message of messages) {
    const call = toolCallOf(message);
    if (!call) continue;
    const asked = {
      ...callFor(call, { ...calls, connector }),
      ...{ grantToken: auth?.token ?? '', ...provedIn(auth?.extra.grant) },
      reserve: false,
    };
    const { allowed, reason_code, sub_reason, permission } = await behest.enforce(asked);
    if (allowed || permission === null) continue;
    const lacksScope =
      reason_code === 'permission_insufficient' ||
      (reason_code === 'tool_not_granted' && (sub_reason === null || sub_reason === 'tool_scope_missing'));
    if (lacksScope) return `tool:${connector}:${permission}`;
  }
  return undefined;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error('The body is too large.');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

function refuse(response: ServerResponse, { status, headers, body }: Refusal): void {
  send(response, status, headers, body);
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
