import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { onTestFinished, vi } from 'vitest';
import type { Service } from './start-app.ts';

export interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly apiKey: string;
  /** A text is sent as it is. */
  readonly body?: object | string | undefined;
  /** Each of several keys gets a header line. */
  readonly key?: string | string[];
}

export const NEW_AGENT = { name: 'Travel booker', description: 'Books.', scopes: ['calendar:read'] };

/** Sends a request with an `Idempotency-Key`. By default it registers an agent. */
export function send({ app }: Pick<Service, 'app'>, sent: Sent) {
  const { method = 'POST', url = '/v1/agents', apiKey, body = NEW_AGENT, key = 'order 66' } = sent;
  return app.inject({
    method: method as 'POST',
    url,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** How many requests hold a transaction while they wait. */
export async function countOpen({ db }: Pick<Service, 'db'>): Promise<number> {
  const { rows } = await sql<{ open: string }>`
    select count(*) as open from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`.execute(
    db,
  );
  return Number(rows[0]?.open);
}

/** What `countOpen` says each time that a thread is given work, until the test ends. */
export function openAtEachWork(service: Pick<Service, 'db'>): readonly number[] {
  const seen: number[] = [];
  const give = Worker.prototype.postMessage;
  const watched = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function later(
    this: Worker,
    work: unknown,
  ) {
    void countOpen(service).then((open) => {
      seen.push(open);
      give.call(this, work);
    });
  });
  onTestFinished(() => watched.mockRestore());
  return seen;
}
