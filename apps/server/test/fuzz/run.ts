import fc from 'fast-check';
import type { RouteOptions } from 'fastify';
import { sql } from 'kysely';
import { features } from '../../src/features.ts';
import type { Executor } from '../../src/platform/db/db.ts';
import { faultsOf, isAbsent } from './answers.ts';
import { type Answer, clientOf, type SentRequest } from './client.ts';
import { type Draft, draftsFor, firstDrafts } from './requests.ts';
import { createWorld } from './world.ts';

const AT_ONCE = 16;
const BATCH = 64; // requests sent together, before each request sent alone

/** High enough for most requests. Some are low, so the fuzzer sees their refusals too. */
export const limits: Readonly<Record<string, string>> = {
  RATE_LIMIT_DEFAULT: '1000000',
  RATE_LIMIT_PLAN_FREE: '1000000',
  RATE_LIMIT_AUTHORIZE: '1000000',
  RATE_LIMIT_TOKEN: '1000000',
  RATE_LIMIT_REFRESH: '1000000',
  RATE_LIMIT_SIGNUP: '1000000',
  RATE_LIMIT_SIGNUP_HOURLY: '1000000',
  RATE_LIMIT_AUDIT_LOG: '1000000',
  RATE_LIMIT_EMAIL_CODE: '100000',
  RATE_LIMIT_KEYS: '40',
  RATE_LIMIT_AUDIT_VERIFY: '10',
  RATE_LIMIT_CONSENT: '20',
};

export interface FuzzOptions {
  readonly port: number;
  readonly routes: readonly RouteOptions[];
  readonly seed: number;
  readonly requests: number;
  /** Moves the service's clock, so windows end and records expire. */
  readonly advance: (seconds: number) => void;
  /** A text that changes with anything that is stored. */
  readonly sightOf: () => Promise<readonly string[]>;
  readonly onProgress?: (done: number) => void;
}

interface Failure {
  readonly seed: number;
  readonly number: number;
  readonly faults: readonly string[];
  readonly request: string;
  readonly answer: string;
}

/**
 * Sends requests to a listening service, sixteen at once. Now and then it sends a request alone, and checks
 * that a refusal changes nothing. The same seed makes the same requests in the same order, with the ids of
 * the run.
 */
