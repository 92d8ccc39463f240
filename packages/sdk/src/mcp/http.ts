import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behest } from '../behest.ts';
import { BehestError } from '../errors.ts';
import { insufficientScope } from '../http/guard.ts';
import { provedIn } from '../verify/verified-grant.ts';
import { type Message, toolCallOf } from './elicit-connection.ts';
import { callFor, type ToolEnforcement } from './enforcing-transport.ts';
import {
  challengeOf,
  fail,
  type McpAuthOptions,
  type McpRequest,
  type McpResource,
  METADATA,
  metadataAddress,
  protectedResourceMetadata,
  refuse,
  requireMcpAuth,
  send,
} from './require-auth.ts';

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

const MAX_BYTES = 4 * 1_024 * 1_024;

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
      else fail(response);
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
    if (bytes > MAX_BYTES) throw new Error('The body is too large.');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}
