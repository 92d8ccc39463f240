import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { features } from '../../apps/server/src/features.ts';
import { readFunctions } from '../../apps/server/src/platform/db/functions.ts';
import type { TableUse } from '../../apps/server/src/platform/db/tables.ts';
import { tenantProblems } from './tenants.ts';
import { NAMED_ELSEWHERE, type Uses, usesIn, usesInSource, usesOfFunctions } from './uses.ts';

/** Where a schema and its users are. */
interface Ground {
  readonly sources: string;
  readonly migrations: string;
}

interface Owner extends Omit<TableUse, 'owns'> {
  readonly owns: readonly string[];
  /** `access/grants`, or the folder below `src` where it is no feature's. */
  readonly name: string;
  readonly folder: string;
}

/** A source file, or an SQL function. */
interface User {
  readonly path: string;
  /** The function's name, or the file's. */
  readonly name: string;
  readonly owner: Owner;
  readonly uses: Uses;
}

interface Table {
  readonly file: string;
  /** The noun that the comment before it names. */
  readonly said: string | undefined;
}

interface Schema {
  readonly tables: ReadonlyMap<string, Table>;
  readonly enums: ReadonlySet<string>;
  /** Functions that migrations make, by file. */
  readonly misplaced: readonly (readonly [name: string, file: string])[];
}

/** Everything that the checks are made on. */
interface Seen extends Schema {
  readonly owners: readonly Owner[];
  readonly functions: readonly User[];
  readonly sources: readonly User[];
}

/** Holds the SQL of a checkout, which is the working directory, against what each noun declares of its tables. */
export async function problemsIn(ground: Ground): Promise<string[]> {
  const schema = schemaOf(ground);
  const owners = await ownersIn(ground);
  const functions = readFunctions(ground.sources).map(({ name, path, text }) => {
    const uses = usesOfFunctions(text, schema.enums);
    return { name, path, uses, owner: ownerOf(path, ground, owners) };
  });
  const sources = globSync(`${ground.sources}/**/!(*.test|*.gen).ts`)
    .sort()
    .flatMap((path): User[] => {
      const uses = usesInSource(path, (name) => schema.tables.has(name));
      return uses ? [{ name: basename(path), path, uses, owner: ownerOf(path, ground, owners) }] : [];
    });
  const problems = problemsOf({ ...schema, owners, functions, sources });
  return [...new Set(problems), ...tenantProblems(ground, schema.enums)].sort();
}

function schemaOf({ migrations, sources }: Ground): Schema {
  const tables = new Map<string, Table>();
  const enums = new Set<string>();
  const misplaced: [string, string][] = [];
  for (const path of globSync(`${migrations}/*.sql`).sort()) {
    const text = readFileSync(path, 'utf8');
    const { creates } = usesIn(text);
    for (const name of creates.functions) misplaced.push([name, basename(path)]);
    for (const name of creates.enums) enums.add(name);
    for (const name of creates.tables) {
      const before = text.slice(0, text.search(new RegExp(`create table ${name}\\b`)));
      const said = [...before.matchAll(/^-- Owner: ([\w/-]+)\./gm)].at(-1)?.[1];
      tables.set(name, { file: basename(path), said });
    }
    for (const [, name = ''] of text.matchAll(/^drop table (\w+);/gm)) tables.delete(name);
  }
  // The journals, which are there before the first migration.
  for (const path of globSync(`${sources}/platform/db/*.ts`)) {
    for (const name of usesInSource(path, () => false)?.creates.tables ?? []) {
      tables.set(name, { file: basename(path), said: undefined });
    }
  }
  return { tables, enums, misplaced };
}

interface Declared {
  readonly tables?: TableUse;
}

