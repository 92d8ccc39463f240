import { masked } from './config/settings.ts';
import { curlOf } from './curl.ts';
import type { Io } from './io.ts';
import type { Globals } from './program/globals.ts';

/** The way of every request: told of, or printed in place of being sent. */
export interface Exchange {
  fetchWith(key: string | undefined): (url: string, init: RequestInit) => Promise<Response>;
  /** True when a dry run has printed its request. */
  readonly isDone: () => boolean;
}

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

/** Hides what follows the scheme. */
function hidden(value: string): string {
  const begins = value.lastIndexOf(' ') + 1;
  return value.slice(0, begins) + masked(value.slice(begins));
}
