import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shortest } from '../test/timing.ts';
import { limitedScopes } from './limited-scopes.ts';
import { covers, distinctScopes, isScope, scopesFit, uncovered } from './scopes.ts';
import { namedConnectors, parseToolScope, reachesConnector, toolLevels } from './tool-scopes.ts';

describe('the grammar of scopes', () => {
  test.each([
    'calendar',
    'calendar:read',
    'payments:initiate:max_500',
    '*',
    'https://api.example.test/read',
    'a'.repeat(256),
    'tools:x',
    'tool',
    'tool:gmail:read',
    'tool:*:*',
    'tool:gmail:write:invoices',
    'tool:gmail:write:inv*',
    'tool:gmail:write:*',
    'tool:stripe:write:capped:500',
    'tool:stripe:write:refunds:capped:12.50',
    'tool:stripe:write:capped*',
    'tool:_a.b-c:admin',
  ])('%s is a scope', (text) => {
    expect(isScope(text)).toBe(true);
  });

  test.each([
    '',
    'two words',
    'a"b',
    'a\\b',
    'a\n',
    'é',
    'a'.repeat(257),
    'tool:',
    'tool:gmail',
    'tool:gmail:',
    'tool:gmail:reed',
    'tool:gmail:READ',
    'tool::read',
    'tool:-gmail:read',
    'tool:g*:read',
    `tool:${'c'.repeat(129)}:read`,
    'tool:gmail:read:',
    'tool:gmail:read:a:b',
    'tool:gmail:read:a*b',
    'tool:gmail:read:**',
    'tool:gmail:read:capped',
    'tool:gmail:read:capped:',
    'tool:gmail:read:capped:-1',
    'tool:gmail:read:capped:1e3',
    'tool:gmail:read:capped:.5',
    'tool:gmail:read:capped:5.',
    'tool:gmail:read:capped:5:x',
    'tool:gmail:read:capped:5:capped:5',
  ])('%j is not a scope', (text) => {
    expect(isScope(text)).toBe(false);
  });

  test.each([
    ['a scope', 'a'.repeat(100_000)],
    ['a connector', `tool:${'a'.repeat(100_000)}`],
    ['a resource', `tool:a:read:${'a.'.repeat(50_000)}!`],
    ['colons', `tool:${':'.repeat(100_000)}`],
    ['caps', `tool:a:read${':capped'.repeat(15_000)}`],
    ['digits', `tool:a:read:capped:${'1'.repeat(100_000)}x`],
  ])('I7: %s of 100,000 characters is refused at once', (_, text) => {
    const read = () => [isScope(text), covers('*', text), covers(text, 'tool:a:read')];

    expect(read()).toEqual([false, text.startsWith('a'), false]);
    expect(shortest(read)).toBeLessThan(20);
  });

  test('the first of each is kept, in the order they were sent', () => {
    expect(distinctScopes(['b', 'a', 'b', 'c', 'a'])).toEqual(['b', 'a', 'c']);
  });

  test('together they have at most 2,048 bytes', () => {
    expect(scopesFit(['a'.repeat(1_024), 'b'.repeat(1_024)])).toBe(true);
    expect(scopesFit(['a'.repeat(1_024), 'b'.repeat(1_024), 'c'])).toBe(false);
  });
});

