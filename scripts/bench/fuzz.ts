import { generateKeyPairSync, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { buildApp } from '../../apps/server/src/app.ts';
import { loadConfig } from '../../apps/server/src/config.ts';
import { createKeyRing } from '../../apps/server/src/features/service/keys/index.ts';
import { keyUses } from '../../apps/server/src/features.ts';
import { migrate } from '../../apps/server/src/platform/db/migrate.ts';
import { openDatabase } from '../../apps/server/src/platform/db/open-database.ts';
import { developmentMailer } from '../../apps/server/src/platform/mail/mailer.ts';
import { openStore } from '../../apps/server/src/platform/redis/open-store.ts';
import { openService } from '../../apps/server/src/service.ts';
import { watchingRoutes } from '../../apps/server/test/app/watched-routes.ts';
import { fuzz, limits, sightOf, told } from '../../apps/server/test/fuzz/run.ts';
import { startKeeper } from '../../apps/server/test/servers/keeper.ts';
import { freePort } from '../machine/ports.ts';
import { writeSection } from './results.ts';

const USAGE = `npm run bench -- fuzz [options]
  --requests <count>  how many are sent (10000)
  --seed <number>     asks again what a run with this seed asked
  --write             writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `Good and broken requests to every route over HTTP, sixteen at a time, each answer held against what its route
declares. Made by \`npm run bench -- fuzz --write\`.`;

/** `npm run bench -- fuzz`: sends good and broken requests to every route of a service, and checks each answer. */
const { values: flags } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const [requests, seed] = [Number(flags.requests), Number(flags.seed)];
  const port = await freePort();
  const service = await startListening(port);
  try {
    say(`seed ${seed}`);
    const startedAt = performance.now();
    const outcome = await fuzz({
      ...service,
      port,
      seed,
      requests,
      sightOf: () => sightOf(service.db),
      onProgress: (done) => {
        if (done % 5_000 < 64) say(`${done} of ${requests}`);
      },
    });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const { failures, statuses, succeeded, refusedAlone, absent } = outcome;
    const ofClass = (first: string) =>
      [...statuses].reduce((sum, [status, count]) => sum + (status.startsWith(first) ? count : 0), 0);
    const reached = `${succeeded.size} of ${service.routes.length}`;
    const lines = [
      ['Command', `\`npm run bench -- fuzz --requests ${requests} --seed ${seed}\``],
      ['Duration', `${seconds} s`],
      ...['2', '3', '4'].map((first) => [`Answers ${first}xx`, ofClass(first).toLocaleString('en')]),
      ['Answers 501 and 503 of parts that are not set up in this run', absent.toLocaleString('en')],
      ['Other answers 5xx', (ofClass('5') - absent).toLocaleString('en')],
      ['Operations that succeeded at least once', reached],
      ['Refusals sent alone, of which none changed a row', refusedAlone.toLocaleString('en')],
      ['Faults', String(failures.length)],
    ];
    for (const [name, value] of lines) say(`${name}: ${value}`);
    say(
      [...statuses]
        .sort()
        .map(([status, count]) => `${status} ${count}`)
        .join(', '),
    );
    const kinds = Map.groupBy(failures, ({ faults }) => faults.join('; ').slice(0, 120));
    for (const [kind, same] of kinds) say(`${same.length} × ${kind}`);
    say(told(failures));
    for (const answer of service.undeclared.slice(0, 100)) say(`undeclared: ${answer}`);
    if (flags.write) writeSection('Fuzz', WHAT, lines);
    if (failures.length > 0 || service.undeclared.length > 0) process.exitCode = 1;
  } finally {
    await service.stop();
  }
}

if (flags.help) say(USAGE);
else await main();

/** The whole application on a port, with its own Postgres and Redis, outside a test run. */
async function startListening(port: number) {
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
