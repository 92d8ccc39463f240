import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways, waitUntil } from '../machine/folders.ts';
import { type Client, openClient, textOf } from './client.ts';
import { handMade, type Largest, largestRequests } from './largest-requests.ts';
import { writeSection } from './results.ts';
import { signUp } from './tenants.ts';

const USAGE = `npm run bench -- largest-bodies [options]
  --only <text>  requests whose name holds the text
  --note <text>  what else the machine was doing, for the results
  --write        writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `Each route of the API gets the largest body and query of its schema, and more requests are made by hand for products
of two sizes (\`scripts/bench/largest-requests.ts\`). A turn is the processor time that the event loop of the service spends before it
looks at anybody else, so that other work of the machine does not count; the wait is that of a neighbour's \`GET /health\`
by the clock. The aim is a turn of 20 ms at most. Each request is sent three times, and the second longest turn counts, so that the
compilation of a first call does not. Made by \`npm run bench -- largest-bodies --write\`.`;
const AIM = 20; // milliseconds
const TIMES = 3;
const SHOWN = 25;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Measured {
  readonly name: string;
  readonly bytes: number;
  readonly status: string;
  readonly turn: number;
  readonly wait: number;
}

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startServer(stores, { folder });
  cleanUp.defer(() => server.stop());
  const requests = await requestsFor(server.port);
  const turns = cleanUp.adopt(await watchTurns({ pid: server.pid, port: server.inspectPort }), ({ close }) =>
    close(),
  );
  const neighbour = cleanUp.adopt(await openClient(server.port), ({ close }) => close());
  const measured: Measured[] = [];
  for (const each of requests.filter(({ name }) => name.includes(flags.only))) {
    const one = await measure(each, server.port, { neighbour, longest: turns.longest });
    measured.push(one);
    if (one.turn > AIM / 4) say(rowOf(one).join(' | '));
  }
  const longestFirst = measured.toSorted((one, other) => other.turn - one.turn);
  const over = measured.filter(({ turn }) => turn > AIM).length;
  const rows = [
    ...(flags.note ? [['Meanwhile', flags.note]] : []),
    ['Requests, and those with a turn over the aim', `${measured.length}, ${over}`],
    ...longestFirst.slice(0, SHOWN).map(rowOf),
  ];
  for (const row of rows) say(row.join(' | '));
  if (flags.write) writeSection('Largest bodies', WHAT, rows);
}

const rowOf = ({ name, bytes, status, turn, wait }: Measured) => [
  `${name}, ${bytes.toLocaleString('en')} bytes, ${status}`,
  `${turn.toFixed(1)} ms in one turn, neighbour ${wait.toFixed(0)} ms`,
];

interface Watching {
  readonly neighbour: Client;
  readonly longest: () => Promise<number>;
}

async function measure(
  { name, request }: Largest,
  port: number,
  { neighbour, longest }: Watching,
): Promise<Measured> {
  const taken: { turn: number; wait: number }[] = [];
  let status = 'no answer';
  for (let each = 0; each < TIMES; each += 1) {
    const client = await openClient(port); // a refused body closes its connection
    await longest();
    let isDone = false;
    const answered = Promise.race([
      client.ask(request).then((answer) => String(answer.status)),
      new Promise<string>((resolve) => setTimeout(resolve, 10_000, 'open')), // a stream
    ]).catch(() => 'closed');
    const asked = answered.finally(() => {
      isDone = true;
    });
    let wait = 0;
    while (!isDone) {
      const began = performance.now();
      await neighbour.ask({ method: 'GET', path: '/health' });
      wait = Math.max(wait, performance.now() - began);
    }
    status = await asked;
    taken.push({ turn: await longest(), wait });
    client.close();
    if (status === 'open') break;
  }
  const [first, second = first] = taken.toSorted((one, other) => other.turn - one.turn);
  return {
    name,
    bytes: Buffer.byteLength(textOf(request)),
    status,
    turn: second?.turn ?? 0,
    wait: second?.wait ?? 0,
  };
}

/** Signs up an account that has one of everything that the requests name. */
async function requestsFor(port: number): Promise<Largest[]> {
  const { apiKey, grants } = await signUp(port, 1);
  const [grant] = grants;
  const client = await openClient(port);
  const made = async (path: string, body: object, key = apiKey) => {
    const answer = await client.ask({ method: 'POST', path, body, apiKey: key });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
    return JSON.parse(answer.body.toString());
  };
  const { token: scim } = await made('/v1/scim/tokens', { label: 'Directory' });
  const group = await made('/scim/v2/Groups', { displayName: 'Everybody' }, scim);
  const { id: connectionId } = await made('/v1/sso/connections', {
    ...{ name: 'Directory', protocol: 'ldap', ldapUrl: 'ldaps://directory.example' },
    ...{ ldapBindDn: 'cn=reader', ldapBindPassword: 'secret', ldapSearchBase: 'dc=example' },
  });
  const { url } = await made('/v1/sso/setup-links', { name: 'Customer', purposes: ['sso'] });
  const { session: setup } = await made('/setup/open', { link: new URL(url).hash.slice('#link='.length) });
  client.close();
  const { grantToken = '', agentId = '' } = grant ?? {};
  return [
    ...handMade({ apiKey, scim, setup, groupId: group.id, connectionId, grantToken, agentId }),
    ...largestRequests({ developer: apiKey, scim, grant: grantToken }),
  ];
}

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await bench();

/** The turns of a running process's event loop. */
interface Turns {
  /** @returns milliseconds of processor time of the longest turn since the last call */
  readonly longest: () => Promise<number>;
  readonly close: () => void;
}

/**
 * Runs in the service. A turn ends when `setImmediate` comes round. Processor time of this one thread, and not the clock,
 * so that another process that has the core in between adds nothing.
 */
const WATCH = `
  globalThis.longestTurn = 0;
  let last = process.threadCpuUsage();
  (function tick() {
    const now = process.threadCpuUsage();
    globalThis.longestTurn = Math.max(globalThis.longestTurn, now.user + now.system - last.user - last.system);
    last = now;
    setImmediate(tick);
  })();
`;
const READ =
  '(() => { const longest = globalThis.longestTurn; globalThis.longestTurn = 0; return longest; })()';

/** @param port the one that \`--inspect-port\` gave the process */
async function watchTurns({ pid, port }: { pid: number; port: number }): Promise<Turns> {
  process.kill(pid, 'SIGUSR1');
  let address: string | undefined;
  const look = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    const [target] = answer ? JSON.parse(await answer.text()) : [];
    address = target?.webSocketDebuggerUrl;
    return address !== undefined;
  };
  await waitUntil(look, { seconds: 10 });
  if (!address) throw new Error(`The inspector does not answer on port ${port}.`);
  const socket = new WebSocket(address);
  await once(socket, 'open');
  let last = 0;
  const evaluate = async (expression: string): Promise<number> => {
    last += 1;
    const id = last;
    socket.send(JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression } }));
    for (;;) {
      const [{ data }] = await once(socket, 'message');
      const answer = JSON.parse(String(data));
      if (answer.id === id) return Number(answer.result.result.value);
    }
  };
  await evaluate(WATCH);
  return { longest: async () => (await evaluate(READ)) / 1000, close: () => socket.close() };
}
