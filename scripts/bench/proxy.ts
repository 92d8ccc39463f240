import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { parseArgs } from 'node:util';
import { startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway } from '../machine/folders.ts';
import { timesOf as processTimes } from './machine.ts';

const USAGE = `npm run bench -- proxy [options]
  --calls <n>    in each round, of each kind; 500 unless said
  --rounds <n>   in turns; 6 unless said
  --bytes <n>    of the streamed answer; 1000000000 unless said
`;

const { values: flags } = parseArgs({
  options: {
    calls: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '6' },
    bytes: { type: 'string', default: '1000000000' },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const MOST = '1000000000';
const PART = Buffer.alloc(65_536, 'a');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

interface Way {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Measures the vault proxy beside the upstream itself, which runs in this process. */
async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const env = {
    VAULT_PROXY_ALLOW_PRIVATE_HOSTS: 'true',
    VAULT_PROXY_MAX_RESPONSE_BYTES: '1073741824',
    RATE_LIMIT_VAULT_PROXY: MOST,
    RATE_LIMIT_VAULT_PROXY_CREDENTIAL: MOST,
    RATE_LIMIT_VAULT_WRITE: MOST,
  };
  const server = cleanUp.adopt(await startServer(stores, { folder, env }), ({ stop }) => stop());
  const origin = await startUpstream(cleanUp);
  const base = `http://127.0.0.1:${server.port}`;
  const token = await grantAt(base, origin);
  const bare: Way = { url: origin, headers: {} };
  const proxied: Way = { url: `${base}/v1/vault/proxy/bench`, headers: { authorization: `Bearer ${token}` } };

  const times = { bare: [] as number[], proxied: [] as number[] };
  await timesOf(proxied, 200); // compiled and connected
  let used = 0;
  const usedSoFar = () => processTimes(server.pid)?.own ?? 0;
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    times.bare.push(...(await timesOf(bare, Number(flags.calls))));
    const before = usedSoFar();
    times.proxied.push(...(await timesOf(proxied, Number(flags.calls))));
    used += usedSoFar() - before;
  }
  const [own, through] = [times.bare, times.proxied].map((all) => all.toSorted((a, b) => a - b));
  const at = (all: readonly number[] = [], share = 0) => all[Math.floor(all.length * share)] ?? 0;
  for (const share of [0.5, 0.99]) {
    const [alone, added] = [at(own, share), at(through, share) - at(own, share)];
    say(`p${share * 100}: ${alone.toFixed(2)} ms bare, ${added.toFixed(2)} ms added`);
  }
  const each = (used * 1000) / times.proxied.length;
  say(`${each.toFixed(2)} ms of the service's processor time for a call`);

  const before = residentOf(server.pid);
  let most = before;
  const sampling = setInterval(() => (most = Math.max(most, residentOf(server.pid))), 50);
  const began = performance.now();
  const bytes = await readAll(proxied, `/large/${flags.bytes}`);
  const seconds = (performance.now() - began) / 1000;
  clearInterval(sampling);
  const rate = bytes / 1_000_000 / seconds;
  say(`${bytes} bytes in ${seconds.toFixed(1)} s, ${rate.toFixed(0)} MB/s`);
  say(`resident memory: ${before} MiB before, ${most} MiB at most`);
}

async function startUpstream(cleanUp: AsyncDisposableStack): Promise<string> {
  const upstream = createServer(({ url = '' }, response) => {
    const size = /^\/large\/(\d+)$/.exec(url)?.[1];
    if (size === undefined) {
      response.setHeader('content-type', 'application/json').end('{"ok":true}');
      return;
    }
    let left = Number(size);
    const more = () => {
      while (left > 0) {
        const part = PART.subarray(0, Math.min(left, PART.length));
        left -= part.length;
        if (!response.write(part)) return;
      }
      response.end();
    };
    response.on('drain', more);
    more();
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  cleanUp.defer(() => {
    agent.destroy();
    upstream.closeAllConnections();
    upstream.close();
  });
  return `http://127.0.0.1:${Object(upstream.address()).port}`;
}

/** @returns the grant token of an agent that may call the upstream */
async function grantAt(base: string, origin: string): Promise<string> {
  const call = async (method: string, path: string, body: object, key = '') => {
    const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
    const answer = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return Object(await answer.json());
  };
  const { apiKey } = await call('POST', '/v1/signup', { name: 'Bench', mode: 'sandbox' });
  const rules = [{ id: 'all', methods: ['GET'], path: '/{rest+}', unmapped: true }];
  const profile = { upstreams: { api: origin }, inject: { style: 'bearer' }, rules };
  await call('PUT', '/v1/vault/proxy-profiles/bench', profile, apiKey);
  const credential = {
    principalId: 'user_42',
    service: 'bench',
    accessToken: 'an-upstream-token-of-forty-characters-ok',
  };
  await call('POST', '/v1/vault/credentials', credential, apiKey);
  const { agentId } = await call('POST', '/v1/agents', { name: 'Bench' }, apiKey);
  const asked = { agentId, principalId: 'user_42', scopes: ['vault:bench:proxy'] };
  const { code } = await call('POST', '/v1/authorize', asked, apiKey);
  return (await call('POST', '/v1/token', { code, agentId }, apiKey)).grantToken;
}

/** @returns milliseconds of calls one after the other */
async function timesOf(way: Way, calls: number): Promise<number[]> {
  const times: number[] = [];
  for (let each = 0; each < calls; each += 1) {
    const began = performance.now();
    await readAll(way, '/small');
    times.push(performance.now() - began);
  }
  return times;
}

/** @returns the bytes of the answer's body */
function readAll({ url, headers }: Way, path: string): Promise<number> {
  return new Promise((done, fail) => {
    const call = request(`${url}${path}`, { agent, headers }, (answer) => {
      let bytes = 0;
      answer.on('data', (part: Buffer) => (bytes += part.length));
      answer.on('end', () =>
        answer.statusCode === 200 ? done(bytes) : fail(new Error(`status ${answer.statusCode}`)),
      );
      answer.on('error', fail);
    });
    call.on('error', fail);
    call.end();
  });
}

/** MiB */
const residentOf = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

if (flags.help) process.stdout.write(USAGE);
else await bench();
