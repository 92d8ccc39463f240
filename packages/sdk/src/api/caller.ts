import type { Answer, Transport } from '../client/transport.ts';
import { BehestError } from '../errors.ts';
import { CALLS } from './calls.gen.ts';
import { type CallOptions, type CallRow, requestOf } from './rows.ts';
import type { ApiResources, OperatorResources, PrincipalApi } from './types.gen.ts';

export type OperationId = keyof typeof CALLS;

/** The API key of a client, which a rotation replaces. */
export interface KeyHolder {
  apiKey: string | undefined;
}

export interface CallerOptions {
  readonly key: KeyHolder;
  readonly transport: Transport;
  /** False to send no idempotency keys. Then lost `POST`s are not repeated. */
  readonly idempotency: boolean;
}

/** Calls operations with the arguments of their methods. */
export interface Caller {
  /**
   * @param args the arguments of the method of this operation
   * @param session the session token of a person, where the operation takes one
   */
  call<T>(id: OperationId, args: readonly unknown[], session?: string): Promise<T>;
  /** Calls an endpoint of OAuth, which takes a form, or nothing. */
  form<T>(path: string, asked: FormCall): Promise<T>;
}

interface FormCall {
  readonly form?: URLSearchParams;
  readonly options?: CallOptions | undefined;
  /** True where a repeated call changes nothing more. */
  readonly reads: boolean;
  /** True where the account calls, and no client. */
  readonly isOfAccount?: boolean;
}

export function createCaller({ key, transport, idempotency }: CallerOptions): Caller {
  async function send(row: CallRow, args: readonly unknown[], session: string | undefined): Promise<Answer> {
    const request = requestOf(row, args);
    const { method, options, grantToken } = request;
    const credential = credentialOf(row, key, session ?? grantToken ?? options.scimToken);
    const isKeyed = row.keyed === true && (idempotency || options.idempotencyKey !== undefined);
    const idempotencyKey = isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const isSafe = row.reads === true || isKeyed || ['GET', 'PUT', 'DELETE'].includes(method);
    const repeats = isSafe ? 'always' : 'when-unsent';
    return transport({ ...request, credential, idempotencyKey, repeats });
  }
  return {
    async form<T>(path: string, { form, options = {}, reads, isOfAccount = false }: FormCall): Promise<T> {
      const { data } = await transport({
        ...{ method: form ? 'POST' : 'GET', template: path, path, options },
        ...(form && { body: form }),
        ...(isOfAccount && { credential: key.apiKey }),
        repeats: reads ? 'always' : 'when-unsent',
      });
      return data as T; // the standards say what the endpoint answers
    },
    call<T>(id: OperationId, args: readonly unknown[], session?: string): Promise<T> {
      const row: CallRow = CALLS[id];
      const sent = send(row, args, session);
      // The description says what the service answers.
      if (row.rows === undefined && !row.linked) return sent.then(({ data }) => data as T);
      const at = row.sends.split('{').length - 1 + (row.first?.length ?? 0);
      const sentAt = (place: object) => args.toSpliced(at, 1, { ...Object(args[at]), ...place });
      // The type of the method says that its answer is a list.
      return listOf(row.rows, sent, (place) => send(row, sentAt(place), session)) as Promise<T>;
    },
  };
}

/** @throws BehestError when the client has no credential of the kind */
function credentialOf(row: CallRow, { apiKey }: KeyHolder, given: string | undefined): string | undefined {
  if (row.as === 'nobody') return undefined;
  if (given !== undefined) return given;
  if (row.as === 'scim' && apiKey !== undefined && /^bh_(live|test)_/.test(apiKey)) {
    throw new BehestError(
      'CONFIGURATION',
      'SCIM takes no API key: pass `scimToken`, or use `scim.users(scimToken)`.',
    );
  }
  if (apiKey !== undefined) return apiKey;
  throw new BehestError(
    'CONFIGURATION',
    `\`${row.method}\` needs an API key: set BEHEST_API_KEY, or pass \`apiKey\`.`,
  );
}

