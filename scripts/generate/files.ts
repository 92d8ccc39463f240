import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { groups } from '../../apps/server/src/config/settings.ts';
import { features, limits } from '../../apps/server/src/features.ts';
import { migrate } from '../../apps/server/src/platform/db/migrate.ts';
import { startPostgres } from '../../apps/server/test/servers/postgres.ts';
import { errorCodes, invalidGrantReasons } from '../../packages/protocol/src/errors.ts';
import { distribution } from './citus/script.ts';
import { cliTable } from './cli.ts';
import { configurationPage, quotaTable, rateTable } from './configuration-page.ts';
import { readDescription } from './description/resolve.ts';
import { performancePage, sizesTable } from './expectation.ts';
import { operationsOf } from './sdk/operations.ts';
import { tableText, typesText } from './sdk/texts.ts';
import { securityPage, securityTests } from './security/page.ts';
import { storagePage } from './storage.ts';

interface ErrorCode {
  readonly status: number;
  readonly meaning: string;
}

const INTRODUCTION = `# Errors

<!-- Written by \`npm run generate\` from packages/protocol/src/errors.ts. -->

Every answer that is not a success has this body. Programs go by \`code\`, which never changes its meaning;
\`message\` is for people. [Errors of the protocol](protocol/errors.md) has the bodies of OAuth and SCIM, rates and repetition.

\`\`\`json
{ "code": "NOT_FOUND", "message": "…", "requestId": "req_…", "details": {} }
\`\`\`
`;

const REASONS = `## Reasons of INVALID_GRANT

\`details.reason\` is one of these.

| Reason | Meaning and remedy |
| --- | --- |
`;

/** Makes the page on errors: a table for each status, and an anchor for each code. */
export function errorPage(
  codes: Readonly<Record<string, ErrorCode>>,
  grantReasons: Readonly<Record<string, string>> = {},
): string {
  const statuses = [...new Set(Object.values(codes).map(({ status }) => status))].sort((a, b) => a - b);
  const sections = statuses.map((status) => {
    const rows = Object.entries(codes)
      .filter(([, code]) => code.status === status)
      .map(([code, { meaning }]) => `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${cell(meaning)} |`);
    return `## ${status}\n\n| Code | Meaning and remedy |\n| --- | --- |\n${rows.join('\n')}\n`;
  });
  const reasons = Object.entries(grantReasons).map(([reason, text]) => `| \`${reason}\` | ${cell(text)} |`);
  return [INTRODUCTION, ...sections, `${REASONS}${reasons.join('\n')}\n`].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);

type Operation = { responses: Record<string, unknown>; security?: unknown };
type Description = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};

const REFUSAL = {
  description: 'A refusal',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

/**
 * The types of what the console may call: the operations below `/v1`, with their good answers. All refusals have the
 * one shape `Error`, which the console's client reads.
 */
async function consoleTypes(description: string): Promise<string> {
  const whole: Description = JSON.parse(description);
  const paths = Object.fromEntries(
    Object.entries(whole.paths)
      .filter(([path]) => /^\/v1\/(?!admin\/)/.test(path))
      .map(([path, item]) => [path, Object.fromEntries(Object.entries(item).map(withoutRefusals))]),
  );
  const parts = await openapiTypescript(JSON.stringify({ ...whole, paths }), {
    alphabetize: true,
    silent: true,
  });
  return `// Made from openapi.json by \`npm run generate\`.\n${shortened(astToString(parts))}`;
}

/** The shape of a new policy, by which the console checks a draft while somebody types it. */
function policyShape(description: string): string {
  const { components }: Description = JSON.parse(description);
  const shape = JSON.stringify(components.schemas.NewPolicy, null, 2);
  return `// Made from openapi.json by \`npm run generate\`.\nexport const newPolicy = ${shape} as const;\n`;
}

function withoutRefusals([name, operation]: [string, Operation]): [string, Operation] {
  if (!METHODS.has(name)) return [name, operation];
  const good = Object.entries(operation.responses).filter(([status]) => status < '400');
  return [name, { ...operation, responses: { ...Object.fromEntries(good), default: REFUSAL } }];
}

/** Without the members that say that something is absent: they are a third of the text. */
const shortened = (text: string) =>
  text.replaceAll(/^ +(?:header|cookie|trace|head|options)\?: never;\n/gm, '');

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
