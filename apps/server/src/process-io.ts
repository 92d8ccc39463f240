import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { processCount } from './config/readers.ts';
import type { Environment } from './config/setting.ts';
import type { Io } from './main.ts';
import { createLogger, openLogOutput } from './platform/telemetry/logger.ts';

/** The operating system's process: lines go to stdout, and signals stop the service. */
export function processIo(): Io {
  return {
    openOutput: (onLost) => openLogOutput({ onLost }),
    exit: (code) => process.exit(code),
    collectGarbage: collectWhenQuiet,
    watchFailures(fail) {
      for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, fail);
    },
    watchSignals(stop) {
      // These listeners replace those of start.mjs, which wait for nothing.
      for (const signal of ['SIGINT', 'SIGTERM'] as const)
        process.removeAllListeners(signal).on(signal, cluster.isWorker ? onceForWorker(signal, stop) : stop);
    },
    ...(cluster.isWorker && { joinMetrics }),
  };
}

const LOOK_MS = 1000;
const QUIET = 0.05; // the share of a second in which the event loop has something to do
const LOOKS = 60;

/**
 * A collection takes 0.1 to 0.2 s, for which neither a start nor a request should wait. So it comes after the first second with
 * next to no work. A process that has no such second in a minute is under load, and then V8 needs the room and collects.
 */
function collectWhenQuiet(): void {
  let looks = 0;
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const isQuiet = performance.eventLoopUtilization(before).utilization < QUIET;
    looks += 1;
    before = performance.eventLoopUtilization();
    if (isQuiet || looks === LOOKS) clearInterval(timer);
    if (isQuiet) collectGarbage();
  }, LOOK_MS).unref();
}

/** Of several kinds, `last-resort` alone gives the emptied pages back to the system. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: NodeJS.GCFunction = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc'); // V8 refuses compiled code that was kept under other options
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Ctrl-C, and a supervisor that signals every process, reach a worker beside the SIGTERM of its primary. So a worker
 * listens to SIGTERM only, and a second one does not cut its stop short.
 */
function onceForWorker(signal: NodeJS.Signals, stop: () => void): () => void {
  let isDone = signal !== 'SIGTERM';
  return () => {
    if (!isDone) stop();
    isDone = true;
  };
}

const STEADY_MS = 300_000; // after that long without an unforeseen end, pauses are short again
const pauseMs = (ends: number) => Math.min(250 * 2 ** ends, 30_000);

/**
 * With `PROCESSES` above 1, makes this process the primary: it starts the workers, replaces those that end, and passes
 * on signals. It serves nothing itself.
 * @returns false when this process is to serve, which includes a wrong `PROCESSES`: the service reports it
 */
