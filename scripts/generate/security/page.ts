import { basename } from 'node:path';
import { linesIn, type SecurityTest } from './titles.ts';

/** The number of lines of each section of the threat list. */
const SECTIONS = {
  J: 23,
  O: 32,
  R: 14,
  T: 11,
  I: 18,
  S: 9,
  M: 20,
  C: 5,
  V: 19,
  A: 6,
  L: 2,
  W: 4,
  H: 3,
  P: 9,
};
const LATER = '## With their features';
/** `| J1 | What is defended. | Proved by |`: the last cell is written by `npm run generate`. */
const ROW = /^\| ([A-Z]\d{1,2}) \| (.+?) \|.*$/gm;

/**
 * Writes the tests of each line into the page.
 * @throws Error that names every line that is missing, repeated or out of order
 */
export function securityPage(page: string, tests: readonly SecurityTest[]): string {
  const problems = problemsOf(page, tests);
  if (problems.length > 0) throw new Error(`docs/security.md:\n${problems.join('\n')}`);
  return page.replace(ROW, (_, line: string, defence: string) => {
    const proofs = tests.filter(({ lines }) => lines.includes(line));
    return `| ${line} | ${defence} | ${cell(proofs)} |`;
  });
}

function problemsOf(page: string, tests: readonly SecurityTest[]): string[] {
  const rows = [...page.matchAll(ROW)].map(([, line = '']) => line);
  const later = linesIn(page.split(LATER)[1]?.split('\n## ')[0] ?? '');
  const tested = new Set(tests.flatMap(({ lines }) => lines));
  const all = Object.entries(SECTIONS).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, at) => `${section}${at + 1}`),
  );
  return [...new Set([...all, ...rows, ...tested])].flatMap((line) => {
    const places = [...rows, ...later].filter((place) => place === line).length;
    if (!all.includes(line)) return [`${line} is no line of any section`];
    if (places > 1) return [`${line} is there more than once`];
    if (places === 0) return [`${line} is missing: give it a row, or a place under "${LATER}"`];
    if (later.includes(line) && tested.has(line)) return [`${line} has a test now: give it a row`];
    if (rows.includes(line) && !tested.has(line)) return [`${line} has no test that names it`];
    return [];
  });
}

function cell(tests: readonly SecurityTest[]): string {
  const byFile = Object.entries(Object.groupBy(tests, ({ file }) => file));
  const shown = byFile.map(([file, those = []]) => {
    const titles = [...new Set(those.map(({ title }) => title))];
    return `[${basename(file)}](../${file}): ${titles.map((title) => `“${asText(title)}”`).join(', ')}`;
  });
  return shown.join('<br>');
}

/** Escapes characters of a title that would end the cell or begin a tag. */
function asText(title: string): string {
  return title
    .replace(/[|*\\]/g, '\\$&')
    .replaceAll('<', '&lt;')
    .replace(/\s/g, ' ');
}
