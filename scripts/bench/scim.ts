import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { type Client, openClient } from './client.ts';
import { demand, latenciesOf } from './load.ts';
import { familyMeterOf, highestMemoryOf, memoryOf, meterOf, parentOf } from './machine.ts';
import { writeSection } from './results.ts';
import { openDatabase } from './scene.ts';
import { signUp, type Tenant } from './tenants.ts';

/** Copies people into a directory, as many imports would leave them. */
async function fillPeople(db: pg.Client, { developerId }: Tenant, count: number): Promise<void> {
  await db.query(
    `insert into scim_users (developer_id, id, user_name, external_id, display_name, active, attributes, version, created_at, updated_at)
     select $1, 'scimuser_01JZZZZZZZ' || lpad(n::text, 16, '0'), 'person-' || n || '@acme.test', 'person-' || n, 'Person ' || n, n % 50 > 0,
       jsonb_build_object('userName', 'person-' || n || '@acme.test', 'externalId', 'person-' || n, 'displayName', 'Person ' || n,
         'active', n % 50 > 0, 'title', 'Engineer ' || n, 'name', jsonb_build_object('givenName', 'Ada', 'familyName', 'King ' || n),
         'emails', jsonb_build_array(jsonb_build_object('value', 'person-' || n || '@acme.test', 'type', 'work', 'primary', true))),
       1, '2026-01-01', '2026-01-01'
     from generate_series(1, $2::int) n`,
    [developerId, count],
  );
  await db.query(
    `insert into scim_user_emails select developer_id, lower(user_name), id from scim_users
     where developer_id = $1 and user_name like 'person-%'`,
    [developerId],
  );
  await db.query(
    `insert into scim_principals (developer_id, folded, principal_id, is_folded, user_id, is_current, is_active)
     select developer_id, lower(v.id), v.id, v.is_folded, u.id, true, active
     from scim_users u cross join lateral (values (u.id, false), (external_id, false), (lower(user_name), true)) v (id, is_folded)
     where developer_id = $1 and user_name like 'person-%'`,
    [developerId],
  );
  await db.query('analyze scim_users, scim_user_emails, scim_principals');
}

const USAGE = `npm run bench -- scim [options]
  --users <n>   people in the directory; 100,000 unless said
  --import <n>  people who come one by one; 2,000 unless said
  --tries <n>   how often each request is sent; 30 unless said
  --note <text> what else the machine was doing, for the results
  --write       writes the outcome into scripts/bench/RESULTS.md
`;
const IMPORTERS = 4; // connections of an identity provider
const BULK = 1000;

const { values: flags } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    import: { type: 'string', default: '2000' },
    tries: { type: 'string', default: '30' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

interface Directory {
  readonly port: number;
  readonly token: string;
}

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const tenant = await signUp(server.port, 1);
  const directory = { port: server.port, token: await newToken(server.port, tenant) };

  const rows = flags.note ? [['Meanwhile', flags.note]] : [];
  const add = (name: string, figure: string) => {
    rows.push([name, figure]);
    say(`${name}: ${figure}`);
  };
  await measureImport(directory, { server, db, add });
  await fillPeople(db, tenant, Number(flags.users));
  add('People', Number(flags.users).toLocaleString('en'));
  const memory = memoryOf(server.pid);
  await measureRequests(directory, add);
  add('Resident memory before the requests', `${Math.round(memory)} MB`);
  add('Highest resident memory', `${Math.round(highestMemoryOf(server.pid))} MB`);
  const text = `A directory of ${Number(flags.users).toLocaleString('en')} people of one developer. The import is what identity providers do: for each
person a search by \`userName\`, and then a \`POST\`, over ${IMPORTERS} connections. Each other request is alone, ${flags.tries} times;
the times are medians and 99th percentiles. Made by \`npm run bench -- scim --write\`.`;
  if (flags.write) writeSection('People by SCIM', text, rows);
}

async function newToken(port: number, { apiKey }: Tenant): Promise<string> {
  const client = await openClient(port);
  const request = { method: 'POST', path: '/v1/scim/tokens', apiKey, body: { label: 'bench' } } as const;
  const { token } = JSON.parse((await demand(client, request, 201)).toString());
  client.close();
  return String(token);
}

interface Measured {
  readonly server: Server;
  readonly db: pg.Client;
  readonly add: (name: string, figure: string) => void;
}

