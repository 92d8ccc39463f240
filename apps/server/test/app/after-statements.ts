import { inspect } from 'node:util';
import type { KyselyPlugin } from 'kysely';

/** Not as JSON, which a parameter may refuse to become. */
const WHOLE = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity };

/** Does something after each statement that names `word`, before whoever made it goes on. */
export function afterStatements(word: string, act: () => Promise<void>): KyselyPlugin {
  const watched = new WeakSet<object>();
  return {
    transformQuery({ node, queryId }) {
      if (inspect(node, WHOLE).includes(word)) watched.add(queryId);
      return node;
    },
    async transformResult({ queryId, result }) {
      if (watched.has(queryId)) await act();
      return result;
    },
  };
}
