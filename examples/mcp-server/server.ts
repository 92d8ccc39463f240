import { createServer, type Server } from 'node:http';
import type { Behest } from '@behest/sdk';
import { protectMcp, withToolEnforcement } from '@behest/sdk/mcp';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const manifest = {
  connector: 'notes',
  tools: {
    read_note: { permission: 'read', arguments: { '/id': { length: [1, 40] } } },
    write_note: { permission: 'write', arguments: { '/id': { length: [1, 40] }, '/text': {} } },
    delete_note: { permission: 'delete', arguments: { '/id': {} } },
  },
};

/** The tools as they would be without Behest. */
function notesServer(notes: Map<string, string>): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
  server.registerTool('read_note', { inputSchema: { id: z.string() } }, ({ id }) =>
    said(notes.get(id) ?? 'There is no such note.'),
  );
  server.registerTool('write_note', { inputSchema: { id: z.string(), text: z.string() } }, ({ id, text }) => {
    notes.set(id, text);
    return said('The note is written.');
  });
  server.registerTool('delete_note', { inputSchema: { id: z.string() } }, ({ id }) =>
    said(notes.delete(id) ? 'The note is deleted.' : 'There is no such note.'),
  );
  return server;
}

export interface Notes {
  readonly behest: Behest;
  readonly notes: Map<string, string>;
  /** The address of this server, as clients have it: `https://notes.example.com/mcp`. */
  readonly resource: string;
  /** The address of the service. */
  readonly authorizationServer: string;
}

/** Serves the notes to agents, each of which sees and calls what its grant allows. */
export function notesOverHttp({ notes, ...options }: Notes): Server {
  const connector = manifest.connector;
  options.behest.loadManifest(manifest);
  return createServer(
    protectMcp(
      async (request, response) => {
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
        const server = withToolEnforcement(notesServer(notes), options.behest, { connector });
        await server.connect(transport);
        await transport.handleRequest(request, response, request.body);
      },
      { ...options, connector },
    ),
  );
}
