import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Behest } from '@behest/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { newApp } from './server.js';

/** A token for this server, as an agent would bring it. */
async function tokenFor(audience, scopes) {
  const behest = new Behest();
  const agent = await behest.agents.register({ name: 'Test agent', scopes });
  const { code } = await behest.authorize({ agentId: agent.id, userId: 'user_42', scopes, audience });
  return (await behest.tokens.exchange({ code, agentId: agent.id })).grantToken;
}

async function freePort() {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

test('a client sees the tools of its token, and calls no other', async () => {
  const port = await freePort();
  const resource = `http://localhost:${port}/mcp`;
  const server = (await newApp(resource)).listen(port);
  await once(server, 'listening');
  const token = await tokenFor(resource, ['tool:calendar:read']);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { requestInit }));

  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['list_events'],
  );
  const listed = await client.callTool({ name: 'list_events', arguments: {} });
  assert.equal(listed.content[0].text, 'stand-up at 9');
  const denied = await client
    .callTool({ name: 'delete_event', arguments: { id: '7' } })
    .catch((error) => ({ isError: true, error }));
  assert.equal(denied.isError, true);
  await client.close();
  server.closeAllConnections();
  server.close();
});
