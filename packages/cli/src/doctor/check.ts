/** A line of the doctor. */
export interface Check {
  readonly id: string;
  readonly result: 'ok' | 'warn' | 'fail' | 'skip';
  readonly detail: string;
  readonly fix: string;
}

/** The answer of a public route. */
export interface Asked {
  readonly status: number;
  readonly body: unknown;
  readonly date: string | null;
  readonly cache: string | null;
}
