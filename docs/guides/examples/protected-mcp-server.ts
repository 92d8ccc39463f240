import { createServer, type Server } from 'node:http';
import type { Behest } from '@behest/sdk';
import { protectMcp, withToolEnforcement } from '@behest/sdk/mcp';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

export interface Protected {
  readonly behest: Behest;
  /** The address of this MCP server, as clients have it. */
  readonly resource: string;
  /** The address of the service. */
  readonly authorizationServer: string;
  readonly connector: string;
  /** The server as it was, with its tools. Each request gets its own. */
  readonly newServer: () => McpServer;
}

/** Serves an MCP server over streamable HTTP, protected. */
export function protectedMcpServer({ newServer, ...options }: Protected): Server {
  const { behest, connector } = options;
  return createServer(
    protectMcp(async (request, response) => {
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      const server = withToolEnforcement(newServer(), behest, { connector });
      await server.connect(transport);
      await transport.handleRequest(request, response, request.body);
    }, options),
  );
}
