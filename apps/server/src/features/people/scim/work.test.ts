import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import { groupType } from './attributes.rules.ts';
import { type Operation, patched } from './patch.rules.ts';
import { patchWork } from './patch.work.ts';

const start = sharedSandbox();

const membersFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ value: `scimuser_${first + n}`, type: 'User' }));
const anyOf = (terms: number) =>
  `members[${Array.from({ length: terms }, (_, n) => `type eq "NOBODY-${n}"`).join(' or ')}]`;

/** Makes the changes, and counts the turns that others have meanwhile. */
async function worked(operations: readonly Operation[]) {
  const before = { displayName: 'Crew', members: membersFrom(0, 9000) };
  let isDone = false;
  let turns = 0;
  const outcome = patched({ type: groupType, id: 'x', work: patchWork() }, before, operations)
    .then(
      ({ members }) => Object(members).length,
      (error: unknown) => Object(error).message,
    )
    .finally(() => (isDone = true));
  while (!isDone) {
    await setImmediate();
    turns += 1;
  }
  return { outcome: await outcome, turns };
}

test.each([
  [
    'removals by a filter of one term',
    Array.from({ length: 100 }, () => ({ op: 'remove', path: anyOf(1) }) as const),
    9000,
    100,
  ],
  [
    'two removals by a filter of fifty',
    Array.from({ length: 2 }, () => ({ op: 'remove', path: anyOf(50) }) as const),
    9000,
    100,
  ],
  [
    'additions of what is there',
    Array.from({ length: 100 }, () => ({ op: 'add', path: 'members', value: membersFrom(0, 100) }) as const),
    9000,
    15,
  ],
  [
    'additions of others',
    Array.from(
      { length: 100 },
      (_, n) => ({ op: 'add', path: 'members', value: membersFrom(9000 + n, 1) }) as const,
    ),
    9100,
    15,
  ],
  [
    'removals of thousands',
    Array.from(
      { length: 5 },
      (_, n) => ({ op: 'remove', path: 'members', value: membersFrom(n * 1000, 1000) }) as const,
    ),
    4000,
    5,
  ],
])(
  'high 2: %s in a large group are made in turns, between which others have theirs',
  async (_, operations, left, atLeast) => {
    const { outcome, turns } = await worked(operations);

    expect(outcome).toBe(left);
    expect(turns).toBeGreaterThanOrEqual(atLeast);
  },
);

test('high 2: the product of operations, terms and values is bounded', async () => {
  const { outcome, turns } = await worked(
    Array.from({ length: 99 }, () => ({ op: 'remove', path: anyOf(50) }) as const),
  );

  expect(outcome).toContain('The changes look at more than 2000000 values.');
  expect(turns).toBeGreaterThan(300);
});

test('high 2: a value more than an attribute takes is refused before it is read', async () => {
  const value = [...membersFrom(0, 10_000), 7];

  expect((await worked([{ op: 'add', path: 'members', value }])).outcome).toBe(
    '`members` has to be at most 10000 values.',
  );
});

test('high 2: all operations of one request share its steps', async () => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const { id: userId } = (await idp('POST', '/Users', { userName: 'ada' })).json();
  const { id } = (await idp('POST', '/Groups', { displayName: 'Crew' })).json();
  const hundred = Array.from({ length: 100 }, (_, n) => ({ value: userId, type: `${n}` }));
  const nobody = `members[${Array.from({ length: 49 }, () => 'type eq "x"').join(' or ')}]`;
  const removals = Array.from({ length: 98 }, () => ({ op: 'remove', path: nobody }));
  const [add, put] = [
    { op: 'add', path: 'members', value: hundred },
    { op: 'replace', path: 'members', value: [userId] },
  ];
  const data = { Operations: [add, ...removals, put] };
  const Operations = Array.from({ length: 6 }, () => ({ method: 'PATCH', path: `/Groups/${id}`, data }));

  const done = await idp('POST', '/Bulk', { Operations });

  expect(done.json().Operations.map(({ status }: { status: string }) => status)).toEqual([
    ...Array(4).fill('200'),
    ...Array(2).fill('400'),
  ]);
  expect((await idp('PATCH', `/Groups/${id}`, data)).statusCode).toBe(200); // the next request has its own
});

const manyMembers = Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [`x${n}`, 0]));

test('31 H2: an object of more members than anybody needs is refused before they are read', async () => {
  const { service, acme } = await start();
  const idp = await provisionerOf(service, acme);
  const { id } = (await idp('POST', '/Users', { userName: 'ada' })).json();
  const emails = [{ value: 'ada@acme.test', ...manyMembers }];
  const answers = [
    await idp('POST', '/Users', { userName: 'bob', ...manyMembers }),
    await idp('POST', '/Users', { userName: 'bob', emails }),
    await idp('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', value: manyMembers }] }),
    await idp('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path: 'emails', value: emails }] }),
    await idp('POST', '/Users/.search', manyMembers),
  ];

  expect(answers.map((answer) => answer.json().detail)).toEqual(
    Array(answers.length).fill('An object has at most 1000 members.'),
  );
});

test('31 H2: additions of thousands and changes of a part are made in turns too', async () => {
  const turnsOf = async (operation: Operation) => (await worked([operation])).turns;

  expect(await turnsOf({ op: 'add', path: 'members', value: membersFrom(9000, 1000) })).toBeGreaterThan(15);
  expect(await turnsOf({ op: 'replace', path: 'members.type', value: 'x' })).toBeGreaterThan(5);
});

test.each(['unknown ne "x"', 'not (unknown eq "x")', 'unknown eq null', 'not (type eq "x" and unknown pr)'])(
  '31 K1: a change of the values for which `%s` changes and removes none',
  async (filter) => {
    const { service, acme } = await start();
    const idp = await provisionerOf(service, acme);
    const emails = [{ value: 'ada@acme.test', type: 'work' }];
    const { id: userId } = (await idp('POST', '/Users', { userName: 'ada', emails })).json();
    const members = [{ value: userId }];
    const { id } = (await idp('POST', '/Groups', { displayName: 'Crew', members })).json();
    const removal = { Operations: [{ op: 'remove', path: `members[${filter}]` }] };
    const change = { Operations: [{ op: 'remove', path: `emails[${filter}].type` }] };

    const group = await idp('PATCH', `/Groups/${id}`, removal);
    const user = await idp('PATCH', `/Users/${userId}`, change);

    expect([group.statusCode, group.json().members]).toMatchObject([200, members]);
    expect([user.statusCode, user.json().emails]).toEqual([200, emails]);
  },
);
