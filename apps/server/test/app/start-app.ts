import { randomUUID } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, inject, onTestFinished } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { rateSettings } from '../../src/config/limits.ts';
import { loadConfig } from '../../src/config.ts';
import { createKeyRing } from '../../src/features/service/keys/index.ts';
import { declaredMetrics, keyUses, limits } from '../../src/features.ts';
import { commitNotices } from '../../src/platform/db/commit-effects.ts';
import type { Executor } from '../../src/platform/db/db.ts';
import { databaseOver, openDatabase, openPool } from '../../src/platform/db/open-database.ts';
import { type DevelopmentMailer, developmentMailer, type Mailer } from '../../src/platform/mail/mailer.ts';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';
import { memoryStore } from '../../src/platform/redis/memory-store.ts';
import { openStore } from '../../src/platform/redis/open-store.ts';
import { createLogger, type LogLevel } from '../../src/platform/telemetry/logger.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import type { Tracer } from '../../src/platform/telemetry/tracing.ts';
import { openService, prepareFeature } from '../../src/service.ts';
import { execute } from '../servers/postgres.ts';
import { redisUrl } from '../servers/start-server.ts';
import { watchingRoutes } from './watched-routes.ts';

const CONNECTIONS = 8;
const IDLE = 10_000; // milliseconds, after which the databases of other files need the place

const pools = new Map<string, ReturnType<typeof openPool>>();

function poolOf(connectionString: string) {
  const pool = pools.get(connectionString) ?? openPool({ connectionString }, CONNECTIONS, { idle: IDLE });
  pools.set(connectionString, pool);
  return pool;
}

/**
 * The connections to a file's database, which its applications use one after the other. A new connection has
 * to read the catalog and compile the functions, which costs Postgres more than most tests do.
 * @param databaseUrl tells the database at each use, since an application goes on to another file
 */
function lentPool(databaseUrl: () => string) {
  const pool = () => poolOf(databaseUrl());
  return {
    connect: () => pool().connect(),
    end: async () => {}, // an application only gives the pool back
    get options() {
      return pool().options;
    },
    get totalCount() {
      return pool().totalCount;
    },
    get idleCount() {
      return pool().idleCount;
    },
    get waitingCount() {
      return pool().waitingCount;
    },
  };
}

/**
 * Opens all connections of a file's pool. Otherwise the first of several requests is done on the one open connection
 * before the others have theirs, and nothing that is sent at once meets.
 */
export async function openConnections(db: Executor): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sql`select pg_backend_pid()`.execute(db)));
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Mode = 'live' | 'sandbox';

/** The databases of this worker, of which all but its present file's can go. */
const made: string[] = [];

/** Clones the migrated template. The database goes before the worker's next file. @returns its URL */
export async function newDatabase(): Promise<string> {
  const template = new URL(inject('templateUrl'));
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const statement = `create database ${name} template ${template.pathname.slice(1)} strategy file_copy`;
  await execute(new URL('postgres', template).href, statement);
  const url = new URL(name, template).href;
  made.push(url);
  return url;
}

/** For the start of a file: six hundred databases of 18 MB fill the memory of many machines. */
export async function dropDatabases(): Promise<void> {
  ownDatabases.clear();
  for (const url of made.splice(0)) {
    void pools.get(url)?.end();
    pools.delete(url);
    const name = new URL(url).pathname.slice(1);
    await execute(new URL('postgres', url).href, `drop database if exists ${name} with (force)`);
  }
}

/** One database a test file. Tenants keep its tests apart. */
const ownDatabases = new Map<string, Promise<string>>();

function ownDatabase(): Promise<string> {
  const { testPath = '' } = expect.getState();
  const made = ownDatabases.get(testPath) ?? newDatabase();
  ownDatabases.set(testPath, made);
  return made;
}

/** Tests that set another key replace it. An empty text sets none. */
const VAULT_KEY = 'ab'.repeat(32);
/** The operator's key, as `VAULT_KEY`. */
export const ADMIN_API_KEY = 'operator-key-of-at-least-32-characters';

/** The clock of a test, unless it says another time. */
const STARTS_AT = '2026-01-01T00:00:00Z';

/** So high that only tests about limits meet one. */
const roomyLimits = Object.fromEntries(Object.keys(rateSettings(limits)).map((name) => [name, '100000']));