type Method = (...args: readonly unknown[]) => Promise<unknown>;
type Methods = Record<string, Method>;

/** Makes the methods of all resources from the table. */
export function resourcesOf(caller: Caller): ApiResources {
  return methodsOf(caller) as unknown as ApiResources; // the table and the types are made from one description
}

/** Makes the methods that speak for one person. */
export function principalOf(caller: Caller, session: string): PrincipalApi {
  return methodsOf(caller, session).principal as unknown as PrincipalApi; // as above
}

/** Makes the methods of the operator of a service. */
export function operatorOf(caller: Caller): OperatorResources {
  return methodsOf(caller, undefined, true) as unknown as OperatorResources; // as above
}

function methodsOf(
  caller: Caller,
  session?: string,
  isOperator = false,
): Record<string, Method | Methods | undefined> {
  const [resources, own]: [Record<string, Methods>, Methods] = [{}, {}];
  for (const [id, row] of Object.entries(CALLS) as [OperationId, CallRow][]) {
    const [area = '', name] = row.method.split('.');
    if (row.byHand || (row.as === 'operator') !== isOperator) continue;
    const method: Method = (...args) => caller.call(id, args, session);
    if (name === undefined) own[area] = method;
    else {
      resources[area] ??= {};
      resources[area][name] = method;
    }
  }
  return { ...own, ...resources };
}

type Page = Readonly<Record<string, unknown>>;

/**
 * Makes a page that is also a list of all rows, its own and those of the pages after it. An empty page is not the end.
 *
 * @param rows the member of a page that has its rows, or undefined where the page is its rows
 * @param ask gets the page at a place, which is a part of the query
 */
function listOf(rows: string | undefined, first: Promise<Answer>, ask: (place: Page) => Promise<Answer>) {
  async function* all(start: () => Promise<Answer>): AsyncGenerator<unknown> {
    let answer = await start();
    for (;;) {
      const found = rowsIn(answer.data, rows);
      for (const row of found) yield row; // an array of rows may be this very list
      const place = placeAfter(answer, found.length);
      if (!place) return;
      answer = await ask(place);
    }
  }
  const iterator = (start: () => Promise<Answer>) => ({ value: () => all(start), enumerable: false });
  const page = first.then((answer) =>
    Object.defineProperty(
      Object(answer.data),
      Symbol.asyncIterator,
      iterator(async () => answer),
    ),
  );
  // Through the page, so that a failure has one handler whether a program awaits the list or iterates over it.
  return Object.defineProperty(
    page,
    Symbol.asyncIterator,
    iterator(() => page.then(() => first)),
  );
}

function rowsIn(page: unknown, rows: string | undefined): readonly unknown[] {
  const found: unknown = rows === undefined ? page : Object(page)[rows];
  return Array.isArray(found) ? found : [];
}

/** The place of the next page: a cursor, or an index where SCIM counts (RFC 7644, section 3.4.2.4). */
function placeAfter({ data, answered }: Answer, count: number): Page | undefined {
  if (Array.isArray(data)) return placeIn(answered.headers.get('link'));
  const { nextCursor, startIndex, totalResults }: Page = Object(data);
  if (typeof nextCursor === 'string') return { cursor: nextCursor };
  if (nextCursor === null || typeof totalResults !== 'number' || count === 0) return undefined;
  const next = (typeof startIndex === 'number' ? startIndex : 1) + count;
  return next <= totalResults ? { startIndex: next } : undefined;
}

/** Takes the cursor alone from a link (RFC 8288), so that the next request goes to the same service with its key. */
function placeIn(link: string | null): Page | undefined {
  const address = /<([^<>]*)>[^,<]*;\s*rel="next"/.exec(link ?? '')?.[1] ?? '';
  const cursor = new URLSearchParams(address.replace(/^[^?]*\??/, '')).get('cursor');
  return cursor === null ? undefined : { cursor };
}
