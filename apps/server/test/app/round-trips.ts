import pg from 'pg';
import { onTestFinished, vi } from 'vitest';

/**
 * What `work` says to the database: the first words of each statement, begin and commit included, each of which
 * is a trip there and back. Whatever else the process does meanwhile is counted too.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  await work();
  // Kysely gives the text first, or in an object.
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
