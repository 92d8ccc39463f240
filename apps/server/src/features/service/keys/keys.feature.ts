import { defineFeature, type House } from '../../../feature.ts';
import { keyAdminRoutes } from './keys.admin.routes.ts';
import { noteDocument } from './keys.documents.service.ts';
import { keyKeeping } from './keys.jobs.ts';
import { keyRoutes } from './keys.routes.ts';
import { KEYS_CHANGED, type KeyStoreDeps, prepareKeys, readKeys } from './keys.store.service.ts';
import { tables } from './keys.tables.ts';

export const keys = defineFeature({
  name: 'keys',
  tags: { keys: 'The public keys that verify tokens.' },
  tables,
  open(house) {
    const keyStore = keyStoreOf(house);
    return {
      async routes(app) {
        await app.register(keyRoutes, house);
        await app.register(keyAdminRoutes, { keyRing: house.keyRing, keyStore });
      },
      ...(keyStore ? atWork(house, keyStore) : { prepare: () => noteDocument(house) }),
    };
  },
});

function keyStoreOf({ keyRing, db, clock, store, logger }: House): KeyStoreDeps | undefined {
  const { stored, vault } = keyRing;
  const warn = (message: string) => logger?.warn(message);
  return stored && { db, clock, store, vault, stored, warn };
}

/** Reads the keys at start, by the clock, and when another instance says that they changed. */
function atWork({ store, logger }: House, deps: KeyStoreDeps) {
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