export interface TestOptions {
  /** `none` is like production without mail settings. Otherwise mails are kept, as in development. */
  readonly mail?: 'none';
  /** Replaces the mailer that keeps mails. */
  readonly mailer?: Mailer;
  /** Settings besides the defaults, by the operator's names. */
  readonly env?: Readonly<Record<string, string>>;
  /** Uses the limits of the product in place of high limits. */
  readonly realLimits?: boolean;
  /** A database and a pool of its own, in place of the file's. */
  readonly databaseUrl?: string;
  /** `redis` is the run's server, and `memory` its twin in this process. */
  readonly store?: 'redis' | 'memory';
  readonly startsAt?: string;
  /** For `beforeAll`, which calls `stop` afterwards: a start takes longer than most requests. */
  readonly isShared?: true;
  /** For a test that watches or changes the start itself. */
  readonly isNew?: true;
  /** Replaces a dependency of the service, for example to count or to fail. */
  readonly dbAs?: (db: Executor) => Executor;
  readonly storeAs?: (store: EphemeralStore) => EphemeralStore;
  /** Keeps a log. Without it the service logs nothing. */
  readonly logLevel?: LogLevel;
  /** Receives the spans of requests and of their calls to the stores. */
  readonly tracer?: Tracer;
}

/**
 * The whole application. Its clock stands still until a test moves it. A start takes longer than most tests, so a
 * service that an earlier test with the same options used goes on, on this file's database.
 */
export async function startApp(options: TestOptions = {}) {
  const databaseUrl = options.databaseUrl ?? (await ownDatabase());
  const kind = kindOf(options);
  const service = takeIdle(kind) ?? (await build(options, databaseUrl));
  service.begin(databaseUrl, options.startsAt);
  const giveBack = async () => {
    if (!kind || !service.isReusable()) return service.stop();
    service.end();
    await keepIdle(kind, service, databaseUrl);
  };
  if (!options.isShared) onTestFinished(giveBack);
  return { ...service, databaseUrl };
}

interface Idle {
  readonly kind: string;
  readonly service: Awaited<ReturnType<typeof build>>;
}

/** The services of this worker that no test uses, the latest last. */
const idle: Idle[] = [];
const MAX_IDLE = 16;

/** Services of one kind differ in nothing. @returns undefined for a service that no other test may use */
function kindOf(options: TestOptions): string | undefined {
  const { isShared: _, startsAt: __, env = {}, ...rest } = options;
  const isPlain = Object.values(rest).every((value) => typeof value !== 'function');
  const isOwn = options.isNew || options.databaseUrl || options.store === 'memory' || options.realLimits;
  return isOwn || !isPlain || options.mailer || options.tracer ? undefined : JSON.stringify({ env, ...rest });
}

function takeIdle(kind: string | undefined) {
  const at = idle.findLastIndex((each) => each.kind === kind);
  return at < 0 ? undefined : idle.splice(at, 1)[0]?.service;
}

async function keepIdle(kind: string, service: Idle['service'], databaseUrl: string) {
  idle.push({ kind, service });
  const oldest = idle.length > MAX_IDLE ? idle.shift()?.service : undefined;
  oldest?.begin(databaseUrl); // it ends in a database that is there
  await oldest?.stop();
}

