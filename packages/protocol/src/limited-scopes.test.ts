import { expect, test } from 'vitest';
import { limitedScopes } from './limited-scopes.ts';

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
