import { codePoints, isShowable } from './text.ts';

const MAX_TOKENS = 8;
const MAX_TOKEN_LENGTH = 128;

/** The names that a pointer leads through, or the fault of the pointer. */
export type ReadPointer =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly code: 'invalid_pointer' | 'too_many' };

/**
 * Reads a JSON Pointer that leads through objects: `""` or 1 to 8 names, each of 1 to 128 code points.
 *
 * @see RFC 6901, section 3
 */
export function readPointer(pointer: string): ReadPointer {
  if (pointer === '') return { ok: true, names: [] };
  const [before, ...tokens] = pointer.split('/');
  if (before !== '' || !tokens.every(isToken)) return { ok: false, code: 'invalid_pointer' };
  if (tokens.length > MAX_TOKENS) return { ok: false, code: 'too_many' };
  return { ok: true, names: tokens.map(unescaped) };
}

/** Writes one name as the last part of a pointer. */
export function pointerToken(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isToken(token: string): boolean {
  return (
    token !== '' &&
    !/~(?![01])/.test(token) &&
    isShowable(token) &&
    codePoints(unescaped(token)) <= MAX_TOKEN_LENGTH
  );
}
