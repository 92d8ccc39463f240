import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { compileSchema } from './schemas.ts';

const schema = Type.Object(
  { scopes: Type.Array(Type.String({ maxLength: 8 }), { maxItems: 100 }), ids: Type.Array(Type.Integer()) },
  { additionalProperties: false },
);
const check = compileSchema({ schema, httpPart: 'body', method: 'POST', url: '/' });

/** An array that counts how often each of its elements is read. */
function counted(elements: readonly unknown[]) {
  const reads = new Map<string | symbol, number>();
  const array = new Proxy([...elements], {
    get(target, name) {
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return Reflect.get(target, name);
    },
  });
  return { array, readsOf: (index: number) => reads.get(String(index)) ?? 0 };
}

test('I16: the faults of an array that is far too long are found in its beginning', () => {
  const { array, readsOf } = counted(Array(45_000).fill('a:read'));

  const outcome = check({ scopes: array, ids: [] });

  expect(outcome).toMatchObject({ error: [{ keyword: 'maxItems', instancePath: '/scopes' }] });
  expect(readsOf(44_999)).toBeLessThanOrEqual(1); // by the check itself
  expect(readsOf(50)).toBeGreaterThan(readsOf(44_999));
});

test('a fault far behind in an array that may be long is named by its place', () => {
  const ids = Array(5_000).fill(1).with(4_321, 'one');

  expect(check({ scopes: [], ids })).toMatchObject({
    error: [{ keyword: 'type', instancePath: '/ids/4321' }],
  });
});
