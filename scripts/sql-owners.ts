import { type Ground, look } from './sql/look.ts';

const SERVER: Ground = { sources: 'apps/server/src', migrations: 'apps/server/migrations' };
const PLANTED: Ground = {
  sources: 'apps/server/test/planted/sql',
  migrations: 'apps/server/test/planted/sql/migrations',
};

/** Statements of SQL functions over all developers, which only jobs call. */
const KNOWN: readonly string[] = [
  'due_webhook_developers.sql does not compare the developer of webhook_deliveries with dev', // finds the next one
];

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
  'thing_count.sql does not compare the developer of developers with p_developer_id', // in both files
  'thing_count.sql does not compare the developer of developers with p_developer_id',
  'place_of.sql does not compare the developer of places with p_developer_id',
  'place_of.sql inserts rows into places that are not of p_developer_id',
  'place_of.sql calls place_of without p_developer_id',
  'place_of.sql hands p_id to a function in place of p_developer_id',
].sort();

/** A line for each problem that was found once more, or once less, than expected. */
function differences(place: string, found: readonly string[], expected: readonly string[]): string[] {
  const surplus = [...found];
  const missing = expected.filter((line) => {
    const at = surplus.indexOf(line);
    if (at >= 0) surplus.splice(at, 1);
    return at < 0;
  });
  const lines = [
    ...missing.map((line) => `not noticed: ${line}`),
    ...surplus.map((line) => `not expected: ${line}`),
  ];
  return lines.map((line) => `${place}: ${line}`);
}

if (import.meta.main) {
  const { problems, seen } = await look(SERVER);
  const all = [
    ...differences(SERVER.sources, problems, KNOWN),
    ...differences(PLANTED.sources, (await look(PLANTED)).problems, EXPECTED),
  ];
  for (const problem of all) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${seen}\n`);
  process.exitCode = all.length > 0 ? 1 : 0;
}
