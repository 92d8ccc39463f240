import { masked } from './config/settings.ts';
import type { Io } from './io.ts';
import type { Globals } from './program/globals.ts';

/** The way of every request: told of, or printed in place of being sent. */
export interface Exchange {
  fetchWith(key: string | undefined): (url: string, init: RequestInit) => Promise<Response>;
  /** True when a dry run has printed its request. */
  readonly isDone: () => boolean;
}

/** Members of bodies that are secrets, and the variables that stand for them in a printed request. */
const SECRET =
  /"(\w*(?:[tT]oken|[sS]ecret|[pP]assword|codeVerifier|credential|sdJwt|vcJwt))":"((?:[^"\\]|\\.)*)"/g;
/** Members of forms that are secrets. */
const FORM_SECRET =
  /(^|&)((?:\w+_)?(?:token|secret|assertion|password|code)|code_verifier|auth_req_id)=[^&]+/g;
/** Names that end like a secret, of members that are public. */
const PLAIN = new Set(['credentialFormat', 'credentialType']);

export function exchangeOf(io: Io, { isDry, isVerbose, isDebug }: Globals): Exchange {
  let isDone = false;
  return {
    isDone: () => isDone,
    fetchWith: (key) => async (url, init) => {
      if (isDry) {
        io.out(`${curlOf(url, init, key)}\n`);
        isDone = true;
        const { BehestError } = await import('@behest/sdk');
        throw new BehestError('DRY_RUN', 'nothing is sent in a dry run'); // a stream tries again after other errors
      }
      const began = performance.now();
      const told = (words: string) => isVerbose && io.err(`${words}\n`);
      if (isDebug) told(headersOf(new Headers(init.headers), '>'));
      const answer = await io.fetch(url, withSignal(init, io.signal)).catch((error: unknown) => {
        told(`${init.method ?? 'GET'} ${url} failed after ${Math.round(performance.now() - began)} ms`);
        throw error;
      });
      told(`${init.method ?? 'GET'} ${url} ${answer.status} ${Math.round(performance.now() - began)} ms`);
      if (isDebug) told(headersOf(answer.headers, '<'));
      return answer;
    },
  };
}

const withSignal = (init: RequestInit, signal: AbortSignal): RequestInit => ({
  ...init,
  signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal,
});

function headersOf(headers: Headers, mark: string): string {
  return [...headers]
    .map(
      ([name, value]) =>
        `${mark} ${name}: ${/^(authorization|dpop|cookie|set-cookie)$/.test(name) ? hidden(value) : value}`,
    )
    .join('\n');
}

const hidden = (value: string) => value.replace(/\S+$/, (credential) => masked(credential));

/** The request as a person would type it. Secrets are variables. */
function curlOf(
  url: string,
  { method = 'GET', headers, body }: RequestInit,
  key: string | undefined,
): string {
  const lines = [`curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`];
  for (const [name, value] of new Headers(headers)) {
    if (name === 'user-agent' || name === 'accept' || name === 'idempotency-key') continue;
    if (name === 'authorization') {
      const variable = key !== undefined && value.endsWith(key) ? 'BEHEST_API_KEY' : 'TOKEN';
      lines.push(`-H "authorization: ${value.split(' ')[0]} $${variable}"`);
    } else lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  const isForm = new Headers(headers).get('content-type')?.startsWith('application/x-www-form-urlencoded');
  if (typeof body === 'string') lines.push(`-d ${isForm ? splicedForm(body) : spliced(quoted(body))}`);
  return lines.join(' \\\n  ');
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const spliced = (text: string) =>
  text.replaceAll(SECRET, (all, name: string) =>
    PLAIN.has(name)
      ? all
      : `"${name}":"'"$${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}"'"`,
  );

/** Text of a form has no quotation mark: it is percent-encoded. */
const splicedForm = (form: string) =>
  `'${form.replaceAll("'", '%27').replaceAll(FORM_SECRET, (_, before: string, name: string) => `${before}${name}='"$${name.toUpperCase()}"'`)}'`;
