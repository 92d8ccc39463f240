const WIDTH = 160;

/** JSON of which each value takes one line if it fits, and else a line for each of its members. */
export const laidOut = (value: unknown): string => `${written(value, '', 0)}\n`;

function written(value: unknown, indent: string, before: number): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return flat;
  if (indent.length + before + flat.length < WIDTH) return flat;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const deeper = `${indent} `;
  const lines = Object.entries(value).map(([name, member]) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}:`;
    return `${deeper}${key}${written(member, deeper, key.length)}`;
  });
  return lines.length === 0 ? flat : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
