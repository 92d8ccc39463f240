import type { KyselyPlugin } from 'kysely';

/**
 * Calls `act` after each query that names `word`, and after each declared statement with `word` in its name, before the
 * statement's caller goes on.
 */
export function afterStatements(word: string, act: () => Promise<void>): KyselyPlugin {
  const watched = new WeakSet<object>();
  return {
    transformQuery({ node, queryId }) {
      if (JSON.stringify(node).includes(word)) watched.add(queryId);
      return node;
    },
    async transformResult({ queryId, result }) {
      if (watched.has(queryId) || queryId.queryId.includes(word)) await act();
      return result;
    },
  };
}
