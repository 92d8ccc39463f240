import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../../test/harness/servers.ts';
import { openClient } from './client.ts';
import { demand, latenciesOf } from './load.ts';
import type { Scene } from './scene.ts';
import { makeGrants, NEW_ULID, signUp } from './tenants.ts';

const BATCH = 50_000; // rows in one statement
const PAUSE = 10; // milliseconds between questions, because each costs the process time too
const LONGEST = 300; // seconds until the jobs have to be done

export interface Health {
  readonly rows: number;
  readonly asked: number;
  readonly p99: number;
  readonly longest: number;
  readonly seconds: number;
}

/**
 * Leaves rows for the jobs, as after a long stop: grants and requests that ran out, and events past their
 * retention. Then it starts an instance, whose jobs begin at once, and asks for its health until they are done.
 * @param rows the count of each kind
 */
export async function watchHealth(scene: Scene, rows: number): Promise<Health> {
  const { db, stores, folder } = scene;
  const { developerId, grants } = await signUp(scene.server.port, 1);
  const grantId = grants[0]?.grantId ?? '';
  for (let done = 0; done < rows; done += BATCH) {
    const count = Math.min(BATCH, rows - done);
    await makeGrants(db, grantId, count);
    await db.query(DUE_REQUESTS, [developerId, count]);
    await db.query(OLD_EVENTS, [developerId, count]);
  }
  await db.query(AGE_EVENTS, [developerId]);
  await db.query(RUN_OUT, [developerId]);
  await db.query('vacuum analyze');

  const server = await startServer(stores, { folder });
  const startedAt = performance.now();
  const times: number[] = [];
  try {
    const client = await openClient(server.port);
    for (let isDone = false; !isDone; ) {
      for (let each = 0; each < 50; each += 1) {
        const asked = performance.now();
        await demand(client, { method: 'GET', path: '/health' }, 200);
        times.push(performance.now() - asked);
        await delay(PAUSE);
      }
      isDone = (await db.query<{ left: string }>(LEFT, [developerId])).rows[0]?.left === '0';
      if (performance.now() - startedAt > LONGEST * 1000) throw new Error('The jobs do not end.');
    }
    client.close();
  } finally {
    await server.stop();
  }
  return {
    rows,
    asked: times.length,
    p99: latenciesOf(times).p99,
    longest: Math.max(...times),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

const DUE_REQUESTS = `
  insert into auth_requests
  select copy.* from generate_series(1, $2::integer) each, auth_requests t, jsonb_populate_record(t, jsonb_build_object(
    'id', 'areq_' || ${NEW_ULID}, 'status', 'pending', 'created_at', now() - interval '2 days',
    'expires_at', now() - interval '1 day', 'consent_method', null, 'decided_at', null, 'code_expires_at', null)) copy
  where t.developer_id = $1
    and t.id = (select min(id) from auth_requests where developer_id = $1 and status = 'consumed')`;

const OLD_EVENTS = `
  with head as (
    update audit_heads set event_seq = event_seq + $2 where developer_id = $1 returning event_seq - $2 as start
  )
  insert into outbox_events (developer_id, seq, id, type, envelope, created_at)
  select $1, start + each, 'evt_' || ${NEW_ULID}, 'grant.created', '{}', now() - interval '400 days'
  from head, generate_series(1, $2::integer) each`;

/** The oldest event of a developer tells whether there are any, so all of them are old. */
const AGE_EVENTS = `update outbox_events set created_at = now() - interval '400 days' where developer_id = $1`;

const RUN_OUT = `update grants set issued_at = now() - interval '2 days', expires_at = now() - interval '1 day'
  where developer_id = $1`;

const LEFT = `
  select (select count(*) from grants
      where developer_id = $1 and status = 'active' and expiry_announced_at is null and expires_at <= now())
    + (select count(*) from auth_requests where developer_id = $1 and status = 'pending')
    + (select count(*) from outbox_events where developer_id = $1 and created_at < now() - interval '399 days')
    as left`;
