import type { RateLimit, Refusal } from './api-errors.ts';

const MAX_TEXT = 8_192; // characters of a body that is no JSON
/** API keys, SCIM tokens, credentials of resources, secrets of webhooks, refresh tokens and JWTs. */
const SECRETS =
  /\b(?:bh_[a-z]+_[\w-]{16,}|bhs_[\w-]{16,}|whsec_[\w+/=-]{16,}|ref_[\w.-]{40,}|eyJ[\w-]{8,}(?:\.[\w-]+){0,2})/g;

/** Hides what looks like a token or a key. */
export const withoutSecrets = (text: string) => text.replaceAll(SECRETS, '…');

/** The answer of the service apart from its body. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
}

export function answeredOf({ status, headers }: Response): Answered {
  return {
    ...{ status, headers, rateLimit: rateLimitOf(headers) },
    requestId: headers.get('x-request-id') ?? undefined,
  };
}

function rateLimitOf(headers: Headers): RateLimit | undefined {
  const limit = headers.get('x-ratelimit-limit');
  const retryAfter = retryAfterOf(headers);
  if (limit === null && retryAfter === undefined) return undefined;
  return {
    limit: Number(limit),
    remaining: Number(headers.get('x-ratelimit-remaining')),
    reset: Number(headers.get('x-ratelimit-reset')),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/** Reads `Retry-After`, seconds or a date, in seconds. */
function retryAfterOf(headers: Headers, now: number = Date.now()): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1_000);
}

/**
 * Reads an error body: the service's own form, a nested form, OAuth's or SCIM's. Text that is no JSON is kept as text.
 */
export function refusalOf(answered: Answered, text: string): Refusal {
  const { status: statusCode, requestId, rateLimit } = answered;
  const body = bodyOf(withoutSecrets(text));
  const flat = Object(body);
  const nested = Object(flat.error);
  const [code, message] = [
    [flat.code, flat.message],
    [nested.code, nested.message],
    [flat.error, flat.error_description],
    [flat.scimType, flat.detail],
  ].find(([first, second]) => isText(first) || isText(second)) ?? [undefined, undefined];
  return {
    ...{ statusCode, requestId, rateLimit, body },
    code: isText(code) ? code : `HTTP_${statusCode}`,
    message: isText(message) ? message : `The service answered with status ${statusCode}.`,
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, MAX_TEXT);
  }
}
