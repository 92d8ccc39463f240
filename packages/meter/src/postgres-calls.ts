import type { Usage } from '@behest/protocol/enforcement/meter';

/** The answer of `caps_reserve`. */
export type ReserveAnswer =
  | { readonly status: 'held'; readonly used: readonly number[]; readonly atMs: number }
  | { readonly status: 'reused' }
  | { readonly status: 'full'; readonly at: number; readonly used: number; readonly retryAtMs: number | null }
  | { readonly status: 'lost'; readonly what: string };

/** What `caps_reserve` takes. */
export interface ReserveCall {
  readonly callId: string;
  readonly fingerprint: string;
  /** The counters as JSON text. */
  readonly counters: string;
  readonly epoch: string | null;
  readonly mayBegin: boolean;
  readonly atMs: number | null;
}

/** The SQL functions of the meter. Each call has to be a transaction of its own, on the isolation read committed. */
export interface CapsFunctions {
  reserve(tenant: string, call: ReserveCall): Promise<ReserveAnswer>;
  sent(tenant: string, callId: string): Promise<string | null>;
  refund(tenant: string, callId: string): Promise<string | null>;
  /** @param counters as JSON text */
  usage(tenant: string, counters: string, atMs: number | null): Promise<readonly Usage[]>;
  prune(tenant: string, recordMs: number, batch: number): Promise<number>;
  reset(tenant: string, epoch: string): Promise<void>;
  /** Tenants that have counters or calls, at most a thousand, after this one in order of id. */
  tenantsAfter(tenant: string): Promise<readonly string[]>;
  version(): Promise<string>;
}

/** A pool of `pg`, or anything that runs one statement in a transaction of its own. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

/** Calls the functions through a client. */
export function functionsBy(client: PostgresClient): CapsFunctions {
  const one = async (text: string, values: unknown[]) => (await client.query(text, values)).rows[0]?.answer;
  return {
    reserve: async (tenant, { callId, fingerprint, counters, epoch, mayBegin, atMs }) =>
      reserveAnswer(
        await one('select caps_reserve($1, $2, $3, $4::jsonb, $5, $6, $7::bigint) as answer', [
          ...[tenant, callId, fingerprint, counters, epoch, mayBegin, atMs],
        ]),
      ),
    sent: async (tenant, callId) => textOf(await one('select caps_sent($1, $2) as answer', [tenant, callId])),
    refund: async (tenant, callId) =>
      textOf(await one('select caps_refund($1, $2) as answer', [tenant, callId])),
    usage: async (tenant, counters, atMs) =>
      usageAnswer(
        await one('select caps_usage($1, $2::jsonb, $3::bigint) as answer', [tenant, counters, atMs]),
      ),
    prune: async (tenant, recordMs, batch) =>
      Number(await one('select caps_prune($1, $2, $3, null) as answer', [tenant, recordMs, batch])),
    async reset(tenant, epoch) {
      await client.query('select caps_reset($1, $2)', [tenant, epoch]);
    },
    async tenantsAfter(tenant) {
      const { rows } = await client.query(TENANTS, [tenant]);
      return rows.map(({ answer }) => String(answer));
    },
    version: async () => String(await one("select current_setting('server_version') as answer", [])),
  };
}

const TENANTS = `select developer_id as answer from caps_counter where developer_id > $1
  union select developer_id from caps_call where developer_id > $1 order by 1 limit 1000`;

/** @throws TypeError for an answer that is none of the function's */
function reserveAnswer(value: unknown): ReserveAnswer {
  const { status, used, at, atMs, retryAtMs, what } = Object(value);
  if (status === 'held') return { status, used: numbersOf(used), atMs: Number(atMs) };
  if (status === 'reused') return { status };
  if (status === 'lost') return { status, what: String(what) };
  if (status !== 'full') throw new TypeError('caps_reserve gave an answer that is not its own.');
  return {
    status,
    at: Number(at),
    used: Number(used),
    retryAtMs: retryAtMs === null ? null : Number(retryAtMs),
  };
}

function usageAnswer(value: unknown): readonly Usage[] {
  if (!Array.isArray(value)) throw new TypeError('caps_usage gave no list.');
  return value.map(({ used, retryAtMs }) => {
    return { used: Number(used), retryAtMs: retryAtMs === null ? null : Number(retryAtMs) };
  });
}

function numbersOf(value: unknown): readonly number[] {
  if (!Array.isArray(value)) throw new TypeError('A function of the meter gave no list.');
  return value.map(Number);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
