import { type CompiledQuery, type QueryId, type QueryResult, RawNode } from 'kysely';
import type { Executor } from './db.ts';

interface Declared {
  readonly name: string;
  /** Whether it finds rows by their keys and waits for no lock. */
  readonly isLookUp: boolean;
}

/** By their texts. */
const declared = new Map<string, Declared>();

/** A statement has one id for all its executions, so that a plugin can tell it from a query of the builder. */
const ids = new WeakSet<QueryId>();

/**
 * A statement of the request path. Its text is constant, and a connection prepares it once under its name, so Postgres
 * parses and plans it once, and Kysely compiles and renames nothing: the text names each column as `Row` does. (With
 * `select *`, a prepared statement fails when a later release adds a column.)
 */
export function statement<Row, Values extends readonly unknown[]>(name: string, text: string) {
  return declare<Row, Values>(text, { name, isLookUp: false });
}

/** A statement that finds rows by their keys and waits for no lock, so that several share a connection. */
export function lookUp<Row, Values extends readonly unknown[]>(name: string, text: string) {
  return declare<Row, Values>(text, { name, isLookUp: true });
}

function declare<Row, Values extends readonly unknown[]>(text: string, what: Declared) {
  const { name } = what;
  if ([...declared.values()].some((other) => other.name === name)) {
    throw new Error(`There are two statements ${name}.`);
  }
  declared.set(text, what);
  const queryId: QueryId = { queryId: name };
  ids.add(queryId);
  const query = RawNode.createWithSql(text);

  return async (db: Executor, ...parameters: Values): Promise<Row[]> => {
    const compiled: CompiledQuery<Row> = { query, queryId, sql: text, parameters };
    const share = what.isLookUp ? sharing.get(db)?.() : undefined;
    return (await (share ? share<Row>(compiled) : db.getExecutor().executeQuery(compiled))).rows;
  };
}

type Share = <Row>(query: CompiledQuery) => Promise<QueryResult<Row>>;

/** The ways of the databases on which look-ups share connections. */
const sharing = new WeakMap<Executor, () => Share | undefined>();

/**
 * Gives the look-ups of a database their way to its connections, past the steps of Kysely that do nothing for them.
 * @param share returns undefined while the database is not open
 */
export function shareLookUps(db: Executor, share: () => Share | undefined): void {
  sharing.set(db, share);
}

export const declaredStatement = (text: string): Declared | undefined => declared.get(text);

/** Whether rows are those of a statement, whose columns have their names already. */
export const isOfStatement = (queryId: QueryId): boolean => ids.has(queryId);
