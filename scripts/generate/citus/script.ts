import pg from 'pg';
import { type Catalogue, catalogueOf, type SqlFunction } from './catalogue.ts';
import { DROPPED, distributionColumn, LOCAL, REFERENCE, ROOT } from './spread.ts';

/** Makes the script that distributes a migrated database. */
export async function distribution(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return citusScript(await catalogueOf(client));
  } finally {
    await client.end();
  }
}

const ARGUMENT = 'p_developer_id';

/**
 * @returns the script that distributes a migrated database by developer
 * @throws when the catalogue has an index or a constraint that Citus refuses and that nobody has decided on
 */
export function citusScript(catalogue: Catalogue): string {
  const columns = new Map(
    catalogue.tables.map(({ name, columns: all }) => [name, distributionColumn(name, all)]),
  );
  const refused = refusedBy(catalogue, columns);
  const surprises = [
    ...refused.filter(({ name }) => !(name in DROPPED)).map(({ name }) => `${name} cannot be distributed`),
    ...Object.keys(DROPPED).filter((name) => !refused.some((each) => each.name === name)),
    ...[...columns].flatMap(([name, column]) =>
      column === undefined && !(name in REFERENCE) && !(name in LOCAL) ? [`${name} has no place`] : [],
    ),
  ];
  if (surprises.length > 0) throw new Error(`scripts/generate/citus/spread.ts: ${surprises.join('; ')}`);
  const distributed = referencedFirst(catalogue).filter((name) => columns.get(name) !== undefined);
  const locked = lockingFunctions(catalogue.functions);

  return [
    HEAD,
    comments('Refused by Citus, each with what holds in its place.'),
    ...refused.map(({ name, drop }) => `-- ${DROPPED[name]}.\n${drop};`),
    comments('Citus takes no trigger on a distributed table. Those of the shards follow below.'),
    ...catalogue.triggers.map(({ name, table }) => `drop trigger ${name} on ${table};`),
    comments('The rows of a developer are on one node, whatever their table.'),
    ...distributed.map((name) => {
      const together = name === ROOT ? '' : `, colocate_with => '${ROOT}'`;
      return `select create_distributed_table('${name}', '${columns.get(name)}'${together});`;
    }),
    comments('Each node has a copy.'),
    ...Object.entries(REFERENCE).map(([name, why]) => `-- ${why}\nselect create_reference_table('${name}');`),
    comments('These stay on the coordinator.'),
    ...Object.entries(LOCAL).map(([name, why]) => `-- ${name}: ${why}`),
    comments(
      `A call with nothing but constants runs on the node of its developer. Advisory locks are known to one node only, so
-- functions that take one are not sent anywhere: all of their callers have to meet on the coordinator.`,
    ),
    ...catalogue.functions.map((each) => functionLine(each, locked.has(each.name))),
    comments('After shards have moved, these have to be made again.'),
    ...catalogue.triggers.map(({ table, definition }) => shardTrigger(table, definition)),
    '',
  ].join('\n');
}

const HEAD = `-- Distributes the database of the service with Citus. Made from the catalogue by \`npm run generate\`.
-- Run it once on the coordinator, after the first start of a release and before there is traffic. The service connects
-- to the coordinator alone.
create extension if not exists citus;`;

const comments = (text: string) => `\n-- ${text}`;

/** Unique indexes without the distribution column, and foreign keys that leave their shard. */
function refusedBy({ uniques, foreignKeys }: Catalogue, columns: ReadonlyMap<string, string | undefined>) {
  const indexes = uniques.filter(({ table, columns: held }) => {
    const column = columns.get(table);
    return column !== undefined && !held.includes(column);
  });
  const keys = foreignKeys.filter((key) => {
    const [from, to] = [columns.get(key.table), columns.get(key.target)];
    if (to === undefined) return from === undefined ? false : !(key.target in REFERENCE);
    const place = from === undefined ? -1 : key.columns.indexOf(from);
    return place < 0 || key.targetColumns[place] !== to;
  });
  return [
    ...indexes.map(({ name }) => ({ name, drop: `drop index ${name}` })),
    ...keys.map(({ name, table }) => ({ name, drop: `alter table ${table} drop constraint ${name}` })),
  ];
}

/** A table comes after the root and after the tables that it refers to. */
function referencedFirst({ tables, foreignKeys }: Catalogue): string[] {
  const placed = new Set([ROOT]);
  const place = (name: string) => {
    if (placed.has(name)) return;
    for (const { table, target } of foreignKeys) if (table === name && target !== name) place(target);
    placed.add(name);
  };
  for (const { name } of tables) place(name);
  return [...placed];
}

/** The functions that take an advisory lock, themselves or through a function that they call. */
function lockingFunctions(functions: readonly SqlFunction[]): ReadonlySet<string> {
  const locking = new Set<string>();
  for (let before = -1; locking.size > before; ) {
    before = locking.size;
    const words = ['pg_(try_)?advisory_\\w+', ...locking].join('|');
    const calls = new RegExp(`\\b(${words})\\s*\\(`);
    for (const { name, body } of functions) if (calls.test(body)) locking.add(name);
  }
  return locking;
}

function functionLine({ signature, argumentNames }: SqlFunction, isLocking: boolean): string {
  if (isLocking || !argumentNames.includes(ARGUMENT))
    return `select create_distributed_function('${signature}');`;
  return `select create_distributed_function('${signature}', '${ARGUMENT}', colocate_with => '${ROOT}');`;
}

/** The statement of a trigger with a shard in the place of its table. */
function shardTrigger(table: string, definition: string): string {
  const onShard = definition.replace(` ON public.${table} `, ' ON %s ');
  return `select run_command_on_shards('${table}', $$${onShard}$$);`;
}
