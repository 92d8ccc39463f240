import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { METHODS, type Meter, type PoolCounts, type Tally } from './meter.ts';

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]; // seconds
const RUN_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

export interface Metrics {
  readonly meter: Meter;
  /** The exposition format, version 0.0.4, and its media type. */
  expose(): Promise<{ readonly text: string; readonly contentType: string }>;
  /** Adds memory, CPU, event loop and garbage collection. Their observers live as long as the process. */
  watchProcess(): void;
  /** From now on, `expose` shows the metrics of several processes as one. */
  join(others: (own: () => Promise<object[]>) => () => Promise<object[][]>): void;
  /** A declared gauge that asks a question at each scrape. A question that fails leaves the gauge out. */
  ask(name: string, question: () => Promise<number>): void;
  /** A declared gauge, which its feature moves. */
  gauge(name: string): { inc(): void; dec(): void };
  /** A declared counter. */
  counter(name: string): { inc(labels?: Readonly<Record<string, string>>): void };
}

/** The metrics that features declare, by their names. The values of labels are words of the source. */
export type DeclaredMetrics = Readonly<
  Record<
    string,
    {
      readonly kind: 'gauge' | 'counter' | 'asked';
      readonly help: string;
      /** Only a counter has them. */
      readonly labels?: readonly string[];
    }
  >
>;

/**
 * @param declared the metrics of all features
 * @param zeros series that show zero before their first event, so that the first is an increase
 */
export function createMetrics(
  declared: DeclaredMetrics = {},
  zeros: readonly Tally[] = [],
  registry = new Registry(),
): Metrics {
  const meter = meterOf(registry);
  for (const { counter, label } of zeros) meter.counters[counter].inc(label, 0);
  const made = Object.entries(declared);
  const gauges = new Map(
    made
      .filter(([, { kind }]) => kind === 'gauge')
      .map(([name, { help }]) => [name, new Gauge({ name, help, registers: [registry] })]),
  );
  const counters = new Map(
    made
      .filter(([, { kind }]) => kind === 'counter')
      .map(([name, { help, labels = [] }]) => [
        name,
        labelled(new Counter({ name, help, labelNames: labels, registers: [registry] })),
      ]),
  );
  const own = () => registry.getMetricsAsJSON();
  let askOthers: (() => Promise<object[][]>) | undefined;
  return {
    meter: meter.meter,
    async expose() {
      const shown = askOthers
        ? AggregatorRegistry.aggregate([await own(), ...(await askOthers())])
        : registry;
      return { text: await shown.metrics(), contentType: registry.contentType };
    },
    join(others) {
      askOthers = others(own);
    },
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    gauge: (name) => gauges.get(name) ?? undeclared(name),
    counter: (name) => counters.get(name) ?? undeclared(name),
    ask(name, question) {
      const gauge = new Gauge({
        name,
        help: declared[name]?.help ?? undeclared(name),
        registers: [registry],
        aggregator: 'max', // every process asks the same database
        async collect() {
          await inTime(question()).then(
            (value) => this.set(value),
            () => this.remove(),
          );
        },
      });
      gauge.remove();
    },
  };
}

const labelled = (all: Counter) => ({
  inc: (labels: Readonly<Record<string, string>> = {}) => all.inc(labels),
});

function undeclared(name: string): never {
  throw new Error(`No feature declares the metric ${name}.`);
}

const LONGEST_QUESTION = 2000; // milliseconds: a scrape waits for all of them

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = delay(LONGEST_QUESTION, undefined, { ref: false }).then(() => {
    throw new Error('The question was not answered in time.');
  });
  return Promise.race([answer, late]);
}

