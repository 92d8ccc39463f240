import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkLimits, countLimits } from './limits.ts';
import type { LimitEntry } from './limits-report.ts';

const START = Date.parse('2026-02-01T12:00:00.000Z');
const HOUR = 3_600_000;

type Given = Omit<LimitEntry, 'seq' | 'status'> & { readonly status?: string };

/** Entries with their numbers. */
const numbered = (given: readonly Given[]): LimitEntry[] =>
  given.map((entry, at) => ({ status: 'success', agentId: 'ag_1', ...entry, seq: at + 1 }));

const created = (grantId: string, caps?: object, parentGrantId?: string): Given => ({
  action: 'grant.created',
  grantId,
  metadata: {
    ...(parentGrantId !== undefined && { parentGrantId }),
    ...(caps && { authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'bank', caps }] }),
  },
});

interface CallFacts {
  readonly grantId?: string;
  readonly callId: string;
  readonly minutes?: number;
  readonly units?: number;
  readonly caseId?: string;
  readonly metadata?: object;
}

const call = ({ grantId = 'root', callId, minutes = 0, units, caseId, metadata }: CallFacts): Given => ({
  action: 'tool.enforce',
  grantId,
  metadata: {
    ...{ connector: 'bank', tool: 'pay', callId, actionHash: `sha256:${callId}` },
    ...(caseId !== undefined && { caseId }),
    charge: { at: new Date(START + minutes * 60_000).toISOString(), ...(units !== undefined && { units }) },
    ...metadata,
  },
});

const check = (...given: Given[]) => checkLimits(numbered(given));
const peaksOf = (...given: Given[]) => check(...given).caps.map(({ peak }) => peak);

