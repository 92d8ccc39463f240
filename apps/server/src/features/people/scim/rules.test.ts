import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { userType } from './attributes.rules.ts';
import { bindFilter } from './bind.rules.ts';
import { type Filter, matches, parseFilter } from './filter.rules.ts';
import { type Operation, patched } from './patch.rules.ts';
import { patchWork } from './patch.work.ts';
import type { Document } from './resource.rules.ts';
import { isLookUp } from './search.rules.ts';

const start = sharedSandbox();

const changedUser = (before: Document, operations: readonly Operation[]) =>
  patched({ type: userType, id: 'scimuser_1', work: patchWork() }, before, operations);

/** Writes a filter with all its parentheses. */
function written(filter: Filter): string {
  switch (filter.kind) {
    case 'compare':
      return `${filter.name} ${filter.op} ${JSON.stringify(filter.value)}`;
    case 'present':
      return `${filter.name} pr`;
    case 'not':
      return `not (${written(filter.filter)})`;
    case 'values':
      return `${filter.name}[${written(filter.filter)}]`;
    default:
      return `(${written(filter.left)}) ${filter.kind} (${written(filter.right)})`;
  }
}

const words = fc.constantFrom(
  'ada',
  'Ada',
  'a',
  '',
  'work',
  'home',
  'x@a.test',
  '%',
  '_',
  "'",
  '"',
  '\\',
  'z',
);
const ops = fc.constantFrom(...(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const));
const texts = [
  'userName',
  'externalId',
  'displayName',
  'title',
  'name.givenName',
  'id',
  'emails.value',
  'emails.type',
];
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';

const present = (names: readonly string[]) =>
  fc.constantFrom(...names).map((name): Filter => ({ kind: 'present', name }));
const comparison = (names: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...names), ops, words)
    .map(([name, op, value]): Filter => ({ kind: 'compare', name, op, value }));
const activity = fc
  .tuple(fc.constantFrom('eq' as const, 'ne' as const), fc.boolean())
  .map(([op, value]): Filter => ({ kind: 'compare', name: 'active', op, value }));
const joined = (terms: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
  fc.letrec<{ filter: Filter }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      terms,
      fc
        .tuple(fc.constantFrom('and' as const, 'or' as const), tie('filter'), tie('filter'))
        .map(([kind, left, right]): Filter => ({ kind, left, right })),
      tie('filter').map((filter): Filter => ({ kind: 'not', filter })),
    ),
  })).filter;
const ofValues = joined(fc.oneof(comparison(['value', 'type']), present(['value', 'type', 'primary'])));
const filters = joined(
  fc.oneof(
    comparison([...texts, enterprise]),
    present([...texts, 'emails', 'name', 'active', 'meta.created']),
    activity,
    ofValues.map((filter): Filter => ({ kind: 'values', name: 'emails', filter })),
  ),
);

test('a filter that is written and read again is the same filter', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      expect(parseFilter(written(filter))).toEqual(filter);
    }),
  );
});

test('I7: no text keeps the parser busy, and every refusal is one of filters', () => {
  const anything = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc
      .array(fc.constantFrom('(', ')', '[', ']', 'not ', 'a', ' eq ', '"', '\\', ' and ', '1'), {
        maxLength: 400,
      })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(anything, (text) => {
      const began = performance.now();
      try {
        parseFilter(text);
      } catch (error) {
        expect(Object(error).details).toEqual({ scimType: 'invalidFilter' });
      }
      expect(performance.now() - began).toBeLessThan(100);
    }),
  );
});

test('C1: the database finds the people that a second reading of the filter finds', async () => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const people = [
    {
      userName: 'ada',
      displayName: 'Ada',
      name: { givenName: 'Ada' },
      emails: [{ value: 'x@a.test', type: 'work', primary: true }],
    },
    {
      userName: 'Z',
      externalId: 'Adam',
      active: false,
      emails: [{ value: 'ADA', type: 'home' }, { value: '%' }],
    },
    {
      userName: '%_\\',
      externalId: 'a',
      title: "'",
      [enterprise.replace(':department', '')]: { department: 'Work' },
    },
    { userName: '"', displayName: '' },
  ];
  for (const person of people) expect((await idp('POST', '/Users', person)).statusCode).toBe(201);
  const { Resources } = (await idp('GET', '/Users')).json();

  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      const bound = bindFilter(userType, filter);
      const expected = Resources.filter((each: unknown) => matches(bound, each));
      const answer = await idp('POST', '/Users/.search', { filter: written(filter) });
      expect(answer.json().Resources, written(filter)).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

test('C2: changes of single attributes do what a naive reader does, and leave the rest alone', async () => {
  const names = fc.constantFrom('title', 'nickName', 'displayName', 'locale');
  const operations = fc.array(
    fc.tuple(
      fc.constantFrom('add' as const, 'replace' as const, 'remove' as const),
      names,
      words,
      fc.boolean(),
    ),
    { minLength: 1, maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(operations, async (all) => {
      const before = { userName: 'ada', title: 'Countess', emails: [{ value: 'a' }] };
      const naive = new Map<string, unknown>(Object.entries(before));
      for (const [op, name, value] of all)
        op === 'remove' || value === '' ? naive.delete(name) : naive.set(name, value);

      const changed = await changedUser(
        before,
        all.map(([op, path, value, isWhole]) =>
          isWhole && op !== 'remove' ? { op, value: { [path.toUpperCase()]: value } } : { op, path, value },
        ),
      );

      expect(changed).toEqual(Object.fromEntries(naive));
      expect(before).toEqual({ userName: 'ada', title: 'Countess', emails: [{ value: 'a' }] });
    }),
  );
});

test('C2: an extension that loses its last attribute is gone', async () => {
  const extension = enterprise.replace(':department', '');
  const before = { userName: 'ada', [extension]: { department: 'Work', division: 'One' } };
  const remove = (path: string) => ({ op: 'remove' as const, path: `${extension}:${path}` });

  expect(await changedUser(before, [remove('division')])).toEqual({
    userName: 'ada',
    [extension]: { department: 'Work' },
  });
  expect(await changedUser(before, [remove('division'), remove('department')])).toEqual({
    userName: 'ada',
  });
});

test('a value that is there already is not added again', async () => {
  const held = { value: 'ada@acme.test', type: 'work' };
  const other = { value: 'ada@home.test' };
  const value = [{ type: 'work', value: 'ada@acme.test' }, other, other];

  expect(
    await changedUser({ userName: 'ada', emails: [held] }, [{ op: 'add', path: 'emails', value }]),
  ).toEqual({ userName: 'ada', emails: [held, other] });
});

test('a filter that compares one name is a look-up, and every other list is heavy', () => {
  for (const filter of ['userName eq "ada"', ' externalId EQ "1" ', 'displayName eq "x y"', 'id eq ""']) {
    expect(isLookUp(filter)).toBe(true);
  }
  const heavy = [
    'userName sw "a"',
    'title eq "a"',
    'userName eq "a" or title pr',
    'not (userName eq "a")',
    '',
  ];
  for (const filter of [...heavy, undefined, 'userName eq "a\\" or title pr and id eq "b"']) {
    expect(isLookUp(filter)).toBe(false);
  }
});
