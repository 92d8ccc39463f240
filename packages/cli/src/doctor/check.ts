/** A line of the doctor. */
export interface Check {
  readonly id: string;
  readonly result: 'ok' | 'warn' | 'fail' | 'skip';
  readonly detail: string;
  readonly fix: string;
}

/** The answer of a public route. */
export interface PublicAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
  readonly date: string | null;
  readonly cache: string | null;
}

/** Asks a public route, by its path. */
export type Ask = (path: string, init?: RequestInit) => Promise<PublicAnswer>;
