import { parseSync } from 'libpg-query';
import { isNode, lastText, type Node } from '../sql/uses.ts';
import type { Spread } from './spread.ts';

/**
 * Holds a statement against the limits that Citus documents for statements on more than one shard, and against those
 * for every statement on a distributed table.
 * @returns a sentence for each breach
 * @see https://docs.citusdata.com/en/stable/develop/reference_workarounds.html
 */
export function breachesIn(sql: string, spread: Spread): string[] {
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
