import { defineFeature, type ServiceContext } from '../../../feature.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { noteDocument } from './did.ts';
import { keyAdminRoutes, keyRoutes } from './keys.routes.ts';
import { KEYS_CHANGED, type KeyStoreDeps, keepKeys, prepareKeys, readKeys } from './store.ts';

const tables: TableUse = {
  owns: { service_did_documents: 'operator', signing_keys: 'operator' },
  reads: [],
  writes: [],
};

/** Seconds. An instance may not know of a published key for three times as long. */
const EVERY = 10;

const keyKeeping = (deps: KeyStoreDeps): Job => ({
  name: 'signing_keys',
  everySeconds: EVERY,
  run: () => keepKeys(deps),
});

export const keys = defineFeature({
  name: 'keys',
  tags: { keys: 'The public keys that verify tokens.' },
  tables,
  open(context) {
    const keyStore = keyStoreOf(context);
    return {
      async routes(app) {
        await keyRoutes(app, context);
        await keyAdminRoutes(app, { keyRing: context.keyRing, keyStore });
      },
      ...(keyStore ? atWork(context, keyStore) : { prepare: () => noteDocument(context) }),
    };
  },
});

function keyStoreOf({ keyRing, db, clock, store, logger }: ServiceContext): KeyStoreDeps | undefined {
  const { stored, vault } = keyRing;
  const warn = (message: string) => logger?.warn(message);
  return stored && { db, clock, store, vault, stored, warn };
}

/** Reads the keys at start, by the clock, and when another instance says that they changed. */
function atWork({ store, logger }: ServiceContext, deps: KeyStoreDeps) {
  let unsubscribe = () => {};
  let reading = Promise.resolve();
  const onFailure = (err: unknown) => logger?.warn({ err }, 'the signing keys could not be read');
  return {
    prepare: () => prepareKeys(deps),
    jobs: [keyKeeping(deps)],
    start() {
      unsubscribe = store.subscribe(KEYS_CHANGED, () => {
        reading = reading.then(() => readKeys(deps)).then(() => {}, onFailure);
      });
    },
    async finish() {
      unsubscribe();
      await reading;
    },
  };
}