describe('a cap', () => {
  const root = created('root', { pay: { per_hour: 2 } });

  test('holds while no window of its length has more, and is broken by the entry that goes over', () => {
    const calls = [0, 59, 60, 119].map((minutes) => call({ callId: `c${minutes}`, minutes }));

    expect(check(root, ...calls)).toEqual({
      holds: true,
      first: null,
      calls: 4,
      refunded: 0,
      unread: 0,
      caps: [{ grantId: 'root', connector: 'bank', tool: 'pay', window: 'per_hour', limit: 2, peak: 2 }],
      budgets: [],
    });
    expect(check(root, ...calls, call({ callId: 'late', minutes: 118 }))).toMatchObject({
      holds: false,
      first: { seq: 5, grantId: 'root', problem: 'cap_exceeded' },
      caps: [{ peak: 3 }],
    });
  });

  test('counts the calls of every descendant, each against the grants above it', () => {
    const tree = [
      root,
      created('child', { pay: { per_day: 5 } }, 'root'),
      created('leaf', undefined, 'child'),
    ];

    const calls = [
      call({ callId: 'a' }),
      call({ callId: 'b', grantId: 'child' }),
      call({ callId: 'c', grantId: 'leaf' }),
    ];

    expect(peaksOf(...tree, ...calls)).toEqual([3, 2]);
    expect(check(...tree, ...calls).first).toEqual({ seq: 6, grantId: 'root', problem: 'cap_exceeded' });
  });

  test('counts a repeated call once, and another action under its id as another call', () => {
    const again = { callId: 'a', metadata: { actionHash: 'sha256:other' } };

    expect(peaksOf(root, call({ callId: 'a' }), call({ callId: 'a' }))).toEqual([1]);
    expect(peaksOf(root, call({ callId: 'a' }), call(again), call(again))).toEqual([2]);
    expect(peaksOf(root, call({ callId: 'a' }), { ...call({ callId: 'a' }), agentId: 'ag_2' })).toEqual([2]);
  });

  test('does not count what was never sent, what was denied and what only asked', () => {
    const refunded = { action: 'tool.refunded', grantId: 'root', metadata: { callId: 'a' } };
    const denied = { ...call({ callId: 'b' }), status: 'blocked' };
    const asked = call({ callId: 'c', metadata: { checkOnly: true } });

    expect(check(root, call({ callId: 'a' }), refunded, refunded, denied, asked)).toMatchObject({
      holds: true,
      calls: 0,
      refunded: 1,
      caps: [{ peak: 0 }],
    });
  });

  test('is broken by a call that was let through without being counted', () => {
    const uncounted = call({ callId: 'a', metadata: { charge: undefined } });

    expect(check(root, uncounted)).toMatchObject({ holds: false, first: { seq: 2, problem: 'not_counted' } });
    expect(check(created('root'), uncounted)).toMatchObject({ holds: true, first: null });
  });

  test('on cost units adds up the units of all tools of the connector', () => {
    const costs = created('root', { cost_units: { per_day: 10 } });
    const other = call({ callId: 'b', units: 4, metadata: { tool: 'list' } });

    expect(peaksOf(costs, call({ callId: 'a', units: 6 }), other)).toEqual([10]);
    expect(check(costs, call({ callId: 'a', units: 7 }), other).first).toMatchObject({ seq: 3 });
  });

  test('by case is one of each case, and of each time that a case is opened', () => {
    const byCase = created('root', { pay: { per_case: 1 } });
    const [first, second] = ['a', 'b'].map((callId) => call({ callId, caseId: 'case-1', minutes: 9_000 }));
    const reset = { action: 'case.caps_reset', grantId: 'root', metadata: { caseId: 'case-1' } };
    if (!first || !second) throw new Error('two calls');

    expect(check(byCase, first, call({ callId: 'c', caseId: 'case-2' })).holds).toBe(true);
    expect(check(byCase, first, second).holds).toBe(false);
    expect(check(byCase, first, reset, second).holds).toBe(true);
  });

  test('is told in one order, whatever the order of members in the entry', () => {
    const [pay, list] = [{ per_day: 1 }, { per_hour: 1, per_day: 1 }];
    const nameOf = ({ tool, window }: { readonly tool?: string; readonly window: string }) =>
      `${tool} ${window}`;
    const told = (caps: object) => check(created('root', caps)).caps.map(nameOf);

    expect(told({ pay, list })).toEqual(['list per_hour', 'list per_day', 'pay per_day']);
    expect(told({ list, pay })).toEqual(told({ pay, list }));
  });

  test('is not judged by entries that are not shown', () => {
    const hidden = { ...call({ callId: 'a', metadata: { charge: undefined } }), hidden: 1 };

    expect(check(root, hidden)).toMatchObject({ holds: null, first: null, unread: 1 });
    expect(checkLimits(numbered([root]), 1)).toMatchObject({ holds: null, unread: 1 });
    expect(check(call({ callId: 'a' }))).toMatchObject({ holds: null, unread: 1 });
  });
});

