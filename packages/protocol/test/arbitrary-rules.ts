import fc from 'fast-check';
import type { Rule, Rules } from '../src/arguments/rules.ts';

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
export const anyRules: fc.Arbitrary<Rules> = fc
  .uniqueArray(fc.tuple(pointer, rule), { minLength: 1, maxLength: 5, selector: ([at]) => at })
  .map((pairs) => Object.fromEntries(pairs));

const members = (value: fc.Arbitrary<unknown>) =>
  fc
    .uniqueArray(fc.tuple(name, value), { maxLength: 4, selector: ([own]) => own })
    .map((all) => Object.fromEntries(all));

/** Arguments of a call, with the names and values that rules have. */
export const anyArguments: fc.Arbitrary<unknown> = members(
  fc.oneof(scalar, fc.array(fc.oneof(scalar, members(scalar)), { maxLength: 3 }), members(scalar)),
);