async function build(options: TestOptions, firstDatabaseUrl: string) {
  const { env = {}, realLimits = false, store: kind = 'redis', tracer } = options;
  let databaseUrl = firstDatabaseUrl;
  const settings = loadConfig({
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    REDIS_URL: kind === 'redis' ? redisUrl() : 'memory:',
    RSA_PRIVATE_KEY: inject('rsaKey'),
    VAULT_ENCRYPTION_KEY: VAULT_KEY,
    ADMIN_API_KEY,
    SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0',
    PUBLIC_BASE_URL: 'https://auth.test',
    ...(!realLimits && { ...roomyLimits, PLAN_FREE_DOMAINS: '100' }),
    ...env,
  });

  let now = new Date(options.startsAt ?? STARTS_AT);
  const clock = () => now;
  const advance = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
  };
  const registry = new Registry();
  const metrics = createMetrics(declaredMetrics, [], registry);
  const notices = commitNotices();
  const realDb = options.databaseUrl
    ? openDatabase(settings.database.app, 8, metrics.meter, { notices, tracer })
    : databaseOver(
        lentPool(() => databaseUrl),
        { meter: metrics.meter, notices, tracer },
      );
  const db = options.dbAs?.(realDb) ?? realDb;
  const realStore =
    settings.redisUrl === 'memory:' ? memoryStore(clock) : openStore(settings.redisUrl, clock);
  const store = options.storeAs?.(realStore) ?? realStore;
  const keyRing = await createKeyRing(settings.keys, {
    clock,
    startedAt: now,
    warn: () => {},
    uses: keyUses,
  });
  const logLines: string[] = [];
  const write = (line: string) => void logLines.push(line);
  const logger = options.logLevel && createLogger(options.logLevel, { write });
  let kept = developmentMailer(() => {});
  const mails: DevelopmentMailer = { send: (each) => kept.send(each), sent: () => kept.sent() };
  const mail = options.mail === 'none' ? {} : { mailer: options.mailer ?? mails, development: mails };
  const context = openService({
    settings,
    db,
    aside: realDb,
    store,
    keyRing,
    clock,
    metrics,
    notices,
    tracer,
    ...mail,
    ...(logger && { logger }),
  });
  if (keyRing.stored) for (const { prepare } of context.opened) await prepare?.(); // such a key ring is empty before
  const { app, routes, undeclared } = await watchingRoutes(() => buildApp(context));
  /** Does the work of a job once. */
  const runJob = (name: string) =>
    context.opened
      .flatMap(({ jobs = [] }) => jobs)
      .find((job) => job.name === name)
      ?.run(AbortSignal.timeout(60_000));
  /** Does what a start does before the service listens. @throws the error that stops the start */
  const prepare = async (isProduction = true, warn: (message: string) => void = () => {}) => {
    isAltered = true;
    for (const feature of context.opened) await prepareFeature(feature, { db: realDb, isProduction, warn });
  };
  /** Looks for stored values that no configured key opens. */
  const findLost = async () => {
    const sealed = context.opened.flatMap(({ sealed: rows = [] }) => rows);
    const found = await Promise.all(sealed.map((rows) => rows.findLost(realDb)));
    return found.filter((warning) => warning !== undefined);
  };
  /** Lets the features do what they do after a start, but for their jobs: no poll ever comes. */
  const startFeatures = () => {
    isAltered = true;
    for (const { start } of context.opened) start?.();
  };
  let isAltered = keyRing.stored !== undefined;
  let isStopped = false;
  const expectDeclared = () =>
    expect(undeclared.splice(0), 'answers that their routes do not declare').toEqual([]);
  const stop = async () => {
    isStopped = true;
    await app.close();
    for (const { finish } of context.opened) await finish?.();
    await store.close();
    await db.destroy();
    await realDb.destroy();
    expectDeclared();
  };
  /** One that listens, or whose features have begun to work on their own, has state that the next test would meet. */
  const isReusable = () => !isStopped && !isAltered && !app.server.listening;
  /** Begins a test. */
  const begin = (itsDatabaseUrl: string, startsAt = STARTS_AT) => {
    databaseUrl = itsDatabaseUrl;
    now = new Date(startsAt);
  };
  /** Ends a test, whose logs, mails and counts the next one does not see. */
  const end = () => {
    expectDeclared();
    kept = developmentMailer(() => {});
    logLines.length = 0;
    for (const metric of registry.getMetricsAsArray()) {
      if (metric instanceof Counter || metric instanceof Histogram) metric.reset();
    }
  };

  const calling =
    (apiKey: string) =>
    (method: Method, url: string, body?: object): Promise<LightMyRequestResponse> =>
      app.inject({ method, url, headers: { authorization: `Bearer ${apiKey}` }, ...(body && { body }) });

  /** Signs up a new developer. @returns a way to call the service as that developer */
  async function asDeveloper({ mode = 'live' }: { mode?: Mode } = {}) {
    const body = { name: 'Acme', mode };
    const answer = await app.inject({ method: 'POST', url: '/v1/signup', body });
    if (answer.statusCode !== 201) throw new Error(`signup: ${answer.body}`);
    const { apiKey, developerId } = answer.json();
    const call = calling(apiKey);
    /** With a new `runtime` key. @param agentIds of the agents to which the key is bound; none means no bond */
    const asRuntime = async (...agentIds: string[]) => {
      const bond = agentIds.length > 0 ? { agentIds } : {};
      const made = await call('POST', '/v1/keys', { name: 'backend', role: 'runtime', ...bond });
      if (made.statusCode !== 201) throw new Error(`key: ${made.body}`);
      const { apiKey, keyId } = made.json();
      return Object.assign(calling(apiKey), { apiKey: String(apiKey), keyId: String(keyId) });
    };
    /** With another credential of the developer. */
    const withToken = calling;
    return Object.assign(call, {
      developerId: String(developerId),
      apiKey: String(apiKey),
      asRuntime,
      withToken,
    });
  }

  return {
    app,
    db,
    store,
    clock,
    advance,
    calling,
    asDeveloper,
    settings,
    keyRing,
    mails,
    routes,
    logLines,
    notices,
    runJob,
    prepare,
    findLost,
    startFeatures,
    stop,
    begin,
    isReusable,
    end,
  };
}

/** A way to call the service with one credential. */
export type Call = ReturnType<Service['calling']>;
export type Service = Awaited<ReturnType<typeof startApp>>;
export type Developer = Awaited<ReturnType<Service['asDeveloper']>>;
