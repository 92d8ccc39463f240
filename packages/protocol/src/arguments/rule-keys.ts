import { isCount } from '../counts.ts';
import { isDecimal } from './decimals.ts';
import { type FormKey, forms } from './forms/index.ts';
import { MAX_ITEMS, MAX_TEXT, type Rule, type RuleFault, type RuleFaultCode } from './rules.ts';
import { codePoints, isShowable } from './text.ts';

/** Finds the fault of one key's value. @returns undefined when the value is fine */
type KeyCheck = (value: unknown, path: string) => RuleFault | undefined;

const types: readonly unknown[] = ['string', 'number', 'integer', 'decimal', 'boolean', 'array', 'object'];

const checkType: KeyCheck = (value, path) => {
  if (typeof value !== 'string') return { code: 'wrong_type', path };
  return types.includes(value) ? undefined : { code: 'invalid_rule', path };
};

const checkDecimal: KeyCheck = (value, path) => {
  if (typeof value !== 'string') return { code: 'wrong_type', path };
  return isDecimal(value) ? undefined : { code: 'invalid_rule', path };
};

const checkFlag: KeyCheck = (value, path) => {
  if (typeof value !== 'boolean') return { code: 'wrong_type', path };
  return value ? undefined : { code: 'invalid_rule', path };
};

const checkPair: KeyCheck = (value, path) => {
  if (!Array.isArray(value)) return { code: 'wrong_type', path };
  if (value.length !== 2) return { code: 'invalid_rule', path };
  const at = value.findIndex((count) => !isCount(count));
  return at < 0 ? undefined : { code: 'invalid_count', path: `${path}[${at}]` };
};

/** Checks a list: its form, then each item, then whether the item is repeated. */
function listOf(faultOf: (item: unknown) => RuleFaultCode | undefined): KeyCheck {
  return (value, path) => {
    if (!Array.isArray(value)) return { code: 'wrong_type', path };
    if (value.length === 0) return { code: 'empty', path };
    if (value.length > MAX_ITEMS) return { code: 'too_many', path };
    const seen = new Set<unknown>();
    for (const [index, item] of value.entries()) {
      const code = faultOf(item) ?? (seen.has(item) ? 'duplicate_item' : undefined);
      if (code) return { code, path: `${path}[${index}]` };
      seen.add(item);
    }
    return undefined;
  };
}

const checkValues = listOf((item) => {
  if (typeof item === 'string') return textFault(item);
  if (typeof item === 'number') return Number.isSafeInteger(item) ? undefined : 'invalid_rule';
  return item === null || typeof item === 'boolean' ? undefined : 'wrong_type';
});

const checkTexts = (isItem: (text: string) => boolean) =>
  listOf((item) => {
    if (typeof item !== 'string') return 'wrong_type';
    return textFault(item) ?? (item !== '' && isItem(item) ? undefined : 'invalid_rule');
  });

const checkForm = (key: FormKey) => checkTexts(forms[key].isItem);

/** The check of each key but `each`, whose value is another set of rules. */
export const keyChecks = {
  type: checkType,
  in: checkValues,
  min: checkDecimal,
  max: checkDecimal,
  length: checkPair,
  // A prefix of an address or path also matches `https://api.acme.com.evil.com` and `/data/../etc`.
  prefix: checkTexts((text) => !/^[/\\.~]|:\/\//.test(text)),
  // A suffix that begins inside a name also matches `evilacme.com` and `x@evil.com,y@acme.com`.
  suffix: checkTexts((text) => /^(?![A-Za-z0-9@])[!-~ ]/.test(text)),
  email: checkForm('email'),
  host: checkForm('host'),
  path: checkForm('path'),
  url: checkForm('url'),
  cidr: checkForm('cidr'),
  items: checkPair,
  contains: checkValues,
  optional: checkFlag,
  absent: checkFlag,
  open: checkFlag,
} satisfies Record<Exclude<keyof Rule, 'each'>, KeyCheck>;

/** A key of a rule. */
export type RuleKey = keyof Rule;

/** The keys of a rule in the order in which faults are looked for and arguments are checked. */
export const ruleKeys = [
  'type',
  'in',
  'min',
  'max',
  'length',
  'prefix',
  'suffix',
  'email',
  'host',
  'path',
  'url',
  'cidr',
  'items',
  'contains',
  'each',
  'optional',
  'absent',
  'open',
] as const satisfies readonly RuleKey[];

function textFault(text: string): RuleFaultCode | undefined {
  if (codePoints(text) > MAX_TEXT) return 'too_many';
  return isShowable(text) ? undefined : 'invalid_rule';
}
