import { createHash } from 'node:crypto';
import { badField } from '../../../platform/errors.ts';
import type { EntryForm, Span } from './compliance.schema.ts';

/** Writes a list of records, a few at a time. */
export interface ListWriter {
  readonly begin: () => string;
  readonly write: (records: readonly object[]) => string;
  readonly end: () => string;
}

interface ListFacts {
  /** The member of the JSON document that holds the list. */
  readonly member: string;
  /** The members of a record, in the order of the columns. */
  readonly columns: readonly string[];
  readonly generatedAt: string;
  readonly total: number;
}

export const mediaTypes = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  ocsf: 'application/x-ndjson; charset=utf-8',
  zip: 'application/zip',
} as const satisfies Record<EntryForm | 'zip', string>;

/** The form that a request asks for. @param accept its `Accept` header */
export function formOf(format: EntryForm | undefined, accept = ''): EntryForm {
  if (format) return format;
  const types = accept.split(',').map((type) => type.split(';')[0]?.trim().toLowerCase());
  if (types.includes('application/x-ndjson')) return 'ndjson';
  return types.includes('text/csv') ? 'csv' : 'json';
}

export const writerOf = (form: EntryForm, facts: ListFacts): ListWriter => writers[form](facts);

const writers = { json: asDocument, ndjson: asLines, csv: asTable, ocsf: asEvents } satisfies Record<
  EntryForm,
  (facts: ListFacts) => ListWriter
>;

function asDocument({ member, generatedAt, total }: ListFacts): ListWriter {
  let isFirst = true;
  return {
    begin: () => `${JSON.stringify({ generatedAt, total }).slice(0, -1)},"${member}":[`,
    write(records) {
      if (records.length === 0) return '';
      const text = records.map((record) => JSON.stringify(record)).join(',');
      const joined = isFirst ? text : `,${text}`;
      isFirst = false;
      return joined;
    },
    end: () => ']}',
  };
}

/** The last line shows that nothing is missing before it. */
function asLines(): ListWriter {
  const hash = createHash('sha256');
  let total = 0;
  return {
    begin: () => '',
    write(records) {
      const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
      hash.update(text);
      total += records.length;
      return text;
    },
    end: () => `${JSON.stringify({ type: 'end', total, sha256: hash.digest('hex') })}\n`,
  };
}

/** A reader of events knows no other lines, so none of them ends the list. */
function asEvents(): ListWriter {
  return {
    begin: () => '',
    write: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    end: () => '',
  };
}

function asTable({ columns }: ListFacts): ListWriter {
  return {
    begin: () => csvLine(columns),
    write: (records) =>
      records
        .map((record) => {
          const members = new Map(Object.entries(record));
          return csvLine(columns.map((column) => members.get(column)));
        })
        .join(''),
    end: () => '',
  };
}

/** A spreadsheet runs a cell that begins so as a formula, some also by the wide forms; after a quote mark it shows the cell as text. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
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

/** @throws BAD_REQUEST for a day that no month has, and for a span that ends before it begins */
export function mustBeDays({ since, until }: Span): void {
  for (const [name, bound] of Object.entries({ since, until })) {
    // `Date` takes the 30th of February for the 2nd of March.
    const day = bound?.slice(0, 10);
    if (day && new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) !== day)
      throw badField(name, 'format');
  }
  if (since && until && new Date(since) >= new Date(until)) throw badField('until', 'too_small');
}
