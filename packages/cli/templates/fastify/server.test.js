import assert from 'node:assert/strict';
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
  const app = await newApp();
  const get = (token) =>
    app.inject({ url: '/calendar', headers: token ? { authorization: `Bearer ${token}` } : {} });

  const good = await get(await tokenFor(['calendar:read']));
  assert.deepEqual(good.json(), { owner: 'user_42', events: ['stand-up at 9'] });
  assert.equal((await get(await tokenFor(['email:read']))).statusCode, 403);
  assert.equal((await get()).statusCode, 401);
  await app.close();
});
