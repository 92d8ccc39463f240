import { readFileSync } from 'node:fs';
import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';
import ts from 'typescript';

await loadModule();

/** The tables that a text names, and the functions it calls, those of Postgres itself included. */
export interface Uses {
  readonly reads: Set<string>;
  readonly writes: Set<string>;
  readonly calls: Set<string>;
  readonly creates: Readonly<Record<'tables' | 'enums' | 'functions' | 'triggers', string[]>>;
}

const noUses = (): Uses => ({
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

const READING = /^(selectFrom|using|from|(inner|left|right|full|cross)Join(Lateral)?)$/;
const WRITING_CALL = /^(insertInto|replaceInto|updateTable|deleteFrom|mergeInto)$/;

/** A file without any of these words names no table. */
const MAY_NAME_TABLES =
  /[sS]electFrom|insertInto|replaceInto|updateTable|deleteFrom|mergeInto|eraserOf|\bsql[`<]|from 'pg'|\/(statement|page-rows|hot-writes)[.]ts'/;

/**
 * The tables that a TypeScript file names: in calls of Kysely, in texts after `sql`, in declared statements, and where
 * the file imports `pg`, in its plain texts. Nothing where it names none.
 * @param isTable tells tables from other names that Kysely is given, as of a subquery
 * @throws with the place of a text that cannot be read
 */
export function usesInSource(path: string, isTable: (name: string) => boolean): Uses | undefined {
  const text = readFileSync(path, 'utf8');
  if (!MAY_NAME_TABLES.test(text)) return undefined;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const uses = noUses();
  const hasPlainTexts = /^import pg from 'pg'/m.test(text) || /^import type pg from 'pg'/m.test(text);

  const read = (sql: string, node: ts.Node) => {
    try {
      readAny(sql, uses);
    } catch (error) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      throw new Error(`${path}:${line + 1}: ${String(error)}`);
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      noteCall(node, uses, isTable);
      const text = declaredText(node);
      if (text !== undefined) read(text, node);
      const called = calledInJson(node);
      if (called !== undefined) uses.calls.add(called);
    }
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'sql')
      read(textIn(node.template), node);
    else if (hasPlainTexts && ts.isStringLiteralLike(node) && isStatement(node.text)) read(node.text, node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return uses;
}

function noteCall(call: ts.CallExpression, uses: Uses, isTable: (name: string) => boolean): void {
  if (call.expression.getText() === 'eraserOf')
    for (const named of call.arguments) if (ts.isStringLiteral(named)) uses.writes.add(named.text);
  if (!ts.isPropertyAccessExpression(call.expression)) return;
  const method = call.expression.name.text;
  const [first] = call.arguments;
  if (!first || !(READING.test(method) || WRITING_CALL.test(method))) return;
  for (const named of ts.isArrayLiteralExpression(first) ? first.elements : [first]) {
    if (!ts.isStringLiteralLike(named)) continue;
    const name = snakeCase(named.text.replace(/ as .*/, ''));
    if (isTable(name)) (WRITING_CALL.test(method) ? uses.writes : uses.reads).add(name);
  }
}

/** The text of a declared statement, which is the second argument after its name. */
function declaredText({ expression, arguments: [, text] }: ts.CallExpression): string | undefined {
  const isDeclaration =
    ts.isIdentifier(expression) && ['statement', 'lookUp', 'lookUpPage'].includes(expression.text);
  if (!isDeclaration || !text) return undefined;
  if (ts.isStringLiteral(text)) return text.text;
  return ts.isTemplateLiteral(text) ? textIn(text) : undefined;
}

/** The function that `write_together` calls by its name. */
function calledInJson({ expression, arguments: [name] }: ts.CallExpression): string | undefined {
  const isCall = ts.isIdentifier(expression) && ['hotCall', 'groupLock'].includes(expression.text);
  return isCall && name && ts.isStringLiteral(name) ? name.text : undefined;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const isStatement = (text: string) => /^\s*(select|insert|update|delete|with|create table)\s/i.test(text);

/** The text with something in the place of each value: a parameter, or a name where Postgres expects a name. */
export function textIn(template: ts.TemplateLiteral): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  let text = template.head.text;
  for (const [at, { literal }] of template.templateSpans.entries()) {
    const isName = /\b(from|join|into|update|savepoint)\s*$/i.test(text);
    text += `${isName ? NAMED_ELSEWHERE : `$${at + 1}`}${literal.text}`;
  }
  return text;
}

/** Replaces a query or a name from another text, which is read there. */
export const NAMED_ELSEWHERE = 'named_elsewhere';

/** Reads a whole statement, or an expression that is a part of a statement. */
function readAny(sql: string, uses: Uses): void {
  try {
    usesIn(sql, uses);
  } catch {
    usesIn(`select ${sql}`, uses);
  }
}
