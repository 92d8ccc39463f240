import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../features.ts';
import { act, type DeclaredActs } from '../../../platform/acts.ts';
import { catalogueOf } from './index.ts';

describe('a pattern that subscribers may name', () => {
  test.each([
    'grant.revoked',
    'grant.expired',
    'webhook.test',
    'vault.*',
    'vault.credential.*',
    'sd-jwt.*',
    '*',
  ])('is %s', (pattern) => expect(catalogue.isKnownPattern(pattern)).toBe(true));

  test.each([
    'grant',
    'grant.',
    'grant.*.*',
    '*.revoked',
    'grant.made',
    'Grant.revoked',
    'authorization.blocked',
    '',
  ])('is not %j', (pattern) => expect(catalogue.isKnownPattern(pattern)).toBe(false));
});

describe('an event reaches a subscriber', () => {
  test.each([
    ['of its type', ['agent.created', 'grant.revoked'], 'grant.revoked', true],
    ['of its area', ['grant.*'], 'grant.revoked', true],
    ['of an area around its area', ['vault.*'], 'vault.credential.stored', true],
    ['of all events', ['*'], 'grant.revoked', true],
    ['of all events, when this release does not know the type', ['*'], 'grant.renamed', true],
    ['of a neighbouring type: no', ['grant.created'], 'grant.revoked', false],
    ['of an area that only begins alike: no', ['vault.key.*'], 'vault.credential.stored', false],
    ['of no events: no', [], 'grant.revoked', false],
  ])('%s', (_, patterns, type, isMatched) => expect(catalogue.matches(patterns, type)).toBe(isMatched));

  test.each([
    [['*'], false],
    [['*', 'budget.*'], true],
    [['budget.debited'], true],
  ])('only by name when it is a debit: %j', (patterns, isMatched) => {
    expect(catalogue.matches(patterns, 'budget.debited')).toBe(isMatched);
  });
});

const folder = join(import.meta.dirname, '../..');
const declarations = globSync('**/*.acts.ts', { cwd: folder }).sort();

test.each(declarations)('the acts of %s are in the catalogue', async (file) => {
  const declared: Record<string, DeclaredActs> = await import(join(folder, file));
  const acts = Object.values(declared).flatMap((each) => Object.entries(each));

  const known = acts.map(([name]) => [
    name,
    { isEvent: catalogue.isKnownPattern(name), isEntry: catalogue.isServiceAction(name) },
  ]);

  expect(known).toEqual(acts);
  expect(acts).not.toEqual([]);
});

test('an announcement is not reserved as an action, and a blocked attempt is', () => {
  expect(['grant.revoked', 'authorization.blocked', 'grant.expired'].map(catalogue.isServiceAction)).toEqual([
    true,
    true,
    false,
  ]);
});

test('a name is declared once, and is then no longer reserved', () => {
  const made = { 'vase.made': act() };

  expect(() => catalogueOf([made])).not.toThrow();
  expect(() => catalogueOf([made, made])).toThrow('The act vase.made is declared twice.');
  expect(() => catalogueOf([{ 'policy.created': act() }])).toThrow('policy.created');
});
