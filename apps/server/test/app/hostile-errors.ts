import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';
import type { Tracer } from '../../src/platform/telemetry/tracing.ts';

/** In every member of an error but its text. Nothing that leaves the service may hold it. */
export const MARK = 'marked-8f3a';
/** In the text of an error, which only the log may repeat. */
export const SAID = 'said-41c7';

/** An error as libraries make them, with the query, the values or the answer of a server in its members. */
export function hostileError(code = 'XX000'): Error {
  const members = ['detail', 'hint', 'where', 'internalQuery', 'query', 'parameters', 'config', 'response'];
  const further = [
    'table',
    'constraint',
    'command',
    'args',
    'address',
    'lastErrors',
    'previousErrors',
    'details',
  ];
  const marked = Object.fromEntries([...members, ...further].map((name) => [name, [MARK, { [MARK]: MARK }]]));
  const cause = Object.assign(new Error('It failed before.'), marked);
  return Object.assign(new Error(`It failed: ${SAID}`, { cause }), { ...marked, code, errors: [cause] });
}

/** Fails when it is told to. */
export interface Failing {
  /** @param after how many calls succeed first */
  fail(after?: number): void;
  heal(): void;
  /** How many calls have failed. */
  readonly failures: () => number;
}

function failing() {
  let left = Number.POSITIVE_INFINITY;
  let failures = 0;
  return {
    fail(after = 0) {
      left = after;
    },
    heal() {
      left = Number.POSITIVE_INFINITY;
    },
    failures: () => failures,
    isNow() {
      left -= 1;
      if (left >= 0) return false;
      failures += 1;
      return true;
    },
  };
}

/** A query that the service made itself, and that hears of its end by a callback. */
const isQuery = (given: unknown): given is pg.Submittable & { callback: (error: Error) => void } =>
  typeof Object(given).submit === 'function';

/** Makes statements fail in the driver, below all that is the service's own. */
export function failingPostgres(): Failing {
  const turn = failing();
  const real = pg.Client.prototype.query;
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  query.mockImplementation(function (this: pg.Client, ...given: unknown[]) {
    const [first] = given;
    const text = typeof first === 'string' ? first : String(Object(first).text);
    // A transaction that has begun can always be ended.
    if (/^(commit|rollback)/i.test(text) || !turn.isNow()) return Reflect.apply(real, this, given);
    if (!isQuery(first)) return Promise.reject(hostileError());
    process.nextTick(() => first.callback(hostileError()));
    return first;
  } as typeof real);
  return turn;
}

const COMMANDS = [
  ...([
    'put',
    'get',
    'remove',
    'charge',
    'replaceVersion',
    'takeSlot',
    'freeSlot',
    'publish',
    'ping',
  ] as const),
];

/** Makes commands to Redis fail in the client. */
export function failingRedis(): Failing & { readonly storeAs: (store: EphemeralStore) => EphemeralStore } {
  const turn = failing();
  const storeAs = (store: EphemeralStore): EphemeralStore => {
    const commands = COMMANDS.map((name) => [
      name,
      (...given: unknown[]) =>
        turn.isNow() ? Promise.reject(hostileError('ECONNRESET')) : Reflect.apply(store[name], store, given),
    ]);
    return { ...store, ...Object.fromEntries(commands) };
  };
  return { ...turn, storeAs };
}

/** Keeps what a tracer is told. */
export function recordingTracer() {
  const told: string[] = [];
  const note = (...facts: unknown[]) => void told.push(JSON.stringify(facts));
  const tracer: Tracer = {
    beginRequest: (traceparent) => ({
      within: (work) => work(),
      end: (...facts) => note(traceparent, facts),
    }),
    root(name, work) {
      note(name);
      return work();
    },
    call(call, ask) {
      note(call);
      return ask();
    },
    called: (call, _milliseconds, failure) => note(call, Object(failure?.error).code),
    ids: () => undefined,
  };
  return { tracer, told };
}
