/** A row as a function takes it in JSON, with the columns' own names. */
export function row(columns: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(columns)) {
    named[columnOf(name)] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  }
  return named;
}

/** By the names of members, of which the sources have few. */
const columnNames = new Map<string, string>();

function columnOf(name: string): string {
  const column = columnNames.get(name) ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  columnNames.set(name, column);
  return column;
}
