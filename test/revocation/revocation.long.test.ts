import { afterAll, beforeAll, expect, test } from 'vitest';
import { grantTo } from '../../apps/server/test/app/flow.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { revokeUnderLoad } from './run-revocations.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

test('no verifier of ten in three processes accepts a grant after its confirmation, while connections break', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const tokens = [];
  for (let made = 0; made < 12; made += 1) tokens.push(await grantTo(acme));
  const { apiKey, developerId } = acme;

  const { calls, overtaken, cuts, states, broken } = await revokeUnderLoad({
    ...{ baseUrl: service.url, apiKey, developerId, isCut: true, pauseMs: 5 },
    ...{ tokens, processes: [4, 3, 3], everyMs: 300 },
    revoke: async (grantId) => (await acme('DELETE', `/v1/grants/${grantId}?wait=confirmed`)).json(),
  });

  expect(broken).toEqual([]);
  expect(states.confirmed).toBeGreaterThan(60);
  expect(states.unconfirmed ?? 0).toBeLessThan(12);
  expect(cuts).toBeGreaterThan(0);
  expect(overtaken).toBeGreaterThan(5);
  expect(calls).toBeGreaterThan(1000);
}, 180_000);
