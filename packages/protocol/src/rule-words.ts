/** The texts of `english` about argument rules. */

const either = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const both = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const ABOVE = '*.';

const range = (least: number, most: number, unit: string) =>
  least === most ? `exactly ${least} ${unit}` : `${least} to ${most} ${unit}`;

const conditionTypes = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['decimal', 'an amount in digits, written as a text'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
]);

export const ruleWords = {
  nameJoiner: ' › ',
  eachEntry: 'each entry',
  anything: 'anything',
  absent: 'not given',
  list: 'a list',
  optional: (rest: string) => `if given, ${rest}`,
  optionalBranch: 'if given:',
  openBranch: 'and anything else in it',
  types: {
    string: 'any text',
    number: 'any number',
    integer: 'any whole number',
    decimal: 'any amount',
    boolean: 'yes or no',
    array: 'any list',
    object: 'any details',
  },
  quoted: (text: string) => `“${text}”`,
  among: (values: readonly string[]) =>
    values.length === 1 ? `exactly ${values[0]}` : either.format(values),
  atLeast: (min: string) => `at least ${min}`,
  atMost: (max: string) => `at most ${max}`,
  between: (min: string, max: string) => `between ${min} and ${max}`,
  characters: (least: number, most: number) => range(least, most, 'characters'),
  entries: (least: number, most: number) => range(least, most, 'entries'),
  begins: (texts: readonly string[]) => `begins with ${either.format(texts)}`,
  ends: (texts: readonly string[]) => `ends with ${either.format(texts)}`,
  including: (values: readonly string[]) => `including ${both.format(values)}`,
  emails: (items: readonly string[]) => {
    const first = items.findIndex((item) => !item.includes('@'));
    const said = items.map((item, index) => {
      if (item.includes('@')) return item;
      return `${index === first ? 'an e-mail address ' : ''}${atDomain(item)}`;
    });
    return either.format(said);
  },
  hosts: (items: readonly string[]) =>
    either.format(
      items.map((item) => (item.startsWith(ABOVE) ? `a subdomain of ${item.slice(2)}` : `the host ${item}`)),
    ),
  paths: (items: readonly string[]) =>
    either.format(
      items.map((item) => {
        if (item === '/') return 'any path';
        return item === '.' ? 'a relative path' : `within the folder ${item}`;
      }),
    ),
  conditions: {
    type: (type: string) => `it is ${conditionTypes.get(type) ?? type}`,
    is: (limit: string) => `it is ${limit}`,
    has: (limit: string) => `it has ${limit}`,
    does: (limit: string) => `it ${limit}`,
    includes: (values: readonly string[]) => `it includes ${both.format(values)}`,
  },
  urls: (items: readonly string[]) => either.format(items.map(urlInWords)),
  networks: (items: readonly string[]) => `an address in ${either.format(items)}`,
};

function atDomain(domain: string): string {
  return domain.startsWith(ABOVE) ? `at a subdomain of ${domain.slice(2)}` : `at ${domain}`;
}

function urlInWords(item: string): string {
  const [scheme = '', rest = ''] = item.split('://');
  if (rest === '*' || rest === '*/') return `any public web address (${scheme})`;
  return rest.startsWith(ABOVE)
    ? `a web address at a subdomain of ${rest.slice(2)} (${scheme})`
    : `a web address at ${item}`;
}

/** The texts of `english` about calls whose arguments were refused, by the rules that refused. */
export const refusalWords = {
  notAllowed: {
    grant: (name: string, condition: string) =>
      `The grant allows the argument “${name}” only if ${condition}.`,
    manifest: (name: string, condition: string) =>
      `The rules of the tool allow the argument “${name}” only if ${condition}.`,
  },
  unlisted: {
    grant: (name: string) => `The grant does not allow the argument “${name}”.`,
    manifest: (name: string) => `The rules of the tool do not allow the argument “${name}”.`,
  },
  missing: {
    grant: (name: string) => `The grant needs the argument “${name}”.`,
    manifest: (name: string) => `The rules of the tool need the argument “${name}”.`,
  },
  noneGiven: {
    grant: 'The grant limits the arguments, and the call gives none.',
    manifest: 'The rules of the tool limit the arguments, and the call gives none.',
  },
  unreadable: (cause: string) => `The arguments cannot be checked: ${cause}.`,
  causes: {
    not_object: 'not an object',
    not_plain: 'not plain JSON',
    number: 'a number that readers round',
    text: 'a text that is not valid',
    too_deep: 'nested too deeply',
    too_large: 'too large',
    syntax: 'not JSON',
    repeated_member: 'a repeated name',
    steps: 'too much to check',
  },
};
