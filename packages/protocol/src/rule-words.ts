/** The texts of `english` about argument rules. */

const either = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const both = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const ABOVE = '*.';

const range = (least: number, most: number, unit: string) =>
  least === most ? `exactly ${least} ${unit}` : `${least} to ${most} ${unit}`;

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
