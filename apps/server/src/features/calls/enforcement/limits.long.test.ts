import { checkLimits } from '@behest/protocol/limits';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../../test/app/flow.ts';
import { entriesOfTree, fourDeep, raceThrough } from '../../../../test/app/spending.ts';

test('R9 10,000 racing calls of a tree four deep exceed no limit, as its log shows within a second', async () => {
  const { acme } = await startSandbox();
  const levels = await fourDeep(acme, (depth) => 1000 - 200 * depth);

  const allowed = await raceThrough(acme, levels, 10_000);

  const entries = await entriesOfTree(acme, levels);
  const began = performance.now();
  const report = checkLimits(entries);
  const took = performance.now() - began;
  expect(report).toMatchObject({ holds: true, first: null, calls: allowed, unread: 0 });
  expect(report.caps.filter(({ peak, limit }) => peak > limit)).toEqual([]);
  expect(took).toBeLessThan(1_000);
}, 600_000);
