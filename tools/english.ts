import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { faultOf } from './english/faults.ts';
import { sentencesOf } from './english/sentences.ts';
import { textsOf } from './english/texts.ts';

/** Files and folders whose sentences the check holds to the rules. */
const HELD = [
  'apps/server/**',
  'tools/english*.ts',
  'tools/english/**',
  'docs/glossary.md',
  'packages/cli/**',
  'packages/protocol/**',
  '*.md',
  'bench/**',
  'deploy/**',
  'docs/**',
  'tools/**',
];
const PLANTED = 'tools/english/planted';
const SPARED = [`${PLANTED}/**`, 'tools/english/faults.test.ts', '**/node_modules/**']; // examples of faults

/** Faults planted in each kind of file. A run that misses a planted fault proves nothing about the rest. */
const EXPECTED = [
  'planted.md:3: opens with "What"',
  'planted.md:5: says "by and by"',
  'planted.md:9: opens with "Of"',
  'planted.sql:1: opens with "Whoever"',
  'planted.ts:2: says "one" for a thing that has a name',
  'planted.ts:4: opens with "That"',
  'planted.ts:5: says "anew"',
  'planted.yaml:1: says "what" as a subject',
  'planted.yaml:2: opens with "Who"',
];

interface Found {
  readonly at: string;
  readonly fault: string;
  readonly sentence: string;
}

/** Looks at the files of the working directory, which is the checkout. */
export function englishProblems(): { problems: string[]; files: number; sentences: number } {
  const held = look(globSync(HELD, { exclude: SPARED }));
  const planted = look(globSync(`${PLANTED}/*`)).found.map(({ at, fault }) => `${basename(at)}: ${fault}`);
  return {
    problems: [
      ...held.found.map(({ at, fault, sentence }) => `${at}: ${fault}: ${sentence}`),
      ...EXPECTED.filter((line) => !planted.includes(line)).map(
        (line) => `not noticed in ${PLANTED}: ${line}`,
      ),
      ...planted
        .filter((line) => !EXPECTED.includes(line))
        .map((line) => `not expected in ${PLANTED}: ${line}`),
    ],
    files: held.files,
    sentences: held.sentences,
  };
}

function look(paths: readonly string[]): { found: Found[]; files: number; sentences: number } {
  const found: Found[] = [];
  let files = 0;
  let sentences = 0;
  for (const path of paths.toSorted()) {
    const texts = textsOf(path, () => readFileSync(path, 'utf8'));
    if (!texts) continue;
    files += 1;
    for (const { sentence, line } of texts.flatMap(sentencesOf)) {
      sentences += 1;
      const fault = faultOf(sentence);
      if (fault) found.push({ at: `${path}:${line}`, fault, sentence });
    }
  }
  return { found, files, sentences };
}

if (import.meta.main) {
  const { problems, files, sentences } = englishProblems();
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`looked at ${sentences} sentences in ${files} files\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
