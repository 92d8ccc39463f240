import pg from 'pg';
import { onTestFinished, vi } from 'vitest';

/**
 * The statements of `work`, by their names or their first words, with begin and commit. Each is a round trip. Other
 * statements of the process count too.
 */
export async function statementsOf(work: () => PromiseLike<unknown>): Promise<string[]> {
  return (await sentIn(work)).map(({ name, text }) => name ?? firstWords(text));
}

/** The statements of `work` that Postgres plans at each execution, by their first words. */
export async function unnamedOf(work: () => PromiseLike<unknown>): Promise<string[]> {
  const sent = (await sentIn(work)).filter(({ name }) => name === undefined);
  return sent.map(({ text }) => firstWords(text)).filter((words) => !UNPLANNED.test(words));
}

/** Statements without a plan. */
const UNPLANNED = /^(?:begin|start transaction|commit|rollback|savepoint|release)\b/i;

/** What `work` sends to Postgres. */
export async function sentIn(work: () => PromiseLike<unknown>): Promise<pg.QueryConfig[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  await work();
  const sent = query.mock.calls
    .filter(([first]: unknown[]) => typeof first === 'object') // a new connection asks about its server in a plain text
    .map(([first]: unknown[]): pg.QueryConfig => Object(first));
  query.mockRestore();
  return sent;
}

function firstWords(text: string): string {
  const [words = ''] = text.trim().split(/["(]|\s+from\s|\n/);
  return words.trim();
}
