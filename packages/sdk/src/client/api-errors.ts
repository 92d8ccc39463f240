import type { ErrorCode } from '@behest/protocol/errors';
import { BehestError, BehestNetworkError } from '../errors.ts';

/** What the service says about the rate limit of a call. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds. */
  readonly reset: number;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** A refusal of the service, as it was answered. */
export interface Refusal {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | undefined;
  /** The parsed body, or the beginning of a text. */
  readonly body: unknown;
  readonly rateLimit: RateLimit | undefined;
}

/**
 * The service answered with an error.
 *
 * @example
 * ```ts
 * try {
 *   await behest.agents.get(id);
 * } catch (error) {
 *   if (error instanceof BehestApiError && error.code === 'NOT_FOUND') return undefined;
 *   throw error;
 * }
 * ```
 */
export class BehestApiError extends BehestError {
  override readonly name: string = 'BehestApiError';
  declare readonly code: ErrorCode | (string & {});
  readonly statusCode: number;
  readonly requestId: string | undefined;
  readonly body: unknown;
  readonly rateLimit: RateLimit | undefined;

  constructor(refusal: Refusal) {
    super(refusal.code, refusal.message);
    this.statusCode = refusal.statusCode;
    this.requestId = refusal.requestId;
    this.body = refusal.body;
    this.rateLimit = refusal.rateLimit;
  }

  /** More about the error, such as `fields` of a wrong input. Empty when the service says no more. */
  get details(): Readonly<Record<string, unknown>> {
    return Object(Object(this.body).details);
  }

  /** True where a later call may succeed unchanged. */
  get retryable(): boolean {
    return [429, 502, 503, 504].includes(this.statusCode);
  }
}

/** 401 or 403: the credential is not good, or not good for this. */
export class BehestAuthError extends BehestApiError {
  override readonly name: string = 'BehestAuthError';
}

/** 404: there is no such record for this caller. */
export class BehestNotFoundError extends BehestApiError {
  override readonly name: string = 'BehestNotFoundError';
}

/** 409: the state of a record does not allow the call. */
export class BehestConflictError extends BehestApiError {
  override readonly name: string = 'BehestConflictError';
}

/** 400 or 422: the input is wrong. `details.fields` says where. */
export class BehestValidationError extends BehestApiError {
  override readonly name: string = 'BehestValidationError';
}

/** 429: a limit is exceeded. */
export class BehestRateLimitError extends BehestApiError {
  override readonly name: string = 'BehestRateLimitError';

  /** Seconds after which the service takes the next call. */
  get retryAfter(): number | undefined {
    return this.rateLimit?.retryAfter;
  }
}

/** No answer came in time. */
export class BehestTimeoutError extends BehestNetworkError {
  override readonly name: string = 'BehestTimeoutError';
}

const classes: Readonly<Record<number, typeof BehestApiError>> = {
  400: BehestValidationError,
  401: BehestAuthError,
  403: BehestAuthError,
  404: BehestNotFoundError,
  409: BehestConflictError,
  422: BehestValidationError,
  429: BehestRateLimitError,
};

/** Makes the error of a refusal, of the class of its status. */
export function apiError(refusal: Refusal): BehestApiError {
  return new (classes[refusal.statusCode] ?? BehestApiError)(refusal);
}
