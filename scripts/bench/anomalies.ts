import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { openClient } from './client.ts';
import { demand, latenciesOf } from './load.ts';
import { familyMeterOf, meterOf, parentOf } from './machine.ts';
import { percent, table, whole } from './results.ts';
import { openDatabase } from './scene.ts';
import { signUp } from './tenants.ts';

/** Agents of each planted kind: the first of the list make a burst, the next fail, and so on. */
const EACH = 8;
const kinds = ['rate_spike', 'high_failure_rate', 'off_hours_activity', 'scope_escalation'] as const;

/** Each planted kind, by agent. A burst or a refusal at night is off hours too; the oracle counts that. */
const plantedOf = (agentIds: readonly string[]) =>
  kinds.flatMap((type, kind) =>
    agentIds.slice(kind * EACH, (kind + 1) * EACH).map((agentId) => ({ type, agentId })),
  );

/**
 * Entries of eight days: of every agent by day in UTC, one in fifty a failure, and the planted ones. Entries that exist are
 * moved before them, because times never fall along a chain.
 */
const TRAFFIC = `
  update audit_entries set at = now() - interval '9 days' where developer_id = $1;

  insert into audit_entries (developer_id, seq, id, agent_id, action, status, metadata, at, prev_hash, hash)
  select $1, head.seq + row_number() over (order by traffic.at), 'alog_0' || upper(substr(md5(random()::text), 1, 25)), agent,
    action, status, metadata, traffic.at, sha256('filled'), sha256('filled')
  from (select agent, at, action, status, metadata from (
    select ($2::text[])[1 + floor(random() * cardinality($2::text[]))] as agent,
      date_trunc('day', now()) - (floor(random() * 9) || ' days')::interval + (6 + random() * 16) * interval '1 hour' as at,
      'mail.sent' as action, (case when random() < 0.02 then 'failure' else 'success' end)::audit_status as status,
      '{}'::jsonb as metadata
    from generate_series(1, $3::integer)
    union all
    select ($2::text[])[1 + n % ${EACH}], now() - random() * interval '50 minutes', 'mail.sent', 'success', '{}'
    from generate_series(1, ${EACH} * 400 + $3::integer / 20) n
    union all
    select ($2::text[])[1 + ${EACH} + n % ${EACH}], now() - random() * interval '20 hours', 'mail.sent', 'failure', '{}'
    from generate_series(1, ${EACH} * 20 + $3::integer / 50) n
    union all
    select ($2::text[])[1 + 2 * ${EACH} + n % ${EACH}],
      date_trunc('day', now()) + interval '1 hour' * (random() * 4) - case when now() < date_trunc('day', now())
        + interval '5 hours' then interval '1 day' else interval '0' end, 'mail.sent', 'success', '{}'
    from generate_series(1, ${EACH} * 20) n
    union all
    select ($2::text[])[1 + 3 * ${EACH} + n % ${EACH}], now() - random() * interval '50 minutes',
      'authorization.scope_refused', 'blocked', '{"reason": "scope_exceeded"}'
    from generate_series(1, ${EACH} * 4) n
  ) made where at < now() - interval '1 second' and at > now() - interval '8 days 12 hours') traffic,
    (select seq from audit_heads where developer_id = $1) head;

  update audit_heads set at = now(), seq = (select max(seq) from audit_entries where developer_id = $1)
  where developer_id = $1`;

/** Entries of one agent in the last second. */
const LATER = `
  insert into audit_entries (developer_id, seq, id, agent_id, action, status, metadata, at, prev_hash, hash)
  select $1, head.seq + n, 'alog_0' || upper(substr(md5(random()::text), 1, 25)), $2, 'mail.sent', 'success', '{}', now(),
    sha256('filled'), sha256('filled')
  from generate_series(1, $3::integer) n, (select seq from audit_heads where developer_id = $1) head;

  update audit_heads set at = now(), seq = (select max(seq) from audit_entries where developer_id = $1)
  where developer_id = $1`;

const ORACLE = `
  with entries as (
    select agent_id, status, at, metadata ->> 'reason' as reason from audit_entries
    where developer_id = $1 and agent_id is not null and action not in ('agent.created', 'anomaly.detected')
  ), counted as (
    select agent_id,
      count(*) filter (where at > now() - interval '1 hour') as hour,
      count(*) filter (where at <= now() - interval '1 hour' and at > now() - interval '169 hours') as week,
      count(*) filter (where at > now() - interval '24 hours') as day,
      count(*) filter (where at > now() - interval '24 hours' and status in ('failure', 'blocked')) as failed,
      count(*) filter (where at > now() - interval '24 hours' and (extract(hour from at at time zone 'UTC') >= 22
        or extract(hour from at at time zone 'UTC') < 6)) as night,
      count(*) filter (where at > now() - interval '1 hour' and status = 'blocked' and reason = 'scope_exceeded') as refused
    from entries group by agent_id
  )
  select type, agent_id as "agentId" from counted cross join lateral (values
    ('rate_spike', hour > greatest(50, 3 * week / 168.0)),
    ('high_failure_rate', day >= 5 and failed > 0.2 * day),
    ('off_hours_activity', night > 10),
    ('scope_escalation', refused >= 3)) as rule (type, is_true) where is_true`;

