import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Behest } from '../src/behest.ts';
import { withToolEnforcement } from '../src/mcp.ts';
import { filesManifest, filesServer } from './mcp-files.ts';

/** An MCP server on its standard input, for the agent whose token it was started with. */
const [baseUrl = '', developerId = '', grantToken = ''] = process.argv.slice(2);
const behest = new Behest({ apiKey: null, baseUrl, developerId, manifests: [filesManifest] });
const { server } = filesServer();
await withToolEnforcement(server, behest, { connector: 'files', grantToken }).connect(
  new StdioServerTransport(),
);
