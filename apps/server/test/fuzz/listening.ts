import { generateKeyPairSync } from 'node:crypto';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { createKeyRing } from '../../src/features/service/keys/index.ts';
import { keyUses } from '../../src/features.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { developmentMailer } from '../../src/platform/mail/mailer.ts';
import { openStore } from '../../src/platform/redis/open-store.ts';
import { openService } from '../../src/service.ts';
import { watchingRoutes } from '../app/watched-routes.ts';
import { startKeeper } from '../servers/keeper.ts';
import { limits } from './run.ts';

/** The whole application on a port, with its own Postgres and Redis, outside a test run. */
export async function startListening(port: number) {
  const cleanUp = new AsyncDisposableStack();
  const postgres = cleanUp.adopt(await startKeeper('postgres-keeper.ts'), ({ stop }) => stop());
  const redis = cleanUp.adopt(await startKeeper('redis-keeper.ts'), ({ stop }) => stop());
  await migrate({ connectionString: postgres.url });
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const settings = loadConfig({
    NODE_ENV: 'test',
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    RSA_PRIVATE_KEY: String(key.export({ type: 'pkcs8', format: 'pem' })),
    SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0',
    PUBLIC_BASE_URL: `http://localhost:${port}`,
    PLAN_FREE_AGENTS: 'unlimited',
    PLAN_FREE_ACTIVE_GRANTS: 'unlimited',
    PLAN_FREE_OPEN_REQUESTS: 'unlimited',
    PLAN_FREE_AUDIT_APPENDS: 'unlimited',
    ...limits,
  });
  let now = Date.now();
  const clock = () => new Date(now);
  const advance = (seconds: number) => {
    now += seconds * 1000;
  };
  const db = cleanUp.adopt(openDatabase(settings.database.app, 16), (opened) => opened.destroy());
  const store = cleanUp.adopt(openStore(settings.redisUrl, clock), (opened) => opened.close());
  const keyRing = await createKeyRing(settings.keys, {
    clock,
    startedAt: clock(),
    warn: () => {},
    uses: keyUses,
  });
  const mails = developmentMailer(() => {});
  const { app, routes, undeclared } = await watchingRoutes(() =>
    buildApp(openService({ settings, db, store, keyRing, clock, mailer: mails, development: mails })),
  );
  cleanUp.defer(() => app.close());
  await app.listen({ port, host: '127.0.0.1' });
  return { db, routes, undeclared, advance, stop: () => cleanUp.disposeAsync() };
}
