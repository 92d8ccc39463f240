import { codePoints, hasControl } from '../text.ts';
import type { Form } from './hosts.ts';

const MAX_LENGTH = 4_096;
const MAX_SEGMENT = 255;
/** Characters that some system folds into a dot, a separator or `%`. */
const LOOKALIKE = /[\u2024-\u2026\u2044\u2215\u29f8\ufe52\ufe68\ufe6a\uff05\uff0e\uff0f\uff3c]/;

/** A path whose text is already normal. */
interface Path {
  readonly isAbsolute: boolean;
  readonly segments: readonly string[];
}

function readItem(text: string): Path | undefined {
  if (text === '/') return { isAbsolute: true, segments: [] };
  if (text === '.') return { isAbsolute: false, segments: [] };
  const isAbsolute = text.startsWith('/');
  const segments = text.slice(isAbsolute ? 1 : 0).split('/');
  if (!segments.every(isSegment)) return undefined;
  return isAbsolute || !/^~|:/.test(segments[0] ?? '') ? { isAbsolute, segments } : undefined;
}

function isSegment(segment: string): boolean {
  return (
    segment !== '' &&
    segment !== '.' &&
    segment !== '..' &&
    !segment.includes('\\') &&
    !hasControl(segment) &&
    !/%[0-9A-Fa-f]{2}/.test(segment) &&
    !LOOKALIKE.test(segment) &&
    codePoints(segment) <= MAX_SEGMENT
  );
}

/** An argument may have one `/` after its last segment. */
function readValue(text: string): Path | undefined {
  if (codePoints(text) > MAX_LENGTH) return undefined;
  if (text === '/' || !text.endsWith('/')) return readItem(text);
  const folder = readItem(text.slice(0, -1));
  return folder && folder.segments.length > 0 ? folder : undefined;
}

/** Tells whether a list of segments begins with another. */
export function beginsWith(segments: readonly string[], first: readonly string[]): boolean {
  return segments.length >= first.length && first.every((segment, at) => segment === segments[at]);
}

function allows(item: Path, value: Path): boolean {
  return item.isAbsolute === value.isAbsolute && beginsWith(value.segments, item.segments);
}

/** The form of `path`. Nothing is normalised: a path that is not already normal is outside the form. */
export const pathForm: Form<Path, Path> = {
  readItem,
  readValue,
  allows,
  isWithin: (narrow, wide) => allows(wide, narrow),
};
