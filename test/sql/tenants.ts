import { globSync, readFileSync } from 'node:fs';
import { parsePlPgSQLSync, parseSync } from 'libpg-query';
import { readFunctions } from '../../apps/server/src/platform/db/functions.ts';
import { all, isNode, lastText, type Node, statementsInPlpgsql, withoutEnums } from './uses.ts';

/** The parameter in which a function receives its developer. */
const PARAMETER = 'p_developer_id';

/** Functions that go from developer to developer, by the variable that holds the developer whose turn it is. */
const TURNS: Readonly<Record<string, string>> = {
  claim_delivery_shares: 'dev',
  deliver_events_of: 'dev',
  write_together: 'dev',
  due_webhook_developers: 'dev',
  use_tokens: 'q.developer_id',
};

interface Ground {
  readonly sources: string;
  readonly migrations: string;
}

/** The tables with a tenant, by the column that holds the tenant. */
function tenantColumns(migrations: string): ReadonlyMap<string, string> {
  const columns = new Map([['developers', 'id']]);
  for (const path of globSync(`${migrations}/*.sql`)) {
    for (const { relation, tableElts } of all('CreateStmt', parseSync(readFileSync(path, 'utf8')))) {
      const names = [...all('ColumnDef', tableElts)].map(({ colname }) => colname);
      if (isNode(relation) && names.includes('developer_id'))
        columns.set(String(relation.relname), 'developer_id');
    }
  }
  return columns;
}

/**
 * Holds every statement in the SQL functions of a checkout against this rule: it compares the tenant of each table that
 * it names with the function's own developer, writes rows of that developer, and hands that developer on.
 * @returns a line for each breach, and a line again for each further one like it
 */
export function tenantProblems({ sources, migrations }: Ground, enums: ReadonlySet<string>): string[] {
  const columns = tenantColumns(migrations);
  const functions = readFunctions(sources);
  const takers = new Set(functions.map(({ name }) => name).filter((name) => !(name in TURNS)));
  // These compute, and know no developer. The last one writes rows that `extend_chain` made of theirs.
  for (const name of ['ulid_time', 'allocated_units', 'amount_text', 'entry_time', 'insert_chained'])
    takers.delete(name);
  return functions.flatMap(({ name, text }) => {
    const tenant = TURNS[name] ?? PARAMETER;
    const { statements, handedOn } = bodyOf(text, enums);
    const faults = statements.flatMap((sql) => tenantFaults(sql, { columns, takers, tenant }));
    const strange = handedOn.filter((given) => given !== tenant);
    return [
      ...faults,
      ...strange.map((given) => `hands ${given ?? 'nothing'} to a function in place of ${tenant}`),
    ].map((fault) => `${name} ${fault}`);
  });
}

/** The statements of a function, and the first value that each of its dynamic statements is given. */
function bodyOf(text: string, enums: ReadonlySet<string>) {
  const [definition] = all('CreateFunctionStmt', parseSync(text));
  const options = [...all('DefElem', definition?.options)];
  const textOf = (name: string) => lastText(options.find(({ defname }) => defname === name));
  if (textOf('language') === 'sql') return { statements: [textOf('as')], handedOn: [] };
  const dynamic = [...all('PLpgSQL_stmt_dynexecute', parsePlPgSQLSync(withoutEnums(text, enums)))];
  const handedOn = dynamic.map(({ params }) => {
    const [first] = all('PLpgSQL_expr', params);
    return first && String(first.query);
  });
  return { statements: statementsInPlpgsql(text, enums), handedOn };
}

interface Rules {
  /** The tables with a tenant, by the column that holds the tenant. */
  readonly columns: ReadonlyMap<string, string>;
  /** The functions whose first parameter is the tenant. */
  readonly takers: ReadonlySet<string>;
  /** The parameter or variable that holds the tenant. */
  readonly tenant: string;
}

/** A part of a statement with a `from` of its own. */
interface Level {
  /** Tables by the names that the level calls them. */
  readonly tables: Map<string, string>;
  /** Conditions that every row of the level meets. */
  readonly conditions: Node[];
}

const READERS = new Set(['SelectStmt', 'UpdateStmt', 'DeleteStmt']);

/** The two queries of a `union`, which stand in the tree without the name of their kind. */
const SIDES = new Set(['larg', 'rarg']);

/** @returns the ways in which a statement leaves its tenant */
export function tenantFaults(sql: string, rules: Rules): string[] {
  const tree: unknown = parseSync(sql);
  const faults: string[] = [];
  const visit = (part: unknown): void => {
    if (!isNode(part)) return;
    for (const [key, value] of Object.entries(part)) {
      if (!isNode(value)) continue;
      const kind = SIDES.has(key) && !isNode(value.SelectStmt) ? 'SelectStmt' : key;
      if (READERS.has(kind)) faults.push(...openTables(value, rules));
      if (kind === 'MergeStmt') faults.push('merges, which this check cannot read');
      if (kind === 'InsertStmt') faults.push(...strangeRows(value, rules));
      if (kind === 'FuncCall') faults.push(...strangeCalls(value, rules));
      visit(value);
    }
  };
  visit(tree);
  return faults;
}

