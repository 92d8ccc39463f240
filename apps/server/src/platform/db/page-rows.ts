import { type AliasableExpression, type Expression, sql } from 'kysely';
import type { Tenant } from '../caller.ts';
import type { LongWork } from '../long-work.ts';
import type { Executor } from './db.ts';
import { lookUp, statement } from './statement.ts';

/** The most bytes of a list's answer. Rows are read up to it. */
export const MAX_BYTES = 1_048_576;

/** The most bytes of rows that long work reads at once: the driver takes about two milliseconds for the dearest of them. */
const PORTION_BYTES = 65_536;
const TEXT_PORTION_BYTES = 262_144;
/** As many small rows as have room there, so that Postgres plans for no more. */
const PORTION_ROWS = 200;

/** Bytes of an answer beside its list: the names of its members, the cursor, and the few texts of some lists. */
export const BESIDE = 4096;

/** The rows of a page in the order of the list. */
export interface PageRows<Row> {
  readonly rows: readonly Row[];
  /** Whether the list goes on after them. */
  readonly hasMore: boolean;
  /** Whether rows of any content fit, so that nobody has to measure these. */
  readonly isSmall?: boolean;
}

/** How many of the rows have room in a page; null when all of them have. */
interface Fitting {
  readonly fitting: number | null;
}

export type BoundedRow<Row> = Row & Fitting;

/**
 * Around a `select` in the order of the list, which ends after one row more than the page holds. Postgres evaluates
 * `page` row by row, as far as it is read: it fetches, measures and sends nothing after the row that passes the size.
 * It sends that row too, because the row says that the list goes on.
 */
const BEFORE = 'with page as materialized (';
const upTo = (mostBytes: number, bytesOf = 'octet_length(page::text)') => `), fitting as materialized (
  select n - 1 as fitting from (
    select row_number() over sofar as n, sum(${bytesOf}) over sofar as bytes
    from page window sofar as (rows unbounded preceding)
  ) measured where bytes > ${mostBytes} limit 1
) select page.*, (select fitting::int from fitting)
  from page limit (select greatest(fitting, 1) + 1 from fitting)`;
const AFTER = upTo(MAX_BYTES);

/**
 * A look-up that reads a page of a developer. To measure a page of ten rows takes longer than to read it, so a page of so
 * few rows that the largest would fit is not measured.
 * @param largest the most bytes of a row in an answer
 * @param text the `select`: `$1` is the developer, and `$2` the limit, which is one row more than the page holds
 */
export function lookUpPage<Row, Further extends readonly unknown[] = []>(
  name: string,
  largest: number,
  text: string,
) {
  type Values = [developerId: string, most: number, ...Further];
  const small = lookUp<Row & Partial<Fitting>, Values>(name, text);
  const bounded = lookUp<BoundedRow<Row>, Values>(`${name}_bounded`, [BEFORE, text, AFTER].join(''));

  return async (
    db: Executor,
    { developerId }: Tenant,
    limit: number,
    ...further: Further
  ): Promise<PageRows<Row>> => {
    const isSmall = limit * largest <= MAX_BYTES - BESIDE;
    const rows = await (isSmall ? small : bounded)(db, developerId, limit + 1, ...further);
    return { ...pageRows(rows, limit), isSmall };
  };
}

/** A part of a statement, in parentheses. @param rows a query of the builder or SQL, in the order of the list */
export const boundedRows = <Row>(rows: Expression<Row>) => bounded<Row>(`(${BEFORE}`, rows, `${AFTER})`);

const bounded = <Row>(before: string, rows: Expression<unknown>, after: string) => {
  const around = [before, after]; // as in a template, whose texts are constants of this file
  return sql<BoundedRow<Row>>(Object.assign(around, { raw: around }), rows);
};

/** A list in its order, which its reader cuts. */
export interface OrderedList<Row> {
  limit(most: number): AliasableExpression<Row>;
}

/** Reads a page of a list, and of a page that is too large only its beginning. */
export async function readPage<Row>(
  db: Executor,
  all: OrderedList<Row>,
  limit: number,
): Promise<PageRows<Row>> {
  const { rows } = await bounded<Row>(BEFORE, all.limit(limit + 1), AFTER).execute(db);
  return pageRows(rows, limit);
}

/**
 * As `readPage`, for work that reads a list to its end and sends no page of it. The driver reads an answer of Postgres in
 * one turn of the event loop, so this one is short.
 */
export const readPortion = portionReader(PORTION_BYTES);

/**
 * Makes a `readPortion` for rows whose large columns are texts. The driver takes at most a millisecond more for a portion of
 * 256 KiB of them, and smaller portions cost more statements.
 * @param bytesOf measures a row of `page`, in SQL. To write the whole row for that costs as much as to read it
 */
export const textPortionReader = (bytesOf: string) => portionReader(TEXT_PORTION_BYTES, bytesOf);

/**
 * As `textPortionReader`, of a prepared statement, for work that reads millions of rows.
 * @param text a `select` in the order of the list, without a limit: `$1` is the developer
 */
export function statementPortionReader<Row, Values extends readonly unknown[]>(
  name: string,
  text: string,
  bytesOf: string,
) {
  const whole = [BEFORE, text, ` limit ${PORTION_ROWS + 1}`, upTo(TEXT_PORTION_BYTES, bytesOf)].join('');
  const read = statement<BoundedRow<Row>, [developerId: string, ...Values]>(name, whole);
  return async (db: Executor, { developerId }: Tenant, ...values: Values): Promise<readonly Row[]> =>
    pageRows(await read(db, developerId, ...values), PORTION_ROWS).rows;
}

function portionReader(mostBytes: number, bytesOf?: string) {
  const after = upTo(mostBytes, bytesOf);
  return async <Row>(db: Executor, all: OrderedList<Row>): Promise<PageRows<Row>> => {
    const { rows } = await bounded<Row>(BEFORE, all.limit(PORTION_ROWS + 1), after).execute(db);
    return pageRows(rows, PORTION_ROWS);
  };
}

/** @param rows as a statement found them, bounded or small */
export function pageRows<Row>(rows: readonly (Row & Partial<Fitting>)[], limit: number): PageRows<Row> {
  const fitting = rows[0]?.fitting ?? limit;
  const most = Math.max(fitting, 1); // a row that is too large is a page by itself
  return { rows: rows.slice(0, most), hasMore: rows.length > most };
}

/** Bytes of rows that are read in one turn of the event loop: the dearest of them take about two milliseconds. */
const TURN_BYTES = 32_768;
/** Bytes of a row beside its large texts. */
const ROW_OVERHEAD = 512;

/**
 * Deals out the rows of a page in portions, each in a turn of its own. To read a page of large rows takes tens of
 * milliseconds, for which all other requests of the process would wait.
 * @param lengthOf the length of the texts of a row that may be large
 */
export async function* inRowPortions<Row>(
  rows: readonly Row[],
  lengthOf: (row: Row) => number,
  { nextTurn }: LongWork,
): AsyncGenerator<readonly Row[]> {
  for (const portion of portionsOf(rows, lengthOf)) {
    await nextTurn();
    yield portion;
  }
}

function* portionsOf<Row>(rows: readonly Row[], lengthOf: (row: Row) => number): Generator<readonly Row[]> {
  let portion: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = lengthOf(row) + ROW_OVERHEAD;
    if (bytes + size > TURN_BYTES && portion.length > 0) {
      yield portion;
      [portion, bytes] = [[], 0];
    }
    portion.push(row);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}
