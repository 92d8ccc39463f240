import { globSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import rules from '../.dependency-cruiser.ts';
import type { Feature } from '../apps/server/src/feature.ts';
import { features } from '../apps/server/src/features.ts';

const SOURCES = '{{apps,packages}/*/{src,test},tools,bench}';
const PLANTED = 'apps/server/test/planted';

/** The breaches in the planted files. A run that misses one of them proves nothing about the rest. */
const EXPECTED = [
  'features-meet-at-the-index: thing.queries.ts → other.service.ts',
  'features-meet-at-the-index: thing.routes.ts → other.service.ts',
  'pg-only-in-db: thing.routes.ts → index.mjs',
  'queries-are-for-repos-and-services: thing.routes.ts → thing.queries.ts',
  'queries-only-read: thing.queries.ts → other.service.ts',
  'quotas-knows-what-it-declares: quotas.service.ts → index.ts',
  'routes-call-services: thing.routes.ts → thing.repo.ts',
  'routes-stay-at-home: thing.routes.ts → other.service.ts',
];

/**
 * Checks the import rules of the working directory, which is the checkout. dependency-cruiser sees no file, and
 * reports no breach, with a TypeScript that it does not know. The count of files and the planted breaches show
 * that.
 */
export async function checkImports(): Promise<{ count: number; problems: string[] }> {
  const { seen, broken, imports } = await look(globSync(SOURCES));
  const files = globSync(`${SOURCES}/**/*.{ts,js,mjs}`, { exclude: ['**/node_modules/**'] });
  const unseen = files.filter((file) => !seen.has(file));
  const planted = await look([PLANTED]);
  const problems = [
    ...knowledgeProblems(features),
    ...unusedKnowledge(features, imports),
    ...broken
      .filter(({ from }) => !from.startsWith(PLANTED))
      .map(({ rule, from, to }) => `${rule}: ${from} → ${to}`),
    ...unseen.map((file) => `dependency-cruiser did not look at ${file}`),
    ...plantProblems(planted.broken.map(({ rule, from, to }) => `${rule}: ${name(from)} → ${name(to)}`)),
  ];
  return { count: files.length, problems };
}

/** Features that know each other in a circle cannot be understood one after the other. */
export function knowledgeProblems(all: readonly Pick<Feature, 'name' | 'knows'>[]): string[] {
  const unsorted = new Map(all.map(({ name, knows }) => [name, new Set(knows)]));
  const strangers = all.flatMap(({ name, knows }) =>
    knows.filter((noun) => !unsorted.has(noun)).map((noun) => `${name} knows ${noun}, which is no feature`),
  );
  if (strangers.length > 0) return strangers;
  for (;;) {
    const ready = [...unsorted].filter(([, knows]) => [...knows].every((noun) => !unsorted.has(noun)));
    if (ready.length === 0) break;
    for (const [name] of ready) unsorted.delete(name);
  }
  return unsorted.size > 0
    ? [`features know each other in a circle: ${[...unsorted.keys()].join(', ')}`]
    : [];
}

/** Lists the features that a feature declares to know and does not import. */
function unusedKnowledge(
  all: readonly Feature[],
  imports: readonly { from: string; to: string }[],
): string[] {
  const nounOf = (path: string) => /features\/[^/]+\/([^/]+)\//.exec(path)?.[1];
  const used = new Set(
    imports
      .filter(({ from, to }) => to.endsWith('/index.ts') && !from.endsWith('.feature.ts'))
      .filter(({ from }) => !from.endsWith('.test.ts'))
      .map(({ from, to }) => `${nounOf(from)} ${nounOf(to)}`),
  );
  return all.flatMap(({ name, knows }) =>
    knows.filter((noun) => !used.has(`${name} ${noun}`)).map((noun) => `${name} knows ${noun} without need`),
  );
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
    imports: output.modules.flatMap(({ source, dependencies }) =>
      dependencies.map(({ resolved }) => ({ from: source, to: resolved })),
    ),
    broken: output.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
  };
}

function name(path: string): string {
  return path.replace(/^.*\//, '');
}

if (import.meta.main) {
  const { count, problems } = await checkImports();
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${count} modules, ${rules.forbidden.length} rules, ${problems.length} problems\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
