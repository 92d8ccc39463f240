import type { Request } from '../client/transport.ts';
import { BehestError } from '../errors.ts';
import type { CallOptions, CallRow } from './rows.ts';

/** What a call sends, apart from its credential. */
export type Unsigned = Omit<Request, 'credential' | 'repeats' | 'idempotencyKey'> & {
  /** The grant token, where the first argument is one. */
  readonly grantToken?: string;
};

type Members = Readonly<Record<string, unknown>>;

/**
 * Makes the request of a row from the arguments of its method: the grant token, the parameters of the path, single
 * members, the body, the query, and the options.
 *
 * @throws BehestError for an id that would lead to another path
 */
export function requestOf(row: CallRow, given: readonly unknown[]): Unsigned {
  const rest = [...given];
  const [method = '', template = ''] = row.sends.split(' ');
  const grantToken = row.as === 'grant' ? String(rest.shift()) : undefined;
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, rest.shift()));
  const single = Object.fromEntries((row.first ?? []).map((name) => [name, rest.shift()]));
  const isQuery = method === 'GET' || method === 'DELETE';
  const body = row.takes === 'body' || row.takes === 'both' ? membersOf(rest.shift()) : undefined;
  const query = row.takes === 'query' || row.takes === 'both' ? membersOf(rest.shift()) : undefined;
  const sentBody = isQuery || (!body && !row.first) ? undefined : { ...single, ...body };
  // The caller hands over the options, whose shape the method's type says.
  const options = (rest.shift() ?? {}) as CallOptions;
  return {
    ...{ method, template, options, path: `${path}${queryOf({ ...(isQuery && single), ...query })}` },
    ...(sentBody && { body: sentBody }),
    ...(grantToken !== undefined && { grantToken }),
    isFile: row.file,
    isGrant: row.as === 'grant',
    isStrict: row.method.startsWith('audit.'),
  };
}

function membersOf(value: unknown): Members | undefined {
  return value === undefined || value === null ? {} : Object(value);
}

/** @throws BehestError for text that is no part of a path */
export function segmentOf(name: string, value: unknown): string {
  if (typeof value !== 'string' || ['', '.', '..'].includes(value)) {
    throw new BehestError('INVALID_ARGUMENT', `${name} has to be a text, and neither empty nor a dot path.`);
  }
  return encodeURIComponent(value);
}

/** The query with its question mark, or nothing. */
export function queryOf(members: Members): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || value === null) continue;
    query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return query.size > 0 ? `?${query}` : '';
}
