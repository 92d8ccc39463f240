import pg from 'pg';
import { onTestFinished, vi } from 'vitest';

/**
 * The statements of `work`, by their first words, with begin and commit. Each is a round trip. Other
 * statements of the process count too.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  await work();
  // Kysely passes the text as the first argument, or in an object.
  const texts = query.mock.calls.map(([first]: unknown[]) => String(Object(first).text ?? first));
  query.mockRestore();
  return texts.map(
    (text) =>
      text
        .trim()
        .split(/["(]|\s+from\s|\n/)[0]
        ?.trim() ?? '',
  );
}
