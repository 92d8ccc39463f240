import { JsonError, parseJsonText } from '@behest/protocol/json';
import { sayer } from '../../messages/language.ts';

const say = sayer('json');

/** What is wrong in a draft, at a path such as `tools.send.caps`. The empty path is the draft as a whole. */
export interface Fault {
  readonly path: string;
  readonly text: string;
}

/** A fault with its line, which counts from 1. */
export interface Mark {
  readonly line: number;
  readonly text: string;
}

interface Read {
  /** Absent when the text is no JSON. */
  readonly value?: unknown;
  readonly mark?: Mark;
  /** The line of a path or, where the text has no such member, of what it would stand in. */
  readonly lineOf: (path: string) => number;
}

type Problem = 'value' | 'name' | 'colon' | 'comma' | 'end' | 'repeated' | 'deep';

class Misplaced extends Error {
  readonly problem: Problem;
  readonly at: number;
  constructor(problem: Problem, at: number) {
    super(problem);
    this.problem = problem;
    this.at = at;
  }
}

/** Reads JSON as the service does, and says where each member stands. */
export function readJson(text: string): Read {
  const places = new Map<string, number>();
  const lineAt = (place: number) => text.slice(0, place).split('\n').length;
  const lineOf = (path: string) => {
    for (let left = path.replaceAll('[', '.').replaceAll(']', ''); left !== ''; ) {
      const place = places.get(left);
      if (place !== undefined) return lineAt(place);
      left = left.slice(0, Math.max(0, left.lastIndexOf('.')));
    }
    return 1;
  };
  try {
    findPlaces(text, places);
    return { value: parseJsonText(text), lineOf };
  } catch (error) {
    if (error instanceof Misplaced)
      return { mark: { line: lineAt(error.at), text: say(error.problem) }, lineOf };
    if (error instanceof JsonError) return { mark: { line: 1, text: error.message }, lineOf };
    throw error;
  }
}

const DEEPEST = 32;
const [SPACE, ENDS] = [' \n\r\t', ' \n\r\t,:]}'];

/** Goes through a text once. @throws Misplaced at the first character that JSON does not have there */
function findPlaces(text: string, places: Map<string, number>): void {
  let at = 0;
  const fail = (problem: Problem, place = at): never => {
    throw new Misplaced(problem, place);
  };
  const isOneOf = (characters: string) => at < text.length && characters.includes(text.charAt(at));
  const skip = () => {
    while (isOneOf(SPACE)) at += 1;
  };
  /** @param end where a token ends */
  const token = (start: number, end: number): unknown => {
    at = end;
    try {
      return JSON.parse(text.slice(start, end));
    } catch {
      return fail('value', start);
    }
  };
  const string = (): string => {
    let end = at + 1;
    while (end < text.length && text[end] !== '"' && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
    return String(token(at, end + 1));
  };
  /** @param item reads one, up to what follows it */
  const list = (close: string, item: (index: number) => void) => {
    at += 1;
    skip();
    if (text[at] === close) {
      at += 1;
      return;
    }
    for (let index = 0; ; index += 1) {
      item(index);
      skip();
      if (text[at] === ',') at += 1;
      else if (text[at] === close) break;
      else fail('comma');
    }
    at += 1;
  };
  const value = (path: string, depth: number): void => {
    skip();
    if (depth > DEEPEST) fail('deep');
    if (path !== '' && !places.has(path)) places.set(path, at);
    const within = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`);
    if (text[at] === '[') list(']', (index) => value(within(index), depth + 1));
    else if (text[at] === '{') {
      const names = new Set<string>();
      list('}', () => {
        skip();
        const start = at;
        const name = text[at] === '"' ? string() : fail('name');
        if (names.has(name)) fail('repeated', start);
        names.add(name);
        places.set(within(name), start);
        skip();
        if (text[at] !== ':') fail('colon');
        at += 1;
        value(within(name), depth + 1);
      });
    } else if (text[at] === '"') string();
    else {
      const start = at;
      while (at < text.length && !isOneOf(ENDS)) at += 1;
      token(start, at);
    }
  };
  value('', 1);
  skip();
  if (at < text.length) fail('end');
}

/** The known name that a name is probably meant to be: the same but for case and signs, or a few letters away. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const wanted = plain(name);
  const [best] = known
    .map((each) => ({ each, far: distance(wanted, plain(each)) }))
    .toSorted((one, other) => one.far - other.far);
  return best && best.far <= Math.max(1, Math.floor(wanted.length / 3)) ? best.each : undefined;
}

/** How many letters are added, left out or replaced between two short texts (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one.slice(0, LONGEST_NAME)].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= other.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (other[j - 1] === letter ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

const LONGEST_NAME = 64;
