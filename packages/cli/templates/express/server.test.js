import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Behest } from '@behest/sdk';
import { newApp } from './server.js';

/** A token as an agent would bring it. */
async function tokenFor(scopes) {
  const behest = new Behest();
  const agent = await behest.agents.register({ name: 'Test agent', scopes });
  const { code } = await behest.authorize({ agentId: agent.id, userId: 'user_42', scopes });
  const { grantToken } = await behest.tokens.exchange({ code, agentId: agent.id });
  return grantToken;
}

test('a request needs a token with the scope', async () => {
  const server = (await newApp()).listen(0);
  await once(server, 'listening');
  const get = (token) =>
    fetch(`http://localhost:${server.address().port}/calendar`, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });

  const good = await get(await tokenFor(['calendar:read']));
  assert.deepEqual(await good.json(), { owner: 'user_42', events: ['stand-up at 9'] });
  assert.equal((await get(await tokenFor(['email:read']))).status, 403);
  assert.equal((await get()).status, 401);
  server.closeAllConnections();
  server.close();
});
