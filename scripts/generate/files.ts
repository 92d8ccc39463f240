import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { groups } from '../../apps/server/src/config/settings.ts';
import { features, limits } from '../../apps/server/src/features.ts';
import { migrate } from '../../apps/server/src/platform/db/migrate.ts';
import { startPostgres } from '../../apps/server/test/servers/postgres.ts';
import { errorCodes, invalidGrantReasons } from '../../packages/protocol/src/errors.ts';
import { distribution } from './citus/script.ts';
import { cliTable } from './cli.ts';
import { configurationPage, quotaTable, rateTable } from './configuration-page.ts';
import { consoleTypes, policyShape } from './console.ts';
import { readDescription } from './description/resolve.ts';
import { errorPage } from './error-page.ts';
import { performancePage, sizesTable } from './expectation.ts';
import { operationsOf } from './sdk/operations.ts';
import { tableText, typesText } from './sdk/texts.ts';
import { securityPage, securityTests } from './security/page.ts';
import { storagePage } from './storage.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Every generated file with its generator. */
const made: Readonly<Record<string, (databaseUrl: string) => string | Promise<string>>> = {
  'apps/console/src/api/policy.gen.ts': async () => policyShape(await apiDescription()),
  'apps/console/src/api/types.gen.ts': async () => consoleTypes(await apiDescription()),
  'apps/server/src/platform/db/types.gen.ts': tableTypes,
  'deploy/citus.sql': distribution,
  'docs/configuration.md': () => {
    const limitTables = { 'request limits': rateTable(limits), plans: quotaTable(limits) };
    const ofFeatures = Object.fromEntries(features.map(({ name, settings }) => [name, settings]));
    const tables = { ...groups, ...limitTables };
    const sizes = sizesTable(textOf('scripts/bench/RESULTS.md'));
    return configurationPage(textOf('docs/configuration.md'), tables, ofFeatures, sizes);
  },
  'docs/errors.md': () => errorPage(errorCodes, invalidGrantReasons),
  'docs/operations.md': () => storagePage(textOf('docs/operations.md')),
  'docs/performance.md': () =>
    performancePage(textOf('docs/performance.md'), textOf('scripts/bench/RESULTS.md')),
  'docs/security.md': () => securityPage(textOf('docs/security.md'), securityTests(ROOT)),
  'openapi.json': apiDescription,
  'packages/cli/src/api/operations.gen.ts': async () => cliTable(await apiDescription()),
  'packages/meter/src/postgres-schema.gen.ts': () => meterSchema(ROOT),
  'packages/sdk/src/api/calls.gen.ts': async () => sdkTable(await apiDescription()),
  'packages/sdk/src/api/types.gen.ts': async () => sdkTypes(await apiDescription()),
};

/** Writes each file that is stale; for a check, names it and writes nothing. */
export async function writeGenerated(isCheck: boolean): Promise<void> {
  await withMigrated(async (databaseUrl) => {
    for (const [path, make] of Object.entries(made)) {
      const [file, text] = [join(ROOT, path), await make(databaseUrl)];
      if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
      if (isCheck) {
        process.exitCode = 1;
        process.stdout.write(`${path} is stale: npm run generate\n`);
        continue;
      }
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      process.stdout.write(`wrote ${path}\n`);
    }
  });
}

let description: Promise<string> | undefined;

/** The application is imported here, because the table types have to be made while it does not compile. */
function apiDescription(): Promise<string> {
  description ??= import('./description/describe.ts').then(({ apiDescription: make }) => make());
  return description;
}

const TABLES = 'apps/server/migrations/*_caps.sql';
const FUNCTIONS = 'apps/server/src/features/calls/caps/caps.sql';

/** Two processes that install at once take turns. Any constant will do. */
const LOCK = 'select pg_advisory_xact_lock(1650812005);';

/** Makes the module with the SQL of the Postgres meter, for deployments without the service's database. */
function meterSchema(root: string): string {
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

/** Runs something with a temporary Postgres in which every migration is applied. */
async function withMigrated<Result>(use: (url: string) => Promise<Result>): Promise<Result> {
  const postgres = await startPostgres();
  try {
    await migrate({ connectionString: postgres.url });
    return await use(postgres.url);
  } finally {
    await postgres.stop();
  }
}

/** The table of the SDK's calls, made from the description of the API. */
function sdkTable(description: string): string {
  return tableText(operationsOf(readDescription(description)));
}

/** The types of the SDK's methods. */
function sdkTypes(description: string): string {
  return typesText(operationsOf(readDescription(description)));
}

const FLAGS = ['--print', '--camel-case', '--log-level=silent', '--exclude-pattern=schema_*'];

/** Makes the types of all tables of a migrated database. */
function tableTypes(url: string): string {
  const { status, stdout, stderr } = spawnSync('kysely-codegen', [...FLAGS, `--url=${url}`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`kysely-codegen: ${stderr}`);
  return stdout;
}
