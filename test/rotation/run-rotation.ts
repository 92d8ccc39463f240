import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import pg from 'pg';
import { isLegacyKeyId } from '../../packages/protocol/src/key-id.ts';
import { ask } from '../crash/load.ts';
import { type Server, type Stores, startServer } from '../harness/servers.ts';
import { type Acceptor, acceptorsAt, findPyJwt } from './verifiers.ts';

interface RotationOptions extends Omit<Stores, 'stop'> {
  readonly folder: string;
  readonly seconds: number;
  readonly everySeconds: number;
  readonly say?: (text: string) => void;
}

interface RotationOutcome {
  readonly rotations: number;
  readonly signingKeys: number;
  readonly tokens: number;
  /** Checks that passed, by the program that made them. */
  readonly accepted: Readonly<Record<string, number>>;
  /** Good tokens that a program refused, failed requests, and tokens of a key that was not to sign. */
  readonly faults: readonly string[];
}

const INSTANCES = 3;
const CLIENTS = 4;
/** Longer than the pause of jose (30 s) between two fetches for key ids that it does not know. */
const DELAY_SECONDS = 40;
const TOKEN_SECONDS = 60;
const ADMIN_API_KEY = randomBytes(32).toString('base64url');
const ISSUER = 'http://auth.test';
const WITHOUT_PYJWT =
  'PyJWT is not among the programs: no Python here has it with cryptography. BEHEST_PYTHON may name one.';

/** A token that lives, and the accounts that may check it. */
interface Issued extends Signed {
  readonly token: string;
  readonly endsAt: number;
}

/** Rotates the signing key of three instances again and again while clients get tokens and programs check them. */
export async function rotateUnderLoad(options: RotationOptions): Promise<RotationOutcome> {
  const { seconds, everySeconds, databaseUrl, say = () => {} } = options;
  const servers: Server[] = [];
  const acceptors: Acceptor[] = [];
  const db = new pg.Client(databaseUrl);
  await db.connect();
  try {
    // All at once: they share the work of an empty store.
    const starting = Array.from({ length: INSTANCES }, (_, at) => startInstance(options, at));
    for (const started of starting) servers.push(await started);
    const urls = servers.map(({ port }) => `http://127.0.0.1:${port}`);
    const [first = ''] = urls;
    const signedUp = await ask({ baseUrl: first, apiKey: 'none' }, 'POST', '/v1/signup', {
      name: 'Acme',
      mode: 'sandbox',
    });
    const { apiKey, developerId } = Object(signedUp?.body);
    const python = findPyJwt();
    if (!python) say(WITHOUT_PYJWT);
    acceptors.push(...urls.flatMap((url) => acceptorsAt(url, { issuer: ISSUER, developerId, python })));
    const world: World = {
      urls,
      apiKey: String(apiKey),
      acceptors,
      accepted: {},
      faults: [],
      issued: [],
    };

    const ending = AbortSignal.timeout(seconds * 1000);
    const clients = Array.from({ length: CLIENTS }, () => work(world, ending));
    const rotations = await rotate(world, everySeconds, ending, say);
    await Promise.all(clients);

    const { rows } = await db.query<PublishedKey>(
      `select kid, published_at as "publishedAt" from signing_keys where alg = 'ES256' order by published_at`,
    );
    for (const token of world.issued) {
      if (!isOfItsTime(token, rows, DELAY_SECONDS))
        fault(world, `${token.kid} signed when another key was to sign`);
    }
    const signingKeys = new Set(world.issued.map(({ kid }) => kid)).size;
    const { accepted, faults } = world;
    return { rotations, signingKeys, tokens: world.issued.length, accepted, faults };
  } finally {
    for (const { stop } of acceptors) stop?.();
    await Promise.all(servers.map(({ stop }) => stop()));
    await db.end();
  }
}

interface World {
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly acceptors: readonly Acceptor[];
  readonly accepted: Record<string, number>;
  readonly faults: string[];
  readonly issued: Issued[];
}

const fault = ({ faults }: World, text: string) => void faults.push(`${new Date().toISOString()} ${text}`);

const EC_PRIVATE_KEY = String(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
);

function startInstance({ folder, databaseUrl, redisUrl }: RotationOptions, at: number): Promise<Server> {
  const env = {
    ADMIN_API_KEY,
    EC_PRIVATE_KEY,
    PUBLIC_BASE_URL: ISSUER, // one service, so one issuer
    JWT_SIGNING_ALG: 'ES256',
    SIGNING_KEY_STORE: 'postgres',
    SIGNING_KEY_ACTIVATION_DELAY_SECONDS: String(DELAY_SECONDS),
    MAX_GRANT_LIFETIME_SECONDS: String(TOKEN_SECONDS),
    SIGNING_KEY_RETIRED_GRACE_SECONDS: String(TOKEN_SECONDS), // the shortest that the service takes
    RATE_LIMIT_ADMIN: '1000',
  };
  return startServer({ databaseUrl, redisUrl }, { folder: join(folder, String(at)), env });
}

