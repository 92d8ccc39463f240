import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TableUse } from '../../apps/server/src/platform/db/tables.ts';
import { problemsOf } from './problems.ts';
import type { Owner, Schema, Table, User } from './seen.ts';
import { usesInSource } from './sources.ts';
import { tenantProblems } from './tenants.ts';
import { type Uses, usesIn, usesOfFunctions } from './uses.ts';

/** Where a schema and its users are. */
export interface Ground {
  readonly sources: string;
  readonly migrations: string;
}

interface Report {
  readonly problems: readonly string[];
  readonly seen: string;
}

/** Holds the SQL of a checkout, which is the working directory, against what each noun declares of its tables. */
export async function look(ground: Ground): Promise<Report> {
  const schema = schemaOf(ground);
  const owners = await ownersIn(ground);
  const functions = usersIn(ground, owners, '**/sql/*.sql', (path) =>
    usesOfFunctions(readFileSync(path, 'utf8'), schema.enums),
  );
  const sources = usersIn(ground, owners, '**/!(*.test|*.gen).ts', (path) =>
    usesInSource(path, (name) => schema.tables.has(name)),
  );
  const problems = problemsOf({ ...schema, owners, functions, sources });
  const seen = `${schema.tables.size} tables, ${functions.length} functions, ${sources.length} files with statements`;
  const all = [...new Set(problems), ...tenantProblems(ground, schema.enums)];
  return { problems: all.sort(), seen };
}

function schemaOf({ migrations, sources }: Ground): Schema {
  const tables = new Map<string, Table>();
  const enums = new Set<string>();
  const misplaced: [string, string][] = [];
  for (const path of globSync(`${migrations}/*.sql`)) {
    const text = readFileSync(path, 'utf8');
    const { creates } = usesIn(text);
    for (const name of creates.functions) misplaced.push([name, basename(path)]);
    for (const name of creates.enums) enums.add(name);
    for (const name of creates.tables) {
      const before = text.slice(0, text.search(new RegExp(`create table ${name}\\b`)));
      const said = [...before.matchAll(/^-- Owner: ([\w/]+)\./gm)].at(-1)?.[1];
      tables.set(name, { file: basename(path), said });
    }
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

/** The files that a pattern finds and that use any table or function, each with the noun in whose folder it is. */
function usersIn(
  { sources }: Ground,
  owners: readonly Owner[],
  pattern: string,
  usesOf: (path: string) => Uses | undefined,
): User[] {
  return globSync(`${sources}/${pattern}`)
    .sort()
    .flatMap((path) => {
      const uses = usesOf(path);
      if (!uses) return [];
      const nearest = owners.filter(({ folder }) => path.startsWith(`${folder}/`)).at(-1);
      const folder = dirname(path);
      const owner = nearest ?? { name: relative(sources, folder), folder, owns: [], reads: [], writes: [] };
      return [{ path, owner, uses }];
    });
}
