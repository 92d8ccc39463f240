import { parseArgs } from 'node:util';
import { fingerprintOf } from '@behest/meter/hashes';
import { Behest, type BehestOptions } from '@behest/sdk';
import { pinOfTool, postgresMeter, redisMeter } from '@behest/sdk/enforce';
import { createVerifier, preloadJwks } from '@behest/sdk/verify';
import { createClient } from '@redis/client';
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import pg from 'pg';
import { startStores } from '../../test/harness/servers.ts';

const USAGE = `npm run bench -- enforce [options]
  --rounds <n>   of all measurements, in turns; 5 unless said
  --calls <n>    of each measurement in a round; 20000 unless said, a tenth of it with a store
`;

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '20000' },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

const [ISSUER, DEVELOPER, AT_ONCE] = ['https://auth.example.com', 'dev_1', 32];
const MOST = 2_000_000_000; // the cap is never reached

/** Without the client's own timer for each command, which costs more than the command. The meter goes without it too. */
const UNTIMED = { commandOptions: { timeout: 0 } };

interface Redis {
  sendCommand(command: string[]): Promise<unknown>;
}

interface Measured {
  readonly name: string;
  /** The name of the measurement that this one is a share of. */
  readonly beside?: string;
  readonly usesStore?: boolean;
  /** True for a call that is made a hundredth as often. */
  readonly isLong?: boolean;
  readonly call: () => Promise<unknown>;
}

/** Measures the decision about a call in this process, beside what it is built on. */
async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  const redis = cleanUp.adopt(createClient({ url: stores.redisUrl, ...UNTIMED }), (client) =>
    client.destroy(),
  );
  await redis.connect();
  const pool = cleanUp.adopt(new pg.Pool({ connectionString: stores.databaseUrl, max: 10 }), endAll);
  const all = await measurements(redis, pool);
  const costs = new Map(all.map(({ name }) => [name, [] as Cost[]]));

  for (const { call } of all) await run(call, 200); // compiled and connected
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    for (const { name, call, usesStore, isLong } of all)
      costs.get(name)?.push(await run(call, Number(flags.calls) / (isLong ? 100 : usesStore ? 10 : 1)));
  }

  say('| Measured | CPU µs a call | A second | Share of CPU | Share of rate | p99 ms |');
  say('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const { name, beside } of all) {
    const [micros, rate, p99] = (['micros', 'rate', 'p99'] as const).map((what) => medianOf(name, what));
    const shares = beside
      ? [medianOf(beside, 'micros') / (micros ?? 1), (rate ?? 0) / medianOf(beside, 'rate')]
      : [];
    const percent = [0, 1].map((at) => (shares[at] === undefined ? '' : `${Math.round(shares[at] * 100)} %`));
    const cells = [
      name,
      micros?.toFixed(1),
      Math.round(rate ?? 0).toLocaleString('en'),
      ...percent,
      p99?.toFixed(2),
    ];
    say(`| ${cells.join(' | ')} |`);
  }

  function medianOf(name: string, what: keyof Cost): number {
    const sorted = (costs.get(name) ?? []).map((cost) => cost[what]).sort((one, other) => one - other);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  }
}

/** `end` answers while connections still close, and a server that stops then ends them with an error. */
async function endAll(pool: pg.Pool): Promise<void> {
  let open = pool.totalCount;
  const closed = new Promise<void>((resolve) => {
    pool.on('remove', () => {
      open -= 1;
      if (open === 0) resolve();
    });
  });
  await pool.end();
  if (open > 0) await closed;
}

