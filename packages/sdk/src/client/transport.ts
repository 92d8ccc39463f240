import { parseJsonText } from '@behest/protocol/json';
import type { CallOptions } from '../api/rows.ts';
import { BehestError, BehestNetworkError } from '../errors.ts';
import type { Fetch } from '../verify/fetch-keys.ts';
import { apiError, BehestApiError, BehestTimeoutError } from './api-errors.ts';
import { type Answered, answeredOf, refusalOf, withoutSecrets } from './refusals.ts';
import { isUnsent, isWorthRepeating, pauseBefore, type Repeats, reasonOf, wait } from './retries.ts';

/** A line about one attempt. It has no header, no body and no id. */
export interface CallLine {
  readonly method: string;
  /** The path with its parameters unfilled: `/v1/agents/{id}`. */
  readonly path: string;
  /** Absent when no answer came. */
  readonly status?: number;
  readonly durationMs: number;
  readonly requestId?: string;
}

export interface TransportOptions {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly logger?: ((line: CallLine) => void) | undefined;
}

/** A request, before it is known how often it has to be sent. */
export interface Request {
  readonly method: string;
  readonly template: string;
  /** The path with its parameters and its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly credential?: string | undefined;
  readonly repeats: Repeats;
  readonly idempotencyKey?: string | undefined;
  readonly isFile?: boolean | undefined;
  /** True for answers whose hashes somebody checks, which `JSON.parse` would read too loosely. */
  readonly isStrict?: boolean | undefined;
  readonly isGrant?: boolean | undefined;
  readonly options: CallOptions;
}

export interface Answer {
  readonly data: unknown;
  readonly answered: Answered;
}

export type Transport = (request: Request) => Promise<Answer>;

/** The clock and the chance of the machine, which tests replace. */
export interface Chance {
  /** Milliseconds, of a clock that is never set. */
  now(): number;
  random(): number;
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

const system: Chance = { now: () => performance.now(), random: Math.random, wait };

/** An attempt with an answer, or without one. */
type Outcome = { readonly answered: Answered; readonly data: unknown; readonly text: string } | NoAnswer;

interface NoAnswer {
  readonly answered?: undefined;
  readonly isTimeout: boolean;
  readonly cause: unknown;
}

/**
 * Sends requests, and sends them again where nothing can happen twice.
 *
 * @throws BehestApiError for an answer that is an error; BehestNetworkError when there is none
 */
export function createTransport(setup: TransportOptions, chance: Chance = system): Transport {
  return async (request) => {
    const { options } = request;
    const most = options.maxRetries ?? setup.maxRetries;
    const ends = chance.now() + setup.totalTimeout;
    let nonce: string | undefined;
    let wasLost = false;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await attemptOf(setup, request, ends - chance.now(), nonce, chance);
      const failure = failureOf(setup.baseUrl, outcome, request, wasLost, attempt);
      if (!failure && outcome.answered) return outcome;
      if (!failure) throw new TypeError('An attempt without an answer is a failure.');
      if (failure.nonce !== undefined && nonce === undefined) {
        nonce = failure.nonce;
        continue;
      }
      const pause = failure.pause ?? pauseBefore(attempt, chance.random);
      if (!failure.isWorthRepeating || attempt > most || pause >= ends - chance.now()) throw failure.error;
      wasLost ||= failure.isLost;
      await chance.wait(pause, options.signal);
    }
  };
}

interface Failure {
  readonly error: Error;
  readonly isWorthRepeating: boolean;
  /** True where the service may have done what was asked. */
  readonly isLost: boolean;
  /** Milliseconds that the service asks to wait. */
  readonly pause?: number | undefined;
  /** The nonce that the next proof has to have. */
  readonly nonce?: string | undefined;
}

/** @returns undefined for an attempt that succeeded */
function failureOf(
  baseUrl: string,
  outcome: Outcome,
  { method, repeats, options }: Request,
  wasLost: boolean,
  attempt: number,
): Failure | undefined {
  if (!outcome.answered) {
    const isLost = !isUnsent(outcome.cause);
    const error = networkError(baseUrl, outcome, attempt);
    return { error, isLost, isWorthRepeating: !isLost || repeats === 'always' };
  }
  const { answered, text } = outcome;
  const { status, rateLimit } = answered;
  if (isProposed(outcome)) return { error: proposed(outcome), isLost: false, isWorthRepeating: false };
  if (status < 300 || (method === 'DELETE' && status === 404 && wasLost)) return undefined;
  const error = apiError(refusalOf(answered, text));
  // The first attempt of this very call may still run.
  const isOwn = wasLost && error.code === 'IDEMPOTENCY_IN_PROGRESS';
  const seconds = rateLimit?.retryAfter ?? (isOwn ? 1 : undefined);
  const asksForNonce = options.dpop !== undefined && text.includes('use_dpop_nonce');
  return {
    ...{ error, isLost: status !== 429, isWorthRepeating: isOwn || isWorthRepeating(status, repeats) },
    pause: seconds === undefined ? undefined : seconds * 1_000,
    nonce: asksForNonce ? (answered.headers.get('dpop-nonce') ?? undefined) : undefined,
  };
}

