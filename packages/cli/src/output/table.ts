import { CliError } from '../errors.ts';

interface Look {
  readonly isUtc: boolean;
  readonly columns?: readonly string[] | undefined;
}

type Row = Readonly<Record<string, unknown>>;

const MAX_COLUMNS = 6;
/** Members that a table shows before others. */
const FIRST = ['name', 'status', 'type', 'service', 'principalId', 'scopes'];
const LAST = ['createdAt', 'expiresAt'];

/** Writes a table: the header in capitals, two spaces between columns. */
export function tableOf(rows: readonly unknown[], { isUtc, columns }: Look): string {
  const records = rows.map((row): Row => Object(row));
  const names = columns ?? columnsOf(records);
  const header = names.map((name) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toUpperCase());
  const cells = records.map((row) => names.map((name) => cellOf(row[name], isUtc)));
  const widths = names.map((_, at) =>
    Math.max(...[header, ...cells].map((line) => [...(line[at] ?? '')].length)),
  );
  return [header, ...cells]
    .map((line) => line.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Picks the columns of rows whose command names none: the id, what names them, and times. */
function columnsOf(rows: readonly Row[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isShort = (name: string) =>
    rows.every((row) => {
      const value = row[name];
      const isPlain = typeof value !== 'object' || value === null;
      return isPlain
        ? String(value).length <= 60
        : Array.isArray(value) && value.every((each) => typeof each === 'string');
    });
  const id = idName(rows[0]);
  const ranked = names
    .filter((name) => name !== id && !name.endsWith('Did') && isShort(name))
    .toSorted((one, other) => rankOf(one) - rankOf(other));
  const kept = ranked.slice(0, MAX_COLUMNS - 1);
  return [...(id === undefined ? [] : [id]), ...kept].slice(0, MAX_COLUMNS);
}

function rankOf(name: string): number {
  if (FIRST.includes(name)) return FIRST.indexOf(name);
  if (LAST.includes(name)) return 50 + LAST.indexOf(name);
  return name.endsWith('Id') || name === 'developerId' ? 100 : 20;
}

function idName(row: unknown): string | undefined {
  const names = Object.keys(Object(row));
  if (names.includes('id')) return 'id';
  return (
    names.find((name) => /(?:Id|Did)$/.test(name)) ??
    ['jti', 'connector', 'service', 'kid', 'date'].find((name) => names.includes(name))
  );
}

/** @throws CliError for a result that has no id */
export function idOf(row: unknown): string {
  const name = idName(row);
  if (name !== undefined) return String(Object(row)[name]);
  throw new CliError('USAGE', 'This result has no id: choose another --output.');
}

function cellOf(value: unknown, isUtc: boolean): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((each) => cellOf(each, isUtc)).join(',');
  if (typeof value === 'object') return printable(JSON.stringify(value));
  const text = String(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? timeOf(new Date(text), isUtc) : printable(text);
}

/** A time as `2026-11-21 14:05`. */
function timeOf(at: Date, isUtc: boolean): string {
  const moved = isUtc ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return moved.toISOString().slice(0, 16).replace('T', ' ');
}

/** Control characters would move the cursor of the terminal, or colour it. */
const CONTROLS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** A text with a replacement character for each control character. */
export const printable = (text: string) => text.replaceAll(CONTROLS, '\u{fffd}');
