import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { groups } from '../../apps/server/src/config/settings.ts';
import { features, limits } from '../../apps/server/src/features.ts';
import { errorCodes, invalidGrantReasons } from '../../packages/protocol/src/errors.ts';
import { distribution } from './citus/script.ts';
import { cliTable } from './cli.ts';
import { configurationPage, quotaTable, rateTable } from './configuration-page.ts';
import { errorPage } from './error-page.ts';
import { performancePage } from './expectation.ts';
import { meterSchema } from './meter-schema.ts';
import { withMigrated } from './migrated.ts';
import { sdkTable, sdkTypes } from './sdk.ts';
import { securityPage } from './security/page.ts';
import { securityTests } from './security/titles.ts';
import { sizesTable } from './sizes.ts';
import { storagePage } from './storage.ts';
import { tableTypes } from './table-types.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Every generated file with its generator. */
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
