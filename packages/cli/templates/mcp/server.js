import { createServer } from 'node:http';
import { Behest } from '@behest/sdk';
import { protectMcp, withToolEnforcement } from '@behest/sdk/mcp';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** The MCP server as it would be without protection. Each request gets its own. */
function newServer() {
  const server = new McpServer({ name: 'calendar', version: '1.0.0' });
  const text = (words) => ({ content: [{ type: 'text', text: words }] });
  server.registerTool('list_events', { description: 'List events' }, () => text('stand-up at 9'));
  server.registerTool(
    'delete_event',
    { description: 'Delete an event', inputSchema: { id: z.string() } },
    ({ id }) => text(`${id} is gone`),
  );
  return server;
}

/** Serves it: clients see, and call, only what their token allows. @param resource the address of this server */
export async function newApp(resource) {
  const { BEHEST_URL: authorizationServer = 'http://localhost:3001' } = process.env;
  // Leave `allowSandbox` out in production: in a sandbox no person has consented.
  const behest = new Behest({ audience: resource, allowSandbox: true });
  await behest.loadManifestsFromDir(new URL('manifests', import.meta.url).pathname);
  const options = { behest, resource, authorizationServer, connector: 'calendar' };
  return createServer(
    protectMcp(async (request, response) => {
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      await withToolEnforcement(newServer(), behest, { connector: 'calendar' }).connect(transport);
      await transport.handleRequest(request, response, request.body);
    }, options),
  );
}

const { PORT = '8080' } = process.env;
if (process.argv[1] === new URL(import.meta.url).pathname)
  (await newApp(`http://localhost:${PORT}/mcp`)).listen(Number(PORT));
