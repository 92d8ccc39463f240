/** A line of a difference. `gap` stands for lines that are the same and not shown. */
export interface Line {
  readonly kind: 'same' | 'added' | 'removed' | 'gap';
  readonly text: string;
}

/** Lines around a change. */
const CONTEXT = 3;
/** Pairs of lines that are compared at most. Beyond, all lines between the first and the last change count as changed. */
const MOST = 4_000_000;

/** The lines of two texts, those that only one of them has marked. Nothing when the texts are the same. */
export function difference(before: string, after: string): Line[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const shorter = Math.min(old.length, now.length) - start;
  while (end < shorter && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const lines = [
    ...old.slice(0, start).map(same),
    ...changed(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
  return folded(lines);
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));

const same = (text: string): Line => ({ kind: 'same', text });

/** By the longest common subsequence. */
function changed(old: readonly string[], now: readonly string[]): Line[] {
  const lines: Line[] = [];
  const isLong = old.length * now.length > MOST;
  const width = now.length + 1;
  const lengths = isLong ? new Uint32Array(0) : new Uint32Array((old.length + 1) * width);
  const lengthAt = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = isLong ? -1 : old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === now[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(same(old[i] ?? ''));
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= now.length || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ kind: 'removed', text: old[i] ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: now[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}

/** Leaves out what is far from every change. */
function folded(lines: readonly Line[]): Line[] {
  const changes = lines.flatMap(({ kind }, at) => (kind === 'same' ? [] : [at]));
  if (changes.length === 0) return [];
  const near = new Set(
    changes.flatMap((at) => Array.from({ length: 2 * CONTEXT + 1 }, (_, by) => at - CONTEXT + by)),
  );
  return lines.flatMap((line, at): Line[] => {
    if (near.has(at)) return [line];
    return at === 0 || near.has(at - 1) ? [{ kind: 'gap', text: '⋯' }] : [];
  });
}
