import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { groups } from '../apps/server/src/config/settings.ts';
import { features, limits } from '../apps/server/src/features.ts';
import { errorCodes, invalidGrantReasons } from '../packages/protocol/src/errors.ts';
import { cliTable } from './generate/cli.ts';
import { configurationPage, quotaTable, rateTable } from './generate/configuration-page.ts';
import { distribution } from './generate/distribution.ts';
import { errorPage } from './generate/error-page.ts';
import { performancePage } from './generate/expectation.ts';
import { meterSchema } from './generate/meter-schema.ts';
import { withMigrated } from './generate/migrated.ts';
import { sdkTable, sdkTypes } from './generate/sdk.ts';
import { securityPage } from './generate/security/page.ts';
import { securityTests } from './generate/security/titles.ts';
import { sizesTable } from './generate/sizes.ts';
import { storagePage } from './generate/storage.ts';
import { tableTypes } from './generate/table-types.ts';

const ROOT = join(import.meta.dirname, '..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Every generated file with its generator. `--check` writes nothing and names the stale files. */
const made: Readonly<Record<string, (databaseUrl: string) => string | Promise<string>>> = {
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

let description: Promise<string> | undefined;
const isCheck = process.argv.includes('--check');
await withMigrated(async (databaseUrl) => {
  for (const [path, make] of Object.entries(made)) write(path, await make(databaseUrl));
});

function write(path: string, text: string): void {
  const file = join(ROOT, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  if (isCheck) {
    process.exitCode = 1;
    process.stdout.write(`${path} is stale: npm run generate\n`);
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`wrote ${path}\n`);
}

/** The application is imported here, because the table types have to be made while it does not compile. */
function apiDescription(): Promise<string> {
  description ??= import('./generate/description/describe.ts').then(({ apiDescription: make }) => make());
  return description;
}
