import pg from 'pg';

const readTime: (text: string) => Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);

/**
 * A `timestamptz` that a statement read as text, in the form of answers. The text in UTC only changes its punctuation,
 * for a thirtieth of the time that a `Date` between takes, which a list with twenty times feels.
 * @param text `2026-11-22 16:04:24.12+00`, or in the time zone that the database has
 */
export function isoTime(text: string): string {
  if (!/^.{10} .{8}(\..{1,6})?\+00$/.test(text)) return readTime(text).toISOString();
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).slice(0, 3).padEnd(3, '0')}Z`;
}
