const SEGMENT = '[a-z][a-z0-9_]*';
const ORGANISATION = 'x-[a-z0-9]+(?:-[a-z0-9]+)*';
const PUBLIC = `${SEGMENT}(?:[.]${SEGMENT})*`;
const PURPOSE = new RegExp(`^(?:${PUBLIC}|${ORGANISATION}(?:[.]${SEGMENT})+)$`);
/** A purpose, or segments and `.*` for every purpose with more segments. An organisation alone is no purpose. */
const PATTERN = new RegExp(
  `^(?:${PUBLIC}(?:[.][*])?|${ORGANISATION}(?:(?:[.]${SEGMENT})+|(?:[.]${SEGMENT})*[.][*]))$`,
);
const MAX_LENGTH = 128;

/** Tells whether a manifest may name a text among the purposes that a tool allows. */
export function isPurposePattern(text: string): boolean {
  return text.length <= MAX_LENGTH && PATTERN.test(text);
}

/**
 * Tells whether a pattern matches a purpose, by whole segments. A malformed pattern or purpose matches nothing.
 *
 * @example
 * ```ts
 * matchesPurpose('aml.cdd.*', 'aml.cdd.ongoing'); // true
 * matchesPurpose('aml.cdd.*', 'aml.cdd'); // false
 * ```
 */
export function matchesPurpose(pattern: string, purpose: string): boolean {
  if (!isPurposePattern(pattern) || purpose.length > MAX_LENGTH || !PURPOSE.test(purpose)) return false;
  return pattern === purpose || (pattern.endsWith('.*') && purpose.startsWith(pattern.slice(0, -1)));
}

/** Tells whether every purpose that `narrow` matches is matched by `wide`. Both have to be patterns. */
export function isPatternWithin(narrow: string, wide: string): boolean {
  return narrow === wide || (wide.endsWith('.*') && narrow.startsWith(wide.slice(0, -1)));
}