export async function fuzz(options: FuzzOptions) {
  const { port, routes, seed, requests, advance, sightOf } = options;
  const client = clientOf(port, AT_ONCE);
  const world = await createWorld({ ask: client.ask, advance });
  const failures: Failure[] = [];
  /** The number of answers by operation and status. */
  const statuses = new Map<string, number>();
  const succeeded = new Set<string>();
  let alone = 0;
  let absent = 0;

  const one = async (draft: Draft, number: number): Promise<Answer | undefined> => {
    const asked = world.concrete(draft, `fuzz-${seed}-${number}`);
    try {
      const answer = await client.ask(asked);
      const faults = faultsOf(draft, asked, answer);
      if (faults.length > 0) failures.push(failureOf(number, faults, asked, answer));
      const status = String(answer.status);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (answer.status >= 500 && isAbsent(draft, answer)) absent += 1;
      if (answer.status < 300) succeeded.add(`${draft.route.method} ${draft.route.url}`);
      await world.learn(draft, asked, answer);
      return answer;
    } catch (error) {
      // The service refuses a large body before it is complete, and closes the connection on the rest.
      if ((asked.body?.length ?? 0) > 1_048_576) return undefined;
      failures.push(failureOf(number, [`there is no answer: ${error}`], asked));
      return undefined;
    }
  };

  const failureOf = (number: number, faults: string[], asked: SentRequest, answer?: Answer): Failure => ({
    seed,
    number,
    faults,
    request: shown(asked),
    answer: answer ? JSON.stringify(answer) : '',
  });

  const first = fc.sample(firstDrafts(routes), { seed, numRuns: 8 }).flat();
  for (const [at, draft] of first.entries())
    await one({ ...draft, developer: Math.floor(at / (first.length / 4)) }, at);
  for (let done = first.length; done < requests; ) {
    const count = Math.min(BATCH, requests - done);
    const drafts = fc.sample(draftsFor(routes), { seed: seed + done, numRuns: count });
    const [last, ...together] = drafts.reverse();
    const waiting = together.entries();
    const work = async () => {
      for (const [at, draft] of waiting) await one(draft, done + at);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (last) {
      const before = await sightOf();
      const answer = await one(last, done + count - 1);
      const isRefused = answer && answer.status >= 400 && answer.status < 500;
      if (isRefused && !isNoted(answer)) {
        alone += 1;
        const changed = (await sightOf()).filter((table) => !before.includes(table));
        if (changed.length > 0) {
          const asked = world.concrete(last, 'as before');
          const faults = ['the refusal changed something', ...changed];
          failures.push(failureOf(done + count - 1, faults, asked, answer));
        }
      }
    }
    done += count;
    advance(4);
    options.onProgress?.(done);
  }
  const keys = world.tenants.map(({ apiKey }) => apiKey);
  client.close();
  return { failures, statuses, succeeded, refusedAlone: alone, absent, keys };
}

/** A code or refresh token that is used a second time ends its grant, so its refusal may change something. */
const isNoted = ({ body }: Answer) => /"reason":"(code_used|refresh_reused|reuse_detected)"/.test(body);

/** In a form that a person could send again by hand. */
function shown({ method, target, headers, body, raw }: SentRequest): string {
  if (raw) return JSON.stringify(raw.toString('latin1').slice(0, 500));
  const lines = headers.flatMap((name, at) => (at % 2 ? [] : [`${name}: ${headers[at + 1]}`]));
  return [`${method} ${target}`, ...lines, '', body?.toString('latin1').slice(0, 1_000) ?? ''].join('\n');
}

/** The first failures, as text. */
export function told(failures: readonly Failure[]): string {
  const texts = failures
    .slice(0, 5)
    .map(({ seed, number, faults, request, answer }) =>
      [`--seed ${seed}, request ${number}: ${faults.join('; ')}`, request, answer].join('\n'),
    );
  return texts.join('\n\n');
}

/**
 * Refusals write to these too: the last use of a key, the number of blocked attempts and the chain of their entries, and
 * the challenge that a wrong answer of a passkey uses up.
 */
const NOTED = [
  ...['api_keys', 'audit_heads', 'blocked_attempts', 'passkey_challenges', 'schema_migrations'],
  'schema_functions',
];

/** The first refused attempt of a minute has an entry. */
const attempts = features.flatMap(({ attempts: actions = [] }) => actions);

const lastWriter = sql`max(xmin::text::bigint)::text`;
/** A refusal notes the last use of a grant whose token it was sent, and of a SCIM token. */
const USED = ['grants', 'scim_tokens'];
const besideUse = (name: string) =>
  sql`md5(string_agg((to_jsonb(${sql.ref(name)}) - 'last_used_at')::text, '' order by id))`;

/** The number of rows in each table, and the last transaction that wrote to it: a line for each. Every write changes this. */
export async function sightOf(db: Executor): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`.execute(db);
  const seen = rows
    .filter(({ name }) => !NOTED.includes(name))
    .map(
      ({ name }) =>
        sql`select ${name}::text as name, count(*)::text as rows, ${USED.includes(name) ? besideUse(name) : lastWriter} as written
          from ${sql.table(name)} where ${name === 'audit_entries' ? sql`action <> all (${attempts})` : sql`true`}`,
    );
  const all = sql.join(seen, sql` union all `);
  // Sorted, because Postgres counts large tables in parallel and returns them in any order.
  const { rows: tables } = await sql`select * from (${all}) tables order by name`.execute(db);
  return tables.map((table) => JSON.stringify(table));
}
