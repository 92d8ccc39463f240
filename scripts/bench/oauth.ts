import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { end, type Stores } from '../../test/harness/servers.ts';
import { type Client, openClient } from './client.ts';
import { CONNECTIONS, demand, median, type Operation, type Round, run, summaryOf } from './load.ts';
import { describeMachine, meterOf } from './machine.ts';
import { flowsOf, registerClient } from './measured-flows.ts';
import type { Peer, PeerClient } from './oidc-provider-server.ts';
import { profileOf } from './profile.ts';
import { table, whole } from './results.ts';
import type { Target } from './rounds.ts';
import { lastProblem, setScene } from './scene.ts';
import { asked, heldBy, signUp, turnOf } from './tenants.ts';

const USAGE = `npm run bench -- oauth [options]
  --only <text>    rows whose name holds the text
  --rounds <n>     of each side, in turns; 6 unless said
  --seconds <n>    of a round; 2 unless said
  --profile <dir>  writes a CPU profile of ours there for each row, and prints its dearest names
`;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '2' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

type Operations = (connection: number) => Operation;

/** What both do for the same purpose. */
interface Row {
  readonly name: string;
  readonly ours: Operations;
  readonly theirs: Operations;
}

/** Measures the endpoints of OAuth beside node-oidc-provider, in turns. */
async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const scene = await setScene(cleanUp);
  const { service, server, db } = scene;
  const peer = cleanUp.adopt(await startPeer(scene.stores), ({ stop }) => stop());
  const target: Target = { port: peer.port, meters: { ...service.meters, server: meterOf(peer.pid) } };
  const all = rowsOf(
    await ourOperations(server.port, flowsOf([await signUp(server.port)], db)),
    theirOperations(peer),
  );
  const rows = all.filter(({ name }) => name.includes(flags.only));
  await db.query('vacuum analyze');

  const courses = rows.flatMap(({ name, ours, theirs }) => [
    { key: `ours ${name}`, load: { ...service, operation: ours } },
    { key: `theirs ${name}`, load: { ...target, operation: theirs } },
  ]);
  const rounds = new Map<string, Round[]>(courses.map(({ key }) => [key, []]));
  try {
    for (let round = 0; round <= Number(flags.rounds); round += 1) {
      for (const { key, load } of courses) {
        const result = await run({ ...load, seconds: Number(flags.seconds) });
        if (round > 0) rounds.get(key)?.push(result); // the first is the warm-up
      }
      say(`round ${round} of ${flags.rounds}`);
    }
  } catch (cause) {
    throw new Error(`The last that the server said was wrong: ${lastProblem(scene)}`, { cause });
  }
  for (const line of await describeMachine(db, scene.redisVersion)) say(line);
  const roundsOf = (side: string, { name }: Row) => rounds.get(`${side} ${name}`) ?? [];
  say(
    table(
      HEAD,
      rows.map((row) => [row.name, ...figuresOf(roundsOf('ours', row), roundsOf('theirs', row))]),
    ),
  );
  if (flags.profile === undefined) return;
  const flows = rows.map(({ name, ours }) => ({ name, operation: ours }));
  const place = { folder: flags.profile, connections: CONNECTIONS };
  for (const { flow, file, packages, functions } of await profileOf(scene, flows, place)) {
    say(`\n${flow}: ${file}\n${[...packages, ...functions].join('\n')}`);
  }
}

const HEAD = [
  'Ours / theirs',
  'A second',
  'Rate by theirs (range)',
  'Processor time, theirs by ours',
  'Server ms',
  'Postgres ms',
  'Redis ms',
];

