import { JsonError, type JsonProblem, parseJsonText } from '../json.ts';
import { type CopiedObject, copyObject, type UnreadableCause } from './copy-json.ts';

/** The reason why arguments cannot be checked. The last three are found in a text only, and in a call. */
export type ArgumentsCause = UnreadableCause | 'syntax' | 'repeated_member' | 'steps';

/** The error of `readArguments`. It repeats nothing of the text. */
export class ArgumentsError extends Error {
  override readonly name = 'ArgumentsError';
  override readonly cause: ArgumentsCause;

  constructor(cause: ArgumentsCause) {
    super(`The arguments cannot be read: ${cause}.`);
    this.cause = cause;
  }
}

const BOUNDS = { levels: 32, bytes: 65_536, takesNul: false, takesLarge: false };
/** A whole string, or a number. The text is JSON by then, so a number begins nowhere else. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[\s\S]?[^"\\]*)*"?|-?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?/g;

/**
 * Reads the arguments of a call from their text. The function refuses what two readers could understand differently:
 * a repeated member, and a number that is not exactly the double it becomes, such as `500.0000000000000000001`.
 *
 * @returns a value that `checkArguments` can check
 * @throws ArgumentsError with the reason in `cause`
 */
export function readArguments(text: string): Readonly<Record<string, unknown>> {
  const value = parse(text);
  if (!areNumbersExact(text)) throw new ArgumentsError('number');
  const copied = copyArguments(value);
  if (!copied.ok) throw new ArgumentsError(copied.cause);
  return copied.value;
}

/**
 * Copies the arguments of a call that were already read: at most 32 levels and 64 KiB of JSON, without U+0000. Hand
 * this copy to the checks and to the tool.
 */
export function copyArguments(value: unknown): CopiedObject {
  return copyObject(value, BOUNDS);
}

const causes: Readonly<Record<Exclude<JsonProblem, 'value'>, ArgumentsCause>> = {
  encoding: 'text',
  syntax: 'syntax',
  too_deep: 'too_deep',
  too_many_members: 'too_large',
  too_many_values: 'too_large',
  repeated_member: 'repeated_member',
};

function parse(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error.problem !== 'value') throw new ArgumentsError(causes[error.problem]);
    throw new ArgumentsError(areNumbersExact(text) ? 'text' : 'number');
  }
}

function areNumbersExact(text: string): boolean {
  for (const [token] of text.matchAll(STRING_OR_NUMBER)) {
    if (!token.startsWith('"') && !isExact(token)) return false;
  }
  return true;
}

function isExact(literal: string): boolean {
  const number = Number(literal);
  return Number.isFinite(number) && scientific(literal) === scientific(String(number));
}

/** Writes a number as its digits without zeros at either end, and the power of ten of the first. Zero has no sign. */
function scientific(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  const first = digits.search(/[1-9]/);
  if (first < 0) return '0';
  const power = BigInt(exponent) + BigInt(whole.length - first);
  const kept = digits.slice(first);
  let end = kept.length;
  while (kept[end - 1] === '0') end -= 1;
  return `${mantissa.startsWith('-') ? '-' : ''}${kept.slice(0, end)}e${power}`;
}