async function ownersIn({ sources }: Ground): Promise<Owner[]> {
  const files = globSync(`${sources}/**/*.{feature,tables}.ts`).sort();
  const owners = await Promise.all(
    files.map(async (path): Promise<Owner[]> => {
      const module = await import(pathToFileURL(path).href);
      const declared: Declared | undefined = path.endsWith('.feature.ts')
        ? Object.values<Declared>(module).find(({ tables }) => tables)
        : module;
      const folder = dirname(path);
      const name = relative(sources, folder).replace(/^features\//, '');
      const uses = declared?.tables;
      return uses ? [{ ...uses, owns: Object.keys(uses.owns), folder, name }] : [];
    }),
  );
  return owners.flat();
}

/** The noun in whose folder a file is. */
function ownerOf(path: string, { sources }: Ground, owners: readonly Owner[]): Owner {
  const nearest = owners.filter(({ folder }) => path.startsWith(`${folder}/`)).at(-1);
  const folder = dirname(path);
  return nearest ?? { name: relative(sources, folder), folder, owns: [], reads: [], writes: [] };
}

/** Lists the problems, a line each. */
function problemsOf({ tables, misplaced, owners, functions, sources }: Seen): string[] {
  const users = [...functions, ...sources];
  return [
    ...ownershipProblems(tables, owners),
    ...owners.flatMap((owner) => declarationProblems(owner, users)),
    ...users.flatMap((user) => userProblems(user, tables)),
    ...functions.flatMap((user) => strangerProblems(user, owners)),
    ...sources.flatMap(placeProblems),
    ...functionProblems(functions, sources),
    ...misplaced.map(([name, file]) => `${name} is made by ${file}, and belongs beside its feature`),
  ];
}

function ownershipProblems(tables: ReadonlyMap<string, Table>, owners: readonly Owner[]): string[] {
  const problems: string[] = [];
  for (const [table, { file, said }] of tables) {
    const names = owners.filter(({ owns }) => owns.includes(table)).map(({ name }) => name);
    if (names.length === 0) problems.push(`${table} is owned by nobody`);
    if (names.length > 1) problems.push(`${table} is owned by ${names.join(' and ')}`);
    const [name] = names;
    if (names.length === 1 && name && said && name !== said && !name.endsWith(`/${said}`)) {
      problems.push(`${table} is of ${said} in ${file} and of ${name} in its declaration`);
    }
  }
  for (const { name, owns } of owners) {
    for (const table of owns)
      if (!tables.has(table)) problems.push(`${name} owns ${table}, which no migration makes`);
  }
  return problems;
}

/** Tables that are declared and used by nothing. */
function declarationProblems({ name, reads, writes }: Owner, users: readonly User[]): string[] {
  const own = users.filter(({ owner }) => owner.name === name);
  const isUsed = (table: string, how: 'reads' | 'writes') => own.some(({ uses }) => uses[how].has(table));
  return [
    ...reads
      .filter((table) => !isUsed(table, 'reads'))
      .map((table) => `${name} declares to read ${table}, and does not`),
    ...writes
      .filter((table) => !isUsed(table, 'writes'))
      .map((table) => `${name} declares to write ${table}, and does not`),
  ];
}

/** Tables that are used and not declared, or do not exist. */
function userProblems({ name: file, owner, uses }: User, tables: ReadonlyMap<string, Table>): string[] {
  const { name, owns, reads, writes } = owner;
  const undeclared = (how: 'reads' | 'writes', declared: readonly string[]) =>
    [...uses[how]]
      .filter((table) => tables.has(table) && !declared.includes(table))
      .map((table) => `${name} ${how} ${table} (${file}) and does not declare it`);
  const unknown = [...uses.reads, ...uses.writes].filter(
    (table) => !tables.has(table) && table !== NAMED_ELSEWHERE && !table.startsWith('pg_'),
  );
  return [
    ...undeclared('reads', [...owns, ...reads, ...writes]),
    ...undeclared('writes', [...owns, ...writes]),
    ...unknown.map((table) => `${file} names the table ${table}, which no migration makes`),
  ];
}

/** A function that writes for somebody else, and has nothing to do with its own noun, is in the wrong folder. */
function strangerProblems({ name, owner, uses }: User, owners: readonly Owner[]): string[] {
  const isForOwn = [...uses.reads, ...uses.writes].some((table) => owner.owns.includes(table));
  if (isForOwn) return [];
  const others = new Set(
    [...uses.writes].map((table) => owners.find(({ owns }) => owns.includes(table))?.name),
  );
  if (others.size !== 1) return [];
  return [`${owner.name}: ${name} writes only tables of ${[...others]}, and belongs there`];
}

function functionProblems(functions: readonly User[], sources: readonly User[]): string[] {
  const problems: string[] = [];
  const called = new Set([
    ...[...functions, ...sources].flatMap(({ uses }) => [...uses.calls]),
    ...features.flatMap(({ quotas = {} }) => Object.keys(quotas).map((name) => `count_${name}`)), // by exact_use
  ]);
  const places = new Map<string, string[]>();
  for (const { name, path } of functions) places.set(name, [...(places.get(name) ?? []), path]);
  for (const [name, paths] of places) {
    if (paths.length > 1) problems.push(`the function ${name} is made more than once: ${paths.join(', ')}`);
    if (!called.has(name)) problems.push(`the function ${name} is called by nothing`);
  }
  return problems;
}

/** Statements are in repos and queries, and in the platform, which has no roles. */
function placeProblems({ name, path, owner, uses }: User): string[] {
  if (!path.includes('/features/') || /[.](repo|queries)[.]ts$/.test(path)) return [];
  return [...uses.reads, ...uses.writes].map(
    (table) => `${owner.name}: ${name} names the table ${table}, and only repos and queries do`,
  );
}
