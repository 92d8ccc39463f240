/**
 * A second reading of the argument rules, slow and literal on purpose. It shares no code with the engine,
 * so that a mistake in one of them shows as a difference.
 */
type Rule = Readonly<Record<string, unknown>>;
type RuleSet = Readonly<Record<string, Rule>>;

/** `fine`, or the refusal as `<sub-reason> <path> <rule>`. */
export function naiveCheck(rules: RuleSet, args: unknown): string {
  return apply(rules, '', args, true, '') ?? 'fine';
}

const below = (rules: RuleSet, pointer: string) =>
  Object.keys(rules).filter((other) => other.startsWith(`${pointer}/`));

function namesBelow(rules: RuleSet, pointer: string): string[] {
  const names = below(rules, pointer).map((other) => other.slice(pointer.length + 1).split('/')[0] ?? '');
  return [...new Set(names)].sort();
}

function apply(
  rules: RuleSet,
  pointer: string,
  value: unknown,
  isThere: boolean,
  path: string,
): string | undefined {
  const rule = Object.hasOwn(rules, pointer) ? rules[pointer] : undefined;
  const isBranch = below(rules, pointer).length > 0;
  if (!isThere) {
    if (rule?.optional || rule?.absent) return undefined;
    if (rule) return `argument_missing ${path}`;
    return first(namesBelow(rules, pointer), (name) =>
      apply(rules, `${pointer}/${name}`, undefined, false, `${path}/${name}`),
    );
  }
  if (rule?.absent) return `argument_not_allowed ${path} absent`;
  if (!isBranch) return applyLeaf(rule ?? {}, value, path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `argument_not_allowed ${path} type`;
  const names = namesBelow(rules, pointer);
  const unlisted = Object.keys(value)
    .sort()
    .find((name) => !names.includes(name));
  if (!rule?.open && unlisted !== undefined) return `argument_not_allowed ${path}/${unlisted} unlisted`;
  return first(names, (name) => {
    const member = Object.entries(value).find(([own]) => own === name);
    return apply(rules, `${pointer}/${name}`, member?.[1], member !== undefined, `${path}/${name}`);
  });
}

function applyLeaf(rule: Rule, value: unknown, path: string): string | undefined {
  const refused = (key: string) => `argument_not_allowed ${path} ${key}`;
  const { type, in: values, min, max, length, prefix, suffix, items, contains, each } = rule;
  const list = (key: unknown): unknown[] => (Array.isArray(key) ? key : []);
  const isText = typeof value === 'string';
  const wanted = type ?? impliedType(rule);
  if (wanted !== undefined && !hasType(value, String(wanted))) return refused('type');
  if (values && !list(values).some((one) => one === value)) return refused('in');
  if (min !== undefined && scaled(value) < scaled(min)) return refused('min');
  if (max !== undefined && scaled(value) > scaled(max)) return refused('max');
  const [least, most] = list(length ?? items).map(Number);
  if (length && isText && outside(Array.from(value).length, least, most)) return refused('length');
  const isPlain = isText && !/\p{Cc}/u.test(value);
  if (prefix && !(isPlain && list(prefix).some((one) => value.indexOf(String(one)) === 0)))
    return refused('prefix');
  if (suffix && !(isPlain && list(suffix).some((one) => value.slice(-String(one).length) === one))) {
    return refused('suffix');
  }
  const elements = list(value);
  if (items && outside(elements.length, least, most)) return refused('items');
  if (contains && !list(contains).every((one) => elements.some((other) => other === one)))
    return refused('contains');
  if (!each) return undefined;
  return first([...elements.keys()], (at) => apply(Object(each), '', elements[at], true, `${path}/${at}`));
}

function first<Item>(
  all: readonly Item[],
  refusalOf: (item: Item) => string | undefined,
): string | undefined {
  for (const item of all) {
    const refusal = refusalOf(item);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const outside = (count: number, least = 0, most = 0) => count < least || count > most;

function impliedType(rule: Rule): string | undefined {
  if ('min' in rule || 'max' in rule) return 'number';
  if ('length' in rule || 'prefix' in rule || 'suffix' in rule) return 'string';
  return 'items' in rule || 'contains' in rule || 'each' in rule ? 'array' : undefined;
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return typeof value === 'number' && value % 1 === 0;
  if (type === 'decimal')
    return typeof value === 'string' && /^-?(0|[1-9]\d{0,17})(\.\d{1,18})?$/.test(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** A decimal of at most 18 digits after the point as an integer. Test values have no exponent. */
function scaled(decimal: unknown): bigint {
  const [whole = '', fraction = ''] = String(decimal).split('.');
  const digits = BigInt(whole.replace('-', '') + fraction.padEnd(18, '0'));
  return whole.startsWith('-') ? -digits : digits;
}
