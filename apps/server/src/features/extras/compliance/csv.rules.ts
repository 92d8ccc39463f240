/** A spreadsheet runs a cell that begins so as a formula; after a quote mark it shows the cell as text. */
const FORMULA = /^[=+\-@\t\r]/;
/** RFC 4180, section 2, rules 5 to 7. */
const NEEDS_QUOTES = /[",\r\n]/;

/** A line of a CSV document (RFC 4180). A value of several parts is in its cell as JSON. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`;

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
