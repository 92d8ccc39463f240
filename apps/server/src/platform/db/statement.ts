import { type CompiledQuery, type QueryId, type QueryResult, RawNode } from 'kysely';
import type { Executor } from './db.ts';
import { isUndone } from './grouping.ts';

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

/** Reads what keys name, in one statement. @returns the rows found, each with the place of its key, from 1 */
type ReadTogether<Key, Row> = (db: Executor, keys: readonly Key[]) => Promise<readonly (Row & Placed)[]>;

export interface Placed {
  readonly place: string;
}

interface Reading<Key, Row> {
  readonly key: Key;
  readonly readAlone: () => void;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_TOGETHER = 64;

/**
 * Makes a look-up whose calls share a statement when they come in one turn of the event loop. A call without company goes
 * alone. So does each in a transaction, whose writes it has to see, and where the statements of each request are traced.
 * @param mayMix whether keys of several developers may share a statement there. Asked once, and again after a failure
 */
export function gathering<Key, Row>(
  together: ReadTogether<Key, Row>,
  mayMix: (db: Executor) => Promise<boolean>,
) {
  const lines = new WeakMap<Executor, (reading: Reading<Key, Row>) => void>();

  return <Alone>(db: Executor, key: Key, alone: () => Promise<Alone | undefined>) => {
    if (!sharing.has(db)) return alone();
    const line = lines.get(db) ?? newLine(db, together, mayMix);
    lines.set(db, line);
    return new Promise<Row | Alone | undefined>((resolve, reject) => {
      line({ key, readAlone: () => void alone().then(resolve, reject), resolve, reject });
    });
  };
}

function newLine<Key, Row>(
  db: Executor,
  together: ReadTogether<Key, Row>,
  mayMix: (db: Executor) => Promise<boolean>,
) {
  let waiting: Reading<Key, Row>[] = [];
  let isOn = false;
  let isAsked = false;

  const learn = () => {
    if (isAsked) return;
    isAsked = true;
    mayMix(db).then(
      (may) => {
        isOn = may;
      },
      () => {
        isAsked = false;
      },
    );
  };
  const send = (group: readonly Reading<Key, Row>[]) => {
    const keys = group.map(({ key }) => key);
    together(db, keys).then(
      (rows) => {
        const found = new Map(rows.map((row) => [Number(row.place), row]));
        for (const [index, { resolve }] of group.entries()) resolve(found.get(index + 1));
      },
      (error) => {
        // What fails for one must not cost the others their answers. A lost connection costs all.
        for (const { readAlone, reject } of group) isUndone(error) ? readAlone() : reject(error);
      },
    );
  };
  const sendAll = () => {
    const all = waiting;
    waiting = [];
    if (all.length > 1) learn();
    if (all.length === 1 || !isOn) for (const { readAlone } of all) readAlone();
    else while (all.length > 0) send(all.splice(0, MAX_TOGETHER));
  };
  return (reading: Reading<Key, Row>) => {
    if (waiting.length === 0) setImmediate(sendAll);
    waiting.push(reading);
  };
}

export const declaredStatement = (text: string): Declared | undefined => declared.get(text);

/** Whether rows are those of a statement, whose columns have their names already. */
export const isOfStatement = (queryId: QueryId): boolean => ids.has(queryId);
