/** A row as a function takes it in JSON, with the columns' own names. */
export function row(columns: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.entries(columns).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ]);
  return Object.fromEntries(named);
}
