const ABOVE = '*.';

/** Gives a text in another language, with the same names in braces. */
export type Say = (text: string) => string;

/** Puts values in place of their names in braces, in one pass: a value may hold braces. */
export const filled = (text: string, values: Readonly<Record<string, string>>) =>
  text.replace(/\{(\w+)\}/g, (name, key: string) => values[key] ?? name);

const conditionTypes = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['decimal', 'an amount in digits, written as a text'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
]);

/** The texts about argument rules that a person reads before they decide. */
export const ruleTexts = {
  eachEntry: 'each entry',
  anything: 'anything',
  absent: 'not given',
  list: 'a list',
  optional: 'if given, {rest}',
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
  exactly: 'exactly {value}',
  atLeast: 'at least {min}',
  atMost: 'at most {max}',
  between: 'between {min} and {max}',
  characters: { exactly: 'exactly {least} characters', range: '{least} to {most} characters' },
  entries: { exactly: 'exactly {least} entries', range: '{least} to {most} entries' },
  begins: 'begins with {texts}',
  ends: 'ends with {texts}',
  including: 'including {values}',
  /** The first domain of a list, and those after it. */
  firstEmailAt: 'an e-mail address at {domain}',
  firstEmailBelow: 'an e-mail address at a subdomain of {domain}',
  emailAt: 'at {domain}',
  emailBelow: 'at a subdomain of {domain}',
  host: 'the host {host}',
  hostBelow: 'a subdomain of {host}',
  anyPath: 'any path',
  relativePath: 'a relative path',
  folder: 'within the folder {path}',
  url: 'a web address at {url}',
  urlBelow: 'a web address at a subdomain of {host} ({scheme})',
  anyUrl: 'any public web address ({scheme})',
  networks: 'an address in {networks}',
} as const;

export type RuleWords = ReturnType<typeof ruleWordsIn>;

/** The words about argument rules in a language. Those about conditions, which calls are refused with, are English. */
export function ruleWordsIn(language: string, say: Say) {
  const locale = language === 'en' ? 'en-GB' : language; // without a comma before the last
  const either = new Intl.ListFormat(locale, { type: 'disjunction' });
  const both = new Intl.ListFormat(locale, { type: 'conjunction' });
  const texts = ruleTexts;
  const put = (text: string, values: Readonly<Record<string, string>>) => filled(say(text), values);
  const range = ({ exactly, range: between }: Readonly<Record<'exactly' | 'range', string>>) => {
    return (least: number, most: number) =>
      put(least === most ? exactly : between, { least: `${least}`, most: `${most}` });
  };
  const [open, close] = QUOTES[language] ?? ['“', '”'];

  return {
    nameJoiner: ' › ',
    eachEntry: say(texts.eachEntry),
    anything: say(texts.anything),
    absent: say(texts.absent),
    list: say(texts.list),
    optional: (rest: string) => put(texts.optional, { rest }),
    optionalBranch: say(texts.optionalBranch),
    openBranch: say(texts.openBranch),
    type: (type: keyof typeof texts.types) => say(texts.types[type]),
    quoted: (text: string) => `${open}${text}${close}`,
    among: (values: readonly string[]) =>
      values.length === 1 ? put(texts.exactly, { value: values[0] ?? '' }) : either.format(values),
    atLeast: (min: string) => put(texts.atLeast, { min }),
    atMost: (max: string) => put(texts.atMost, { max }),
    between: (min: string, max: string) => put(texts.between, { min, max }),
    characters: range(texts.characters),
    entries: range(texts.entries),
    begins: (values: readonly string[]) => put(texts.begins, { texts: either.format(values) }),
    ends: (values: readonly string[]) => put(texts.ends, { texts: either.format(values) }),
    including: (values: readonly string[]) => put(texts.including, { values: both.format(values) }),
    emails: (items: readonly string[]) => {
      const first = items.findIndex((item) => !item.includes('@'));
      const said = items.map((item, index) => {
        if (item.includes('@')) return item;
        const isBelow = item.startsWith(ABOVE);
        const [at, below] =
          index === first ? [texts.firstEmailAt, texts.firstEmailBelow] : [texts.emailAt, texts.emailBelow];
        return put(isBelow ? below : at, { domain: isBelow ? item.slice(2) : item });
      });
      return either.format(said);
    },
    hosts: (items: readonly string[]) =>
      either.format(
        items.map((item) =>
          item.startsWith(ABOVE)
            ? put(texts.hostBelow, { host: item.slice(2) })
            : put(texts.host, { host: item }),
        ),
      ),
    paths: (items: readonly string[]) =>
      either.format(
        items.map((item) => {
          if (item === '/') return say(texts.anyPath);
          return item === '.' ? say(texts.relativePath) : put(texts.folder, { path: item });
        }),
      ),
    conditions: {
      type: (type: string) => `it is ${conditionTypes.get(type) ?? type}`,
      is: (limit: string) => `it is ${limit}`,
      has: (limit: string) => `it has ${limit}`,
      does: (limit: string) => `it ${limit}`,
      includes: (values: readonly string[]) => `it includes ${both.format(values)}`,
    },
    urls: (items: readonly string[]) =>
      either.format(
        items.map((item) => {
          const [scheme = '', rest = ''] = item.split('://');
          if (rest === '*' || rest === '*/') return put(texts.anyUrl, { scheme });
          return rest.startsWith(ABOVE)
            ? put(texts.urlBelow, { host: rest.slice(2), scheme })
            : put(texts.url, { url: item });
        }),
      ),
    networks: (items: readonly string[]) => put(texts.networks, { networks: either.format(items) }),
  };
}

/** The quotation marks of languages that have others than English. None has a blank, which a page would show as a sign. */
const QUOTES: Readonly<Record<string, readonly [string, string]>> = {
  de: ['„', '“'],
  es: ['«', '»'],
  ja: ['「', '」'],
};

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
