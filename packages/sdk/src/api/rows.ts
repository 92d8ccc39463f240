import type { Request } from '../client/transport.ts';
import { BehestError } from '../errors.ts';

/** What a method takes beside its arguments. */
export interface CallOptions {
  /** Ends the call, and a wait between two attempts. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each attempt. Default: the client's. */
  readonly timeout?: number | undefined;
  /** Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Names the request. Default: a random key for each call. */
  readonly idempotencyKey?: string | undefined;
  /** More headers. None of these takes the place of a credential. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The SCIM token for a call of `scim`. Default: the client's own key. */
  readonly scimToken?: string | undefined;
  /** Proves possession of the key that a token is bound to. */
  readonly dpop?: ProofKey | undefined;
}

/** A key that signs DPoP proofs: `createDpopKey()`. */
export interface ProofKey {
  proof(method: string, url: string, more?: { accessToken?: string; nonce?: string }): Promise<string>;
}

/** A page, and every row of it and of the pages after it: `for await (const row of list)`. */
export type List<Answer, Row> = Promise<Answer & AsyncIterable<Row>> & AsyncIterable<Row>;

/** How a method calls its operation. */
export interface CallRow {
  readonly method: string;
  /** The HTTP method, and the path with its parameters. */
  readonly sends: string;
  /** Members of the body or the query that are arguments of their own. */
  readonly first?: readonly string[];
  readonly takes?: 'body' | 'query' | 'both';
  /** The credential. Default: the client's API key. */
  readonly as?: string;
  /** True for a `POST` that changes nothing. */
  readonly reads?: true;
  /** True where the service takes an idempotency key. */
  readonly keyed?: true;
  /** True where the answer may be something else than JSON. */
  readonly file?: true;
  /** The member of the answer that has the rows of a page. */
  readonly rows?: string;
  /** True where the answer is the rows themselves, and its header `Link` names the page after it. */
  readonly linked?: true;
  readonly byHand?: true;
}

/** What a call sends, apart from its credential. */
type Unsigned = Omit<Request, 'credential' | 'repeats' | 'idempotencyKey'> & {
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
