import { english } from '../english.ts';
import { compareSigned } from './decimals.ts';
import { typeOf } from './leaf-checks.ts';
import { readPointer } from './pointers.ts';
import type { Rule, Rules, RuleValue } from './rules.ts';

/** One limit in words. */
export interface RuleLine {
  /** The names that lead to the argument, such as `to › iban`. */
  readonly path: string;
  readonly text: string;
}

/** The rules of one tool in words, for the person who decides about them. */
export interface RulesInWords {
  /** True when arguments that no line names are free. */
  readonly open: boolean;
  /** In the order of the rules. */
  readonly lines: readonly RuleLine[];
}

const words = english.rules;

/**
 * Describes the rules of one tool in plain words.
 *
 * @example
 * ```ts
 * rulesInWords({ '/amount': { max: '500' } }); // { open: false, lines: [{ path: 'amount', text: 'at most 500' }] }
 * ```
 */
export function rulesInWords(rules: Rules): RulesInWords {
  return { open: rules['']?.open === true, lines: linesOf(rules, []) };
}

/** Writes the names of a pointer for people. */
export function namesInWords(pointer: string): string {
  const read = readPointer(pointer);
  return read.ok ? read.names.join(words.nameJoiner) : pointer;
}

function linesOf(rules: Rules, before: readonly string[]): RuleLine[] {
  return Object.entries(rules).flatMap(([pointer, rule]) => {
    const names = [...before, ...(pointer === '' ? [] : [namesInWords(pointer)])];
    const isBranch = Object.keys(rules).some((other) => other.startsWith(`${pointer}/`));
    const text = isBranch ? branchInWords(rule, names.length === 0) : ruleInWords(rule);
    const line = text === '' ? [] : [{ path: names.join(words.nameJoiner), text }];
    return [...line, ...(rule.each ? linesOf(rule.each, [...names, words.eachEntry]) : [])];
  });
}

/** @param isTop true for the arguments as a whole, of which `open` is said elsewhere */
function branchInWords({ optional, open }: Rule, isTop: boolean): string {
  return [optional && words.optionalBranch, open && !isTop && words.openBranch].filter(Boolean).join(' ');
}

/** Describes the rule of a leaf. */
export function ruleInWords(rule: Rule): string {
  if (rule.absent) return words.absent;
  const limits = limitsInWords(rule).map(({ text }) => text);
  const text = limits.length > 0 ? limits.join(', ') : rule.each ? words.list : words.anything;
  return rule.optional ? words.optional(text) : text;
}

/** Describes each key of a rule, and names the key. */
export function limitsInWords(rule: Rule): { readonly key: keyof Rule; readonly text: string }[] {
  const limits: { key: keyof Rule; text: string }[] = [];
  const add = (key: keyof Rule, text: string | undefined) => text !== undefined && limits.push({ key, text });
  const type = typeOf(rule);
  const hasBounds = rule.min !== undefined || rule.max !== undefined;
  const isSaid = type === 'integer' || type === 'decimal' || Object.keys(rule).every((key) => isAside(key));
  if (type && rule.type && isSaid) add('type', words.types[type]);
  add('in', rule.in && words.among(rule.in.map(quoted)));
  if (hasBounds) add(rule.max === undefined ? 'min' : 'max', boundsInWords(rule));
  add('length', rule.length && words.characters(...rule.length));
  add('prefix', rule.prefix && words.begins(rule.prefix.map(quoted)));
  add('suffix', rule.suffix && words.ends(rule.suffix.map(quoted)));
  add('email', rule.email && words.emails(rule.email));
  add('host', rule.host && words.hosts(rule.host));
  add('path', rule.path && words.paths(rule.path));
  add('url', rule.url && words.urls(rule.url));
  add('cidr', rule.cidr && words.networks(rule.cidr));
  add('items', rule.items && words.entries(...rule.items));
  add('contains', rule.contains && words.including(rule.contains.map(quoted)));
  return limits;
}

function isAside(key: string): boolean {
  return key === 'type' || key === 'optional' || key === 'each';
}

function boundsInWords({ min, max }: Rule): string | undefined {
  if (min === undefined) return max && words.atMost(max);
  if (max === undefined) return words.atLeast(min);
  return compareSigned(min, max) === 0 ? words.among([min]) : words.between(min, max);
}

function quoted(value: RuleValue): string {
  return typeof value === 'string' ? words.quoted(value) : String(value);
}

/**
 * Describes one key of a rule as a condition, such as `it is at most 500`.
 *
 * @param limit the value of the key, of which a list may be cut
 */
export function conditionInWords(key: keyof Rule, limit: unknown): string {
  const texts = Array.isArray(limit) ? limit.map(String) : [];
  const values = Array.isArray(limit) ? limit.map(quoted) : [];
  const [least, most] = Array.isArray(limit) ? limit.map(Number) : [];
  const { conditions } = words;
  switch (key) {
    case 'type':
      return conditions.type(String(limit));
    case 'in':
      return conditions.is(words.among(values));
    case 'min':
      return conditions.is(words.atLeast(String(limit)));
    case 'max':
      return conditions.is(words.atMost(String(limit)));
    case 'length':
      return conditions.has(words.characters(least ?? 0, most ?? 0));
    case 'items':
      return conditions.has(words.entries(least ?? 0, most ?? 0));
    case 'prefix':
      return conditions.does(words.begins(values));
    case 'suffix':
      return conditions.does(words.ends(values));
    case 'contains':
      return conditions.includes(values);
    case 'email':
      return conditions.is(words.emails(texts));
    case 'host':
      return conditions.is(words.hosts(texts));
    case 'path':
      return conditions.is(words.paths(texts));
    case 'url':
      return conditions.is(words.urls(texts));
    case 'cidr':
      return conditions.is(words.networks(texts));
    default:
      return conditions.is(words.anything); // the other keys never refuse a value that is there
  }
}
