import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { naiveCheck } from '../../test/naive-rules.ts';
import {
  issuedDetails,
  narrowTools,
  readRequestedDetails,
  type ToolsEntry,
} from '../authorization-details.ts';
import { delegatedDetails } from '../delegated-details.ts';
import { checkArguments } from './check.ts';
import { readRules } from './rule-reading.ts';
import type { Rule, Rules } from './rules.ts';
import { isWithin } from './within.ts';

/** Few names and values, so that rules and arguments meet often. */
const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const scalar = fc.constantFrom<(string | number | boolean | null)[]>(
  'x',
  'xy',
  'xyz.',
  '',
  'x\n',
  '1',
  '2.50',
  0,
  1,
  2.5,
  -1,
  true,
  null,
);
const decimal = fc.constantFrom('-1', '0', '0.5', '1', '1.00', '2', '2.5');
const pair = fc.constantFrom<[number, number][]>([0, 0], [0, 1], [1, 2], [0, 3]);
const texts = fc.uniqueArray(fc.constantFrom('x', 'xy', '1'), { minLength: 1, maxLength: 2 });
const values = fc.uniqueArray(fc.constantFrom('x', 'xy', '1', 0, 1, true, null), {
  minLength: 1,
  maxLength: 3,
});

const optional = fc.constantFrom({}, {}, { optional: true as const });
const limits: fc.Arbitrary<Rule> = fc.oneof(
  fc.constant({}),
  fc.record({ in: values }),
  fc.record({ min: decimal }),
  fc.record({ max: decimal, type: fc.constantFrom('number', 'integer', 'decimal') }),
  fc.record({ prefix: texts }),
  fc.record({ suffix: fc.constantFrom(['.'], ['.', '-x']), length: pair }),
  fc.record({ length: pair }),
  fc.record({ items: pair, contains: values }),
  fc.record({ items: pair }),
  fc.record({
    type: fc.constantFrom('string', 'number', 'integer', 'decimal', 'boolean', 'array', 'object'),
  }),
  fc.record({
    each: fc.oneof(
      fc.constant({ '': {} }),
      fc.record({ '': fc.record({ in: values }) }),
      fc.record({ '/a': fc.record({ max: decimal }) }),
    ),
  }),
);
const rule: fc.Arbitrary<Rule> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(limits, optional).map(([limit, flag]) => ({ ...limit, ...flag })) },
  { weight: 1, arbitrary: fc.constant<Rule>({ absent: true }) },
  { weight: 1, arbitrary: fc.constant<Rule>({ open: true }) },
);
const pointer = fc.oneof(
  fc.constant(''),
  name.map((first) => `/${first}`),
  fc.tuple(name, name).map(([first, second]) => `/${first}/${second}`),
);

/** Rules, many of which conflict; the caller keeps those that can be read. */
const anyRules: fc.Arbitrary<Rules> = fc
  .uniqueArray(fc.tuple(pointer, rule), { minLength: 1, maxLength: 5, selector: ([at]) => at })
  .map((pairs) => Object.fromEntries(pairs));

const members = (value: fc.Arbitrary<unknown>) =>
  fc
    .uniqueArray(fc.tuple(name, value), { maxLength: 4, selector: ([own]) => own })
    .map((all) => Object.fromEntries(all));

/** Arguments of a call, with the names and values that rules have. */
const anyArguments: fc.Arbitrary<unknown> = members(
  fc.oneof(scalar, fc.array(fc.oneof(scalar, members(scalar)), { maxLength: 3 }), members(scalar)),
);

const scopes = ['tool:pay:write'];
const entry = { type: 'urn:service:tools:v1', connector: 'pay' } as const;
const rules = { '/amount': { max: '500' }, '/to': { each: { '/iban': { prefix: ['DE'] } } } } as const;
const asked: ToolsEntry = { ...entry, tools: ['transfer', 'get_*'], arguments: { transfer: rules } };

