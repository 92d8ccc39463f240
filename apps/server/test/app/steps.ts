import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryId, RootOperationNode } from 'kysely';
import type { Executor } from '../../src/platform/db/db.ts';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';

interface Walk {
  /** The number of a step, or its name. */
  readonly stopAfter: number | string;
  readonly meanwhile: () => Promise<void>;
  readonly steps: string[];
}

/** The payers of a request, and the look-up of its key. Every request does these first, so they have no number. */
const PAYERS = new Set(['address', 'resource', 'developer', 'session']);
const KEY = 'use_key';

/**
 * Stops work in the middle, on purpose. A step is a statement or a call of the store. Only the steps of work that `walk`
 * started count, because other work runs in the same process.
 */
export function stepping() {
  const walks = new AsyncLocalStorage<Walk | undefined>();
  const names = new WeakMap<QueryId, string>();

  const step = async (name: string) => {
    const walk = walks.getStore();
    if (!walk) return;
    const number = name === KEY ? undefined : walk.steps.push(name);
    if (walk.stopAfter === number || walk.stopAfter === name) await walks.run(undefined, walk.meanwhile);
  };

  return {
    dbAs: (db: Executor): Executor =>
      db.withPlugin({
        transformQuery({ node, queryId }) {
          if (walks.getStore()) names.set(queryId, nameOf(node));
          return node;
        },
        async transformResult({ queryId, result }) {
          await step(names.get(queryId) ?? queryId.queryId);
          return result;
        },
      }),

    storeAs: (store: EphemeralStore): EphemeralStore => ({
      ...store,
      async put(entries) {
        await store.put(entries);
        await step('put');
      },
      async get(key) {
        const found = await store.get(key);
        await step('get');
        return found;
      },
      async remove(key) {
        await store.remove(key);
        await step('remove');
      },
      async charge(bills) {
        const settled = await store.charge(bills);
        if (!bills.some(({ name }) => PAYERS.has(name))) await step('charge');
        return settled;
      },
    }),

    /**
     * Does `work`, and does `meanwhile` after this step, before `work` goes on.
     * @returns the outcome, and the names of the steps
     */
    async walk<T>(work: () => Promise<T>, stopAfter: number | string, meanwhile: () => Promise<void>) {
      const steps: string[] = [];
      const outcome = await walks.run({ stopAfter, meanwhile, steps }, work);
      return { outcome, steps };
    },
  };
}

/** The kind of a query and its first table, or the first words of a text. */
function nameOf(node: RootOperationNode): string {
  if (node.kind === 'RawNode') return node.sqlFragments.join('…').trim().replace(/\s+/g, ' ').slice(0, 60);
  const [, table = ''] = /"IdentifierNode","name":"(\w+)"/.exec(JSON.stringify(node)) ?? [];
  return `${node.kind.replace('QueryNode', '')} ${table}`;
}
