import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryId, RootOperationNode } from 'kysely';
import type { Executor } from '../../src/platform/db/db.ts';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';

interface Walk {
  /** The number of a step, or its name. */
  readonly stopAfter: number | string;
  readonly meanwhile: () => Promise<void>;
  readonly steps: string[];
  /** For each step the tables that it reads, if it does nothing else. */
  readonly reads: (readonly string[] | undefined)[];
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
  const nodes = new WeakMap<QueryId, RootOperationNode>();

  const step = async (name: string, node?: RootOperationNode) => {
    const walk = walks.getStore();
    if (!walk) return;
    const number = name === KEY ? undefined : walk.steps.push(name);
    if (number !== undefined) walk.reads.push(node && tablesRead(node));
    if (walk.stopAfter === number || walk.stopAfter === name) await walks.run(undefined, walk.meanwhile);
  };

  return {
    dbAs: (db: Executor): Executor =>
      db.withPlugin({
        transformQuery({ node, queryId }) {
          if (walks.getStore()) nodes.set(queryId, node);
          return node;
        },
        async transformResult({ queryId, result }) {
          const node = nodes.get(queryId);
          await step(node ? nameOf(node) : queryId.queryId, node);
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
      async replaceVersion(version) {
        await store.replaceVersion(version);
        await step('replaceVersion');
      },
      chargeLeased: () => undefined, // the number of a step must not depend on what came before
      async charge(bills) {
        const settled = await store.charge(bills);
        if (!bills.some(({ name }) => PAYERS.has(name))) await step('charge');
        return settled;
      },
    }),

    /**
     * Does `work`, and does `meanwhile` after this step, before `work` goes on.
     * @returns the outcome, the names of the steps, and what each does no more than read
     */
    async walk<T>(work: () => Promise<T>, stopAfter: number | string, meanwhile: () => Promise<void>) {
      const steps: string[] = [];
      const reads: Walk['reads'] = [];
      const outcome = await walks.run({ stopAfter, meanwhile, steps, reads }, work);
      return { outcome, steps, reads };
    },
  };
}

/** The kind of a query and its first table, or the first words of a text. */
function nameOf(node: RootOperationNode): string {
  if (node.kind === 'RawNode') return node.sqlFragments.join('…').trim().replace(/\s+/g, ' ').slice(0, 60);
  const [, table = ''] = /"IdentifierNode","name":"(\w+)"/.exec(JSON.stringify(node)) ?? [];
  return `${node.kind.replace('QueryNode', '')} ${table}`;
}

/** The tables of a statement that only reads them, without a lock. @returns undefined for any other statement */
function tablesRead(node: RootOperationNode): string[] | undefined {
  const text = JSON.stringify(node);
  if (
    node.kind !== 'SelectQueryNode' ||
    /"(RawNode|SelectModifierNode|(Insert|Update|Delete)QueryNode)"/.test(text)
  )
    return undefined;
  return [...text.matchAll(/"identifier":\{"kind":"IdentifierNode","name":"(\w+)"/g)].map(
    ([, name = '']) => name,
  );
}
