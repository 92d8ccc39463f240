import { expect, test } from 'vitest';
import { decideNaively, randomPolicies } from '../../../../test/policies/naive.ts';
import { compilePolicies } from './compile.rules.ts';
import { NO_CONDITIONS, type Policy } from './match.rules.ts';

const CASES = process.env.TEST_LONG ? 100_000 : 3000;
const SEED = Number(process.env.TEST_SEED ?? 20_260_101);

test(`the index decides as a reading that looks at every policy, in ${CASES} cases`, () => {
  const { asked: request, pick, policies: several } = randomPolicies(SEED);
  const seen = { allow: 0, deny: 0, require_approval: 0, none: 0 };
  for (let done = 0; done < CASES; ) {
    const policies = several(pick([3, 12, 60]));
    const compiled = compilePolicies(policies);
    for (let ask = 0; ask < 10; ask += 1, done += 1) {
      const asked = request();
      const found = compiled.decide(asked);
      const naive = decideNaively(policies, asked);
      if ((found?.id ?? null) !== naive) {
        expect({ asked, policies, seed: SEED, decided: found?.id ?? null }).toEqual({ decided: naive });
      }
      seen[found?.effect ?? 'none'] += 1;
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(CASES / 50);
});

test('hours begin at their first minute, end before their last, and go past midnight', () => {
  const night = compilePolicies([
    {
      ...NO_CONDITIONS,
      id: 'pol_1',
      name: 'Night',
      effect: 'deny',
      priority: 0,
      dayStart: 22 * 60,
      dayEnd: 6 * 60,
      createdAt: new Date(0),
    },
  ]);
  const isDenied = (time: string) =>
    night.decide({ agentId: 'a', principalId: 'p', scopes: ['a:b'], at: new Date(`2026-03-29T${time}Z`) }) !==
    undefined;

  expect(isDenied('21:59:59.999')).toBe(false);
  expect(isDenied('22:00:00.000')).toBe(true);
  expect(isDenied('00:00:00.000')).toBe(true);
  expect(isDenied('05:59:59.999')).toBe(true);
  expect(isDenied('06:00:00.000')).toBe(false);
});

test('a permission that covers a part of a request hides none that covers all of it', () => {
  const allow = (id: string, scopes: string[]): Policy => ({
    ...NO_CONDITIONS,
    id,
    name: '',
    effect: 'allow',
    priority: 0,
    scopes,
    createdAt: new Date(0),
  });
  const { decide } = compilePolicies([allow('pol_1', ['*']), allow('pol_2', ['*', 'tool:pay:read'])]);
  const asked = { agentId: 'a', principalId: 'p', at: new Date(0) };

  expect(decide({ ...asked, scopes: ['tool:pay:read', 'a:b'] })?.id).toBe('pol_2');
  expect(decide({ ...asked, scopes: ['a:b'] })?.id).toBe('pol_1');
});
