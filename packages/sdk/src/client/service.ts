import { BehestError, BehestNetworkError } from '../errors.ts';
import type { Fetch } from '../verify/fetch-keys.ts';

const TIMEOUT_MS = 30_000;

export interface ServiceOptions {
  readonly baseUrl: string;
  /** The key, which a rotation replaces. */
  apiKey(): string;
  readonly fetch: Fetch;
}

/**
 * Asks the service, which answers in JSON.
 *
 * @throws BehestNetworkError when there was no usable answer. The message holds neither key nor body.
 */
export async function askService(
  service: ServiceOptions,
  path: string,
  body?: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, answer } = await sendToService(service, path, body);
  if (status === 200) return answer;
  throw new BehestNetworkError('The service could not be asked.', {
    cause: new Error(`the status is ${status}`),
  });
}

/** As `askService`, for callers that read refusals too. @throws BehestNetworkError without an answer in JSON */
export async function sendToService(
  { baseUrl, apiKey, fetch }: ServiceOptions,
  path: string,
  body?: unknown,
  method = body === undefined ? 'GET' : 'POST',
): Promise<{ readonly status: number; readonly answer: Readonly<Record<string, unknown>> }> {
  try {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...{ accept: 'application/json', authorization: `Bearer ${apiKey()}` },
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      redirect: 'manual', // a key follows no redirect
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, answer: Object(await answer.json()) };
  } catch (cause) {
    throw new BehestNetworkError('The service could not be asked.', { cause });
  }
}

/** @throws BehestError for an address that a key must not be sent to */
export function serviceAddress(address: string, allowInsecure: boolean): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLocal = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const isFit = url?.protocol === 'https:' || (url?.protocol === 'http:' && (isLocal || allowInsecure));
  if (!isFit) throw new BehestError('CONFIGURATION', 'baseUrl has to begin with https://.');
  return address.replace(/\/$/, '');
}
