import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../features.ts';
import { act, type DeclaredActs } from '../../../platform/acts.ts';
import { catalogueOf } from './index.ts';

describe('what a subscriber may name', () => {
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

describe('an event reaches', () => {
  test.each([
    ['who named it', ['agent.created', 'grant.revoked'], 'grant.revoked', true],
    ['who named its area', ['grant.*'], 'grant.revoked', true],
    ['who named an area around its own', ['vault.*'], 'vault.credential.stored', true],
    ['who named everything', ['*'], 'grant.revoked', true],
    ['who named everything, though this release does not know it', ['*'], 'grant.renamed', true],
    ['nobody who named its neighbour', ['grant.created'], 'grant.revoked', false],
    ['nobody who named an area that only begins alike', ['vault.key.*'], 'vault.credential.stored', false],
    ['nobody who named nothing', [], 'grant.revoked', false],
  ])('%s', (_, patterns, type, isMatched) => expect(catalogue.matches(patterns, type)).toBe(isMatched));

  test.each([
    [['*'], false],
    [['*', 'budget.*'], true],
    [['budget.debited'], true],
  ])('those who named debits, if it is one: %j', (patterns, isMatched) => {
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

test('what is an event only is not reserved as an action, and what is refused is no event', () => {
  expect(['grant.revoked', 'authorization.blocked', 'grant.expired'].map(catalogue.isServiceAction)).toEqual([
    true,
    true,
    false,
  ]);
});

test('a name is declared once, and reserved no longer', () => {
  const made = { 'vase.made': act() };

  expect(() => catalogueOf([made])).not.toThrow();
  expect(() => catalogueOf([made, made])).toThrow('The act vase.made is declared twice.');
  expect(() => catalogueOf([{ 'policy.created': act() }])).toThrow('policy.created');
});
