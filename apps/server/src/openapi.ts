import { buildApp } from './app.ts';
import { loadConfig } from './config.ts';
import { createKeyRing } from './features/service/keys/index.ts';
import { keyUses } from './features.ts';
import { openHouse } from './house.ts';
import { openDatabase } from './platform/db/open-database.ts';
import { memoryStore } from './platform/redis/memory-store.ts';

/** The description of exactly the routes that a server of this version mounts. Connects to nothing. */
export async function describeApi(): Promise<object> {
  const clock = () => new Date();
  const config = loadConfig({
    NODE_ENV: 'development',
    DATABASE_URL: 'postgres://localhost/unused',
    REDIS_URL: 'memory:',
    AUTO_GENERATE_KEYS: 'true',
  });
  const db = openDatabase(config.database.app);
  const keyRing = await createKeyRing(config.keys, {
    clock,
    startedAt: clock(),
    warn: () => {},
    uses: keyUses,
  });
  const app = await buildApp(openHouse({ settings: config, db, store: memoryStore(clock), keyRing, clock }));
  const description = app.swagger();
  await app.close();
  await db.destroy();
  return description;
}
