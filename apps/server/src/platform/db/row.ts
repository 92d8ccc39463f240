/** A row as JSON with the columns' own names, the form that a hot function takes. */
export function row(columns: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(columns).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ]);
  return JSON.stringify(Object.fromEntries(named));
}
