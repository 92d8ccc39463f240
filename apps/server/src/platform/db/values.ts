import { type RawBuilder, type SqlBool, sql } from 'kysely';
import pg from 'pg';
import type { Tenant } from '../caller.ts';
import type { Executor } from './db.ts';

/** A row as a function takes it in JSON, with the columns' own names. */
export function row(columns: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(columns)) {
    named[columnOf(name)] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  }
  return named;
}

/** By the names of members, of which the sources have few. */
const columnNames = new Map<string, string>();

function columnOf(name: string): string {
  const column = columnNames.get(name) ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  columnNames.set(name, column);
  return column;
}

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

/** Rows whose `principal_id` is one of these, in any case. An index on `lower(principal_id)` serves it. */
export const hasFoldedPrincipal = (ids: readonly string[]) =>
  sql<SqlBool>`lower(principal_id) = any(array(select lower(i) from unnest(${[...ids]}::text[]) i))`;

/** Makes the search for the principals of a table's rows, or of a subquery's, who have one of these ids, in any case. */
export function principalsIn(rowsOf: string | RawBuilder<unknown>) {
  const table = typeof rowsOf === 'string' ? sql.table(rowsOf) : rowsOf;
  return async (db: Executor, { developerId }: Tenant, ids: readonly string[]): Promise<string[]> => {
    const { rows } = await sql<{
      principalId: string;
    }>`select distinct principal_id as "principalId" from ${table}
      where developer_id = ${developerId} and ${hasFoldedPrincipal(ids)}`.execute(db);
    return rows.map(({ principalId }) => principalId);
  };
}
