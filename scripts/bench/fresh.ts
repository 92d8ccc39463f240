import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { type Server, type Stores, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { latenciesOf, median, type Operation, type Round, run } from './load.ts';
import { flowsOf } from './measured-flows.ts';
import { writeSection } from './results.ts';
import { openDatabase } from './scene.ts';
import { makeGrants, signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- fresh [options]
  --grants <list>   of one developer; 600,2000 unless said
  --rounds <n>      of each kind; 5 unless said
  --seconds <n>     of a round; 2 unless said
  --note <text>     what else the machine was doing, for the results
  --write           writes the outcome into scripts/bench/RESULTS.md
`;
const CONNECTIONS = 8;
const env = { JWT_ISSUER: 'https://bench.test' }; // of each process, whatever its port

const { values: flags } = parseArgs({
  options: {
    grants: { type: 'string', default: '600,2000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const seconds = Number(flags.seconds);

interface Measured {
  readonly stores: Stores;
  readonly folder: string;
  readonly db: pg.Client;
  readonly add: (name: string, figure: string) => void;
}

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const rows = flags.note ? [['Meanwhile', flags.note]] : [];
  const add = (name: string, figure: string) => {
    rows.push([name, figure]);
    say(`${name}: ${figure}`);
  };

  const first = await startServer(stores, { folder, env });
  await withoutAutovacuum(db);
  const tenant = await signUp(first.port, CONNECTIONS);
  await first.stop();
  let present = CONNECTIONS;
  for (const count of flags.grants.split(',').map(Number)) {
    await makeGrants(db, tenant.grants[0]?.grantId ?? '', count - present);
    present = count;
    await measure(`${count.toLocaleString('en')} grants, no statistics`, tenant, { stores, folder, db, add });
  }
  await db.query('analyze');
  await measure(`${present.toLocaleString('en')} grants, statistics`, tenant, { stores, folder, db, add });
  const text = `One developer, whose grants were made while autovacuum was off, so that Postgres has no statistics. ${CONNECTIONS} connections do
the same, in ${flags.rounds} rounds of ${flags.seconds} s with a new process each: requests a second, median (lowest). Meanwhile another connection asks
for authorizations. Made by \`npm run bench -- fresh --write\`.`;
  if (flags.write) writeSection('A fresh database', text, rows);
}

/** Statistics would come within a minute or so. */
async function withoutAutovacuum(db: pg.Client): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  for (const { name } of rows) await db.query(`alter table ${name} set (autovacuum_enabled = off)`);
}

async function measure(name: string, tenant: Tenant, measured: Measured): Promise<void> {
  const { stores, folder, db, add } = measured;
  const operations = new Map(flowsOf([tenant], db).map((flow) => [flow.name, flow.operation]));
  for (const flow of ['vault exchange', 'verify']) {
    const rounds: Round[] = [];
    const authorizations: number[] = [];
    for (let round = 0; round < Number(flags.rounds); round += 1) {
      const server = await startServer(stores, { folder, env });
      try {
        const [own, beside] = await Promise.all([
          runOn(server, CONNECTIONS, operations.get(flow)),
          runOn(server, 1, operations.get('authorize')),
        ]);
        rounds.push(own);
        authorizations.push(...beside.latencies);
      } finally {
        await server.stop();
      }
    }
    const rates = rounds.map(({ operations, seconds }) => operations / seconds);
    add(`${name}: ${flow}`, `${median(rates).toFixed(0)} (${Math.min(...rates).toFixed(0)})`);
    const { p50, p99 } = latenciesOf(authorizations);
    add(`${name}: authorize beside it`, `${p50.toFixed(1)} ms; p99 ${p99.toFixed(1)} ms`);
  }
}

function runOn(server: Server, connections: number, operation?: (connection: number) => Operation) {
  if (!operation) throw new Error('There is no such flow.');
  return run({ port: server.port, seconds, connections, meters: {}, operation });
}

if (flags.help) say(USAGE);
else await bench();
