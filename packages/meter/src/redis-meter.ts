import { type CapsMeter, type Counter, type Health, MeterError } from '@behest/protocol/enforcement/meter';
import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  bounded,
  counterHash,
  fingerprintOf,
  hexOf,
  mustBeCounters,
  mustBeHeld,
  remembering,
  strange,
  TIMEOUT_MS,
  tenantHash,
} from './hashes.ts';
import { type RedisClient, type Send, sendBy } from './redis-client.ts';
import { script } from './redis-script.ts';
import { readSettings } from './redis-settings.ts';

const SETTINGS_MS = 60_000; // for so long a changed policy may go unnoticed
const CALL_RECORD_SECONDS = 3_600;

/** Remembers the tenants that were ever metered, for longer than a process lives. */
export interface TenantsSeen {
  has(tenant: string): Promise<boolean>;
  add(tenant: string): Promise<void>;
}

export interface RedisMeterOptions {
  readonly client: RedisClient;
  /** A name for this set of counters, the same in all processes. A new one after a loss is a decision of the operator. */
  readonly epoch: string;
  /** Whether the operator vouches for version and `maxmemory-policy` where `INFO` is forbidden. Default: false. */
  readonly assertSafe?: boolean;
  /** Default: 500. */
  readonly timeoutMs?: number;
  /** How long a call can be repeated or refunded. Default: 3600. */
  readonly callRecordSeconds?: number;
  /** Default: the tenants that this process has seen. */
  readonly tenants?: TenantsSeen;
  /** Called when counters were lost. Nobody is admitted for this tenant until `reset` and a new epoch. */
  readonly onDataLoss?: (what: string) => void;
}

/** The Redis meter, with an end for operators. */
export interface RedisMeter extends CapsMeter {
  /** Deletes every counter of the connected node. Then start the processes with a new epoch. @returns the number of keys */
  reset(): Promise<number>;
}

/**
 * A meter in Redis 6.0 or later with `maxmemory-policy noeviction`. With `appendfsync everysec`, a crash of Redis may
 * lose the last second of charges.
 *
 * @param clock replaces the clock of Redis, in tests
 */
export function redisMeter(options: RedisMeterOptions, clock?: () => number): RedisMeter {
  const { epoch, assertSafe = false, timeoutMs = TIMEOUT_MS, tenants, onDataLoss } = options;
  if (!epoch) throw new TypeError('The Redis meter needs an epoch, such as `2026-01`.');
  const send = sendBy(options.client, timeoutMs);
  const settings = settingsWatch(send, assertSafe);
  const run = scriptRunner(send);
  const recordMs = String((options.callRecordSeconds ?? CALL_RECORD_SECONDS) * 1_000);
  const tagOf = remembering((tenant: string) => `bh:cap:{${tenantHash(tenant)}}`, String);
  const nameOf = remembering(counterHash, ({ key, windowMs }: Counter) => `${windowMs} ${key}`);
  /** The highest sequence of each tenant that this process has seen. */
  const floors = new Map<string, number>();

  const mayBegin = async (tenant: string) => !floors.has(tenant) && !(await tenants?.has(tenant));
  const see = (tenant: string, sequence: number): Promise<void> | undefined => {
    const floor = floors.get(tenant);
    if (floor === undefined || sequence > floor) floors.set(tenant, sequence);
    return floor === undefined ? tenants?.add(tenant) : undefined;
  };

  async function act(
    operation: 'reserve' | 'usage' | 'sent' | 'charges' | 'refund',
    { tenant, callId, counters, names }: Subject,
  ): Promise<readonly string[]> {
    const reading = settings.mustBeSafe(timeoutMs);
    if (reading) await reading;
    const tag = tagOf(tenant);
    const keys = [`${tag}:meta`, `${tag}:r:${hexOf(callId)}`];
    const begins = floors.has(tenant) ? false : await mayBegin(tenant);
    const args = [operation, clock ? String(clock()) : '', epoch, begins ? '1' : '0'];
    args.push(String(floors.get(tenant) ?? 0), recordMs);
    args.push(operation === 'reserve' ? fingerprintOf(counters) : '');
    for (const [at, name] of names.entries()) {
      keys.push(`${tag}:c:${name}:s`, `${tag}:c:${name}:u`);
      const { limit, units, windowMs, grainMs } = counters[at] ?? NO_COUNTER;
      args.push(name, String(limit), String(units), String(windowMs), String(grainMs));
    }
    const answer = await run(keys, args);
    if (answer[0] === 'lost') {
      onDataLoss?.(answer[1] ?? '');
      throw new MeterError('data_loss', { cause: new Error(`The counters of a tenant are ${answer[1]}.`) });
    }
    const noting = see(tenant, numberOf(answer[1]));
    if (noting) await noting;
    return answer;
  }
  const subjectOf = (tenant: string, callId: string, counters: readonly Counter[]): Subject => {
    return { tenant, callId, counters, names: counters.map(nameOf) };
  };
  const within = <Answer>(ask: () => Promise<Answer>) => bounded(timeoutMs, ask);

  return {
    reserve(tenant, callId, counters) {
      mustBeCounters(counters);
      return within(async () => {
        const [word, , ...rest] = await act('reserve', subjectOf(tenant, callId, counters));
        if (word === 'held') {
          const [atMs = 0, ...used] = numbersOf(rest, counters.length + 1);
          return { reserved: true, used, ...(atMs > 0 && { atMs }) };
        }
        if (word === 'reused') return { reused: true };
        if (word !== 'full') throw strange();
        const [full = 0, used = 0, freesAt] = numbersOf(rest, 3);
        return { full, used, retryAtMs: freesAt || null };
      });
    },
    async sent(tenant, callId) {
      const [, , was] = await within(() => act('sent', subjectOf(tenant, callId, [])));
      mustBeHeld(was);
    },
    refundUnsent: (tenant, callId) =>
      within(async () => {
        const call = subjectOf(tenant, callId, []);
        const [, , was, ...charges] = await act('charges', call);
        if (was !== 'held') return was === 'refunded';
        const names = charges.map((charge) => charge.slice(0, charge.indexOf(' ')));
        const [, , then] = await act('refund', { ...call, names });
        return then === 'held' || then === 'refunded';
      }),
    usage(tenant, counters) {
      mustBeCounters(counters);
      return within(async () => {
        const [word, , ...rest] = await act('usage', subjectOf(tenant, '', counters));
        if (word !== 'usage') throw strange();
        const numbers = numbersOf(rest, 2 * counters.length);
        return counters.map((_, at) => {
          return { used: numbers[2 * at] ?? 0, retryAtMs: numbers[2 * at + 1] || null };
        });
      });
    },
    prune: async () => 0, // keys end by themselves
    async health() {
      const { version, problems } = await bounded(timeoutMs, settings.read).catch((error) => {
        return { version: '', problems: [String(error.message)] };
      });
      return { ok: problems.length === 0, backend: 'redis', version, epoch, problems } satisfies Health;
    },
    reset: () => deleteAll(send),
  };
}

