import { AppError } from '../../../platform/errors.ts';

/** Headers of the proxy's own, and those that frame the body: two of them would be two requests for some reader. */
const ONCE = [
  'behest-upstream',
  'behest-decision-grant',
  'behest-case',
  'content-length',
  'content-type',
  'content-encoding',
];

/** A request's head, as far as the proxy looks at it before it looks at rules. */
export interface Head {
  readonly method: string;
  readonly headers: SentHeaders;
}

export interface Framing {
  readonly hasBody: boolean;
  /** Undefined for a body of unknown length. */
  readonly length: number | undefined;
  readonly upstream: string | undefined;
  readonly decisionGrants: readonly string[] | undefined;
  readonly caseId: string | undefined;
  readonly contentType: string;
  readonly isEncoded: boolean;
}

/** @throws NOT_SUPPORTED, METHOD_NOT_ALLOWED, BAD_REQUEST */
export function framingOf({ method, headers }: Head): Framing {
  const value = (name: string) => ownHeader(headers, name) ?? undefined;
  if (value('upgrade') !== undefined) {
    throw new AppError('NOT_SUPPORTED', 'The vault proxy passes no upgrade on.');
  }
  if (headers.some(([name]) => isOverride(name))) {
    const message = 'Send the method in the request line; the vault proxy takes no other place for it.';
    throw new AppError('METHOD_NOT_ALLOWED', message, { allow: [method] });
  }
  const twice = ONCE.find((name) => ownHeader(headers, name) === null);
  if (twice !== undefined) throw badRequest(`The header \`${twice}\` was sent twice.`);
  const length = value('content-length');
  const isChunked = value('transfer-encoding') !== undefined;
  const hasBody = isChunked || (length !== undefined && Number(length) > 0);
  if (hasBody && (method === 'GET' || method === 'HEAD')) {
    throw badRequest(`A request with \`${method}\` has no body.`);
  }
  const grants = value('behest-decision-grant')
    ?.split(',')
    .map((grant) => grant.trim());
  if (grants && (grants.length > 2 || grants.some((grant) => grant === '' || grant.length > 16_384))) {
    throw badRequest('`Behest-Decision-Grant` has one or two decision grants.');
  }
  return {
    hasBody,
    length: isChunked ? undefined : Number(length ?? 0),
    upstream: value('behest-upstream'),
    decisionGrants: grants,
    caseId: value('behest-case'),
    contentType: value('content-type') ?? '',
    isEncoded: !['', 'identity'].includes((value('content-encoding') ?? '').toLowerCase()),
  };
}

export const badRequest = (message: string) => new AppError('BAD_REQUEST', message);

/** Headers of an agent's request that the upstream gets. */
const FORWARDED: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'prefer',
  'idempotency-key',
  'last-event-id',
]);

/**
 * Headers that choose a part of an answer. By parts that are cut within a credential, an agent would put together what no
 * answer may hold. Upstreams have names of their own for `Range`, such as `x-ms-range`; `Content-Range` is about what is
 * sent.
 */
const RANGE = /^(?!content-range$)(?:.*-)?range$/;
const ONE_RANGE = /^bytes=(?:\d+-\d*|-\d+)$/i;

/** Headers that no profile adds: they speak for the connection, the caller or the service. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'host',
  'forwarded',
  'x-real-ip',
  'via',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'upgrade',
  'expect',
  'origin',
  'referer',
  'dpop',
  'set-cookie',
  'http2-settings',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
]);
const FORBIDDEN_BEGINNINGS = ['proxy-', 'x-forwarded', 'sec-', 'behest-', 'x-http-method', 'access-control-'];

/** Headers by which some upstreams take another method than the request line's. */
const OVERRIDES: ReadonlySet<string> = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** Names that begin with `_` or differ in `_` and `-` alone become one in some upstreams (CGI, WSGI). */
const folded = (name: string) => name.toLowerCase().replaceAll('_', '-');

export const isForbidden = (name: string): boolean =>
  FORBIDDEN.has(folded(name)) ||
  RANGE.test(folded(name)) ||
  FORBIDDEN_BEGINNINGS.some((begin) => folded(name).startsWith(begin));

const isOverride = (name: string): boolean => OVERRIDES.has(folded(name));

/** The names and values of a request's headers in the order in which they came. */
export type SentHeaders = readonly (readonly [name: string, value: string])[];

/** @param raw names and values in turns, as Node has them */
export function sentHeaders(raw: readonly string[]): SentHeaders {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    headers.push([String(raw[at]).toLowerCase(), String(raw[at + 1])]);
  return headers;
}

export interface HeaderRules {
  /** The header that carries the credential; undefined where the query does. */
  readonly injected: string | undefined;
  readonly forwardHeaders?: readonly string[] | undefined;
  /** Whether the upstream may be asked for one part of an answer. */
  readonly mayRange?: boolean;
}

/**
 * Selects the headers of an agent that the upstream gets.
 * @returns undefined when one of them was sent twice, or holds a character that ends a line
 */
export function headersForUpstream(
  sent: SentHeaders,
  { injected, forwardHeaders = [], mayRange = false }: HeaderRules,
): Record<string, string> | undefined {
  const added = new Set(forwardHeaders.map((name) => name.toLowerCase()));
  const passed: Record<string, string> = {};
  for (const [name, value] of sent) {
    const isRange = mayRange && (name === 'if-range' || (name === 'range' && ONE_RANGE.test(value.trim())));
    const isPassed = FORWARDED.has(name) || isRange || (added.has(name) && !isForbidden(name));
    if (!isPassed || (injected !== undefined && folded(name) === folded(injected))) continue;
    if (Object.hasOwn(passed, name) || /[\r\n\0]/.test(value)) return undefined;
    passed[name] = value;
  }
  return passed;
}

/** The only value of a header of the proxy's own; undefined when it is absent. @returns null when it was sent twice */
function ownHeader(sent: SentHeaders, name: string): string | undefined | null {
  const values = sent.filter(([each]) => each === name).map(([, value]) => value);
  return values.length > 1 ? null : values[0];
}
