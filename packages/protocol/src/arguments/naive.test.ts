import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyArguments, anyRules } from '../../test/arbitrary-rules.ts';
import { naiveCheck } from '../../test/naive-rules.ts';
import { checkArguments } from './check.ts';
import { readRules } from './rule-reading.ts';
import type { Rules } from './rules.ts';
import { isWithin } from './within.ts';

/** Runs begin at the same place each time, so that a fault is found again. */
const runs = { numRuns: process.env.TEST_LONG ? 100_000 : 3_000, seed: 20_260_101 };
const PATIENCE = 600_000;
const readable = anyRules.filter((rules) => readRules(rules).ok);

function answerOf(rules: Rules, args: unknown): string {
  const result = checkArguments(rules, args);
  if (result.ok) return 'fine';
  if (result.subReason === 'argument_unreadable') return `${result.subReason} ${result.cause}`;
  return [result.subReason, result.path, 'rule' in result ? result.rule : []].flat().join(' ');
}

test('a second, literal reading of the rules gives the same answers', { timeout: PATIENCE }, () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(readable, anyArguments, (rules, args) => {
      const answer = answerOf(rules, args);
      seen.add(answer.split(' ')[0] ?? '');
      expect(answer).toBe(naiveCheck(Object(rules), args));
    }),
    runs,
  );
  expect([...seen].sort()).toEqual(['argument_missing', 'argument_not_allowed', 'fine']);
});

test('a call that the narrower rules accept is accepted by the wider', { timeout: PATIENCE }, () => {
  let [within, accepted] = [0, 0];
  fc.assert(
    fc.property(
      readable,
      readable,
      fc.array(anyArguments, { minLength: 5, maxLength: 5 }),
      (child, parent, calls) => {
        if (!isWithin(child, parent)) return;
        within += 1;
        for (const args of calls) {
          if (answerOf(child, args) !== 'fine') continue;
          accepted += 1;
          expect(answerOf(parent, args)).toBe('fine');
        }
      },
    ),
    runs,
  );
  expect(Math.min(within, accepted)).toBeGreaterThan(10); // or the property would say nothing
});

test('rules are within themselves', { timeout: PATIENCE }, () => {
  fc.assert(
    fc.property(readable, (rules) => {
      expect(isWithin(rules, structuredClone(rules))).toBe(true);
    }),
    runs,
  );
});
