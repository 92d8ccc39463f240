import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseSync } from 'libpg-query';
import ts from 'typescript';
import { readFunctions } from '../../apps/server/src/platform/db/functions.ts';
import { distributionColumn, type Spread } from '../../scripts/generate/citus/spread.ts';
import { all, isNode, lastText, type Node, statementsInPlpgsql, textIn, usesIn } from './uses.ts';

/** Holds each statement of a checkout, which is the working directory, against the limits that Citus documents. */
export function citusBreaches(migrations: string, sources: string): string[] {
  const { spread, enums } = spreadOf(migrations, sources);
  const breaches = new Set<string>();
  const hold = (path: string, sql: string) => {
    for (const breach of breachesIn(sql, spread)) breaches.add(`${basename(path)}: ${breach}`);
  };
  for (const { name, text } of readFunctions(sources))
    for (const sql of statementsOfFunction(text, enums)) hold(name, sql);
  for (const path of globSync(`${sources}/**/!(*.test|*.gen).ts`)) {
    const { texts, openLocks } = statementsInSource(path);
    for (const text of texts) hold(path, text);
    for (const query of openLocks)
      breaches.add(`${basename(path)}: rows are locked on more than one shard of ${query}`);
  }
  return [...breaches].sort();
}

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
function spreadOf(migrations: string, sources: string): { spread: Spread; enums: ReadonlySet<string> } {
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
  for (const { name, text } of readFunctions(sources)) {
    if (!/\b(stable|immutable)\b/i.test(text.split('$$')[0] ?? '')) volatile.add(name);
  }
  return { spread: { distributed, volatile }, enums };
}

function statementsOfFunction(text: string, enums: ReadonlySet<string>): string[] {
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

function statementsInSource(path: string): InSource {
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

/**
 * Holds a statement against the limits that Citus documents for statements on more than one shard, and against those
 * for every statement on a distributed table.
 * @returns a sentence for each breach
 * @see https://docs.citusdata.com/en/stable/develop/reference_workarounds.html
 */
function breachesIn(sql: string, spread: Spread): string[] {
  const breaches: string[] = [];
  visit(treeOf(sql), { spread, breaches, inRecursion: false, inLateral: false });
  return [...new Set(breaches)];
}

/** Reads a whole statement, or an expression that is a part of a statement. */
function treeOf(sql: string): unknown {
  try {
    return parseSync(sql);
  } catch {
    return parseSync(`select ${sql}`);
  }
}

interface Walk {
  readonly spread: Spread;
  readonly breaches: string[];
  readonly inRecursion: boolean;
  readonly inLateral: boolean;
}

/** A part with a `from` of its own. */
interface Level {
  /** Distribution columns by the name that the level calls the table. */
  readonly tables: Map<string, string>;
  readonly equalities: (readonly [left: Node, right: Node])[];
  hasSample: boolean;
}

const QUERIES = new Set(['SelectStmt', 'UpdateStmt', 'DeleteStmt']);

function visit(tree: unknown, walk: Walk): void {
  if (!isNode(tree)) return;
  for (const [kind, value] of Object.entries(tree)) {
    if (!isNode(value)) continue;
    if (QUERIES.has(kind)) query(kind, value, walk);
    else if (kind === 'RangeSubselect') visit(value, { ...walk, inLateral: value.lateral === true });
    else visit(value, walk);
  }
}

function query(kind: string, node: Node, walk: Walk): void {
  const { breaches, spread, inRecursion, inLateral } = walk;
  const level: Level = { tables: new Map(), equalities: [], hasSample: false };
  for (const part of ['relation', 'fromClause', 'usingClause', 'whereClause']) {
    // The target of an update or a delete is the node of a table itself, without the name of its kind.
    gather(part === 'relation' ? { RangeVar: node[part] } : node[part], level, spread);
  }
  const open = openTables(level);
  const say = (rule: string) => breaches.push(`${rule} on more than one shard of ${open.join(' and ')}`);
  if (open.length > 0) {
    if (node.lockingClause) say('rows are locked');
    if (inRecursion) say('a recursive query reads');
    if (level.hasSample) say('a sample is taken');
    if (JSON.stringify(node.groupClause ?? '').includes('"GroupingSet"')) say('grouping sets are made');
    if (inLateral && node.limitCount) say('a correlated subquery has a limit');
  }
  if (kind === 'UpdateStmt') update(node, level, walk);

  const { withClause, larg, rarg, ...rest } = node;
  if (isNode(withClause))
    visit(withClause, { ...walk, inRecursion: withClause.recursive === true, inLateral: false });
  for (const side of [larg, rarg]) if (isNode(side)) query('SelectStmt', side, walk);
  visit(rest, { ...walk, inRecursion: false, inLateral: false });
}

function update(node: Node, { tables }: Level, { spread, breaches }: Walk): void {
  const [column] = tables.values();
  if (column === undefined) return;
  const text = JSON.stringify(node.targetList ?? '');
  if (text.includes(`"ResTarget":{"name":"${column}"`))
    breaches.push('an update changes the distribution column');
  const calls = [...text.matchAll(/"funcname":(\[.*?\])/g)].map(([, names]) =>
    lastText(JSON.parse(names ?? '[]')),
  );
  for (const name of calls.filter((each) => spread.volatile.has(each))) {
    breaches.push(`an update calls ${name}, which is volatile`);
  }
}

/** Collects the tables and the equalities of a level, and leaves subqueries to themselves. */
function gather(tree: unknown, level: Level, spread: Spread): void {
  if (!isNode(tree)) return;
  for (const [kind, value] of Object.entries(tree)) {
    if (!isNode(value) || QUERIES.has(kind) || kind === 'SubLink') continue;
    if (kind === 'RangeVar') {
      const column = spread.distributed.get(String(value.relname));
      const alias = isNode(value.alias) ? value.alias.aliasname : value.relname;
      if (column !== undefined) level.tables.set(String(alias), column);
    }
    if (kind === 'RangeTableSample') level.hasSample = true;
    if (kind === 'A_Expr' && isEquality(value)) level.equalities.push([value.lexpr, value.rexpr]);
    gather(value, level, spread);
  }
}

const isEquality = (node: Node): node is Node & { lexpr: Node; rexpr: Node } =>
  node.kind === 'AEXPR_OP' && lastText(node.name) === '=' && isNode(node.lexpr) && isNode(node.rexpr);

/** The tables of a level of which a statement may meet more than one shard. */
function openTables({ tables, equalities }: Level): string[] {
  const names = [...tables.keys()];
  const columnOf = (side: Node): string | undefined => {
    const path = columnPath(side);
    const table = path.length > 1 ? path.at(-2) : names.length === 1 ? names[0] : undefined;
    return table !== undefined && tables.get(table) === path.at(-1) ? table : undefined;
  };
  const bound = new Set<string>();
  for (let before = -1; bound.size > before; ) {
    before = bound.size;
    for (const [left, right] of equalities) {
      for (const [side, other] of [[left, right] as const, [right, left] as const]) {
        const [table, partner] = [columnOf(side), columnOf(other)];
        if (table !== undefined && (partner === undefined ? isGiven(other) : bound.has(partner)))
          bound.add(table);
      }
    }
  }
  return names.filter((name) => !bound.has(name));
}

/** A parameter, a constant or a variable, and no column of another row. */
function isGiven(side: Node): boolean {
  return !['developer_id', 'id'].includes(columnPath(side).at(-1) ?? '');
}

function columnPath(side: Node): string[] {
  const reference = side.ColumnRef;
  if (!isNode(reference) || !Array.isArray(reference.fields)) return [];
  return reference.fields.map((field) => lastText([field]));
}