async function measurements(redis: Redis, pool: pg.Pool): Promise<Measured[]> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'service-es256-a', alg: 'ES256', use: 'sig' };
  const jwksUri = `${ISSUER}/.well-known/jwks.json`;
  preloadJwks({ keys: [jwk] }, jwksUri);
  const keys = createLocalJWKSet({ keys: [jwk] });
  const now = Math.floor(Date.now() / 1_000);
  const rules = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`/member${at}`, { max: '500' }]));
  const details = [
    { type: 'urn:service:tools:v1', connector: 'crm', tools: ['lookup', 'metered', 'limited', 'offered_*'] },
  ];
  const grantToken = await new SignJWT({
    ...{ sub: 'user_42', client_id: 'ag_1', dev: DEVELOPER, scp: ['tool:crm:write'], jti: 'tok_1' },
    ...{ act: { sub: 'did:web:a' }, authorization_details: details },
  })
    .setProtectedHeader({ alg: 'ES256', kid: jwk.kid, typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setIssuedAt(now)
    .setExpirationTime(now + 36_000)
    .sign(privateKey);
  const pins = await Promise.all(offered.map(pinOfTool));
  const list = async (behest: Behest) => {
    const { tools } = await behest.listTools({ grantToken, connector: 'crm', tools: offered });
    if (tools.length !== offered.length) throw new Error('The list lacks tools.');
  };
  const manifest = {
    connector: 'crm',
    tools: {
      lookup: { permission: 'read' },
      ...Object.fromEntries(
        offered.map(({ name }, at) => [name, { permission: 'read', mcp_pins: [pins[at]] }]),
      ),
      limited: { permission: 'read', arguments: rules },
      metered: { permission: 'read', caps: { per_hour: MOST } },
    },
  };
  const base = { apiKey: null, baseUrl: ISSUER, developerId: DEVELOPER, region: 'eu', manifests: [manifest] };
  const client = (more: Partial<BehestOptions> = {}) => new Behest({ ...base, ...more });
  const ask = (behest: Behest, tool: string, args: object) => async () => {
    const { allowed, reason } = await behest.enforce({ grantToken, connector: 'crm', tool, arguments: args });
    if (!allowed) throw new Error(reason);
  };
  const args = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`member${at}`, at]));

  const listing = client();
  const inPostgres = postgresMeter({ client: pool, epoch: 'e1', timeoutMs: 60_000 });
  await inPostgres.install();
  const inRedis = redisMeter({ client: redis, epoch: 'e1', timeoutMs: 60_000 });
  const verifier = createVerifier({ jwksUri, developerId: DEVELOPER });
  const bareVerify = 'jose jwtVerify, ES256';
  const bareRedis = 'the meter’s command to Redis alone';
  const barePostgres = 'the meter’s function in Postgres alone';
  return [
    { name: bareVerify, call: () => jwtVerify(grantToken, keys, { issuer: ISSUER, typ: 'at+jwt' }) },
    {
      name: 'enforce(), each token verified',
      beside: bareVerify,
      call: ask(client({ rememberedTokens: 0 }), 'lookup', {}),
    },
    { name: 'verify, token remembered', beside: bareVerify, call: () => verifier.verify(grantToken) },
    { name: 'enforce(), token remembered', beside: bareVerify, call: ask(client(), 'lookup', {}) },
    { name: 'enforce(), token remembered, ten argument rules', call: ask(client(), 'limited', args) },
    { name: 'listTools of 100 tools with pins', isLong: true, call: () => list(listing) },
    { name: bareRedis, usesStore: true, call: await bareCommand(redis) },
    {
      name: 'enforce() with the Redis meter',
      beside: bareRedis,
      usesStore: true,
      call: ask(client({ meter: inRedis }), 'metered', {}),
    },
    { name: barePostgres, usesStore: true, call: bareFunction(pool) },
    {
      name: 'enforce() with the Postgres meter',
      beside: barePostgres,
      usesStore: true,
      call: ask(client({ meter: inPostgres }), 'metered', {}),
    },
  ];
}

/** Definitions of some 1,100 characters, as servers have them. */
const offered = Array.from({ length: 100 }, (_, at) => ({
  name: `offered_${at}`,
  description: 'Transfers an amount between two accounts, and answers with the receipt. '.repeat(4),
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 6 }, (_, member) => [
        `member${member}`,
        { type: 'string', description: 'The account from which the amount is taken.', maxLength: 34 },
      ]),
    ),
    required: ['member0', 'member1'],
  },
}));

const bareCounter = { key: 'bare', limit: MOST, units: 1, windowMs: 3_600_000, grainMs: 1_000 };

/** Sends what the meter sends, noted once, with a new call id each time. */
async function bareCommand(redis: Redis): Promise<() => Promise<unknown>> {
  let noted: string[] = [];
  const meter = redisMeter({
    client: async (command) => {
      if (command[0]?.startsWith('EVAL')) noted = command;
      return redis.sendCommand(command);
    },
    epoch: 'e1',
  });
  await meter.reserve('dev_bare', 'first', [bareCounter]);
  await meter.reserve('dev_bare', 'second', [bareCounter]); // the first may have sent the script's text
  const at = noted.findIndex((word) => word.includes('}:r:'));
  const prefix = noted[at]?.replace(/:r:.*/, ':r:') ?? '';
  let count = 0;
  return () => {
    count += 1;
    return redis.sendCommand(noted.with(at, `${prefix}${count}`));
  };
}

function bareFunction(pool: pg.Pool): () => Promise<unknown> {
  const text = 'select caps_reserve($1, $2, $3, $4::jsonb, $5, $6, null) as answer';
  const [fingerprint, counters] = [fingerprintOf([bareCounter]), JSON.stringify([bareCounter])];
  let count = 0;
  return () => {
    count += 1;
    return pool.query(text, ['dev_bare', `call-${count}`, fingerprint, counters, 'e1', true]);
  };
}

interface Cost {
  readonly micros: number;
  /** Calls in a second of the clock. */
  readonly rate: number;
  readonly p99: number;
}

/** Makes calls, some at once. The processor time is that of this process, its threads included, and of no store. */
async function run(call: () => Promise<unknown>, calls: number): Promise<Cost> {
  const times: number[] = [];
  let left = calls;
  const before = process.cpuUsage();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left > 0) {
        left -= 1;
        const begun = performance.now();
        await call();
        times.push(performance.now() - begun);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  const rate = (calls * 1_000) / (performance.now() - started);
  times.sort((one, other) => one - other);
  return { micros: (user + system) / calls, rate, p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}

if (flags.help) say(USAGE);
else await bench();
