import { type CapsMeter, type Health, MeterError } from '@behest/protocol/enforcement/meter';
import { bounded, fingerprintOf, mustBeCounters, mustBeHeld, strange, TIMEOUT_MS } from './hashes.ts';
import { type CapsFunctions, functionsBy, type PostgresClient } from './postgres-calls.ts';
import { schema } from './postgres-schema.gen.ts';

const BATCH = 1_000;
const CALL_RECORD_SECONDS = 3_600;
const OLDEST = 13;

export interface MeterTimes {
  /** Default: 500. */
  readonly timeoutMs?: number;
  /** How long a call can be repeated or refunded. Default: 3600. */
  readonly callRecordSeconds?: number;
  /** Called when counters were lost. Nobody is admitted for this tenant until `reset`. */
  readonly onDataLoss?: (what: string) => void;
}

export interface PostgresMeterOptions extends MeterTimes {
  /** A pool, so that each statement is a transaction of its own. */
  readonly client: PostgresClient;
  /** A name for this set of counters, the same in all processes. Choose a new one after a backup was restored. */
  readonly epoch: string;
}

/** The Postgres meter of a deployment without the service's database. */
export interface PostgresMeter extends CapsMeter {
  /** Makes the tables and functions. It can be repeated, and upgrades the functions. */
  install(): Promise<void>;
  /** Begins a tenant's counters from zero in the meter's epoch. */
  reset(tenant: string): Promise<void>;
}

/**
 * A meter in PostgreSQL 13 or later.
 *
 * @param clock replaces the clock of the database, in tests
 */
export function postgresMeter(options: PostgresMeterOptions, clock?: () => number): PostgresMeter {
  const { client, epoch } = options;
  if (!epoch) throw new TypeError('The Postgres meter needs an epoch, such as `2026-01`.');
  const functions = functionsBy(client);
  return {
    ...meterOf(functions, { ...options, ...(clock && { clock }) }),
    async install() {
      await client.query(schema, []); // several statements are one transaction
    },
    reset: (tenant) => functions.reset(tenant, epoch),
  };
}

/** Makes a meter of the SQL functions. Without an epoch the caller does not notice that counters were lost. */
export function meterOf(
  functions: CapsFunctions,
  options: MeterTimes & { readonly epoch?: string; readonly clock?: () => number },
): CapsMeter {
  const {
    epoch,
    clock,
    timeoutMs = TIMEOUT_MS,
    callRecordSeconds = CALL_RECORD_SECONDS,
    onDataLoss,
  } = options;
  const within = <Answer>(ask: () => Promise<Answer>) => bounded(timeoutMs, ask);
  const time = () => (clock ? clock() : null);
  const seen = new Set<string>();

  return {
    reserve(tenant, callId, counters) {
      mustBeCounters(counters);
      return within(async () => {
        const answer = await functions.reserve(tenant, {
          ...{ callId, fingerprint: fingerprintOf(counters), counters: JSON.stringify(counters) },
          ...{ epoch: epoch ?? null, mayBegin: !seen.has(tenant), atMs: time() },
        });
        if (answer.status === 'lost') {
          onDataLoss?.(answer.what);
          throw new MeterError('data_loss', {
            cause: new Error(`The counters of a tenant are ${answer.what}.`),
          });
        }
        seen.add(tenant);
        if (answer.status === 'held') {
          return { reserved: true, used: answer.used, ...(answer.atMs > 0 && { atMs: answer.atMs }) };
        }
        if (answer.status === 'reused') return { reused: true };
        return { full: answer.at, used: answer.used, retryAtMs: answer.retryAtMs };
      });
    },
    async sent(tenant, callId) {
      mustBeHeld(await within(() => functions.sent(tenant, callId)));
    },
    async refundUnsent(tenant, callId) {
      const was = await within(() => functions.refund(tenant, callId));
      return was === 'held' || was === 'refunded';
    },
    usage(tenant, counters) {
      mustBeCounters(counters);
      return within(async () => {
        const usage = await functions.usage(tenant, JSON.stringify(counters), time());
        if (usage.length !== counters.length) throw strange();
        return usage;
      });
    },
    async prune({ batch = BATCH } = {}) {
      let [after, rows] = ['', 0];
      for (;;) {
        const tenants = await functions.tenantsAfter(after);
        if (tenants.length === 0) return rows;
        for (const tenant of tenants) {
          rows += await functions.prune(tenant, callRecordSeconds * 1_000, batch);
          after = tenant;
        }
      }
    },
    async health() {
      const health = { backend: 'postgres', epoch: epoch ?? '' } as const;
      try {
        const version = await within(() => functions.version());
        const isOld = !(Number.parseInt(version, 10) >= OLDEST);
        const problems = isOld ? [`PostgreSQL ${version} is older than ${OLDEST}`] : [];
        return { ...health, ok: !isOld, version, problems } satisfies Health;
      } catch (error) {
        return { ...health, ok: false, version: '', problems: [String(error)] } satisfies Health;
      }
    },
  };
}