/** Detection over generated traffic with planted anomalies: `npm run bench -- anomalies --entries 100000`. */
const { values: flags } = parseArgs({ options: { entries: { type: 'string', default: '100000' } } });
const ENTRIES = Number(flags.entries);
const AGENTS = 200;
const PAUSE = 10; // milliseconds between questions about health
const NEW_ENTRIES = 1000; // before the last run

const LENGTH = 'select count(*) as entries from audit_entries where developer_id = $1';

interface Anomaly {
  readonly type: string;
  readonly agentId: string;
}
const keyOf = ({ type, agentId }: Anomaly) => `${type} ${agentId}`;

await using cleanUp = new AsyncDisposableStack();
const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
await sweepThrowAways('bench');
const folder = makeThrowAway('bench');
cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
const { developerId, apiKey, grants } = await signUp(server.port, AGENTS);
const agentIds = grants.map(({ agentId }) => agentId);
const { rows: backends } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
const meters = { server: meterOf(server.pid), postgres: familyMeterOf(parentOf(backends[0]?.pid ?? 0)) };

await write(TRAFFIC, [developerId, agentIds, ENTRIES]);
const { rows: written } = await db.query<{ entries: string }>(LENGTH, [developerId]);
const first = await detect('a chain of eight days', Number(written[0]?.entries));
const planted = plantedOf(agentIds);
const truth = await trueNow(db);
const found = new Set(first.anomalies.map(keyOf));
const right = [...found].filter((key) => truth.has(key)).length;
const missed = planted.map(keyOf).filter((key) => !found.has(key));

const idle = await detect('nothing new', 0);
const late = agentIds.at(-1) ?? '';
await write(LATER, [developerId, late, NEW_ENTRIES]);
const second = await detect('a burst of one agent', NEW_ENTRIES);
const isSeen = second.anomalies.some(({ type, agentId }) => type === 'rate_spike' && agentId === late);

const rows = [first, idle, second].map((run) => [
  run.name,
  whole(run.entries),
  run.seconds.toFixed(2),
  whole(run.cpu.server),
  whole(run.cpu.postgres),
  run.health.p99.toFixed(1),
  run.health.longest.toFixed(1),
]);
process.stdout.write(
  `${[
    table(
      ['Run over', 'New entries', 'Seconds', 'Server CPU ms', 'Postgres CPU ms', 'Health p99 ms', 'longest'],
      rows,
    ),
    '',
    `True ${truth.size}, planted ${planted.length}, found ${found.size}.`,
    `Precision ${percent(right / found.size)}, recall ${percent(right / truth.size)}, planted and missed: ${missed.length}.`,
    `The burst was found by the next run: ${isSeen}. A run starts every ANOMALY_INTERVAL_SECONDS, and on request.`,
  ].join('\n')}\n`,
);

/** Writes entries as the database forbids to everybody but a superuser. */
async function write(statement: string, values: unknown[]): Promise<void> {
  await db.query('set session_replication_role = replica');
  for (const each of statement.split(';\n\n')) {
    const used = values.slice(0, Math.max(0, ...[...each.matchAll(/\$(\d)/g)].map(([, n]) => Number(n))));
    await db.query(each, used);
  }
  await db.query('reset session_replication_role');
  await db.query('vacuum analyze audit_entries');
}

/** Detects once, and asks for the health of the process meanwhile. */
async function detect(name: string, entries: number) {
  const [client, watcher] = [await openClient(server.port), await openClient(server.port)];
  const before = { server: meters.server(), postgres: meters.postgres() };
  const startedAt = performance.now();
  let isDone = false;
  const watching = (async () => {
    const times: number[] = [];
    while (!isDone) {
      const asked = performance.now();
      await demand(watcher, { method: 'GET', path: '/health' }, 200);
      times.push(performance.now() - asked);
      await delay(PAUSE);
    }
    return times;
  })();
  const path = '/v1/anomalies/detect';
  const answer = await demand(client, { method: 'POST', path, body: {}, apiKey }, 200);
  const seconds = (performance.now() - startedAt) / 1000;
  isDone = true;
  const times = await watching;
  for (const each of [client, watcher]) each.close();
  const { anomalies }: { anomalies: readonly Anomaly[] } = JSON.parse(answer.toString());
  const spent = (who: keyof typeof meters) => (meters[who]() - before[who]) * 1000;
  const cpu = { server: spent('server'), postgres: spent('postgres') };
  return {
    ...{ name, entries, seconds, cpu, anomalies },
    health: { p99: latenciesOf(times).p99, longest: Math.max(...times) },
  };
}

/** The anomalies by their definition, each counted over its whole window. */
async function trueNow(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows: all } = await client.query<Anomaly>(ORACLE, [developerId]);
  return new Set(all.map(keyOf));
}
