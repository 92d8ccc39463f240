import type { KyselyPlugin } from 'kysely';

/** Calls `act` after each statement that names `word`, before the statement's caller goes on. */
export function afterStatements(word: string, act: () => Promise<void>): KyselyPlugin {
  const watched = new WeakSet<object>();
  return {
    transformQuery({ node, queryId }) {
      if (JSON.stringify(node).includes(word)) watched.add(queryId);
      return node;
    },
    async transformResult({ queryId, result }) {
      if (watched.has(queryId)) await act();
      return result;
    },
  };
}