function figuresOf(ours: readonly Round[], theirs: readonly Round[]): string[] {
  const [own, other] = [summaryOf(ours), summaryOf(theirs)];
  const ratios = ours.map((round, each) => rateOf(round) / rateOf(theirs[each]));
  const both = (who: string) =>
    [own, other].map(({ cpu }) => (cpu[who] ?? Number.NaN).toFixed(3)).join(' / ');
  const cost = ({ cpu }: typeof own) => (cpu.server ?? 0) + (cpu.postgres ?? 0) + (cpu.redis ?? 0);
  return [
    `${whole(own.rate)} / ${whole(other.rate)}`,
    `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
    (cost(other) / cost(own)).toFixed(2),
    ...['server', 'postgres', 'redis'].map(both),
  ];
}

const rateOf = (round?: Round) => (round ? round.operations / round.seconds : Number.NaN);

function rowsOf(
  ours: Awaited<ReturnType<typeof ourOperations>>,
  theirs: ReturnType<typeof theirOperations>,
): Row[] {
  return [
    {
      name: 'client credentials, both opaque and stored',
      ours: ours.credentials,
      theirs: theirs.credentials('opaque'),
    },
    {
      name: 'token exchange with its audit entry / client credentials, both JWT, theirs not stored',
      ours: ours.exchange,
      theirs: theirs.credentials('jwt'),
    },
    { name: 'introspection of a JWT / of an opaque token', ours: ours.introspect, theirs: theirs.introspect },
    {
      name: 'refresh with its audit entry / refresh, both JWT',
      ours: ours.refresh,
      theirs: theirs.refresh('jwt'),
    },
    {
      name: 'refresh with its audit entry / refresh, JWT / opaque',
      ours: ours.refresh,
      theirs: theirs.refresh('opaque'),
    },
    { name: 'JWKS', ours: ours.jwks, theirs: theirs.jwks },
  ];
}

const TOKEN = '/oauth/token';
type Form = Readonly<Record<string, string>>;
const postForm = (client: Client, path: string, form: Form) =>
  demand(client, { method: 'POST', path, form }, 200);

async function ourOperations(port: number, flows: ReturnType<typeof flowsOf>) {
  const operationOf = (name: string): Operations => {
    const flow = flows.find((each) => each.name === name);
    if (!flow) throw new Error(`There is no flow ${name}.`);
    return flow.operation;
  };
  const tenant = await signUp(port); // whose clients the flow of refreshes does not make too
  const client = await openClient(port);
  const [receivers, clients, subjects] = [[] as Form[], [] as Form[], [] as string[]];
  const call = async (path: string, body: object) => {
    const answer = await demand(client, { method: 'POST', path, body, apiKey: tenant.apiKey }, 201);
    return JSON.parse(answer.toString());
  };
  const resource = await call('/v1/resources', { resource: RESOURCE, name: 'Bench', scopes: asked.scopes });
  for (let each = 0; each < CONNECTIONS; each += 1) {
    const { clientId, clientSecret } = await call('/v1/ssf/receivers', { name: `Receiver ${each}` });
    receivers.push({ client_id: clientId, client_secret: clientSecret });
    const { agentId } = heldBy(tenant, each);
    clients.push({ ...(await registerClient(client, tenant, agentId)) });
    subjects.push(await tokenFor(call, agentId));
  }
  client.close();
  const exchange = { grant_type: EXCHANGE, subject_token_type: ACCESS_TOKEN };
  return {
    jwks: operationOf('JWKS'),
    refresh: operationOf('oauth refresh'),
    credentials: (connection: number) => {
      const form = { grant_type: 'client_credentials', ...turnOf(receivers, connection) };
      return (sender: Client) => postForm(sender, TOKEN, form);
    },
    exchange: (connection: number) => {
      const form = { ...exchange, subject_token: turnOf(subjects, connection) };
      const request = { method: 'POST', path: TOKEN, form, apiKey: resource.credential };
      return (sender: Client) => demand(sender, request, 200);
    },
    introspect: (connection: number) => {
      const form = { token: heldBy(tenant, connection).grantToken, ...turnOf(clients, connection) };
      return activeAt('/oauth/introspect', form);
    },
  };
}

const RESOURCE = 'http://127.0.0.1:1/api';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** A token for the resource, which the resource exchanges. */
async function tokenFor(
  call: (path: string, body: object) => Promise<Record<string, string>>,
  agentId: string,
): Promise<string> {
  const { code } = await call('/v1/authorize', { agentId, ...asked, audience: RESOURCE });
  const { grantToken } = await call('/v1/token', { agentId, code });
  if (!grantToken) throw new Error('There is no token.');
  return grantToken;
}

function theirOperations({ clients, resources, scope }: Peer) {
  const spendable = new Map<string, string>();
  const credentialsOf = ({ client_id, client_secret }: PeerClient) => ({ client_id, client_secret });
  return {
    jwks: (): Operation => (sender) => demand(sender, { method: 'GET', path: '/jwks' }, 200),
    credentials: (format: keyof Peer['resources']) => (connection: number) => {
      const own = credentialsOf(turnOf(clients, connection));
      const resource = resources[format];
      const form = { grant_type: 'client_credentials', scope, resource, ...own };
      return (sender: Client) => postForm(sender, '/token', form);
    },
    introspect: (connection: number) => {
      const client = turnOf(clients, connection);
      const form = { token: client.accessToken, token_type_hint: 'access_token', ...credentialsOf(client) };
      return activeAt('/token/introspection', form);
    },
    refresh: (format: keyof Peer['resources']) => (connection: number) => {
      const client = turnOf(clients, connection);
      const key = `${client.client_id} ${format}`;
      return async (sender: Client) => {
        const refresh_token = spendable.get(key) ?? client.refreshTokens[resources[format]] ?? '';
        const form = { grant_type: 'refresh_token', refresh_token, ...credentialsOf(client) };
        const answer = await postForm(sender, '/token', form);
        spendable.set(key, JSON.parse(answer.toString()).refresh_token);
      };
    },
  };
}

const activeAt = (path: string, form: Form) => async (sender: Client) => {
  const answer = await postForm(sender, path, form);
  if (!answer.includes('"active":true')) throw new Error('The token was refused.');
};

async function startPeer({ databaseUrl }: Stores) {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, CLIENTS: String(CONNECTIONS) };
  const child = fork(join(import.meta.dirname, 'oidc-provider-server.ts'), { execArgv: [], env });
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`Their server ended with ${code}.`)),
  );
  const [peer]: Peer[] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => {}); // the end of the run
  if (!peer) throw new Error('Their server did not say where it listens.');
  return { ...peer, pid: child.pid ?? 0, stop: () => end(child) };
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await bench();