/** The tables of which a level may meet rows of other developers. */
function openTables(node: Node, { columns, tenant }: Rules): string[] {
  const level: Level = { tables: new Map(), conditions: [] };
  conjuncts(node.whereClause, level.conditions);
  for (const from of [node.fromClause, node.usingClause]) gather(from, level, columns);
  if (isNode(node.relation)) noteTable(node.relation, level, columns);
  const names = [...level.tables.keys()];
  return names
    .filter((name) => {
      const column = columns.get(level.tables.get(name) ?? '');
      const own = [`${name}.${column}`, ...(names.length === 1 ? [String(column)] : [])];
      const isHeld = ([one, other]: readonly string[]) =>
        own.includes(one ?? '') && other === tenant && one !== other;
      return !level.conditions.some((condition) => {
        const sides = equalSides(condition);
        return isHeld(sides) || isHeld(sides.toReversed());
      });
    })
    .map((name) => `does not compare the developer of ${level.tables.get(name)} with ${tenant}`);
}

/** Notes the tables of a `from`, and what an inner join demands. A subquery is a level of its own. */
function gather(from: unknown, level: Level, columns: Rules['columns']): void {
  if (Array.isArray(from)) for (const each of from) gather(each, level, columns);
  if (!isNode(from)) return;
  if (isNode(from.RangeVar)) noteTable(from.RangeVar, level, columns);
  const { JoinExpr: join } = from;
  if (!isNode(join)) return;
  gather(join.larg, level, columns);
  gather(join.rarg, level, columns);
  if (join.jointype === 'JOIN_INNER') conjuncts(join.quals, level.conditions);
}

function noteTable(relation: Node, level: Level, columns: Rules['columns']): void {
  const table = String(relation.relname);
  const name = isNode(relation.alias) ? relation.alias.aliasname : table;
  if (columns.has(table)) level.tables.set(String(name), table);
}

/** The conditions that every row has to meet. A condition under `or` or `not` is none of them. */
function conjuncts(condition: unknown, into: Node[]): void {
  if (!isNode(condition)) return;
  const { BoolExpr: both } = condition;
  if (!isNode(both)) into.push(condition);
  else if (both.boolop === 'AND_EXPR' && Array.isArray(both.args))
    for (const each of both.args) conjuncts(each, into);
}

/** The two sides of an equality of columns or variables. */
function equalSides({ A_Expr: equality }: Node): readonly string[] {
  if (!isNode(equality) || equality.kind !== 'AEXPR_OP' || lastText(equality.name) !== '=') return [];
  return [pathOf(equality.lexpr), pathOf(equality.rexpr)];
}

/** The dotted name of a column or variable, and nothing for another expression. */
function pathOf(side: unknown): string {
  if (!isNode(side) || !isNode(side.ColumnRef)) return '';
  return [...all('String', side.ColumnRef.fields)].map(({ sval }) => sval).join('.');
}

/**
 * An insert that names its values has to give the function's developer. A whole row comes from the application, whose
 * repo gives it the developer.
 */
function strangeRows({ relation, cols, selectStmt }: Node, { columns, tenant }: Rules): string[] {
  const table = isNode(relation) ? String(relation.relname) : '';
  const column = columns.get(table);
  if (column === undefined || !isNode(selectStmt) || !isNode(selectStmt.SelectStmt)) return [];
  const { valuesLists, targetList } = selectStmt.SelectStmt;
  const named = [...all('ResTarget', cols)].map(({ name }) => name);
  const place = named.length === 0 ? 0 : named.indexOf(column); // the developer is the first column of a table
  const rows = Array.isArray(valuesLists)
    ? [...all('List', valuesLists)].map(({ items }) => items)
    : [[...all('ResTarget', targetList)].map(({ val }) => val)];
  return rows
    .filter((row) => {
      const given: unknown = Array.isArray(row) ? row[place] : undefined;
      return pathOf(given) !== tenant && !(named.length === 0 && JSON.stringify(given).includes('A_Star'));
    })
    .map(() => `inserts rows into ${table} that are not of ${tenant}`);
}

/** Another function has to get the same developer, and an advisory lock has to be the developer's own. */
function strangeCalls({ funcname, args }: Node, { takers, tenant }: Rules): string[] {
  const name = lastText(funcname);
  const [first]: unknown[] = Array.isArray(args) ? args : [];
  if (takers.has(name) && pathOf(first) !== tenant) return [`calls ${name} without ${tenant}`];
  const isLock = name === 'hashtextextended';
  const isOwn = [...all('ColumnRef', first)].some((ColumnRef) => pathOf({ ColumnRef }) === tenant);
  return isLock && !isOwn ? [`takes a lock without ${tenant}`] : [];
}
