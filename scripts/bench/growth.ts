import { rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { CONNECTIONS, median, type Round, run, timed } from './load.ts';
import { driverMeter, familyMeterOf, meterOf, parentOf } from './machine.ts';
import { flowsOf } from './measured-flows.ts';
import { table, whole, writeSection } from './results.ts';
import type { Flow, Target } from './rounds.ts';
import { redisFacts } from './scene.ts';
import { appendEntries, grow, type Sizes, signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- growth [options]
  --grants <n>      in the grown database; 10000000 unless said
  --entries <n>     of the audit log there, two for each grant unless said
  --accounts <n,n>  which have them, each in a run of its own; 1,10000 unless said
  --rounds <n>      of each flow on each database, in turns; 5 unless said
  --seconds <n>     of a round; 1 unless said
  --only <text>     flows whose name holds the text
  --note <text>     what else the machine was doing, for the results
  --write           writes the outcome into scripts/bench/RESULTS.md
Ten million grants with their entries take some 40 GB of disk, which are given back.
`;

const { values: flags } = parseArgs({
  options: {
    grants: { type: 'string', default: '10000000' },
    entries: { type: 'string', default: '' },
    accounts: { type: 'string', default: '1,10000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const grantCount = Number(flags.grants);
const entryCount = flags.entries === '' ? grantCount * 2 : Number(flags.entries);

/** The accounts that ask, of all that have rows. */
const ASKING = 16;
const env = { JWT_ISSUER: 'https://bench.test' }; // of each process, whatever its port
const VERIFIED = 10_000; // entries in one call
/** Bytes for each grant with its token, and for each entry, at most. */
const ROOM = { grant: 1800, entry: 1100 };
/** Milliseconds after which sessions that rest have told what they read. */
const STATISTICS = 11_000;

interface Place {
  readonly name: 'empty' | 'grown';
  readonly databaseUrl: string;
  readonly db: pg.Client;
  readonly start: () => Promise<Server>;
  readonly tenants: readonly Tenant[];
  readonly flows: readonly Flow[];
}

interface Served extends Place {
  readonly service: Target;
}

/** One database of the comparison is as the accounts left it that ask; the other has the rows besides. */
async function measureWith(accounts: number): Promise<string> {
  await using cleanUp = new AsyncDisposableStack();
  const { bavail, bsize } = statfsSync(tmpdir());
  const needed = grantCount * ROOM.grant + entryCount * ROOM.entry;
  if (bavail * bsize < needed) throw new Error(`The disk lacks the room: ${whole(needed / 1e9)} GB.`);
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('growth');
  const folder = makeThrowAway('growth');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const redis = await redisFacts(stores.redisUrl);
  const open = async (name: string) => {
    const client = new pg.Client({ connectionString: new URL(`/${name}`, stores.databaseUrl).href });
    await client.connect();
    return cleanUp.adopt(client, (each) => each.end());
  };
  const root = await open('postgres');
  for (const setting of ["max_wal_size = '4GB'", "maintenance_work_mem = '512MB'", 'autovacuum = off'])
    await root.query(`alter system set ${setting}`);
  await root.query('select pg_reload_conf()');

  const placeOf = async (name: Place['name']): Promise<Place> => {
    await root.query(`create database ${name}`);
    const db = await open(name);
    const databaseUrl = new URL(`/${name}`, stores.databaseUrl).href;
    const start = () => startServer({ ...stores, databaseUrl }, { folder, env });
    const first = await start();
    const tenants: Tenant[] = [];
    const asking = Math.min(accounts, ASKING);
    while (tenants.length < asking) tenants.push(await signUp(first.port, Math.ceil(CONNECTIONS / asking)));
    await first.stop(); // its jobs would read the tables without their indexes
    const flows = flowsOf(tenants, db).filter((flow) => flow.name.includes(flags.only));
    return { name, databaseUrl, db, tenants, flows, start };
  };
  const [empty, grown] = [await placeOf('empty'), await placeOf('grown')];
  const growth = { accounts, grants: grantCount, entries: entryCount };
  const sizes = inWords(await grow(grown.databaseUrl, grown.tenants, growth));
  say(sizes);
  await empty.db.query('vacuum analyze');
  const served = async (place: Place): Promise<Served> => {
    const server = cleanUp.adopt(await place.start(), ({ stop }) => stop());
    const { rows } = await place.db.query<{ pid: number }>('select pg_backend_pid() as pid');
    const meters = {
      server: meterOf(server.pid),
      postgres: familyMeterOf(parentOf(rows[0]?.pid ?? 0)),
      redis: meterOf(redis.pid),
      driver: driverMeter,
    };
    return { ...place, service: { port: server.port, meters } };
  };
  const places = [await served(empty), await served(grown)] as const;
  for (const place of places) await becomesQuiet(place);
  const rounds = await measureInTurns(places);
  const rows = await rowsOf(places, rounds);
  const verified = [await verifyTime(places[0]), await verifyTime(places[1])];
  return `**${accounts === 1 ? 'One account' : `${accounts.toLocaleString('en')} accounts`}**: ${sizes}. To verify ${VERIFIED.toLocaleString('en')} entries took ${verified
    .map((ms) => whole(ms))
    .join(' ms on the empty and ')} ms on the grown database.

${table(['Flow', 'CPU, empty', 'CPU, grown', 'Ratio', 'Pages, empty', 'Pages, grown'], rows)}`;
}

function inWords({ grants, tokens, entries }: Sizes): string {
  const bytes = (size: number, count: number) => `${whole(size / count)} bytes each with its indexes`;
  return `${whole(grantCount)} grants (${bytes(grants, grantCount)}) with a token (${whole(tokens / grantCount)} bytes) and ${whole(entryCount)} audit entries
(${bytes(entries, entryCount)}), ${whole((grants + tokens + entries) / 1e9)} GB`;
}

/** Waits until the jobs of a start are done, such as a checkpoint of each chain; for five minutes at most. */
async function becomesQuiet({ service: { meters } }: Served): Promise<void> {
  const spent = () => (meters.server?.() ?? 0) + (meters.postgres?.() ?? 0);
  for (let each = 0, before = spent(); each < 60; each += 1) {
    await pause(5000);
    const now = spent();
    if (now - before < 0.1) return;
    before = now;
  }
}

type Rounds = ReadonlyMap<string, Readonly<Record<Place['name'], Round[]>>>;

/** The two databases have the same Postgres, Redis and machine; which is first changes from round to round. */
async function measureInTurns(places: readonly [Served, Served]): Promise<Rounds> {
  const rounds = new Map(
    places[0].flows.map(({ name }) => [name, { empty: [] as Round[], grown: [] as Round[] }]),
  );
  for (let round = 0; round <= Number(flags.rounds); round += 1) {
    for (const [at, { name }] of places[0].flows.entries()) {
      for (const place of round % 2 === 0 ? places : places.toReversed()) {
        const result = await runOnce(place, at);
        if (round > 0) rounds.get(name)?.[place.name].push(result);
      }
    }
    say(`round ${round} of ${flags.rounds}`);
  }
  return rounds;
}

async function runOnce({ flows, service }: Served, at: number): Promise<Round> {
  const flow = flows[at];
  if (!flow) throw new Error('There is no such flow.');
  await flow.prepare?.();
  return run({ ...service, operation: flow.operation, seconds: Number(flags.seconds) });
}

async function rowsOf(places: readonly [Served, Served], rounds: Rounds): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [at, { name }] of places[0].flows.entries()) {
    const { empty = [], grown = [] } = rounds.get(name) ?? {};
    const ratio = median(empty.map((round, each) => costOf(grown[each]) / costOf(round)));
    const costs = [empty, grown].map((some) => median(some.map(costOf)).toFixed(3));
    const pages = await pagesOf(places, at);
    rows.push([name, ...costs, ratio.toFixed(2), ...pages.map((count) => count.toFixed(1))]);
    say(rows.at(-1)?.join(' | ') ?? '');
  }
  return rows;
}

/** The processor milliseconds of one operation, without the driver's. */
function costOf(round?: Round): number {
  const { server = 0, postgres = 0, redis = 0 } = round?.cpu ?? {};
  return ((server + postgres + redis) * 1000) / (round?.operations ?? 0);
}

/** @returns the pages that Postgres looked at for one operation on each database, those of the jobs meanwhile among them */
async function pagesOf(places: readonly [Served, Served], at: number): Promise<number[]> {
  const counts: number[] = [];
  for (const { flows } of places) await flows[at]?.prepare?.();
  if (places[0].flows[at]?.prepare) await pause(STATISTICS);
  const before = await Promise.all(places.map(pagesSoFar));
  for (const { service, flows } of places) {
    const operation = flows[at]?.operation;
    if (operation) counts.push((await run({ ...service, operation, seconds: 1 })).operations);
  }
  await pause(STATISTICS);
  const after = await Promise.all(places.map(pagesSoFar));
  return after.map((pages, each) => (pages - (before[each] ?? 0)) / (counts[each] ?? 0));
}

async function pagesSoFar({ db }: Place): Promise<number> {
  const { rows } = await db.query<{ pages: string }>(
    'select blks_hit + blks_read as pages from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.pages);
}

async function verifyTime({ db, service, tenants }: Served): Promise<number> {
  const [tenant] = tenants;
  if (!tenant) return Number.NaN;
  for (let done = 0; done <= VERIFIED; done += 1000) await appendEntries(db, tenant, 1000);
  const { rows } = await db.query('select seq from audit_heads where developer_id = $1', [
    tenant.developerId,
  ]);
  const toSeq = Number(rows[0]?.seq);
  const path = `/v1/audit/verify?fromSeq=${toSeq - VERIFIED + 1}&toSeq=${toSeq}`;
  return (await timed(service.port, 5, { path, apiKey: tenant.apiKey })).p50;
}

async function main(): Promise<void> {
  const parts: string[] = [];
  for (const accounts of flags.accounts.split(',').map(Number)) {
    parts.push(await measureWith(accounts));
    say(parts.at(-1) ?? '');
  }
  const text = `Each flow in turns on an empty database and on a grown one of the same Postgres, a service before each: ${CONNECTIONS} connections, medians of
${flags.rounds} rounds of ${flags.seconds} s. CPU is processor milliseconds of one operation, without the driver's; the ratio is the median of those of
the rounds, and the aim is at most 1.20. Pages are those that Postgres looked at for one, with what jobs read meanwhile; other work
of the machine does not count in them. Made by \`npm run bench -- growth --write\`.${flags.note && `\n${flags.note}`}`;
  if (flags.write) writeSection('Growth', [text, ...parts].join('\n\n'));
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await main();