const faultsOf = (value: unknown) => {
  const read = readRequestedDetails([value], scopes);
  return read.ok ? [] : read.faults.map(({ path, problem }) => `${path} ${problem}`);
};

describe('an entry of a request', () => {
  test('may limit arguments of a tool that it lists', () => {
    expect(readRequestedDetails([asked], scopes)).toEqual({ ok: true, entries: [asked] });
    expect(faultsOf({ ...asked, arguments: { get_all: rules } })).toEqual([]);
  });

  const at = 'authorizationDetails.0.arguments';
  test.each<[string, object, string]>([
    ['no tools', { tools: undefined }, 'authorizationDetails.0.tools required'],
    ['a tool that is not listed', { arguments: { transfr: rules } }, `${at}.transfr not_allowed`],
    ['a list of rules', { arguments: [rules] }, `${at} type`],
    ['no rules', { arguments: {} }, `${at} too_short`],
    ['no rules of a tool', { arguments: { transfer: {} } }, `${at}.transfer too_short`],
    ['a pattern', { arguments: { 'get_*': rules } }, `${at}.get_* format`],
    [
      'an unknown key',
      { arguments: { transfer: { '/a': { regex: 'x' } } } },
      `${at}.transfer./a.regex unknown`,
    ],
    [
      'a number for a decimal',
      { arguments: { transfer: { '/a': { max: 5 } } } },
      `${at}.transfer./a.max type`,
    ],
    [
      'a malformed item',
      { arguments: { transfer: { '/a': { email: ['acme.com', '@x'] } } } },
      `${at}.transfer./a.email.1 format`,
    ],
    [
      'a conflict',
      { arguments: { transfer: { '/a': { in: ['x'], max: '5' } } } },
      `${at}.transfer./a not_allowed`,
    ],
  ])('is refused with %s', (_, change, fault) => {
    const { tools, ...others } = { ...asked, ...change };
    expect(faultsOf({ ...others, ...(tools && { tools }) })).toContain(fault);
  });

  test('is counted as a token writes it', () => {
    const long = (text: string) => ({ ...asked, arguments: { transfer: { '/a': { in: [text] } } } });

    expect(faultsOf(long('e'.repeat(512)))).toEqual([]);
    expect(faultsOf(long('é'.repeat(340)))).toEqual(['authorizationDetails too_long']);
  });
});

describe('issued entries', () => {
  test('keep the rules of the tools that they list, and drop no others', () => {
    const both = { ...asked, arguments: { transfer: rules, get_all: { '/id': {} } } };

    expect(issuedDetails(undefined, scopes, [both])).toEqual([both]);
    expect(narrowTools({ purpose: undefined, scopes, entries: [both] }, { pay: ['get_all'] })).toEqual({
      ok: true,
      entries: [{ ...entry, tools: ['get_all'], arguments: { get_all: { '/id': {} } } }],
    });
    expect(narrowTools({ purpose: undefined, scopes, entries: [both] }, { pay: ['get_one'] })).toEqual({
      ok: true,
      entries: [{ ...entry, tools: ['get_one'] }],
    });
  });
});

