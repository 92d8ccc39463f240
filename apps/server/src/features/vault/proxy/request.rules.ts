import { AppError } from '../../../platform/errors.ts';
import { isOverride, ownHeader, type SentHeaders } from './headers.rules.ts';

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