interface Subject {
  readonly tenant: string;
  readonly callId: string;
  readonly counters: readonly Counter[];
  /** The counters' names in keys. A refund knows no more of them. */
  readonly names: readonly string[];
}

const NO_COUNTER = { limit: 0, units: 0, windowMs: 0, grainMs: 1 };

/** Reads the settings before the first call, and again in the background when they are a minute old. */
function settingsWatch(send: Send, isVouchedFor: boolean) {
  let problems: readonly string[] | undefined;
  let [readAt, reading] = [0, undefined as ReturnType<typeof read> | undefined];
  async function read() {
    const settings = await readSettings(send, 'bh:cap:{settings}', isVouchedFor);
    [problems, readAt] = [settings.problems, performance.now()];
    return settings;
  }
  const refuse = () => {
    if (problems && problems.length > 0)
      throw new MeterError('misconfigured', { cause: new Error(problems.join('; ')) });
  };
  const once = () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    read: once,
    /** @returns a promise only while the settings are not known, so that a call waits for nothing */
    mustBeSafe(timeoutMs: number): Promise<void> | undefined {
      if (problems === undefined) return bounded(timeoutMs, once).then(refuse);
      if (performance.now() - readAt > SETTINGS_MS) once().catch(() => {}); // calls will fail by themselves
      refuse();
      return undefined;
    },
  };
}

async function deleteAll(send: Send): Promise<number> {
  let [cursor, deleted] = ['0', 0];
  do {
    const answer = await send(['SCAN', cursor, 'MATCH', 'bh:cap:*', 'COUNT', '1000'], 'bh:cap:');
    if (!Array.isArray(answer)) throw strange();
    cursor = String(answer[0]);
    const keys: string[] = [].concat(answer[1]).map(String);
    for (const key of keys) deleted += Number(await send(['UNLINK', key], key));
  } while (cursor !== '0');
  return deleted;
}

function numbersOf(texts: readonly string[], count: number): number[] {
  if (texts.length !== count) throw strange();
  return texts.map(numberOf);
}

function numberOf(text: string | undefined): number {
  const number = Number(text);
  if (text === undefined || text === '' || !Number.isSafeInteger(number)) throw strange();
  return number;
}

/** Runs the script by its hash, and sends its text once a server does not know it. */
export function scriptRunner(send: Send) {
  const hash = bytesToHex(sha1(utf8ToBytes(script))); // the name that Redis gives a script
  const command = (name: string, what: string, keys: readonly string[], args: readonly string[]) =>
    send([name, what, String(keys.length), ...keys, ...args], keys[0] ?? '');

  return async (keys: readonly string[], args: readonly string[]): Promise<readonly string[]> => {
    let answer: unknown;
    try {
      answer = await command('EVALSHA', hash, keys, args);
    } catch (error) {
      if (!String(error).includes('NOSCRIPT')) throw error;
      answer = await command('EVAL', script, keys, args); // the script has not run: nothing was charged
    }
    if (!Array.isArray(answer)) throw strange();
    return answer.map(String);
  };
}
