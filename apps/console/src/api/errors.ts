import type { components } from './types.gen.ts';

/** `code` may be one of the console's own. */
type Body = Omit<components['schemas']['Error'], 'code'> & { readonly code: string };

/** A refusal of the service, or an answer that never came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** Seconds after which the service takes the request again. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    { code, message, requestId, details = {} }: Partial<Body>,
    retryAfter?: number,
  ) {
    super(message ?? 'The service gave no reason.');
    this.status = status;
    this.code = code ?? 'UNREACHABLE';
    this.requestId = requestId;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/** @param cause what `fetch` threw: the service is away, or the browser has no network */
export const unreachable = (cause: unknown) =>
  Object.assign(new ApiError(0, { message: 'The service did not answer.' }), { cause });

export async function errorOf(answer: Response): Promise<ApiError> {
  const retryAfter = Number(answer.headers.get('retry-after')) || undefined;
  const requestId = answer.headers.get('x-request-id') ?? undefined;
  const body: Partial<Body> = await answer.json().catch(() => ({}));
  return new ApiError(answer.status, { ...(requestId && { requestId }), ...body }, retryAfter);
}

/** An answer that says no, and would say it again. */
export const isRefusal = (error: unknown) =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;

/** Without a session, or with one that has ended. */
export const isSignedOut = (error: unknown) => error instanceof ApiError && error.status === 401;

/** The browser gave no passkey. It does not say whether the person closed its question, or has none here. */
export class NoPasskey extends Error {
  override readonly name = 'NoPasskey';
}
