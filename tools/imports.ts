import { globSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import rules from '../.dependency-cruiser.ts';

const SOURCES = '{{apps,packages}/*/{src,test},tools,bench}';
const PLANTED = 'apps/server/test/planted';

/** What the planted files break. When this is not reported, then a clean report means nothing. */
const EXPECTED = [
  'features-meet-at-the-index: thing.routes.ts → other.service.ts',
  'pg-only-in-db: thing.routes.ts → index.mjs',
  'routes-call-services: thing.routes.ts → thing.repo.ts',
  'routes-stay-at-home: thing.routes.ts → other.service.ts',
];

/**
 * The import rules of this checkout, which is the working directory. With a TypeScript it does not know,
 * dependency-cruiser sees no file, finds nothing and says all is well: hence the count and the plant.
 */
export async function checkImports(): Promise<{ count: number; problems: string[] }> {
  const { seen, broken } = await look(globSync(SOURCES));
  const files = globSync(`${SOURCES}/**/*.{ts,js,mjs}`);
  const unseen = files.filter((file) => !seen.has(file));
  const planted = await look([PLANTED]);
  const problems = [
    ...broken
      .filter(({ from }) => !from.startsWith(PLANTED))
      .map(({ rule, from, to }) => `${rule}: ${from} → ${to}`),
    ...unseen.map((file) => `dependency-cruiser did not look at ${file}`),
    ...plantProblems(planted.broken.map(({ rule, from, to }) => `${rule}: ${name(from)} → ${name(to)}`)),
  ];
  return { count: files.length, problems };
}

function plantProblems(found: readonly string[]): string[] {
  const missing = EXPECTED.filter((line) => !found.includes(line)).map(
    (line) => `not noticed in ${PLANTED}: ${line}`,
  );
  const surplus = found
    .filter((line) => !EXPECTED.includes(line))
    .map((line) => `not expected in ${PLANTED}: ${line}`);
  return [...missing, ...surplus];
}

async function look(folders: string[]) {
  const { output } = await cruise(folders, { ...rules.options, validate: true, ruleSet: rules });
  if (typeof output === 'string') throw new Error(output);
  return {
    seen: new Set(output.modules.map(({ source }) => source)),
    broken: output.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
  };
}

function name(path: string): string {
  return path.replace(/^.*\//, '');
}

if (import.meta.main) {
  const { count, problems } = await checkImports();
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${count} files, ${problems.length} problems\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
