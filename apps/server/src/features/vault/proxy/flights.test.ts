import { expect, test } from 'vitest';
import { createFlights } from './streams.ts';

const holder = {
  tenant: { developerId: 'dev_1' },
  tokenId: 'tok_1',
  ...{ agentId: 'ag_1', agentDid: 'did:web:a', grantId: 'grnt_1', principalId: 'user_42', scopes: [] },
  ...{ mode: 'live', plan: 'free', requestId: 'req_1' },
} as const;

test('twenty calls of a token are under way at once, and one that ends makes room once', () => {
  const { begin } = createFlights();
  const start = () => begin(holder as unknown as Parameters<typeof begin>[0]); // as much as a flight reads
  const [end] = Array.from({ length: 20 }, start);
  expect(start).toThrow('Too many calls');

  for (let time = 0; time < 2; time += 1) end?.();

  start();
  expect(start).toThrow('Too many calls');
});