describe('delegated entries', () => {
  const delegated = (child: ToolsEntry[], parent: ToolsEntry[] = [asked]) => {
    const result = delegatedDetails({ purpose: undefined, scopes, entries: child }, parent);
    return result.ok ? result.entries : result.faults.map(({ path, problem }) => `${path} ${problem}`);
  };
  const at = 'authorizationDetails.0.arguments';

  test('have the rules of the parent', () => {
    expect(delegated([])).toEqual([asked]);
    expect(delegated([{ ...entry, tools: ['transfer'] }])).toEqual([{ ...asked, tools: ['transfer'] }]);
    expect(delegated([{ ...entry, tools: ['get_all'] }])).toEqual([{ ...entry, tools: ['get_all'] }]);
  });

  test('may have narrower rules, and rules for tools that had none', () => {
    const narrower = { ...rules, '/amount': { max: '20' } };

    expect(delegated([{ ...entry, arguments: { transfer: narrower } }])).toEqual([
      { ...asked, arguments: { transfer: narrower } },
    ]);
    expect(delegated([{ ...entry, arguments: { get_all: { '/id': {} } } }])).toEqual([
      { ...asked, arguments: { transfer: rules, get_all: { '/id': {} } } },
    ]);
  });

  test.each<[string, ToolsEntry, string]>([
    [
      'a higher bound',
      { ...entry, arguments: { transfer: { ...rules, '/amount': { max: '501' } } } },
      'transfer',
    ],
    ['another argument', { ...entry, arguments: { transfer: { ...rules, '/bcc': {} } } }, 'transfer'],
    [
      'rules that say less',
      { ...entry, arguments: { transfer: { '': { open: true }, '/amount': {} } } },
      'transfer',
    ],
    ['rules of a tool that nobody lists', { ...entry, arguments: { drop: rules } }, 'drop'],
    ['rules of a tool that the child drops', { ...asked, tools: ['get_all'] }, 'transfer'],
  ])('are refused with %s', (_, child, tool) => {
    expect(delegated([child])).toEqual([`${at}.${tool} not_allowed`]);
  });

  test('need tools beside rules, from the parent or the request', () => {
    const limiting = { ...entry, arguments: { transfer: rules } };

    expect(delegated([limiting], [entry])).toEqual(['authorizationDetails.0.tools required']);
    expect(delegated([{ ...limiting, tools: ['transfer'] }], [entry])).toEqual([
      { ...limiting, tools: ['transfer'] },
    ]);
  });

  test('are refused when they grow beyond what a token holds', () => {
    const long = (text: string) => ({ '/a': { in: [text.repeat(500)] } });
    const parent = { ...asked, arguments: { transfer: { ...long('a'), '/b': { in: ['b'.repeat(500)] } } } };
    const tools = { get_a: long('c'), get_b: long('d') };

    expect(delegated([], [parent])).toEqual([parent]);
    expect(delegated([{ ...entry, arguments: tools }], [parent])).toEqual(['authorizationDetails too_long']);
  });
});

/** Runs begin at the same place each time, so that a fault is found again. */
const runs = { numRuns: process.env.TEST_LONG ? 100_000 : 3_000, seed: 20_260_101 };
const PATIENCE = 600_000;
const readable = anyRules.filter((rules) => readRules(rules).ok);

function answerOf(rules: Rules, args: unknown): string {
  const result = checkArguments(rules, args);
  if (result.ok) return 'fine';
  if (result.subReason === 'argument_unreadable') return `${result.subReason} ${result.cause}`;
  return [result.subReason, result.path, 'rule' in result ? result.rule : []].flat().join(' ');
}

test('a second, literal reading of the rules gives the same answers', { timeout: PATIENCE }, () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(readable, anyArguments, (rules, args) => {
      const answer = answerOf(rules, args);
      seen.add(answer.split(' ')[0] ?? '');
      expect(answer).toBe(naiveCheck(Object(rules), args));
    }),
    runs,
  );
  expect([...seen].sort()).toEqual(['argument_missing', 'argument_not_allowed', 'fine']);
});

test('a call that the narrower rules accept is accepted by the wider', { timeout: PATIENCE }, () => {
  let [within, accepted] = [0, 0];
  fc.assert(
    fc.property(
      readable,
      readable,
      fc.array(anyArguments, { minLength: 5, maxLength: 5 }),
      (child, parent, calls) => {
        if (!isWithin(child, parent)) return;
        within += 1;
        for (const args of calls) {
          if (answerOf(child, args) !== 'fine') continue;
          accepted += 1;
          expect(answerOf(parent, args)).toBe('fine');
        }
      },
    ),
    runs,
  );
  expect(Math.min(within, accepted)).toBeGreaterThan(10); // or the property would say nothing
});

test('rules are within themselves', { timeout: PATIENCE }, () => {
  fc.assert(
    fc.property(readable, (rules) => {
      expect(isWithin(rules, structuredClone(rules))).toBe(true);
    }),
    runs,
  );
});
