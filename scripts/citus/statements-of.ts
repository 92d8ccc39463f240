import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'libpg-query';
import ts from 'typescript';
import { textIn } from '../sql/sources.ts';
import { all, isNode, lastText, statementsInPlpgsql, usesIn } from '../sql/uses.ts';
import { distributionColumn, type Spread } from './spread.ts';

/** Functions of Postgres that a hot statement could call; Postgres says of each that it is volatile. */
const VOLATILE = [
  'clock_timestamp',
  'gen_random_uuid',
  'nextval',
  'random',
  'setval',
  'timeofday',
  'uuidv4',
  'uuidv7',
];

/** Reads from migrations and function files how the rows are spread. */
export function spreadOf(
  migrations: string,
  sources: string,
): { spread: Spread; enums: ReadonlySet<string> } {
  const distributed = new Map<string, string>();
  const enums = new Set<string>();
  for (const path of globSync(`${migrations}/*.sql`)) {
    const text = readFileSync(path, 'utf8');
    for (const name of usesIn(text).creates.enums) enums.add(name);
    for (const { relation, tableElts } of all('CreateStmt', parseSync(text))) {
      if (!isNode(relation)) continue;
      const columns = [...all('ColumnDef', tableElts)].map(({ colname }) => String(colname));
      const name = String(relation.relname);
      const column = distributionColumn(name, columns);
      if (column !== undefined) distributed.set(name, column);
    }
  }
  const volatile = new Set(VOLATILE);
  for (const path of globSync(`${sources}/**/sql/*.sql`)) {
    const text = readFileSync(path, 'utf8');
    if (/\b(stable|immutable)\b/i.test(text.split('$$')[0] ?? '')) continue;
    for (const name of usesIn(text).creates.functions) volatile.add(name);
  }
  return { spread: { distributed, volatile }, enums };
}

/** The statements in a file with SQL functions. */
export function statementsOfFunctions(path: string, enums: ReadonlySet<string>): string[] {
  const text = readFileSync(path, 'utf8');
  const bodies: string[] = [];
  for (const { options } of all('CreateFunctionStmt', parseSync(text))) {
    const facts = [...all('DefElem', options)];
    const textOf = (name: string) => lastText(facts.find(({ defname }) => defname === name));
    if (textOf('language') === 'sql') bodies.push(textOf('as'));
  }
  return [...bodies, ...statementsInPlpgsql(text, enums)];
}

interface InSource {
  /** Texts after `sql`, each a statement or a part of a statement. */
  readonly texts: readonly string[];
  /** The first lines of Kysely's queries that lock rows without naming the developer. */
  readonly openLocks: readonly string[];
}

const LOCKS = /^for(Update|Share|NoKeyUpdate|KeyShare)$/;

export function statementsInSource(path: string): InSource {
  const text = readFileSync(path, 'utf8');
  const texts: string[] = [];
  const openLocks: string[] = [];
  if (!/\bsql[`<]|\.for(Update|Share|NoKeyUpdate|KeyShare)\(/.test(text)) return { texts, openLocks };
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'sql')
      texts.push(textIn(node.template));
    if (ts.isCallExpression(node)) {
      const calls = chainOf(node);
      const [last] = calls;
      if (last && LOCKS.test(last.method) && !calls.some(namesDeveloper))
        openLocks.push(calls.at(-1)?.text ?? '');
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return { texts, openLocks };
}

interface Call {
  readonly method: string;
  readonly arguments: readonly string[];
  readonly text: string;
}

/** The calls of a chain, the last one first. */
function chainOf(call: ts.CallExpression): Call[] {
  const name = ts.isPropertyAccessExpression(call.expression)
    ? call.expression.name.text
    : call.expression.getText();
  const given = call.arguments.map((each) => (ts.isStringLiteralLike(each) ? each.text : ''));
  const before = ts.isPropertyAccessExpression(call.expression) ? call.expression.expression : undefined;
  const own = { method: name, arguments: given, text: `${name}('${given[0] ?? ''}')` };
  return [own, ...(before && ts.isCallExpression(before) ? chainOf(before) : [])];
}

const namesDeveloper = (
  { method, arguments: [column = '', operator] }: Call,
  _: number,
  calls: readonly Call[],
) =>
  method === 'where' &&
  operator === '=' &&
  (/(^|\.)developerId$/.test(column) || (column === 'id' && calls.at(-1)?.arguments[0] === 'developers'));
