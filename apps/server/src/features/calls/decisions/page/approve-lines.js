/**
 * The lines of canonical JSON, one member each, in the order of the text that is hashed. Parsing would reorder members
 * whose names are numbers. Nothing is left out, and each text stays on its line.
 * @param {string} canonical
 */
export function linesOf(canonical) {
  const tokens = canonical.match(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]|[^"{}[\],:]+/g) ?? [];
  const lines = [''];
  let depth = 0;
  const breakLine = () => lines.push('  '.repeat(depth));
  for (const token of tokens) {
    if (token === '}' || token === ']') {
      depth -= 1;
      breakLine();
    }
    lines.push(`${lines.pop()}${token === ':' ? ': ' : token}`);
    if (token === '{' || token === '[') depth += 1;
    if (token === '{' || token === '[' || token === ',') breakLine();
  }
  return lines;
}

/** @typedef {{ line: string, kind?: 'del' | 'ins' }} Compared */

/** The most pairs of lines that are compared. A browser does so many at once without a pause that is felt. */
const MAX_PAIRS = 4_000_000;

/**
 * The lines of two texts in their order: those of both, and those of one alone.
 * @param {string[]} old
 * @param {string[]} now
 * @returns {Compared[]}
 */
export function compareLines(old, now) {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return [
    ...now.slice(0, start).map((line) => ({ line })),
    ...compareRest(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...now.slice(now.length - end).map((line) => ({ line })),
  ];
}

/**
 * Keeps the longest common sequence. Texts that are too long for it count as replaced.
 * @param {string[]} old
 * @param {string[]} now
 * @returns {Compared[]}
 */
function compareRest(old, now) {
  const width = now.length + 1;
  const isShort = old.length * now.length <= MAX_PAIRS;
  const lengths = new Uint16Array(isShort ? (old.length + 1) * width : 0);
  /** The length of the common sequence from two lines on. @type {(row: number, column: number) => number} */
  const lengthAt = (row, column) => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; isShort && row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        old[row] === now[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  /** @type {Compared[]} */
  const compared = [];
  let column = 0;
  for (const [row, line] of old.entries()) {
    while (lengthAt(row, column) > lengthAt(row + 1, column) && line !== now[column]) {
      compared.push({ line: now[column] ?? '', kind: 'ins' });
      column += 1;
    }
    const isKept = lengthAt(row, column) > lengthAt(row + 1, column);
    compared.push(isKept ? { line } : { line, kind: 'del' });
    if (isKept) column += 1;
  }
  return [...compared, ...now.slice(column).map((line) => ({ line, kind: /** @type {const} */ ('ins') }))];
}
