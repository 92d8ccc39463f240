/** A line of the doctor. `--json` prints it as it is. */
export interface Check {
  readonly id: string;
  readonly result: 'ok' | 'warn' | 'fail' | 'skip';
  /** Repeats no secret. */
  readonly detail: string;
  /** The next step of the operator; empty where there is none. */
  readonly fix: string;
}

export const passed = (id: string, detail: string): Check => ({ id, result: 'ok', detail, fix: '' });
export const skipped = (id: string, detail: string): Check => ({ id, result: 'skip', detail, fix: '' });
export const warned = (id: string, detail: string, fix: string): Check => ({
  ...{ id, result: 'warn', detail, fix },
});
export const failed = (id: string, detail: string, fix: string): Check => ({
  ...{ id, result: 'fail', detail, fix },
});

/** The first line of an error, or the code of one that says nothing. A connection string is never in either. */
export function reasonOf(error: unknown): string {
  const { message, code, cause } = Object(error);
  const said = [message, code, Object(cause).code].find((text) => typeof text === 'string' && text !== '');
  return String(said ?? error).split('\n')[0] ?? '';
}
