/** The deepest nesting of objects and arrays. A deeper text makes readers recurse. */
const MAX_DEPTH = 32;
/** The most members of all objects together. */
const MAX_MEMBERS = 10_000;
/** The most values for each member that may be there. An empty object or array counts as two. No text of 64 KiB has 50,000. */
const VALUES = 5;

const [QUOTE, BACKSLASH, COLON, COMMA, UNICODE] = [0x22, 0x5c, 0x3a, 0x2c, 0x75]; // " \ : , u
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The fault of a text that `parseJson` refuses. */
export type JsonProblem =
  | 'encoding'
  | 'syntax'
  | 'too_deep'
  | 'too_many_members'
  | 'too_many_values'
  | 'repeated_member'
  | 'value';

const SENTENCES: Readonly<Record<JsonProblem, string>> = {
  encoding: 'it is not UTF-8',
  syntax: 'its syntax is not that of JSON',
  too_deep: `it has more than ${MAX_DEPTH} levels`,
  too_many_members: `it has more than ${MAX_MEMBERS} members`,
  too_many_values: `it has more than ${VALUES * MAX_MEMBERS} values`,
  repeated_member: 'an object has two members of one name',
  value: 'a number is too large for a double',
};
const BYTE_ORDER_MARK = 'it begins with a byte-order mark; send UTF-8 without one';
const NUL = 'a string holds NUL, which cannot be kept; leave it out';
const LONE_SURROGATE = 'a string holds half of a surrogate pair, which is no character; leave it out';

/** The error of `parseJson`. It names the fault, and repeats nothing of the text. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly problem: JsonProblem;
  /** The fault in words, as the end of a sentence. */
  readonly fault: string;

  constructor(problem: JsonProblem, fault: string = SENTENCES[problem]) {
    super(`The JSON text is not acceptable: ${fault}.`);
    this.problem = problem;
    this.fault = fault;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads JSON more strictly than `JSON.parse`: the function refuses a text that two readers could understand
 * differently. It refuses a byte-order mark, bytes that are not UTF-8, two members of one object with the same
 * name (in any escape), NUL or half a surrogate pair in a string, and a number too large for a double. It also
 * refuses more than 32 levels, more than 10,000 members and more than 50,000 values, each of which costs far more than its
 * bytes.
 *
 * @param maxMembers the most members of all objects together, and a fifth of the most values
 * @throws JsonError with the fault in `problem`
 * @see RFC 8259, sections 4, 6 and 8, which leave each of these to the reader
 */
export function parseJson(bytes: Uint8Array, maxMembers = MAX_MEMBERS): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    const isMarked = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff); // UTF-16
    throw isMarked ? new JsonError('encoding', BYTE_ORDER_MARK) : new JsonError('encoding');
  }
  return parseJsonText(text, maxMembers);
}

/**
 * Reads a text that is already decoded, as `parseJson` does.
 *
 * @param maxMembers the most members of all objects together, and a fifth of the most values
 * @throws JsonError
 */
export function parseJsonText(text: string, maxMembers = MAX_MEMBERS): unknown {
  if (!text.isWellFormed()) throw new JsonError('encoding', LONE_SURROGATE);
  const measured = measure(text, maxMembers); // first, so that a hostile text is never made into a value
  const { escapedNames } = measured;
  const value = escapedNames.length === 0 ? parse(text) : parseNamesApart(text, escapedNames);
  if (countKept(value, measured.hasEscapes) !== measured.members) throw new JsonError('repeated_member');
  return value;
}

/** A byte-order mark is a syntax error here, because the decoder leaves it in the text. So is a NUL that is not escaped. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (text.startsWith('\ufeff')) throw new JsonError('syntax', BYTE_ORDER_MARK);
    throw text.includes('\0') ? new JsonError('syntax', NUL) : new JsonError('syntax');
  }
}

/** Where a string begins in a text, with its quotation marks, and where it has ended. */
type Span = readonly [start: number, end: number];

