import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';

await loadModule();

/** The tables that a text names, and the functions it calls, those of Postgres itself included. */
export interface Uses {
  readonly reads: Set<string>;
  readonly writes: Set<string>;
  readonly calls: Set<string>;
  readonly creates: Readonly<Record<'tables' | 'enums' | 'functions' | 'triggers', string[]>>;
}

export const noUses = (): Uses => ({
  reads: new Set(),
  writes: new Set(),
  calls: new Set(),
  creates: { tables: [], enums: [], functions: [], triggers: [] },
});

/** @throws the error of Postgres' own parser for a text that is no SQL */
export function usesIn(sql: string, into: Uses = noUses()): Uses {
  const tree: unknown = parseSync(sql);
  visit(tree, into, namesOf(tree));
  return into;
}

export type Node = Readonly<Record<string, unknown>>;
export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Names that stand for a query of the same text (`with due as …`), and for no table. */
function namesOf(tree: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  for (const expression of all('CommonTableExpr', tree)) names.add(String(expression.ctename));
  return names;
}

export function* all(kind: string, tree: unknown): Generator<Node> {
  if (!isNode(tree)) return;
  for (const [key, value] of Object.entries(tree)) {
    if (key === kind && isNode(value)) yield value;
    yield* all(kind, value);
  }
}

const WRITING = ['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'];

function visit(tree: unknown, into: Uses, passing: ReadonlySet<string>): void {
  if (!isNode(tree)) return;
  for (const [kind, value] of Object.entries(tree)) {
    if (!isNode(value)) continue;
    if (kind === 'lockedRels') continue; // names of `from`, once more
    if (kind === 'CreateFunctionStmt') functionIn(value, into);
    if (kind === 'CreateEnumStmt') into.creates.enums.push(lastText(value.typeName));
    if (kind === 'CreateStmt') into.creates.tables.push(tableIn(value.relation));
    if (WRITING.includes(kind)) into.writes.add(tableIn(value.relation));
    if (kind === 'RangeVar' && !passing.has(tableIn(value))) into.reads.add(tableIn(value));
    if (kind === 'FuncCall') into.calls.add(lastText(value.funcname));
    visit(value, into, passing);
  }
}

const tableIn = (relation: unknown): string => (isNode(relation) ? String(relation.relname) : '');

/** Drops the schema or the table of a name. */
export function lastText(names: unknown): string {
  const texts = [...all('String', names)].map(({ sval }) => String(sval));
  return texts.at(-1) ?? '';
}

/** The body of a function is a text in its definition. */
function functionIn(statement: Node, into: Uses): void {
  const options = [...all('DefElem', statement.options)];
  const textOf = (name: string) => lastText(options.find(({ defname }) => defname === name));
  const isTrigger = isNode(statement.returnType) && lastText(statement.returnType.names) === 'trigger';
  into.creates[isTrigger ? 'triggers' : 'functions'].push(lastText(statement.funcname));
  if (textOf('language') === 'sql') usesIn(textOf('as'), into);
}

/**
 * As `usesIn`, for a file with functions, in SQL or PL/pgSQL.
 * @param enums which the parser, knowing no database, would take for types of rows
 */
export function usesOfFunctions(text: string, enums: ReadonlySet<string>): Uses {
  const uses = usesIn(text);
  for (const statement of statementsInPlpgsql(text, enums)) usesIn(statement, uses);
  return uses;
}

/** The statements and expressions in the bodies of PL/pgSQL functions. */
export function statementsInPlpgsql(text: string, enums: ReadonlySet<string>): string[] {
  if (!/^\s*language plpgsql|\slanguage plpgsql\s/im.test(text)) return [];
  const expressions = all('PLpgSQL_expr', parsePlPgSQLSync(withoutEnums(text, enums)));
  return [...expressions].map(({ query, parseMode }) => statementOf(String(query), Number(parseMode)));
}

/** With texts in the place of enums, among the parameters and the variables. */
export const withoutEnums = (text: string, enums: ReadonlySet<string>): string =>
  text.replace(/^\s*create .*?\slanguage\s|^\s*declare\s.*?^\s*begin\s/gims, (declarations) =>
    declarations.replace(/(\w\s+)(\w+)/g, (whole, before, type) =>
      enums.has(type) ? `${before}text` : whole,
    ),
  );

/** An expression (mode 2) or the right side of an assignment (3 and more) as a statement of its own. */
function statementOf(query: string, mode: number): string {
  if (mode === 0) return query;
  return `select ${mode === 2 ? query : query.replace(/^.*?:?=/s, '')}`;
}
