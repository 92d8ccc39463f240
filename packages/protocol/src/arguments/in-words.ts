import { english } from '../english.ts';
import type { RuleWords } from '../rule-words.ts';
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
export function rulesInWords(rules: Rules, own: RuleWords = words): RulesInWords {
  return { open: rules['']?.open === true, lines: linesOf(rules, [], own) };
}

/** Writes the names of a pointer for people. */
export function namesInWords(pointer: string): string {
  const read = readPointer(pointer);
  return read.ok ? read.names.join(words.nameJoiner) : pointer;
}

function linesOf(rules: Rules, before: readonly string[], own: RuleWords): RuleLine[] {
  return Object.entries(rules).flatMap(([pointer, rule]) => {
    const names = [...before, ...(pointer === '' ? [] : [namesInWords(pointer)])];
    const isBranch = Object.keys(rules).some((other) => other.startsWith(`${pointer}/`));
    const text = isBranch ? branchInWords(rule, names.length === 0, own) : ruleInWords(rule, own);
    const line = text === '' ? [] : [{ path: names.join(own.nameJoiner), text }];
    return [...line, ...(rule.each ? linesOf(rule.each, [...names, own.eachEntry], own) : [])];
  });
}

/** @param isTop true for the arguments as a whole, of which `open` is said elsewhere */
function branchInWords({ optional, open }: Rule, isTop: boolean, own: RuleWords): string {
  return [optional && own.optionalBranch, open && !isTop && own.openBranch].filter(Boolean).join(' ');
}

/** Describes the rule of a leaf. */
export function ruleInWords(rule: Rule, own: RuleWords = words): string {
  if (rule.absent) return own.absent;
  const limits = limitsInWords(rule, own).map(({ text }) => text);
  const text = limits.length > 0 ? limits.join(', ') : rule.each ? own.list : own.anything;
  return rule.optional ? own.optional(text) : text;
}

/** Describes each key of a rule, and names the key. */
export function limitsInWords(
  rule: Rule,
  own: RuleWords = words,
): { readonly key: keyof Rule; readonly text: string }[] {
  const limits: { key: keyof Rule; text: string }[] = [];
  const add = (key: keyof Rule, text: string | undefined) => text !== undefined && limits.push({ key, text });
  const quote = (value: RuleValue) => quoted(value, own);
  const type = typeOf(rule);
  const hasBounds = rule.min !== undefined || rule.max !== undefined;
  const isSaid = type === 'integer' || type === 'decimal' || Object.keys(rule).every((key) => isAside(key));
  if (type && rule.type && isSaid) add('type', own.type(type));
  add('in', rule.in && own.among(rule.in.map(quote)));
  if (hasBounds) add(rule.max === undefined ? 'min' : 'max', boundsInWords(rule, own));
  add('length', rule.length && own.characters(...rule.length));
  add('prefix', rule.prefix && own.begins(rule.prefix.map(quote)));
  add('suffix', rule.suffix && own.ends(rule.suffix.map(quote)));
  add('email', rule.email && own.emails(rule.email));
  add('host', rule.host && own.hosts(rule.host));
  add('path', rule.path && own.paths(rule.path));
  add('url', rule.url && own.urls(rule.url));
  add('cidr', rule.cidr && own.networks(rule.cidr));
  add('items', rule.items && own.entries(...rule.items));
  add('contains', rule.contains && own.including(rule.contains.map(quote)));
  return limits;
}

function isAside(key: string): boolean {
  return key === 'type' || key === 'optional' || key === 'each';
}

function boundsInWords({ min, max }: Rule, own: RuleWords): string | undefined {
  if (min === undefined) return max && own.atMost(max);
  if (max === undefined) return own.atLeast(min);
  return compareSigned(min, max) === 0 ? own.among([min]) : own.between(min, max);
}

function quoted(value: RuleValue, own: RuleWords = words): string {
  return typeof value === 'string' ? own.quoted(value) : String(value);
}

/**
 * Describes one key of a rule as a condition, such as `it is at most 500`.
 *
 * @param limit the value of the key, of which a list may be cut
 */
export function conditionInWords(key: keyof Rule, limit: unknown): string {
  const texts = Array.isArray(limit) ? limit.map(String) : [];
  const values = Array.isArray(limit) ? limit.map((value) => quoted(value)) : [];
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
