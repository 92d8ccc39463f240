import { expect, test } from 'vitest';
import { actionsOf, authorize, grantTo, registerAgent } from '../app/flow.ts';
import { startApp } from '../app/start-app.ts';

test('the main job is ask, exchange, verify, refresh and revoke, and the chain records each step', async () => {
  const { asDeveloper } = await startApp();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  const { code } = await authorize(acme, agentId);
  const exchanged = await acme('POST', '/v1/token', { code, agentId });
  expect(exchanged.statusCode).toBe(201);
  const { grantToken, refreshToken, grantId } = exchanged.json();
  expect((await acme('POST', '/v1/tokens/verify', { token: grantToken })).json()).toMatchObject({
    valid: true,
    grantId,
  });
  const refreshed = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
  expect(refreshed.statusCode).toBe(201);
  expect((await acme('DELETE', `/v1/grants/${grantId}`)).statusCode).toBe(204);
  expect((await acme('POST', '/v1/tokens/verify', { token: grantToken })).json()).toEqual({
    valid: false,
    reason: 'revoked',
  });
  expect(await actionsOf(acme)).toEqual([
    'developer.created',
    'agent.created',
    'authorization.requested',
    'authorization.approved',
    'grant.created',
    'token.issued',
    'token.issued',
    'grant.revoked',
  ]);
  expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true, checkedEntries: 8 });
  expect(await grantTo(acme)).toMatchObject({ principalId: 'user_42' });
});
