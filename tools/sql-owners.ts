import { type Ground, look } from './sql/look.ts';

const SERVER: Ground = { sources: 'apps/server/src', migrations: 'apps/server/migrations' };
const PLANTED: Ground = {
  sources: 'apps/server/test/planted/sql',
  migrations: 'apps/server/test/planted/sql/migrations',
};

/** The breaches in the planted files. A run that misses one of them proves nothing about the rest. */
const EXPECTED = [
  'area/other declares to read api_keys, and does not',
  'area/other declares to write agents, and does not',
  'area/other owns policies, which no migration makes',
  'area/other: other.service.ts names the table developers, and only repos and queries do',
  'area/thing reads developers (thing.repo.ts) and does not declare it',
  'area/thing writes developers (thing_count.sql) and does not declare it',
  'area/thing: thing_count.sql writes tables of area/other alone, and belongs there',
  'agent_index is owned by area/other and area/thing',
  'api_keys is owned by nobody',
  'agents is of other in 001_things.sql and of area/thing in its declaration',
  'misplaced is made by 001_things.sql, and belongs into a file of its own',
  'the function thing_count is in several files: area/other/sql, area/thing/sql',
  'the function thing_count is called by nothing',
].sort();

function plantProblems(found: readonly string[]): string[] {
  const missing = EXPECTED.filter((line) => !found.includes(line)).map((line) => `not noticed: ${line}`);
  const surplus = found.filter((line) => !EXPECTED.includes(line)).map((line) => `not expected: ${line}`);
  return [...missing, ...surplus].map((line) => `${PLANTED.sources}: ${line}`);
}

if (import.meta.main) {
  const { problems, seen } = await look(SERVER);
  const all = [...problems, ...plantProblems((await look(PLANTED)).problems)];
  for (const problem of all) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${seen}\n`);
  process.exitCode = all.length > 0 ? 1 : 0;
}
