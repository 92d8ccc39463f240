import type { Behest } from './behest.ts';
import type { Transport } from './mcp/elicit-connection.ts';
import { enforcingTransport, type ToolEnforcement } from './mcp/enforcing-transport.ts';

export type { ProofRules } from './http/guard.ts';
export type { ToolCall } from './mcp/elicit-connection.ts';
export {
  type ConnectSession,
  connectSessionIn,
  type ElicitationOptions,
  type ElicitedConnection,
  elicitConnection,
} from './mcp/elicit-connection.ts';
export type { ToolEnforcement } from './mcp/enforcing-transport.ts';
export { type McpTools, type ProtectedMcp, protectMcp } from './mcp/http.ts';
export {
  type McpAuth,
  type McpAuthOptions,
  type McpRequest,
  type McpResource,
  type McpTokens,
  protectedResourceMetadata,
  requireMcpAuth,
} from './mcp/require-auth.ts';

/**
 * Makes a server of the official MCP SDK list only what the token of its client allows, and decide about each call.
 * Tools whose definition changed after it was pinned are neither listed nor callable.
 *
 * @returns the same server
 *
 * @example
 * ```ts
 * const server = withToolEnforcement(new McpServer({ name: 'files', version: '1.0.0' }), behest, { connector: 'files' });
 * await server.connect(transport);
 * ```
 */
export function withToolEnforcement<Server extends { connect(transport: never): Promise<void> }>(
  server: Server,
  behest: Behest,
  options: ToolEnforcement,
): Server {
  const connect: (transport: Transport) => Promise<void> = server.connect.bind(server) as never; // takes any transport
  return Object.assign(server, {
    connect: (transport: Transport) => connect(enforcingTransport(transport, behest, options)),
  });
}