/**
 * Counts the levels and members of a text without making a value, and finds the names that have escapes. Both are right
 * for JSON only; `JSON.parse` refuses any other text.
 */
function measure(text: string, maxMembers: number) {
  let [depth, members, values] = [0, 0, 1];
  const hasBackslash = text.includes('\\');
  const escapedNames: Span[] = [];
  let [hasEscapes, isEscaped, start, end] = [false, false, 0, 0]; // the last three speak of the last string
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      isEscaped = false;
      if (!hasBackslash) {
        at = text.indexOf('"', at + 1);
        if (at < 0) break;
        continue;
      }
      start = at;
      for (at += 1; at < text.length; at += 1) {
        const inside = text.charCodeAt(at);
        if (inside === QUOTE) break;
        if (inside !== BACKSLASH) continue;
        isEscaped = true;
        at += 1;
        if (text.charCodeAt(at) === UNICODE) hasEscapes = true;
      }
      end = at + 1;
    } else if (character === COLON) {
      if (isEscaped) escapedNames.push([start, end]);
      isEscaped = false;
      members += 1;
      if (members > maxMembers) throw new JsonError('too_many_members');
    } else if (character === COMMA) {
      values += 1;
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth += 1;
      values += 1;
      if (depth > MAX_DEPTH) throw new JsonError('too_deep');
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      depth -= 1;
    }
    if (values > VALUES * maxMembers) throw new JsonError('too_many_values');
  }
  return { members, hasEscapes, escapedNames };
}

/** Begins the place of a name. A well-formed text has no half of a surrogate pair, so no other name begins with it. */
const PLACE = '\ud800';

/**
 * V8 reads a name that consists of one escaped character as a backslash, once it has read a backslash as a name.
 * The function therefore numbers the names that have escapes, reads the text, and puts the names back.
 *
 * @see https://github.com/nodejs/node/issues/63785
 */
function parseNamesApart(text: string, escapedNames: readonly Span[]): unknown {
  const names: string[] = [];
  let [numbered, from] = ['', 0];
  for (const [start, end] of escapedNames) {
    numbered += `${text.slice(from, start)}"${PLACE}${names.length}"`;
    names.push(String(parse(text.slice(start, end))));
    from = end;
  }
  return withNames(parse(numbered + text.slice(from)), names);
}

/** Properties as `JSON.parse` makes them. An assignment to `__proto__` would change what the object inherits. */
const OWN = { writable: true, enumerable: true, configurable: true };

function withNames(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => withNames(element, names));
  const named: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const own = name.startsWith(PLACE) ? String(names[Number(name.slice(1))]) : name;
    if (own === '__proto__') Object.defineProperty(named, own, { ...OWN, value: withNames(member, names) });
    else named[own] = withNames(member, names);
  }
  return named;
}

/**
 * Counts the members of a value. `JSON.parse` keeps the last of two members with one name, so a repeated name makes
 * the count smaller. Strings are checked only where the text has an escape such as `\u0000`, because the decoder and
 * `JSON.parse` refuse these characters unescaped.
 */
function countKept(value: unknown, hasEscapes: boolean): number {
  if (typeof value === 'string') {
    if (hasEscapes) mustBeText(value);
    return 0;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new JsonError('value');
    return 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let kept = 0;
  if (Array.isArray(value)) {
    for (const element of value) kept += countKept(element, hasEscapes);
    return kept;
  }
  for (const [name, member] of Object.entries(value)) {
    if (hasEscapes) mustBeText(name);
    kept += 1 + countKept(member, hasEscapes);
  }
  return kept;
}

/** Databases store no NUL, and UTF-8 has no half surrogate pair. Neither would be read back as it was sent. */
function mustBeText(text: string): void {
  if (text.includes('\0')) throw new JsonError('value', NUL);
  if (!text.isWellFormed()) throw new JsonError('value', LONE_SURROGATE);
}