describe('which scope covers which', () => {
  test.each([
    ['calendar:read', 'calendar:read'],
    ['*', 'calendar:read'],
    ['*', '*'],
    ['calendar:*', 'calendar:read'],
    ['calendar:*', 'calendar:events:read'],
    ['calendar:*', 'calendar:*'],
    ['tool:gmail:write', 'tool:gmail:read'],
    ['tool:gmail:*', 'tool:gmail:admin'],
    ['tool:gmail:admin', 'tool:gmail:*'],
    ['tool:*:write', 'tool:gmail:read'],
    ['tool:gmail:write', 'tool:gmail:write:invoices'],
    ['tool:gmail:write:*', 'tool:gmail:write'],
    ['tool:gmail:write:*', 'tool:gmail:write:inv*'],
    ['tool:gmail:write:inv*', 'tool:gmail:read:invoices'],
    ['tool:gmail:write:inv*', 'tool:gmail:read:inv_a*'],
    ['tool:stripe:write', 'tool:stripe:write:capped:5'],
    ['tool:stripe:write:capped:500', 'tool:stripe:write:capped:500.00'],
    ['tool:stripe:write:capped:500', 'tool:stripe:read:refunds:capped:499.99'],
  ])('%s covers %s', (parent, child) => {
    expect(covers(parent, child)).toBe(true);
  });

  test.each([
    ['calendar:read', 'calendar:write'],
    ['calendar:read', 'Calendar:read'],
    ['calendar', 'calendar:read'],
    ['calendar:*', 'calendar'],
    ['calendar:*', 'calendars:read'],
    ['calendar:re*', 'calendar:read'],
    ['calendar:read', '*'],
    ['*', 'tool:gmail:read'],
    ['tool:*:*', 'calendar:read'],
    ['tool:*', 'tool:gmail:read'],
    ['tool:*', 'toolbox'],
    ['tool:gmail:read', 'tool:gmail:write'],
    ['tool:gmail:read', 'tool:*:read'],
    ['tool:gmail:read', 'tool:Gmail:read'],
    ['tool:gmail:write:invoices', 'tool:gmail:write'],
    ['tool:gmail:write:invoices', 'tool:gmail:write:*'],
    ['tool:gmail:write:invoices', 'tool:gmail:write:inv*'],
    ['tool:gmail:write:inv*', 'tool:gmail:write:in*'],
    ['tool:gmail:write:inv*', 'tool:gmail:write:in'],
    ['tool:stripe:write:capped:500', 'tool:stripe:write'],
    ['tool:stripe:write:capped:500', 'tool:stripe:write:capped:500.01'],
    ['tool:stripe:write:capped:9', 'tool:stripe:write:capped:10'],
    ['tool:gmail:*', 'tool:gmail:everything'],
  ])('%s does not cover %s', (parent, child) => {
    expect(covers(parent, child)).toBe(false);
  });

  test('uncovered lists the children that no parent covers', () => {
    expect(
      uncovered(['calendar:*', 'tool:gmail:read'], ['tool:gmail:write', 'calendar:read', 'email']),
    ).toEqual(['tool:gmail:write', 'email']);
    expect(uncovered([], [])).toEqual([]);
  });

  test('a hundred scopes are held against a hundred in no time', () => {
    const scopes = Array.from({ length: 100 }, (_, n) => `tool:c${n}:read:r*:capped:${n}.5`);
    const other = scopes.map((scope) => scope.replace('read', 'write'));

    expect(uncovered(scopes, other)).toEqual(other);
    expect(shortest(() => uncovered(scopes, other))).toBeLessThan(20);
  });
});