const anyOf = <T>(items: readonly T[]): T | undefined => items[randomInt(Math.max(items.length, 1))];

/** @returns the number of rotations */
async function rotate(
  world: World,
  everySeconds: number,
  ending: AbortSignal,
  say: (text: string) => void,
): Promise<number> {
  let rotations = 0;
  while (!ending.aborted) {
    const operator = { baseUrl: anyOf(world.urls) ?? '', apiKey: ADMIN_API_KEY };
    const answer = await ask(operator, 'POST', '/v1/admin/keys/rotate', {});
    if (answer?.status === 200) rotations += 1;
    else fault(world, `a rotation was answered ${answer?.status}`);
    say(`${rotations} rotations, ${world.issued.length} tokens, ${world.faults.length} faults`);
    await pause(everySeconds * 1000, undefined, { signal: ending }).catch(() => {});
  }
  return rotations;
}

/** One client: gets a token from any instance, and shows it and an older one to every program. */
async function work(world: World, ending: AbortSignal): Promise<void> {
  const agent = await askAny(world, '/v1/agents', { name: 'Booker' });
  while (!ending.aborted) {
    const issued = await issue(world, String(agent?.agentId));
    if (issued) world.issued.push(issued);
    const soon = Date.now() + 3000; // a token that ends while it is shown would be refused rightly
    const older = anyOf(world.issued.slice(-500).filter(({ endsAt }) => endsAt > soon));
    for (const { token, kid } of [issued, older].filter((one) => one !== undefined)) {
      await Promise.all(world.acceptors.map((acceptor) => show(world, acceptor, token, kid)));
      const verdict = await askAny(world, '/v1/tokens/verify', { token });
      if (verdict?.valid === true) count(world, 'an instance');
      else fault(world, `an instance refused a token of ${kid}: ${JSON.stringify(verdict)}`);
    }
  }
}

const count = ({ accepted }: World, name: string) => {
  accepted[name] = (accepted[name] ?? 0) + 1;
};

async function show(world: World, { name, accept }: Acceptor, token: string, kid: string): Promise<void> {
  try {
    await accept(token);
    count(world, name);
  } catch (error) {
    fault(world, `${name} refused a token of ${kid}: ${error}`);
  }
}

async function issue(world: World, agentId: string): Promise<Issued | undefined> {
  const asked = {
    agentId,
    principalId: 'user_42',
    scopes: ['calendar:read'],
    expiresIn: `${TOKEN_SECONDS}s`,
  };
  const request = await askAny(world, '/v1/authorize', asked);
  const answer = await askAny(world, '/v1/token', { code: request?.code, agentId });
  if (answer?.grantToken === undefined) return undefined;
  const token = String(answer.grantToken);
  const { iat = 0, exp = 0 } = decodeJwt(token);
  const { kid = '' } = decodeProtectedHeader(token);
  return { token, kid, from: iat * 1000, to: Date.now(), endsAt: exp * 1000 };
}

/** Sends a request to any instance. @returns the answer's body, or undefined after a fault */
async function askAny(world: World, path: string, body: object) {
  const account = { baseUrl: anyOf(world.urls) ?? '', apiKey: world.apiKey };
  const answer = await ask(account, 'POST', path, body);
  if (answer && answer.status < 300) return answer.body;
  fault(world, `${path} was answered ${answer?.status} ${JSON.stringify(answer?.body)}`);
  return undefined;
}

/** A key of the algorithm that signs, as its row tells it. */
interface PublishedKey {
  readonly kid: string;
  readonly publishedAt: Date;
}

/** A token, and the time in which it was signed: from the second of its `iat` to its arrival. */
interface Signed {
  readonly kid: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Whether a token names the one key that may have signed it. A key signs from the end of its delay to the end of that of
 * the next; before the first, the legacy key signs.
 * @param keys in the order of their publication
 */
export function isOfItsTime(
  { kid, from, to }: Signed,
  keys: readonly PublishedKey[],
  delaySeconds: number,
): boolean {
  const starts = keys.map(({ publishedAt }) => publishedAt.getTime() + delaySeconds * 1000);
  if (isLegacyKeyId(kid)) return from < (starts[0] ?? Number.POSITIVE_INFINITY);
  const at = keys.findIndex((key) => key.kid === kid);
  const [start, end] = [starts[at] ?? Number.POSITIVE_INFINITY, starts[at + 1] ?? Number.POSITIVE_INFINITY];
  return start <= to && from < end;
}
