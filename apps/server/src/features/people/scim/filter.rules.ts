import { scimRefusal } from '../../../platform/errors.ts';
import { type Bound, comparable, type Test } from './bind.rules.ts';

/** A filter of RFC 7644, section 3.4.2.2, as it was written. Names are not resolved yet. */
export type Filter =
  | { readonly kind: 'compare'; readonly name: string; readonly op: Comparison; readonly value: Literal }
  | { readonly kind: 'present'; readonly name: string }
  | { readonly kind: 'and' | 'or'; readonly left: Filter; readonly right: Filter }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'values'; readonly name: string; readonly filter: Filter };

export type Comparison = (typeof COMPARISONS)[number];
export type Literal = string | number | boolean | null;

const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;

const LONGEST = 4096; // characters
const DEEPEST = 20;
const MAX_TERMS = 50;

/** The path of an operation of PATCH, as it was written: `emails[type eq "work"].value`. */
export interface Path {
  readonly name: string;
  readonly filter?: Filter;
  readonly sub?: string;
}

/** @throws invalidFilter */
export function parseFilter(text: string): Filter {
  const reader = readerOf(text);
  const filter = readOr(reader, 0);
  reader.mustEnd();
  return filter;
}

/** How many questions a filter asks of one value at most. */
export function termsOf(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return termsOf(filter.left) + termsOf(filter.right);
    case 'not':
    case 'values':
      return termsOf(filter.filter);
    default:
      return 1;
  }
}

/** @throws invalidFilter; the caller makes invalidPath of it */
export function parsePath(text: string): Path {
  const reader = readerOf(text);
  const name = reader.name();
  if (!reader.take('[')) {
    reader.mustEnd();
    return { name };
  }
  const filter = readOr(reader, 1);
  reader.must(']');
  const sub = reader.take('.') ? reader.name() : undefined;
  reader.mustEnd();
  return { name, filter, ...(sub !== undefined && { sub }) };
}

type Reader = ReturnType<typeof readerOf>;

/** Each look ahead is one sticky pattern without nested repetition, so the time grows with the length alone. */
function readerOf(text: string) {
  if (text.length > LONGEST) throw broken(`is longer than ${LONGEST} characters`);
  let at = 0;
  let terms = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const skip = () => match(/ */y);
  const take = (sign: string) => {
    skip();
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };
  return {
    skip,
    take,
    must(sign: string) {
      if (!take(sign)) throw broken(`lacks \`${sign}\` at character ${at + 1}`);
    },
    mustEnd() {
      skip();
      if (at < text.length) throw broken(`goes on after its end at character ${at + 1}`);
    },
    /** A word that stands by itself, in any case. */
    word(words: string) {
      skip();
      return match(new RegExp(`(?:${words})(?![\\w.:$-])`, 'iy'))?.toLowerCase();
    },
    name() {
      skip();
      const name = match(/[a-z$][\w.:$-]*/iy);
      if (name === undefined) throw broken(`lacks an attribute at character ${at + 1}`);
      return name;
    },
    literal(): Literal {
      skip();
      const found = match(/"(?:[^"\\]|\\.)*"|[\w.+-]+/sy);
      if (found === undefined) throw broken(`lacks a value at character ${at + 1}`);
      return literalOf(found);
    },
    count() {
      terms += 1;
      if (terms > MAX_TERMS) throw broken(`has more than ${MAX_TERMS} terms`);
    },
  };
}

/** The values of a filter are those of JSON. Identity providers also write `True`. */
function literalOf(text: string): Literal {
  try {
    const value: unknown = JSON.parse(/^(?:true|false|null)$/i.test(text) ? text.toLowerCase() : text);
    if (isLiteral(value) && !(typeof value === 'string' && value.includes('\0'))) return value;
  } catch {
    // not JSON, hence no value
  }
  throw broken('has a value that is neither a text in quotes, a number, `true`, `false` nor `null`');
}

const isLiteral = (value: unknown): value is Literal =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

function readOr(reader: Reader, depth: number): Filter {
  let left = readAnd(reader, depth);
  while (reader.word('or')) left = { kind: 'or', left, right: readAnd(reader, depth) };
  return left;
}

function readAnd(reader: Reader, depth: number): Filter {
  let left = readTerm(reader, depth);
  while (reader.word('and')) left = { kind: 'and', left, right: readTerm(reader, depth) };
  return left;
}

function readTerm(reader: Reader, depth: number): Filter {
  if (depth > DEEPEST) throw broken(`is nested deeper than ${DEEPEST} levels`);
  const isNot = reader.word('not') !== undefined;
  if (isNot || reader.take('(')) {
    if (isNot) reader.must('(');
    const filter = readOr(reader, depth + 1);
    reader.must(')');
    return isNot ? { kind: 'not', filter } : filter;
  }
  const name = reader.name();
  if (reader.take('[')) {
    const filter = readOr(reader, depth + 1);
    reader.must(']');
    if (!reader.take('.')) return { kind: 'values', name, filter };
    // Beyond the grammar of the RFC, as Entra ID writes it: `emails[type eq "work"].value eq "x"`.
    return {
      kind: 'values',
      name,
      filter: { kind: 'and', left: filter, right: readTest(reader, reader.name()) },
    };
  }
  return readTest(reader, name);
}

function readTest(reader: Reader, name: string): Filter {
  reader.count();
  if (reader.word('pr')) return { kind: 'present', name };
  const found = reader.word(COMPARISONS.join('|'));
  const op = COMPARISONS.find((each) => each === found);
  if (!op) throw broken(`has no operator after an attribute; there are ${COMPARISONS.join(', ')} and pr`);
  return { kind: 'compare', name, op, value: reader.literal() };
}

const broken = (how: string) => scimRefusal('invalidFilter', `The filter ${how}.`);

/** Whether a resource, or a value of one of its attributes, passes a filter. */
export function matches(bound: Bound | undefined, json: unknown): boolean {
  switch (bound?.kind) {
    case undefined:
      return true;
    case 'and':
      return matches(bound.left, json) && matches(bound.right, json);
    case 'or':
      return matches(bound.left, json) || matches(bound.right, json);
    case 'not':
      return !matches(bound.filter, json);
    case 'any': {
      const values = at(json, bound.path);
      return Array.isArray(values) && values.some((value) => matches(bound.filter, value));
    }
    case 'constant':
      return bound.passes;
    case 'test':
      return passes(bound, at(json, bound.path));
  }
}

/** The member that the names lead to. Nothing is inherited. */
export function at(json: unknown, path: readonly string[]): unknown {
  let found: unknown = json;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}

function passes({ attribute, op, folded: other }: Test, found: unknown): boolean {
  const isPresent = found !== undefined && found !== null && found !== '';
  if (op === 'pr') return isPresent;
  if (op === 'absent') return !isPresent;
  if (found === undefined || found === null) return op === 'ne';
  const one = comparable(attribute, found);
  switch (op) {
    case 'eq':
      return one === other;
    case 'ne':
      return one !== other;
    case 'co':
      return String(one).includes(String(other));
    case 'sw':
      return String(one).startsWith(String(other));
    case 'ew':
      return String(one).endsWith(String(other));
    case 'gt':
      return one > other;
    case 'ge':
      return one >= other;
    case 'lt':
      return one < other;
    case 'le':
      return one <= other;
  }
}
