import pg from 'pg';
import { onTestFinished, vi } from 'vitest';

/**
 * The statements of `work`, by their names or their first words, with begin and commit. Each is a round trip. Other
 * statements of the process count too.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  await work();
  const sent = query.mock.calls
    .filter(([first]: unknown[]) => typeof first === 'object') // a new connection asks about its server in a plain text
    .map(([first]: unknown[]): pg.QueryConfig => Object(first));
  query.mockRestore();
  return sent.map(({ name, text }) => name ?? firstWords(text));
}

function firstWords(text: string): string {
  const [words = ''] = text.trim().split(/["(]|\s+from\s|\n/);
  return words.trim();
}