export function leadProcesses(environment: Environment): boolean {
  const context = { name: 'PROCESSES', isProduction: false };
  const count = processCount.read(environment.PROCESSES?.trim() || '1', context) ?? 1;
  if (count === 1 || cluster.isWorker) return false;

  const output = openLogOutput({ onLost: () => {} });
  const logger = createLogger('info', output);
  const alive = new Set<Worker>();
  const serving = new Set<Worker>(); // of those alive, the ones that listen and were not asked to end
  let hasServed = false;
  let isStopping = false;
  let exitCode = 0;
  let ends = 0;
  let endedAt = Number.NEGATIVE_INFINITY;

  async function exit(code: number): Promise<void> {
    await output.close();
    process.exit(code);
  }

  /** @returns the worker when it listens, or undefined when it ended before */
  function fork(): Promise<Worker | undefined> {
    const worker = cluster.fork();
    const { promise, resolve } = Promise.withResolvers<Worker | undefined>();
    alive.add(worker);
    worker.once('listening', () => {
      hasServed = true;
      if (!isStopping) serving.add(worker);
      resolve(worker);
    });
    worker.once('exit', (code: number | null, signal: string | null) => {
      alive.delete(worker);
      const wasServing = serving.delete(worker);
      resolve(undefined);
      if (isStopping || !hasServed) {
        // A signal before the worker has listeners ends it, and that is in order.
        exitCode = Math.max(exitCode, signal === 'SIGTERM' ? 0 : (code ?? 1));
        if (alive.size === 0) void exit(exitCode);
      } else if (wasServing) {
        logger.error({ pid: worker.process.pid, code, signal }, 'a process ended, and is replaced');
        void replace();
      }
    });
    return promise;
  }

  async function replace(): Promise<void> {
    for (let isUp = false; !isUp && !isStopping; ) {
      ends = performance.now() - endedAt > STEADY_MS ? 0 : ends + 1;
      endedAt = performance.now();
      await delay(pauseMs(ends));
      if (!isStopping) isUp = (await fork()) !== undefined;
    }
  }

  /** Starts each successor before its predecessor ends, so the port is always served by `count` workers. */
  async function restart(): Promise<void> {
    for (const worker of [...serving]) {
      if (isStopping) return;
      if (!serving.has(worker)) continue; // it ended, and was replaced
      const next = await fork();
      if (isStopping) return;
      if (!next) return logger.error('a new process did not start: the restart is given up');
      const leaving = serving.has(worker) ? worker : next;
      serving.delete(leaving);
      const ended = new Promise((resolve) => leaving.once('exit', resolve));
      if (!alive.has(leaving)) continue;
      leaving.process.kill('SIGTERM');
      await ended;
    }
    logger.info({ processes: serving.size }, 'all processes are replaced');
  }

  function stop(): void {
    for (const worker of alive) worker.process.kill(isStopping ? 'SIGKILL' : 'SIGTERM');
    if (isStopping || alive.size === 0) return void exit(isStopping ? 1 : 0);
    isStopping = true;
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal).on(signal, stop);
  cluster.on('message', (asker, message) => relayMetrics(serving, asker, message));

  // The first worker migrates, and finds what keeps all of them from starting.
  let restarting = fork().then(async (first) => {
    if (!first) return;
    const others = Array.from({ length: count - 1 }, async () => {
      if (!isStopping && !(await fork())) await replace();
    });
    await Promise.all(others);
    if (!isStopping) logger.info({ processes: count }, 'all processes listen');
  });
  let isQueued = false;
  process.on('SIGHUP', () => {
    if (isQueued) return;
    isQueued = true;
    restarting = restarting.then(() => {
      isQueued = false;
      return restart();
    });
  });
  return true;
}

/** What a worker asks, is asked, expects and is given, on its way through the primary. */
type MetricsMessage =
  | { readonly kind: 'ask'; readonly id: number }
  | { readonly kind: 'asked'; readonly id: number; readonly by: number }
  | { readonly kind: 'expect'; readonly id: number; readonly count: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly by: number; readonly metrics: object[] };

/**
 * The workers have no channel to each other, so the primary passes on their questions and answers. prom-client has the
 * like in `clusterMetrics`, which fails when one of the workers, such as one that is starting, does not answer.
 */
function relayMetrics(serving: ReadonlySet<Worker>, from: Worker, message: MetricsMessage): void {
  const send = (to: Worker | undefined, passed: MetricsMessage) =>
    to?.isConnected() && to.send(passed, () => {}); // a worker that has just ended gets nothing
  if (message.kind === 'ask') {
    const others = [...serving].filter((worker) => worker !== from);
    send(from, { kind: 'expect', id: message.id, count: others.length });
    for (const other of others) send(other, { kind: 'asked', id: message.id, by: from.id });
  }
  if (message.kind === 'metrics') send(cluster.workers?.[message.by], message);
}

const LONGEST_SCRAPE_MS = 3000; // a process answers within the two seconds that its own questions may take

/** @returns asks for the metrics of the other workers; one that does not answer in time is left out */
function joinMetrics(own: () => Promise<object[]>): () => Promise<object[][]> {
  let last = 0;
  const scrapes = new Map<number, (message: MetricsMessage) => void>();
  process.on('message', async (message: MetricsMessage) => {
    if (message.kind !== 'asked') return scrapes.get(message.id)?.(message);
    const metrics = await own().catch(() => []);
    process.send?.({ ...message, kind: 'metrics', metrics }, () => {}); // the primary may have ended
  });
  return async () => {
    const id = ++last;
    const found: object[][] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    let expected = Number.POSITIVE_INFINITY;
    scrapes.set(id, (message) => {
      if (message.kind === 'expect') expected = message.count;
      if (message.kind === 'metrics') found.push(message.metrics);
      if (found.length >= expected) resolve();
    });
    process.send?.({ kind: 'ask', id } satisfies MetricsMessage);
    await Promise.race([promise, delay(LONGEST_SCRAPE_MS, undefined, { ref: false })]);
    scrapes.delete(id);
    return found;
  };
}