interface WithAnswer {
  readonly answered: Answered;
  readonly data: unknown;
}

/** Nothing has changed yet, so the answer is none of the kind that the call is for. */
const isProposed = ({ answered, data }: WithAnswer): boolean =>
  answered.status === 202 && typeof Object(data).changeId === 'string';

const proposed = ({ answered: { requestId, rateLimit }, data }: WithAnswer) =>
  new BehestApiError({
    ...{ statusCode: 202, code: 'CHANGE_PROPOSED', body: { details: data }, requestId, rateLimit },
    message: `Nothing has changed: a second member has to agree to ${Object(data).changeId} in the console.`,
  });

function networkError(baseUrl: string, { cause, isTimeout }: NoAnswer, attempts: number): BehestNetworkError {
  const service = `The service at ${new URL(baseUrl).host}`;
  if (isTimeout) return new BehestTimeoutError(`${service} gave no answer in time.`, { cause, attempts });
  return new BehestNetworkError(`${service} could not be reached: ${reasonOf(cause)}.`, { cause, attempts });
}

async function attemptOf(
  setup: TransportOptions,
  request: Request,
  left: number,
  nonce: string | undefined,
  { now }: Chance,
): Promise<Outcome> {
  const { method, template, options } = request;
  options.signal?.throwIfAborted();
  const url = `${setup.baseUrl}${request.path}`;
  const headers = await headersOf(setup, request, url, nonce);
  const late = AbortSignal.timeout(Math.max(1, Math.min(options.timeout ?? setup.timeout, left)));
  const began = now();
  const line = { method, path: template };
  try {
    const answer = await setup.fetch(url, {
      ...{ method, headers, redirect: 'manual' }, // a key follows no redirect
      signal: options.signal ? AbortSignal.any([late, options.signal]) : late,
      ...(request.body !== undefined && { body: bodyOf(request.body) }),
    });
    const answered = answeredOf(answer);
    const read = await readAnswer(request, answer);
    const { status, requestId } = answered;
    setup.logger?.({ ...line, status, durationMs: now() - began, ...(requestId && { requestId }) });
    return { answered, ...read };
  } catch (error) {
    if (error instanceof BehestError) throw error;
    setup.logger?.({ ...line, durationMs: now() - began });
    if (options.signal?.aborted) throw options.signal.reason;
    return { isTimeout: late.aborted, cause: error };
  }
}

/** @throws BehestError for an answer that is no JSON */
async function readAnswer({ isFile, isStrict }: Request, answer: Response) {
  const isJson = /[/+]json\b/.test(answer.headers.get('content-type') ?? '');
  if (isFile && answer.ok && !isJson) return { data: answer, text: '' };
  const text = await answer.text();
  if (!answer.ok || text === '') return { data: undefined, text };
  try {
    return { data: isStrict ? parseJsonText(text, text.length) : JSON.parse(text), text };
  } catch {
    throw new BehestError('INVALID_ANSWER', `The answer is no JSON: ${withoutSecrets(text.slice(0, 100))}`);
  }
}

const bodyOf = (body: unknown) => (body instanceof URLSearchParams ? body.toString() : JSON.stringify(body));

async function headersOf(setup: TransportOptions, request: Request, url: string, nonce?: string) {
  const { method, credential, idempotencyKey, options, isGrant = false } = request;
  const headers = new Headers(setup.headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  headers.set('accept', 'application/json');
  if (request.body !== undefined) {
    const isForm = request.body instanceof URLSearchParams;
    headers.set('content-type', isForm ? 'application/x-www-form-urlencoded' : 'application/json');
  }
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  const proof = await options.dpop?.proof(method, url, {
    ...(isGrant && credential !== undefined && { accessToken: credential }),
    ...(nonce !== undefined && { nonce }),
  });
  if (proof !== undefined) headers.set('dpop', proof);
  const scheme = isGrant && proof !== undefined ? 'DPoP' : 'Bearer';
  if (credential !== undefined) headers.set('authorization', `${scheme} ${credential}`);
  return headers;
}