describe('a budget', () => {
  const allocated = (grantId: string, initialBudget: string): Given => ({
    action: 'budget.allocated',
    grantId,
    metadata: { allocationId: `bdg_${grantId}`, initialBudget, currency: 'EUR' },
  });
  const moved = (grantId: string, amount: string, remaining: string, of: object = {}): Given => ({
    action: 'refundOf' in of ? 'budget.refunded' : 'budget.debited',
    grantId,
    metadata: {
      allocationId: `bdg_${grantId}`,
      amount,
      remaining,
      transactionId: 't1',
      currency: 'EUR',
      ...of,
    },
  });
  const tree = [
    created('root'),
    created('child', undefined, 'root'),
    allocated('root', '10'),
    allocated('child', '5'),
  ];
  const debits = [moved('root', '4.0000', '6.0000'), moved('child', '4.0000', '1.0000')];

  test('holds while no more was spent than it had, by all descendants together', () => {
    const refunds = [
      moved('root', '1.5000', '7.5000', { refundOf: 't1', transactionId: 't2' }),
      moved('child', '1.5000', '2.5000', { refundOf: 't1', transactionId: 't2' }),
    ];

    expect(check(...tree, ...debits, ...refunds)).toMatchObject({
      holds: true,
      budgets: [
        { grantId: 'root', currency: 'EUR', limit: '10.0000', peak: '4.0000', spent: '2.5000' },
        { grantId: 'child', currency: 'EUR', limit: '5.0000', peak: '4.0000', spent: '2.5000' },
      ],
    });
  });

  test.each([
    [
      'more is debited than is left',
      [...debits, moved('child', '2', '0', { transactionId: 't3' })],
      'budget_exceeded',
    ],
    [
      'an entry between two is missing',
      [...debits, moved('root', '1', '1.0000', { transactionId: 't3' })],
      'balance_differs',
    ],
    ['a debit was not taken from the budget above', [debits[1]], 'balance_differs'],
    [
      'more is given back than was taken',
      [...debits, moved('root', '5', '11', { refundOf: 't1' })],
      'balance_differs',
    ],
    [
      'something is given back that was not taken',
      [...debits, moved('root', '1', '7', { refundOf: 't9' })],
      'balance_differs',
    ],
    ['it is made twice', [allocated('root', '99')], 'balance_differs'],
  ])('does not hold when %s', (_name, entries, problem) => {
    const report = check(...tree, ...entries.filter((entry) => entry !== undefined));

    expect(report).toMatchObject({ holds: false, first: { problem } });
  });

  test('that was made later counts what was spent since', () => {
    const late = [created('root'), created('child', undefined, 'root'), allocated('child', '5')];
    const before = moved('child', '4', '1', { transactionId: 't0' });

    expect(check(...late, before, allocated('root', '10')).holds).toBe(true);
    expect(check(...late, before, allocated('root', '10'), moved('child', '1', '0')).holds).toBe(false);
  });
});

/** Adds everything up again for each call, in the plainest way. */
function naive(
  entries: readonly LimitEntry[],
  parents: ReadonlyMap<string, string | undefined>,
  limits: Limits,
) {
  const isWithin = (grantId: string | undefined, above: string): boolean =>
    grantId !== undefined && (grantId === above || isWithin(parents.get(grantId), above));
  const refunds = entries
    .filter(({ action }) => action === 'tool.refunded')
    .map(({ metadata }) => metadata.callId);
  const charges = entries.filter(
    ({ action, status, metadata }) =>
      action === 'tool.enforce' && status === 'success' && !refunds.includes(metadata.callId),
  );
  const timeOf = ({ metadata }: LimitEntry) => Date.parse(Object(metadata.charge).at);
  return Object.entries(limits).map(([grantId, limit]) => {
    const own = charges.filter((charge) => isWithin(charge.grantId ?? undefined, grantId));
    const sums = own.map((last) => {
      const isBefore = (one: LimitEntry) =>
        timeOf(one) < timeOf(last) || (timeOf(one) === timeOf(last) && one.seq <= last.seq);
      return own.filter((one) => isBefore(one) && timeOf(one) > timeOf(last) - HOUR).length;
    });
    const over = own.filter((_, at) => (sums[at] ?? 0) > limit).map(({ seq }) => seq);
    return { peak: Math.max(0, ...sums), over };
  });
}

type Limits = Readonly<Record<string, number>>;

