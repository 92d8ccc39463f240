import { covers } from '@behest/protocol/scopes';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { common, within } from './scopes.rules.ts';

const scope = fc.constantFrom(
  ...['*', 'calendar:*', 'calendar:read', 'calendar:write', 'mail:*', 'mail:read'],
  ...['tool:pay:write', 'tool:pay:read', 'tool:*:read', 'tool:*:admin', 'tool:pay:write:capped:500'],
  ...['tool:pay:write:capped:20', 'tool:pay:admin:invoice*', 'tool:pay:read:invoice.draft', 'tool:crm:read'],
  ...['tool:*:write:inv*:capped:100', 'tool:pay:write:invoice'],
);
const scopes = fc.uniqueArray(scope, { maxLength: 5 });
const limit = fc.option(scopes);

const isCovered = (list: readonly string[], one: string) => list.some((each) => covers(each, one));

test('a token has what every side allows, and nothing else', () => {
  fc.assert(
    fc.property(scopes, fc.array(limit, { maxLength: 4 }), (asked, limits) => {
      const made = within(asked, limits);
      for (const one of asked) {
        expect(made.includes(one)).toBe(limits.every((each) => each === null || isCovered(each, one)));
      }
      expect(made.every((one) => asked.includes(one))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('the common part of two ceilings covers exactly what both cover', () => {
  fc.assert(
    fc.property(scopes, scopes, scope, (ours, theirs, one) => {
      const both = isCovered(ours, one) && isCovered(theirs, one);
      expect(isCovered(common(ours, theirs) ?? [], one)).toBe(both);
    }),
    { numRuns: 500 },
  );
});

const many = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => name(index));

test('31 H3: a rule and groups with many scopes are met by looking each up, and tool scopes only so often', () => {
  const plain = many(50_000, (index) => `r${index}:read`);
  const rule = [...many(99, (index) => `r${index}:*`), 'r49999:*'];
  expect(common(rule, plain)).toEqual([...plain.slice(0, 99), 'r49999:read']);

  const levels = many(100, (index) => `tool:c${index}:write`);
  const resources = many(3, (index) => `tool:*:admin:r${index}`);
  expect(common(levels, resources)).toHaveLength(300);
  expect(common([...levels, 'tool:more:read'], resources)).toBeUndefined();
  const same = many(100, (index) => `tool:pay:read:a${index}`);
  expect(
    common(
      same,
      many(100, (index) => `tool:pay:read:b${index}`),
    ),
  ).toEqual([]);
  expect(
    common(
      same,
      many(101, (index) => `tool:pay:read:b${index}`),
    ),
  ).toBeUndefined();
});