describe('whatever the scopes are', () => {
  const name = fc.constantFrom('a', 'ab', 'abc', 'b');
  const toolScope = fc
    .record({
      connector: fc.oneof(name, fc.constant('*')),
      level: fc.constantFrom(...toolLevels, '*'),
      resource: fc.option(
        fc.oneof(
          name,
          name.map((prefix) => `${prefix}*`),
          fc.constant('*'),
        ),
      ),
      cap: fc.option(fc.constantFrom('0', '5', '5.0', '5.01', '10')),
    })
    .map(({ connector, level, resource, cap }) =>
      [
        'tool',
        connector,
        level,
        ...(resource === null ? [] : [resource]),
        ...(cap === null ? [] : ['capped', cap]),
      ].join(':'),
    );
  const bareScope = fc
    .array(fc.oneof(name, fc.constant('*')), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(':'));
  const scope = fc.oneof(toolScope, bareScope);
  const call = fc.record({
    connector: name,
    level: fc.constantFrom(...toolLevels),
    resource: fc.constantFrom('a', 'ab', 'abc', 'abcd', 'b', ''),
    amount: fc.constantFrom(0, 5, 5.005, 7, 11),
  });
  type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

  /** Reads the text again, by other means than the code under test. */
  function allows(text: string, { connector, level, resource, amount }: Call): boolean {
    const [, named, granted = '', ...rest] = text.split(':');
    const cap = rest.includes('capped') ? Number(rest.at(-1)) : Number.POSITIVE_INFINITY;
    const only = rest[0] === 'capped' ? undefined : rest[0];
    const levels = ['read', 'write', 'delete', 'admin', '*'];
    const reaches =
      only === undefined ||
      only === resource ||
      (only.endsWith('*') && resource.startsWith(only.slice(0, -1)));
    const isGranted = granted === '*' || levels.indexOf(level) <= levels.indexOf(granted);
    return (named === '*' || named === connector) && isGranted && reaches && amount <= cap;
  }

  test('no child ever allows a call that its parent does not', () => {
    fc.assert(
      fc.property(toolScope, toolScope, call, (parent, child, made) => {
        return !(covers(parent, child) && allows(child, made)) || allows(parent, made);
      }),
      { numRuns: 20_000 }, // few of which are covered and allowed
    );
  });

  test('a bare scope never gives a tool, nor a tool scope anything else', () => {
    fc.assert(fc.property(bareScope, toolScope, (bare, tool) => !covers(bare, tool) && !covers(tool, bare)));
  });

  test('each covers itself, and what is covered twice over is covered', () => {
    fc.assert(
      fc.property(scope, scope, scope, (first, second, third) => {
        expect(covers(first, first)).toBe(true);
        return !(covers(first, second) && covers(second, third)) || covers(first, third);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('tool scopes', () => {
  test('are read part by part, and a `*` stands for its widest meaning', () => {
    expect(parseToolScope('tool:stripe:write:refunds:capped:12.50')).toEqual({
      connector: 'stripe',
      level: 'write',
      resource: 'refunds',
      cap: '12.50',
    });
    expect(parseToolScope('tool:*:*:*')).toEqual({ connector: '*', level: 'admin' });
    expect(parseToolScope('stripe:write')).toBeUndefined();
  });

  test('name connectors in the order they first appear, and `*` is no name', () => {
    expect(namedConnectors(['tool:b:read', 'email', 'tool:*:read', 'tool:a:read', 'tool:b:write'])).toEqual([
      'b',
      'a',
    ]);
  });

  test('reach a connector by name or by `*`', () => {
    expect(reachesConnector(['email', 'tool:a:read'], 'a')).toBe(true);
    expect(reachesConnector(['tool:*:read'], 'a')).toBe(true);
    expect(reachesConnector(['*', 'a:*', 'tool:b:read'], 'a')).toBe(false);
  });
});

const pay = { type: 'urn:service:tools:v1', connector: 'pay', tools: ['transfer'] } as const;
const rules = { transfer: { '/amount': { max: '5' } } };

test.each<[string, string[], string[]]>([
  ['a tool scope of the connector', ['tool:pay:read'], ['tool:pay:read']],
  ['a tool scope of any connector', ['tool:*:read'], ['tool:*:read']],
  ['a tool scope of another connector', ['tool:crm:read'], []],
  ['another scope', ['pay:read', 'vault:pay:read'], []],
])('rules at a connector leave %s to the engine or satisfied', (_, required, limited) => {
  expect(limitedScopes(required, [{ ...pay, arguments: rules }])).toEqual(limited);
});

test('an entry without rules leaves every scope satisfied', () => {
  expect(limitedScopes(['tool:pay:read', 'tool:*:read'], [pay])).toEqual([]);
});
