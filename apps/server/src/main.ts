import { buildApp } from './app.ts';
import { ConfigError, type Environment } from './config/setting.ts';
import { type Config, loadConfig } from './config.ts';
import { createKeyRing } from './features/service/keys/index.ts';
import { declaredMetrics, features, keyUses, watchedTallies } from './features.ts';
import { commitNotices } from './platform/db/commit-effects.ts';
import { migrate } from './platform/db/migrate.ts';
import { openDatabase, requireServer } from './platform/db/open-database.ts';
import { expiryOfAnswers } from './platform/http/idempotency/answers.ts';
import { startJobs, tracedJob } from './platform/jobs/jobs.ts';
import { type Mail, openMailer } from './platform/mail/mailer.ts';
import { openStore } from './platform/redis/open-store.ts';
import { createLogger, type Logger, type LogOutput } from './platform/telemetry/logger.ts';
import { createMetrics } from './platform/telemetry/metrics.ts';
import type { Tracing } from './platform/telemetry/tracing.ts';
import { VERSION } from './platform/version.ts';
import { openService, prepareFeature } from './service.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';

/** The process that the service runs in. A test gives its own. */
export interface Io {
  /** @param onLost called with the number of lost log lines */
  readonly openOutput: (onLost: (lines: number) => void) => LogOutput;
  readonly exit: (code: number) => void;
  /** Calls `fail` with each failure that no code has caught. */
  readonly watchFailures: (fail: (error: unknown) => void) => void;
  /** Calls `stop` when the operator asks the process to end. */
  readonly watchSignals: (stop: () => void) => void;
  /** Called once, when the service listens: a start leaves garbage that V8 would keep until it needs the room. */
  readonly collectGarbage?: () => void;
  /** With `PROCESSES` above 1: gives the others this process's metrics, and returns a question for theirs. */
  readonly joinMetrics?: (own: () => Promise<object[]>) => () => Promise<object[][]>;
}

const clock = () => new Date();

/** The most connections of `ServiceContext.aside`. */
const ASIDE_MAX = 4;

/**
 * Starts the service step by step. A failure at any step writes fatal log lines and exits with code 1.
 * @param environment settings by the names that operators use
 * @see docs/operations.md, Start
 */
export async function start(environment: Environment, io: Io): Promise<void> {
  let step = 'configuration'; // for the line that says why a start failed
  const output = io.openOutput((lines) =>
    logger.warn({ lines }, 'lines of the log were lost, because nobody took them'),
  );
  let logger: Logger = createLogger('info', output);
  let shutdown: Shutdown | undefined;

  try {
    const config = loadConfig(environment);
    logger = createLogger(config.logLevel, output);
    const { host, port, shutdownTimeoutSeconds: timeoutSeconds } = config.http;
    shutdown = createShutdown({ logger, timeoutSeconds, exit: io.exit });
    shutdown.add('log', output.close);
    const { stop, fail, isStopping } = shutdown;
    io.watchFailures(fail);
    const warn = (message: string) => logger.warn(message);

    step = 'tracing';
    const tracing = config.tracing && (await startTracing(config.tracing, () => logger));
    const tracer = tracing?.tracer;
    if (tracing) {
      logger = createLogger(config.logLevel, output, tracing.tracer.ids);
      shutdown.add('telemetry', tracing.flush);
    }

    const metrics = createMetrics(declaredMetrics, watchedTallies);
    metrics.watchProcess();
    if (io.joinMetrics) metrics.join(io.joinMetrics);
    const { meter } = metrics;

    step = 'keys';
    const keyRing = await createKeyRing(config.keys, { clock, startedAt: clock(), warn, uses: keyUses });

    step = 'database';
    const notices = commitNotices();
    const { app: database, poolMax, prepares } = config.database;
    const db = openDatabase(database, poolMax, meter, { tracer, notices, prepares });
    const asideMeter = { ...meter, poolOpened: () => {} }; // the pool's metrics are those of `db`
    const aside = openDatabase(database, ASIDE_MAX, asideMeter, { tracer, notices, prepares });
    shutdown.add('stores', () => db.destroy());
    shutdown.add('stores', () => aside.destroy());
    await requireServer(db);

    step = 'migrations';
    await migrate(config.database.migrations);

    step = 'redis';
    const onTrouble = (error?: Error) => {
      meter.redisIsUp(!error);
      if (error) logger.warn({ err: error }, 'redis is away');
      else logger.info('redis is back');
    };
    const store = openStore(config.redisUrl, clock, { onTrouble, tracer });
    shutdown.add('stores', () => store.close());
    if (config.redisUrl === 'memory:')
      warn('no redis: counters and requests under way live in this process only');

    // The log shows kept mail and never sent mail: a developer's own, on the developer's own machine.
    const printMail = (kept: Mail) => logger.info({ mail: kept }, 'mail kept for /development/mail');
    const mail = await openMailer(config, printMail, tracer);

    const opened = openService({
      settings: config,
      db,
      aside,
      store,
      keyRing,
      clock,
      logger,
      metrics,
      tracer,
      notices,
      ...mail,
      isStopping,
    });
    for (const [at, feature] of opened.opened.entries()) {
      step = features[at]?.name ?? step;
      await prepareFeature(feature, { db, isProduction: config.isProduction, warn });
      if (feature.finish) shutdown.add('jobs', feature.finish);
    }

    step = 'listener';
    const app = await buildApp(opened);
    shutdown.add('requests', () => app.close());
    await app.listen({ port, host }).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`cannot listen on ${host}:${port}: ${error.code}`, { cause: error });
    });

    for (const feature of opened.opened) feature.start?.();
    const work = [expiryOfAnswers(opened.context), ...opened.opened.flatMap(({ jobs = [] }) => jobs)];
    const jobs = startJobs(
      tracer ? work.map((job) => tracedJob(job, tracer)) : work,
      (job, error) => {
        logger.error({ err: error, job }, 'a job failed, and will run again');
      },
      meter,
    );
    shutdown.add('jobs', () => jobs.stop());

    io.watchSignals(stop);
    const { alg, kid } = keyRing.signer();
    const keyStore = keyRing.stored ? 'postgres' : 'env';
    const how = { port, issuer: config.tokens.issuer, signingAlg: alg, signingKid: kid, keyStore };
    logger.info({ ...how, version: VERSION }, 'ready');
    io.collectGarbage?.();
  } catch (error) {
    if (shutdown?.isStopping()) return; // the stop closes what the start still uses
    const problems = error instanceof ConfigError ? error.problems : [];
    for (const { setting, message } of problems) logger.fatal({ setting, code: 'CONFIG_INVALID' }, message);
    if (problems.length === 0) logger.fatal({ err: error, step }, messageOf(error));
    await output.close();
    io.exit(1);
  }
}

/** Loads OpenTelemetry, which a process without tracing does not load. */
async function startTracing(
  settings: NonNullable<Config['tracing']>,
  currentLogger: () => Logger,
): Promise<Tracing> {
  const { openTracing } = await import('./platform/telemetry/tracing.ts');
  return openTracing({
    ...settings,
    onTrouble(error) {
      if (error) currentLogger().warn({ err: error }, 'spans cannot be sent, and are lost');
      else currentLogger().info('spans are sent again');
    },
  });
}

/** When a connection fails on every address of a name, the message is empty, and the code is all there is. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
