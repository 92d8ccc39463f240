import fc from 'fast-check';
import type { NaiveTool } from './naive-enforce.ts';

/** Cases and calls of the engine that meet every check: most parts are good, so that the later checks are reached. */
const mostly = <T>(good: T, ...others: T[]) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(good) },
    { weight: 2, arbitrary: fc.constantFrom(good, ...others) },
  );
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const windows = fc
  .dictionary(fc.constantFrom('per_hour', 'per_day', 'per_case'), fc.constantFrom(0, 1, 2, 3, 3, 4, 5), {
    minKeys: 1,
  })
  .map((value) => ({ ...value }));
const caps = fc
  .dictionary(fc.constantFrom('t0', 't1', 'cost_units'), windows, { minKeys: 1 })
  .map((value) => ({ ...value }));
const limitedTo = (max: string) => ({ '/n': { max }, '/decision': { optional: true } });
/** Leaves out the members that are undefined. */
const present = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
  arbitrary.map(
    (value): T => Object(Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined))),
  );

const tool: fc.Arbitrary<NaiveTool> = present(
  fc.record({
    permission: mostly('write', 'delete', 'admin'),
    allowed_purposes: some(mostly(['aml.cdd.*', 'x-acme.test'], ['aml.screening'])),
    caps: some(windows),
    cost_units: some(mostly({ rows: 2, free: 0 }, { free: 0 })),
    requires_decision: fc.boolean(),
    four_eyes_on: mostly<string[] | undefined>(undefined, ['pay']),
    arguments: mostly<ReturnType<typeof limitedTo> | undefined>(undefined, limitedTo('5')),
  }),
)
  .map((value) => Object(value.requires_decision ? value : { ...value, four_eyes_on: undefined }))
  .map(({ four_eyes_on, ...rest }) => (four_eyes_on ? { ...rest, four_eyes_on } : rest));

const entry = present(
  fc.record({
    purpose: mostly<string | undefined>(
      'aml.cdd.ongoing',
      undefined,
      'aml.cdd',
      'other',
      'x-acme.test',
      'payments.payout',
    ),
    data_region: mostly<string | undefined>(undefined, 'EU', ' eu '),
    tools: mostly(['t*'], ['t1'], ['t0*'], ['t0'], []),
    caps: some(caps),
    arguments: mostly<object | undefined>(undefined, { t0: limitedTo('3') }),
  }),
);
const scopes = fc
  .array(
    fc.constantFrom(
      ...[
        'tool:pay:write',
        'tool:*:delete',
        'tool:pay:*',
        'tool:pay:admin:t0',
        'tool:pay:delete:doc-*',
        'tool:pay:read',
      ],
      ...[
        'tool:pay:write:capped:10.5',
        'tool:*:read:capped:3',
        'tool:other:admin',
        'tool:pay:write:capped:x',
        'pay:write',
      ],
      ...['tool:pay:own', 'tool:pay:write:capped', 'vault:pay', '*'],
    ),
    { maxLength: 3 },
  )
  .chain((extra) => mostly([...extra, 'tool:pay:admin'], ['tool:pay:admin'], extra));
const BROKEN = [
  null,
  {},
  [5],
  [{ connector: 'pay' }],
  [{ type: 'urn:service:tools:v1', connector: 'pay', caps: {} }],
];

export const anyCase = fc.record({
  token: mostly('good' as const, 'expired' as const, 'signature' as const, 'revoked' as const),
  broken: mostly<unknown>(undefined, ...BROKEN),
  tools: fc.record({ t0: tool, t1: tool }),
  scopes,
  entry: fc.option(entry, { nil: undefined, freq: 6 }),
  ancestors: fc
    .array(caps, { maxLength: 2 })
    .map((all) => all.map((each, at) => ({ grant: `above_${at}`, caps: each }))),
  region: mostly<string | undefined>(undefined, 'eu', 'us'),
  meter: mostly('ok' as const, 'none' as const, 'down' as const),
  first: mostly(
    {},
    { quorum: 2 },
    { dev: 'dev_2' },
    { agt: 'did:web:b' },
    { grnt: 'grnt_2' },
    { position: 2 },
    { tool: 't1' },
  ),
  second: mostly({}, { sub: 'principal:alice' }, { prev: 'other' }, { nonce: 'B'.repeat(22) }, { quorum: 1 }),
  isExpired: mostly(false, true),
  isGenuine: mostly(true, false),
});

export const anyCalls = fc.array(
  present(
    fc.record({
      after: mostly(0, 1, 3_599_999, 3_600_000, 86_400_000),
      connector: mostly('pay', 'other'),
      tool: mostly('t0', 't1', 'toString'),
      arguments: mostly<unknown>(
        { n: 1, decision: 'pay' },
        { n: 1 },
        {},
        { n: 4, decision: 'No' },
        undefined,
        [],
      ),
      resource: mostly<string | undefined>(undefined, 'doc-1', 'other'),
      amount: mostly<unknown>(2, undefined, null, 10.5, 11, -1, '5', Number.NaN),
      caseId: mostly<unknown>('c1', undefined, 'c2', '', 'a\n', 5),
      caseVersion: mostly<string | undefined>(undefined, 'v2'),
      costComponents: mostly<unknown>(undefined, [], ['rows'], ['free'], ['rows', 'rows'], ['other'], 'rows'),
      call: fc.constantFrom('call-0001', 'call-0002', 'call-0003', 'call-0004', 'call-0005'),
      decisionGrants: mostly<string[] | undefined>(
        ['one'],
        undefined,
        [],
        ['one', 'two'],
        ['two', 'one'],
        ['one', 'one'],
        ['none'],
      ),
      capsMode: mostly('enforce' as const, 'warn' as const),
      reserve: mostly(true, false),
    }),
  ),
  { minLength: 1, maxLength: 6 },
);
