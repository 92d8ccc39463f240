/** The reason why a value cannot be checked, or made part of an action. */
export type UnreadableCause = 'not_object' | 'not_plain' | 'number' | 'text' | 'too_deep' | 'too_large';

/** A copy that nobody else holds, or the reason why there is none. */
export type CopiedObject =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly cause: UnreadableCause };

/** The bounds of a value. */
export interface CopyBounds {
  /** The most levels of objects and arrays; the value itself is the first. */
  readonly levels: number;
  /** The most bytes in the canonical form of RFC 8785. */
  readonly bytes: number;
  /** True when a text may hold U+0000. */
  readonly takesNul: boolean;
  /** True when an integer may be beyond ±(2^53−1), where readers round it. */
  readonly takesLarge: boolean;
}

/** Rises through the recursion; it never leaves this file. */
class Unreadable extends Error {
  override readonly cause: UnreadableCause;

  constructor(cause: UnreadableCause) {
    super(cause);
    this.cause = cause;
  }
}

/**
 * Copies an object of JSON, so that a change between the check of a call and the call itself reaches nobody. The
 * function refuses values that two writers of JSON would write differently (I-JSON, RFC 7493), and getters.
 */
export function copyObject(value: unknown, bounds: CopyBounds): CopiedObject {
  const copying = { ...bounds, least: 0, most: 0 };
  try {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Unreadable('not_object');
    const copy = copyMembers(value, copying, 1);
    // The exact size is needed only between the two estimates.
    const isSmall = copying.most <= bounds.bytes || bytesOf(JSON.stringify(copy)) <= bounds.bytes;
    return isSmall ? { ok: true, value: copy } : { ok: false, cause: 'too_large' };
  } catch (error) {
    // A getter or proxy of the caller may throw anything.
    return { ok: false, cause: error instanceof Unreadable ? error.cause : 'not_plain' };
  }
}

/** Counts the bytes of a text in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

interface Copying extends CopyBounds {
  /** Bounds of the size in bytes, below and above. */
  least: number;
  most: number;
}

function copyValue(value: unknown, copying: Copying, level: number): unknown {
  switch (typeof value) {
    case 'string':
      mustBeText(value, copying);
      return value;
    case 'number':
      if (!isNumber(value, copying)) {
        throw new Unreadable('number');
      }
      count(copying, 1, 25);
      return value;
    case 'boolean':
      count(copying, 4, 5);
      return value;
    case 'object':
      if (value === null) {
        count(copying, 4, 4);
        return value;
      }
      if (level >= copying.levels) throw new Unreadable('too_deep');
      if (Array.isArray(value)) return copyElements(value, copying, level + 1);
      return copyMembers(value, copying, level + 1);
    default:
      throw new Unreadable('not_plain');
  }
}

function copyMembers(value: object, copying: Copying, level: number): Record<string, unknown> {
  if (!isPlain(value)) throw new Unreadable('not_plain');
  count(copying, 2, 2);
  const copy: Record<string, unknown> = {};
  for (const name of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, name);
    if (typeof name === 'symbol' || !property?.enumerable || !('value' in property)) {
      throw new Unreadable('not_plain');
    }
    mustBeText(name, copying);
    count(copying, 1, 2); // the colon, and a comma
    const member = copyValue(property.value, copying, level);
    if (name === '__proto__') Object.defineProperty(copy, name, { ...property, value: member });
    else copy[name] = member;
  }
  return copy;
}

function copyElements(value: readonly unknown[], copying: Copying, level: number): unknown[] {
  const { length } = value;
  count(copying, 2 + length, 2 + length);
  // An element is its own name; a hole or a further member makes the numbers differ.
  if (!isPlainArray(value) || Reflect.ownKeys(value).length !== length + 1) throw new Unreadable('not_plain');
  const copy: unknown[] = [];
  for (let index = 0; index < length; index += 1) {
    const property = Object.getOwnPropertyDescriptor(value, index);
    if (!property?.enumerable || !('value' in property)) throw new Unreadable('not_plain');
    copy.push(copyValue(property.value, copying, level));
  }
  return copy;
}

function isPlain(value: object): boolean {
  const parent = Object.getPrototypeOf(value);
  if (parent === null || parent === Object.prototype) return true;
  // An object of another realm, such as a frame or a worker's sandbox.
  return Object.getPrototypeOf(parent) === null && Object.hasOwn(parent, 'hasOwnProperty');
}

/** A subclass of Array may answer other elements the next time. `Array.prototype` is an array in every realm. */
function isPlainArray(value: readonly unknown[]): boolean {
  return Array.isArray(Object.getPrototypeOf(value));
}

function mustBeText(text: string, copying: Copying): void {
  if (!text.isWellFormed() || (!copying.takesNul && text.includes('\0'))) throw new Unreadable('text');
  count(copying, text.length + 2, text.length * 6 + 2); // a control character is written `\u0001`
}

function isNumber(value: number, { takesLarge }: Copying): boolean {
  return Number.isFinite(value) && (takesLarge || !Number.isInteger(value) || Number.isSafeInteger(value));
}

function count(copying: Copying, least: number, most: number): void {
  copying.least += least;
  copying.most += most;
  if (copying.least > copying.bytes) throw new Unreadable('too_large');
}
