import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { openClient } from './client.ts';
import { demand } from './load.ts';
import { familyMeterOf, memoryOf, meterOf, parentOf } from './machine.ts';
import { openDatabase } from './scene.ts';
import { signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- tree [options]
  --grants <count>  delegated grants of each tree, 10,000 if it is not said
  --rounds <count>  trees that are revoked, one after the other, 5 if it is not said
`;
const LEVELS = 10; // the deepest tree that the service allows

const { values: flags } = parseArgs({
  options: {
    grants: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Measures the time of a call that revokes a tree, and the delay of other requests meanwhile. */
async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('tree');
  const folder = makeThrowAway('tree');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postgres = familyMeterOf(parentOf(rows[0]?.pid ?? 0));
  const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
  const tenant = await signUp(server.port);
  const meters = { server: meterOf(server.pid), postgres };

  say('| Grants | Revoked in, s | Server CPU, s | Postgres CPU, s | Longest `GET /health` meanwhile, ms |');
  say('|---:|---:|---:|---:|---:|');
  for (const { grantId } of tenant.grants.slice(0, Number(flags.rounds))) {
    await growTree(db, grantId, Number(flags.grants));
    await db.query('vacuum analyze grants, tokens');
    const before = [meters.server(), meters.postgres()];
    const { seconds, longest } = await revoke(server, tenant, grantId);
    const cpu = [meters.server(), meters.postgres()].map((after, each) => after - (before[each] ?? 0));
    await mustBeDead(db, grantId);
    const figures = [seconds, ...cpu].map((figure) => figure.toFixed(2));
    say(`| ${[Number(flags.grants), ...figures, longest.toFixed(0)].join(' | ')} |`);
  }
  say(`Resident memory afterwards: ${memoryOf(server.pid).toFixed(0)} MB`);
}

/** Fills ten levels of one width, each below the first grant of the level above. */
async function growTree(db: pg.Client, rootId: string, count: number): Promise<void> {
  let parentId = rootId;
  for (let level = 1; level <= LEVELS; level += 1) {
    const { rows } = await db.query<{ id: string }>(BRANCHES, [parentId, Math.ceil(count / LEVELS)]);
    parentId = rows[0]?.id ?? '';
  }
}

/** The rows that the service would write, without entries and events. */
const BRANCHES = `
  with made as (
    insert into grants
    select (jsonb_populate_record(parent, jsonb_build_object(
      'id', 'grnt_0' || upper(substr(md5(random()::text || each), 1, 25)), 'auth_request_id', null,
      'parent_grant_id', parent.id, 'consent_method', 'delegated', 'delegation_depth', parent.delegation_depth + 1,
      'delegated_by', agent.did || parent.delegated_by))).*
    from grants parent
    join agents agent on agent.developer_id = parent.developer_id and agent.id = parent.agent_id,
      generate_series(1, $2::integer) each
    where parent.id = $1
    returning developer_id, id, issued_at, expires_at
  ), tokens_made as (
    insert into tokens select developer_id, 'tok' || substr(id, 5), id, issued_at, expires_at, null from made
  )
  select id from made`;

async function revoke({ port }: Server, { apiKey }: Tenant, grantId: string) {
  const [client, watcher] = [await openClient(port), await openClient(port)];
  const startedAt = performance.now();
  let isDone = false;
  const revoked = demand(client, { method: 'DELETE', path: `/v1/grants/${grantId}`, apiKey }, 204).finally(
    () => {
      isDone = true;
    },
  );
  let longest = 0;
  while (!isDone) {
    const asked = performance.now();
    await demand(watcher, { method: 'GET', path: '/health' }, 200);
    longest = Math.max(longest, performance.now() - asked);
    await setTimeout(10); // each measurement costs the process time too
  }
  await revoked;
  const seconds = (performance.now() - startedAt) / 1000;
  client.close();
  watcher.close();
  return { seconds, longest };
}

/** Checks that the whole tree is revoked and announced. */
async function mustBeDead(db: pg.Client, rootId: string): Promise<void> {
  const { rows } = await db.query<{ living: string; told: string }>(
    `select count(*) filter (where g.status = 'active') as living,
      count(e.id) - count(*) as told
    from grants g left join audit_entries e
      on e.developer_id = g.developer_id and e.grant_id = g.id and e.action = 'grant.revoked'
    where g.root_grant_id = $1`,
    [rootId],
  );
  if (rows[0]?.living !== '0' || rows[0].told !== '0')
    throw new Error('Not all of the tree was revoked and told of.');
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await bench();