test('answers as a model that adds up every window for every call, in 500 random trees', () => {
  const grants = ['root', 'a', 'b', 'c', 'd'] as const;
  const parents = fc.tuple(...grants.slice(1).map((_, at) => fc.constantFrom(...grants.slice(0, at + 1))));
  const limits = fc.tuple(...grants.map(() => fc.integer({ min: 0, max: 12 })));
  const step = fc.record({
    grantId: fc.constantFrom(...grants),
    minutes: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(0, 60, 120)),
    fate: fc.constantFrom('success', 'success', 'success', 'blocked', 'refunded'),
  });

  fc.assert(
    fc.property(parents, limits, fc.array(step, { maxLength: 60 }), (above, most, steps) => {
      const tree = grants.map((grantId, at) =>
        created(grantId, { pay: { per_hour: most[at] } }, above[at - 1]),
      );
      const calls = steps.flatMap(({ grantId, minutes, fate }, at) => [
        {
          ...call({ grantId, minutes, callId: `call-${at}` }),
          status: fate === 'blocked' ? 'blocked' : 'success',
        },
        ...(fate === 'refunded'
          ? [{ action: 'tool.refunded', grantId, metadata: { callId: `call-${at}` } }]
          : []),
      ]);
      const entries = numbered([...tree, ...calls]);
      const limitsOf = Object.fromEntries(grants.map((grantId, at) => [grantId, most[at] ?? 0]));

      const expected = naive(
        entries,
        new Map(grants.map((grantId, at) => [grantId, above[at - 1]])),
        limitsOf,
      );
      const report = checkLimits(entries);

      const overs = expected.flatMap(({ over }) => over);
      expect(report.caps.map(({ peak }) => peak)).toEqual(expected.map(({ peak }) => peak));
      expect(report.first?.seq).toBe(overs.length > 0 ? Math.min(...overs) : undefined);
      expect(report.holds).toBe(overs.length === 0);
    }),
    { numRuns: 500 },
  );
});

test('checks 10,000 calls of a tree five deep within a second', () => {
  const caps = { pay: { per_hour: 200_000, per_day: 200_000 } };
  const tree = [0, 1, 2, 3, 4].map((depth) =>
    created(`g${depth}`, caps, depth > 0 ? `g${depth - 1}` : undefined),
  );
  const calls = Array.from({ length: 10_000 }, (_, at) =>
    call({ grantId: `g${at % 5}`, callId: `call-${at}`, minutes: at / 1_000 }),
  );
  const entries = numbered([...tree, ...calls]);

  const began = performance.now();
  const { holds, calls: counted } = checkLimits(entries);

  expect([holds, counted]).toEqual([true, 10_000]);
  expect(performance.now() - began).toBeLessThan(1_000);
});

describe('of a wide tree', () => {
  const LEVELS = 11;
  const caps = { pay: { per_hour: 1e6, per_day: 1e6, per_case: 1e6 } };
  const chain = Array.from({ length: LEVELS }, (_, depth) =>
    created(`g${depth}`, caps, depth > 0 ? `g${depth - 1}` : undefined),
  );
  const calls = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      call({
        grantId: `g${LEVELS - 1}`,
        callId: `call-${at}`,
        caseId: `case-${at % 7}`,
        minutes: at / 1_000,
      }),
    );

  test('100,000 calls, each against 33 caps, are counted in steps that nobody else waits for', () => {
    const count = countLimits();
    for (const entry of numbered([...chain, ...calls(100_000)])) count.add(entry);
    const report = count.report();
    let [steps, step] = [1, report.next()];
    for (; !step.done; steps += 1) step = report.next();

    expect(step.value).toMatchObject({ holds: true, calls: 100_000, unread: 0 });
    expect(step.value.caps).toHaveLength(3 * LEVELS);
    expect(new Set(step.value.caps.map(({ peak }) => peak))).toEqual(new Set([60_000, 100_000, 14_286]));
    expect(steps).toBe(3 * LEVELS + 1); // one for each cap
  });

  test('with more uses of caps than anybody has, what comes after them is unread', () => {
    const many = Array.from({ length: 20_000 }, () => ({
      ...{ type: 'urn:service:tools:v1', connector: 'bank', caps: { pay: { per_hour: 1e6 } } },
    }));
    const wide = { action: 'grant.created', grantId: 'g10', metadata: { authorizationDetails: many } };

    const report = check(wide, ...calls(1_000));

    expect(report).toMatchObject({ holds: null, calls: 499, unread: 501 });
    expect(report.caps).toHaveLength(20_000);
  });

  test('with more caps than anybody has is unread', () => {
    const many = Array.from({ length: 200_000 }, () => ({
      ...{ type: 'urn:service:tools:v1', connector: 'bank', caps: { pay: { per_hour: 1 } } },
    }));

    expect(
      check({ action: 'grant.created', grantId: 'root', metadata: { authorizationDetails: many } }),
    ).toMatchObject({ holds: null, unread: 1, caps: [] });
  });
});
