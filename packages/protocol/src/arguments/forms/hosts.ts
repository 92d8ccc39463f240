const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:[.]${LABEL})*$`);
/** ASCII alone, because lower case makes letters of other characters: the Kelvin sign becomes `k`. */
const ASCII_NAME = /^[A-Za-z0-9.-]{1,253}$/;
const NEVER_PUBLIC = new Set([
  ...['localhost', 'local', 'localdomain', 'internal', 'intranet', 'lan', 'home', 'corp'],
  ...['private', 'arpa', 'test', 'invalid', 'svc', 'onion'],
]);

/** A name, or with `isAbove` every name that ends in `.` and this one. */
export interface Host {
  readonly name: string;
  readonly isAbove: boolean;
}

/** Tells whether a text is a name in lower case: labels joined by dots. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Reads a name of any case. @returns the name in lower case */
export function readName(text: string): string | undefined {
  const name = ASCII_NAME.test(text) ? text.toLowerCase() : undefined;
  return name !== undefined && isName(name) ? name : undefined;
}

/** Tells whether a name has two labels or more. */
export function hasDomain(name: string): boolean {
  return name.includes('.');
}

/** Reads a name, or `*.` and a name of two labels or more. */
export function readHost(text: string): Host | undefined {
  const isAbove = text.startsWith('*.');
  const name = isAbove ? text.slice(2) : text;
  return isName(name) && (!isAbove || hasDomain(name)) ? { name, isAbove } : undefined;
}

/** Tells whether a host item allows a name. */
export function allowsName({ name, isAbove }: Host, value: string): boolean {
  return isAbove ? value.endsWith(`.${name}`) : value === name;
}

/** Tells whether every name that `narrow` allows is allowed by `wide`. */
export function isHostWithin(narrow: Host, wide: Host): boolean {
  if (!narrow.isAbove) return allowsName(wide, narrow.name);
  return wide.isAbove && (narrow.name === wide.name || narrow.name.endsWith(`.${wide.name}`));
}

/** Tells whether the last label begins with a letter, as no address of digits does. */
export function endsInLetters(name: string): boolean {
  return /(?:^|[.])[a-z][^.]*$/.test(name);
}

/** Tells whether a name can be public: two labels or more, and no ending that is kept for private use. */
export function isPublic(name: string): boolean {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return hasDomain(name) && endsInLetters(name) && !NEVER_PUBLIC.has(last);
}

/** The form of `host`. */
export const hostForm: Form<Host, string> = {
  readItem: readHost,
  readValue: readName,
  allows: allowsName,
  isWithin: isHostWithin,
};

/**
 * A text form: a grammar so narrow that no two parsers read a text of it differently. A text outside the form is
 * refused, whatever it might mean.
 */
export interface Form<Item, Value> {
  /** Reads an item of a rule. @returns undefined when the item is outside the form */
  readItem(text: string): Item | undefined;
  /** Reads an argument. @returns undefined when the argument is outside the form */
  readValue(text: string): Value | undefined;
  /** Tells whether the item allows the argument. */
  allows(item: Item, value: Value): boolean;
  /** Tells whether `wide` allows every argument that `narrow` allows. */
  isWithin(narrow: Item, wide: Item): boolean;
}
