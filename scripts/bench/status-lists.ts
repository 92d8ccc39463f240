import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { openClient } from './client.ts';
import { demand, latenciesOf } from './load.ts';
import { familyMeterOf, meterOf, parentOf } from './machine.ts';
import { writeSection } from './results.ts';
import { openDatabase } from './scene.ts';
import { signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- status-lists [options]
  --entries <n>     credentials of one developer; 1,000,000 unless said
  --revocations <n> credentials that are revoked; 2,000 unless said
  --tries <n>       how often each list is asked; 20 unless said
  --note <text>     what else the machine was doing, for the results
  --write           writes the outcome into scripts/bench/RESULTS.md
`;
const REVOKERS = 16; // connections
const PLACES = 131_072; // in a list

const { values: flags } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
    revocations: { type: 'string', default: '2000' },
    tries: { type: 'string', default: '20' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const entries = Number(flags.entries);

const FORMS = [
  ['Bitstring Status List, JSON', '/v1/credentials/status/'],
  ['Token Status List', '/v1/status-lists/'],
] as const;

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const server = cleanUp.adopt(
    await startServer(stores, { folder, env: { RATE_LIMIT_STATUS_LIST: '1000000000' } }),
    ({ stop }) => stop(),
  );
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const tenant = await signUp(server.port, 1);
  const rows: string[][] = flags.note ? [['Meanwhile', flags.note]] : [];
  const add = (name: string, figure: string) => {
    rows.push([name, figure]);
    say(`${name}: ${figure}`);
  };

  await fill(db, tenant);
  add('Entries', entries.toLocaleString('en'));
  add('Lists', String(Math.ceil(entries / PLACES)));
  await measureLists(server, db, tenant, add);
  await measureRevocations(server, db, tenant, add);
  const text = `The credentials of one developer, one in a hundred revoked, in lists of ${PLACES.toLocaleString('en')} places. A change
is published with the next answer: the time is that of a request for a list after a revocation, which compresses and signs
it, and of one after that, which is kept. Times are medians and 99th percentiles. Made by
\`npm run bench -- status-lists --write\`.`;
  if (flags.write) writeSection('Status lists', text, rows);
}

type Add = (name: string, figure: string) => void;

/** Lists with their credentials, as their issuance would leave them. One bit in a hundred is set, by chance. */
async function fill(db: pg.Client, { developerId, grants: [grant] }: Tenant): Promise<void> {
  const lists = Math.ceil(entries / PLACES);
  await db.query(
    `insert into status_lists (developer_id, id, bits, used, is_open, flips, created_at)
     select $1, 'vcsl_' || lpad(n::text, 26, '0'), bits, $3, false, 0, now() from generate_series(1, $2::int) n, (
       select string_agg(set_byte('\\x00', 0, case when random() < 0.08 then 1 << floor(random() * 8)::int else 0 end), '') as bits
       from generate_series(0, $3 / 8 - 1) at) one`,
    [developerId, lists, PLACES],
  );
  await db.query(
    `insert into verifiable_credentials (developer_id, id, grant_id, agent_id, agent_did, principal_id, credential_type, format,
       credential, status_list_id, status_list_idx, issued_at, expires_at)
     select $1, 'vc_' || lpad(n::text, 26, '0'), $2, $3, $4, 'user_42', 'AgentGrantCredential', 'vc-jwt', repeat('x', 1500),
       'vcsl_' || lpad((n / $6 + 1)::text, 26, '0'), n % $6, now(), now() + interval '30 days'
     from generate_series(0, $5::int - 1) n`,
    [developerId, grant?.grantId, grant?.agentId, grant?.agentDid, entries, PLACES],
  );
  await db.query('analyze status_lists, verifiable_credentials');
}

const idOf = (n: number) => `vc_${String(n).padStart(26, '0')}`;
const listOf = (n: number) => `vcsl_${String(n).padStart(26, '0')}`;

async function measureLists(server: Server, db: pg.Client, tenant: Tenant, add: Add): Promise<void> {
  const client = await openClient(server.port);
  for (const [name, path] of FORMS) {
    const get = () => demand(client, { method: 'GET', path: `${path}${listOf(1)}` }, 200);
    add(`${name}, bytes`, (await get()).length.toLocaleString('en'));
    const [changed, kept]: [number[], number[]] = [[], []];
    const ofServer = meterOf(server.pid);
    let spent = 0;
    for (let tries = 0; tries < Number(flags.tries); tries += 1) {
      await db.query(
        'update status_lists set bits = set_bit(bits, $2, 1), flips = flips + 1 where developer_id = $1 and id = $3',
        [tenant.developerId, 8 * tries + 1, listOf(1)],
      );
      const before = ofServer();
      changed.push(await timeOf(get));
      spent += ofServer() - before;
      kept.push(await timeOf(get));
    }
    add(`${name}, published after a change`, figureOf(changed));
    add(`${name}, processor time of that`, `${((spent * 1000) / changed.length).toFixed(1)} ms`);
    add(`${name}, kept`, figureOf(kept));
  }
  client.close();
}

async function measureRevocations(server: Server, db: pg.Client, tenant: Tenant, add: Add): Promise<void> {
  const { rows: backends } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ofServer = meterOf(server.pid);
  const ofPostgres = familyMeterOf(parentOf(backends[0]?.pid ?? 0));
  const count = Number(flags.revocations);
  const [serverBefore, postgresBefore, begun] = [ofServer(), ofPostgres(), performance.now()];
  let next = 0;
  await Promise.all(
    Array.from({ length: REVOKERS }, async () => {
      const client = await openClient(server.port);
      for (let n = next++; n < count; n = next++) {
        const path = `/v1/credentials/${idOf(n * Math.floor(entries / count))}/revoke`;
        await demand(client, { method: 'POST', path, apiKey: tenant.apiKey, body: {} }, 200);
      }
      client.close();
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  const ofThousand = (spent: number) => `${((spent * 1000) / count).toFixed(1)} s`;
  add('Revoked one by one, a second', (count / seconds).toFixed(0));
  add('Processor time of a thousand, server', ofThousand(ofServer() - serverBefore));
  add('Processor time of a thousand, PostgreSQL', ofThousand(ofPostgres() - postgresBefore));
  const ids = Array.from({ length: 1000 }, (_, n) => idOf(n * 7 + 3));
  const before = ofPostgres();
  const whole = await timeOf(() =>
    db.query('select revoke_credentials($1, now(), $2)', [tenant.developerId, ids]),
  );
  add('A thousand in one write, as with their grants', `${whole.toFixed(0)} ms`);
  add('Processor time of that, PostgreSQL', `${((ofPostgres() - before) * 1000).toFixed(0)} ms`);
}

async function timeOf(ask: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await ask();
  return performance.now() - begun;
}

const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

function figureOf(times: readonly number[]): string {
  const { p50, p99 } = latenciesOf([...times]);
  return `${milliseconds(p50)}; ${milliseconds(p99)}`;
}

if (flags.help) say(USAGE);
else await bench();