async function measureImport({ port, token }: Directory, { server, db, add }: Measured): Promise<void> {
  const { rows: backends } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ofServer = meterOf(server.pid);
  const ofPostgres = familyMeterOf(parentOf(backends[0]?.pid ?? 0));
  const [serverBefore, postgresBefore, begun] = [ofServer(), ofPostgres(), performance.now()];
  const count = Number(flags.import);
  let next = 0;
  await Promise.all(
    Array.from({ length: IMPORTERS }, async () => {
      const client = await openClient(port);
      for (let number = next++; number < count; number = next++) await importOne(client, token, number);
      client.close();
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  const each = (spent: number) => milliseconds((spent * 1000) / count);
  const [ofServerEach, ofPostgresEach] = [ofServer() - serverBefore, ofPostgres() - postgresBefore];
  add('Imported one by one, a second', (count / seconds).toFixed(0));
  add('Processor time of a person, server', each(ofServerEach));
  add('Processor time of a person, PostgreSQL', each(ofPostgresEach));
  add(
    'Imported one by one, a second of two cores',
    ((2 * count) / (ofServerEach + ofPostgresEach)).toFixed(0),
  );
}

async function importOne(client: Client, apiKey: string, number: number): Promise<void> {
  const userName = `import-${number}@acme.test`;
  const filter = encodeURIComponent(`userName eq "${userName}"`);
  await demand(client, { method: 'GET', path: `/scim/v2/Users?filter=${filter}`, apiKey }, 200);
  const body = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName,
    externalId: `import-${number}`,
    name: { givenName: 'Ada', familyName: `King ${number}` },
    displayName: `Ada King ${number}`,
    emails: [{ value: userName, type: 'work', primary: true }],
    active: true,
  };
  await demand(client, { method: 'POST', path: '/scim/v2/Users', apiKey, body }, 201);
}

async function measureRequests({ port, token: apiKey }: Directory, add: Measured['add']): Promise<void> {
  const client = await openClient(port);
  const users = Number(flags.users);
  const one = Math.ceil((users * 7) / 9); // somebody in the middle, however few there are
  const gets: readonly (readonly [string, string])[] = [
    ['List, the first 100', '/scim/v2/Users?count=100'],
    ['List, the last 100 by `startIndex`', `/scim/v2/Users?count=100&startIndex=${Math.max(users - 100, 1)}`],
    ['List, sorted by `userName`', '/scim/v2/Users?count=100&sortBy=userName'],
    ['Filter, indexed: `userName eq`', search(`userName eq "person-${one}@acme.test"`)],
    ['Filter, indexed: `emails.value eq`', search(`emails.value eq "person-${one}@acme.test"`)],
    ['Filter, unindexed: `title eq`', search(`title eq "Engineer ${one}"`)],
    ['Filter, unindexed: `name.familyName co`', search(`name.familyName co "${one}"`)],
  ];
  for (const [name, path] of gets) {
    add(name, await timesOf(() => demand(client, { method: 'GET', path, apiKey }, 200)));
  }
  const found = await demand(client, { method: 'GET', path: gets[3]?.[1] ?? '', apiKey }, 200);
  const { id } = JSON.parse(found.toString()).Resources[0];
  let change = 0;
  add(
    'PATCH of one attribute',
    await timesOf(() => {
      change += 1;
      const Operations = [{ op: 'replace', path: 'title', value: `Engineer of the ${change}th change` }];
      const request = {
        method: 'PATCH',
        path: `/scim/v2/Users/${id}`,
        apiKey,
        body: { Operations },
      } as const;
      return demand(client, request, 200);
    }),
  );
  const Operations = Array.from({ length: BULK }, (_, at) => ({
    method: 'POST',
    path: '/Users',
    bulkId: `b${at}`,
    data: { userName: `bulk-${at}@acme.test` },
  }));
  const body = { schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'], Operations };
  const begun = performance.now();
  await demand(client, { method: 'POST', path: '/scim/v2/Bulk', apiKey, body }, 200);
  add(`Bulk of ${BULK.toLocaleString('en')}`, `${((performance.now() - begun) / 1000).toFixed(1)} s`);
  client.close();
}

const search = (filter: string) => `/scim/v2/Users?filter=${encodeURIComponent(filter)}`;

async function timesOf(ask: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let tries = Number(flags.tries); tries > 0; tries -= 1) {
    const begun = performance.now();
    await ask();
    times.push(performance.now() - begun);
  }
  const { p50, p99 } = latenciesOf(times);
  return `${milliseconds(p50)}; ${milliseconds(p99)}`;
}

if (flags.help) say(USAGE);
else await bench();
