import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { noUses, type Uses, usesIn } from './uses.ts';

const READING = /^(selectFrom|using|from|(inner|left|right|full|cross)Join(Lateral)?)$/;
const WRITING = /^(insertInto|replaceInto|updateTable|deleteFrom|mergeInto)$/;

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
  if (!first || !(READING.test(method) || WRITING.test(method))) return;
  for (const named of ts.isArrayLiteralExpression(first) ? first.elements : [first]) {
    if (!ts.isStringLiteralLike(named)) continue;
    const name = snakeCase(named.text.replace(/ as .*/, ''));
    if (isTable(name)) (WRITING.test(method) ? uses.writes : uses.reads).add(name);
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
