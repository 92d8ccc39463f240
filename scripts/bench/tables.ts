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