function meterOf(registry: Registry) {
  const registers = [registry];
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route pattern and status class, from their first byte to the end of the answer, or to the beginning of a live stream.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const counters = {
    acts: counter('acts_total', 'Acts recorded and committed, by event type.', 'type'),
    denials: counter('denials_total', 'Calls of tools that were denied, by reason.', 'reason'),
    grantsRevoked: counter('grants_revoked_total', 'Grants revoked, by reason.', 'reason'),
    auditEntries: counter('audit_entries_total', 'Audit entries written, by source.', 'source'),
    webhookAttempts: counter(
      'webhook_attempts_total',
      'Attempts to deliver to a webhook, by outcome.',
      'outcome',
    ),
    blockedAttempts: counter(
      'blocked_attempts_total',
      'Refused attempts that operators watch, by action.',
      'action',
    ),
  };
  const refusals = counter('ratelimit_refusals_total', 'Requests refused by a limit, by rule.', 'rule');
  const degraded = new Gauge({
    name: 'ratelimit_degraded',
    help: '1 while this process counts requests by itself because Redis does not answer.',
    registers,
    aggregator: 'max',
  });
  const redis = new Gauge({ name: 'redis_up', help: '1 while Redis answers.', registers, aggregator: 'min' });
  redis.set(1);
  /** Look-ups since they were last collected: a request makes some, and to find their series costs more than a look-up. */
  const lookUps = new Map<string, { hit: number; miss: number }>();
  new Counter({
    name: 'cache_lookups_total',
    help: 'Look-ups in caches of this process.',
    labelNames: ['cache', 'result'],
    registers,
    collect() {
      for (const [cache, { hit, miss }] of lookUps) {
        if (hit > 0) this.inc({ cache, result: 'hit' }, hit);
        if (miss > 0) this.inc({ cache, result: 'miss' }, miss);
      }
      lookUps.clear();
    },
  });
  const runs = new Histogram({
    name: 'worker_run_duration_seconds',
    help: 'Runs of periodic jobs, by outcome.',
    labelNames: ['worker', 'result'],
    buckets: RUN_BUCKETS,
    registers,
  });
  const succeeded = new Gauge({
    name: 'worker_last_success_timestamp_seconds',
    help: 'When a periodic job last ended well, in Unix time.',
    labelNames: ['worker'],
    registers,
    aggregator: 'max',
  });

  /** One label, whose values are looked up once. */
  function counter(name: string, help: string, label: string) {
    const all = new Counter({ name, help, labelNames: [label], registers });
    return { inc: (value: string, by = 1) => all.inc({ [label]: value }, by) };
  }

  const meter: Meter = {
    requestAnswered: observeRequests(requests),
    committed(tallies) {
      for (const { counter: name, label } of tallies) counters[name].inc(label);
    },
    poolOpened: (pool) => watchPool(pool, registry),
    redisIsUp: (isUp) => redis.set(isUp ? 1 : 0),
    rateLimiterIsDegraded: (isDegraded) => degraded.set(isDegraded ? 1 : 0),
    rateRefused: (rule) => refusals.inc(rule),
    cacheAsked(cache, isHit) {
      const counts = lookUps.get(cache) ?? { hit: 0, miss: 0 };
      counts[isHit ? 'hit' : 'miss'] += 1;
      lookUps.set(cache, counts);
    },
    jobEnded(worker, seconds, hasFailed) {
      runs.observe({ worker, result: hasFailed ? 'failed' : 'ok' }, seconds);
      if (!hasFailed) succeeded.set({ worker }, Date.now() / 1000);
    },
  };
  return { meter, counters };
}

/** A series of a histogram, as prom-client keeps it. */
interface Series {
  sum: number;
  count: number;
  /** By the upper bound of the bucket; a value beyond the last has none. */
  readonly bucketValues: Record<number, number>;
}

/** Observes each request in its series, which is looked up by the labels' own texts: prom-client joins them to one text each time. */
function observeRequests(histogram: Histogram): Meter['requestAnswered'] {
  // prom-client's types do not name its series. A reset replaces them.
  const requests = histogram as unknown as { hashMap: Readonly<Record<string, Series>> };
  const byRoute = new Map<string, Map<string, Series[]>>();
  let { hashMap } = requests;
  const seriesOf = (route: string, method: string, statusClass: number): Series => {
    if (hashMap !== requests.hashMap) byRoute.clear();
    hashMap = requests.hashMap;
    const byMethod = byRoute.get(route) ?? new Map<string, Series[]>();
    byRoute.set(route, byMethod);
    const byClass = byMethod.get(method) ?? [];
    byMethod.set(method, byClass);
    const known = byClass[statusClass];
    if (known) return known;
    histogram.zero({ method, route, status: `${statusClass}xx` });
    const made = Object.values(hashMap).at(-1); // the new one is the last
    if (!made) throw new Error('The histogram has no series.');
    byClass[statusClass] = made;
    return made;
  };
  return ({ method, route, status, seconds }) => {
    const series = seriesOf(route, METHODS.has(method) ? method : 'other', Math.floor(status / 100));
    series.sum += seconds;
    series.count += 1;
    for (const bound of REQUEST_BUCKETS) {
      if (seconds > bound) continue;
      series.bucketValues[bound] = (series.bucketValues[bound] ?? 0) + 1;
      return;
    }
  };
}

function watchPool(pool: PoolCounts, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'postgres_pool_connections',
    help: 'Connections of this process to PostgreSQL, in use and idle.',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'postgres_pool_waiting',
    help: 'Statements that wait for a connection to PostgreSQL.',
    registers,
    collect() {
      this.set(pool.waitingCount);
    },
  });
}
