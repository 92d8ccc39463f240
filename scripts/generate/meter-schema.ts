import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const TABLES = 'apps/server/migrations/*_caps.sql';
const FUNCTIONS = 'apps/server/src/features/calls/caps/sql/*.sql';

/** Two processes that install at once take turns. Any constant will do. */
const LOCK = 'select pg_advisory_xact_lock(1650812005);';

/** Makes the module with the SQL of the Postgres meter, for deployments without the service's database. */
export function meterSchema(root: string): string {
  const textsOf = (pattern: string) =>
    globSync(pattern, { cwd: root })
      .sort((one, other) => basename(one).localeCompare(basename(other), 'en'))
      .map((file) => readFileSync(join(root, file), 'utf8'));
  const tables = textsOf(TABLES).map((text) =>
    text.replaceAll(/^create (table|index) /gm, '$&if not exists '),
  );
  const all = [LOCK, 'set local check_function_bodies = off;', ...tables, ...textsOf(FUNCTIONS)].join('\n');
  return `// Made from ${TABLES.replace('*', 'NNN')} and the functions beside it by \`npm run generate\`.
export const schema = ${'`'}${all.replaceAll(/[\\`]|\$\{/g, '\\$&')}${'`'};
`;
}
