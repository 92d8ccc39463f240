import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/** The number of lines of each section of the threat list. */
const SECTIONS = {
  J: 23,
  O: 36,
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

const TESTS = ['{apps,packages}/*/{src,test}/**/*.test.ts', '{scripts,test}/**/*.test.ts'];
const BLOCKS = new Set(['test', 'describe']);
/**
 * The id of a line of docs/security.md in a title: a letter for the section, and a number. After a number, as in
 * "18 A5", it is a place in another document.
 */
const LINE_ID = /(?<!\b\d+ )\b[JORTISMCVALWHP]\d{1,2}\b/;

interface SecurityTest {
  readonly file: string;
  readonly title: string;
  /** The ids of the lines that the title names. */
  readonly lines: readonly string[];
}

/** Lists every test or block of tests whose title names a line of the security page. */
export function securityTests(root: string): SecurityTest[] {
  return globSync(TESTS, { cwd: root })
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const titles = LINE_ID.test(text) ? titlesIn(text) : [];
      return titles.map((title) => ({ file, title }));
    })
    .map((test) => ({ ...test, lines: [...new Set(linesIn(test.title))] }))
    .filter(({ lines }) => lines.length > 0);
}

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}
type Call = Node & { readonly callee: Node; readonly arguments: readonly Node[] };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
const isCall = (node: Node): node is Call => node.type === 'CallExpression';

/** Reads the titles from the syntax, because a comment that looks like a test proves nothing. */
export function titlesIn(source: string): string[] {
  const titles: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    else if (isNode(value)) {
      if (isCall(value)) titles.push(...titlesOf(value));
      for (const member of Object.values(value)) if (typeof member === 'object') visit(member);
    }
  };
  visit(parseAst(source, { lang: 'ts' }).body);
  return titles;
}

/**
 * Finds the title of `test('…')`. For a table of tests whose title names no line, finds the titles that its
 * rows make.
 */
function titlesOf({ callee, arguments: [first] }: Call): string[] {
  const title = textOf(first);
  if (title === undefined) return [];
  if (callee.type === 'Identifier') return BLOCKS.has(String(callee.name)) ? [title] : [];
  if (!isCall(callee) || callee.callee.type !== 'MemberExpression') return [];
  const { object, property } = callee.callee;
  if (!isNode(property) || property.name !== 'each' || !isNode(object) || !BLOCKS.has(String(object.name)))
    return [];
  if (LINE_ID.test(title)) return [title];
  const [table] = callee.arguments;
  const rows = table?.type === 'ArrayExpression' && Array.isArray(table.elements) ? table.elements : [];
  const named = rows.map((row) => textOf(row?.type === 'ArrayExpression' ? row.elements[0] : row));
  return named.filter((text) => text !== undefined).map((text) => title.replace('%s', () => text));
}

/** The text of a literal, in quotes of any kind. */
function textOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral' || !Array.isArray(node.quasis) || node.quasis.length > 1) return;
  return node.quasis[0].value.cooked;
}

/** Lists the ids of lines in a text, each once. */
export function linesIn(text: string): string[] {
  return [...new Set(text.match(new RegExp(LINE_ID, 'g')))];
}
