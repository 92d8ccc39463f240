import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RESULTS = join(import.meta.dirname, 'RESULTS.md');

/**
 * Writes one section of scripts/bench/RESULTS.md in place of the section with the same title.
 * @param title without its marks
 * @param text the words before the table
 * @param rows name and figure; without rows there is no table
 */
export function writeSection(title: string, text: string, rows: readonly (readonly string[])[] = []): void {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const figures = rows.length > 0 ? `\n| | |\n|---|---|\n${lines}\n` : '';
  const section = `## ${title}\n\n${text}\n${figures}`;
  const before = new RegExp(`\\n## ${title}\\n[\\s\\S]*?(?=\\n## |$)`);
  const others = readFileSync(RESULTS, 'utf8').replace(before, '');
  writeFileSync(RESULTS, `${others.trimEnd()}\n\n${section}`);
}

/** Rounds to three digits; more digits would be noise. */
export const whole = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');

export const percent = (share: number) => `${Math.round(share * 100)} %`;

export const plural = (count: number, noun: string) =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** The first column names the row, and the others hold numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const marks = head.map((_, each) => (each === 0 ? '---' : '---:'));
  return [head, marks, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
