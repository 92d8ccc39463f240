import { globSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import rules from '../.dependency-cruiser.ts';
import type { Feature } from '../apps/server/src/feature.ts';
import { features } from '../apps/server/src/features.ts';

const SOURCES = '{apps,packages}/*/src';
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
export async function importProblems(): Promise<string[]> {
  const { seen, broken, imports } = await look(globSync(SOURCES));
  const files = globSync(`${SOURCES}/**/*.{ts,js}`);
  const unseen = files.filter((file) => !seen.has(file));
  const planted = await look([PLANTED]);
  return [
    ...knowledgeProblems(features),
    ...unusedKnowledge(features, imports),
    ...broken.map(({ rule, from, to }) => `${rule}: ${from} → ${to}`),
    ...unseen.map((file) => `dependency-cruiser did not look at ${file}`),
    ...plantProblems(planted.broken.map(({ rule, from, to }) => `${rule}: ${name(from)} → ${name(to)}`)),
  ];
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

/** What a feature says it knows, and none of its files imports. */
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
  const problems = await importProblems();
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
