/** @import { Bound, Place, Rule, Rules } from './types.js' */
import { words } from './consent-words.js';

/*
 * The page reads rules only to offer less. The service alone decides about calls, and refuses rules that are wider.
 */

/** From these lists a person can take items off. An item less in `contains` would allow more. */
export const LISTS = /** @type {const} */ ([
  'in',
  'prefix',
  'suffix',
  'email',
  'host',
  'path',
  'url',
  'cidr',
]);
/** @type {Bound[]} */
export const BOUNDS = ['min', 'max'];

const DECIMAL = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?$/;
const FRACTION = 18; // digits of a decimal at most

/**
 * The rules for which the service writes lines, in the order of the lines.
 * @param {Rules} rules
 * @param {Pick<Place, 'names' | 'pointers'>} [above]
 * @returns {Place[]}
 */
export function placesOf(rules, above = { names: [], pointers: [] }) {
  return Object.entries(rules).flatMap(([pointer, rule]) => {
    const own = pointer
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const names = [...above.names, ...own];
    const pointers = [...above.pointers, pointer];
    const isBranch = Object.keys(rules).some((other) => other.startsWith(`${pointer}/`));
    const hasLine = !isBranch || rule.optional || (rule.open && names.length > 0);
    const below = { names: [...names, words.limits.eachEntry], pointers };
    return [
      ...(hasLine ? [{ names, pointers, rule }] : []),
      ...(rule.each ? placesOf(rule.each, below) : []),
    ];
  });
}

/**
 * A copy of the rules, each of them changed.
 * @param {Rules} rules
 * @param {(pointers: string[], rule: Rule) => Rule} change
 * @param {string[]} [above]
 * @returns {Rules}
 */
export function changed(rules, change, above = []) {
  const copies = Object.entries(rules).map(([pointer, rule]) => {
    const pointers = [...above, pointer];
    const each = rule.each && { each: changed(rule.each, change, pointers) };
    return [pointer, { ...change(pointers, rule), ...each }];
  });
  return Object.fromEntries(copies);
}

/**
 * Whether a bound that a person wrote can stand in place of the one in the rule.
 * @param {Rule} rule
 * @param {Bound} key
 * @param {string} text
 */
export function isNarrower(rule, key, text) {
  const asked = rule[key];
  if (asked === undefined || !DECIMAL.test(text)) return false;
  return key === 'max' ? !isBelow(asked, text) : !isBelow(text, asked);
}

/**
 * Exact, because a number cannot hold every decimal.
 * @param {string} left
 * @param {string} right
 */
export const isBelow = (left, right) => unitsOf(left) < unitsOf(right);

/** @param {string} decimal */
function unitsOf(decimal) {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(`${whole}${fraction.padEnd(FRACTION, '0')}`);
}
