import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** The manifest of the connector `files`. */
export const filesManifest = {
  connector: 'files',
  tools: {
    read_file: { permission: 'read', arguments: { '/path': { path: ['/data/reports'] } } },
    list_files: { permission: 'read', caps: { per_hour: 2 } },
    delete_file: { permission: 'delete' },
  },
};

/** An MCP server of the official SDK with four tools, which notes what they were given. */
export function filesServer({ describes = 'Reads a file.' }: { describes?: string } = {}) {
  const calls: unknown[] = [];
  const server = new McpServer({ name: 'files', version: '1.0.0' });
  const path = { path: z.string() };
  const note = (name: string) => (args: unknown) => {
    calls.push({ name, args });
    return { content: [{ type: 'text' as const, text: `${name} was called` }] };
  };
  server.registerTool('read_file', { description: describes, inputSchema: path }, note('read_file'));
  server.registerTool('list_files', { description: 'Lists files.' }, () => note('list_files')({}));
  server.registerTool(
    'delete_file',
    { description: 'Deletes a file.', inputSchema: path },
    note('delete_file'),
  );
  server.registerTool('undeclared', { description: 'Is in no manifest.' }, () => note('undeclared')({}));
  return { server, calls };
}
