import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { JwksClient } from 'jwks-rsa';
import pg from 'pg';
import { isLegacyKeyId } from '../../packages/protocol/src/key-id.ts';
import { createVerifier } from '../../packages/sdk/src/verify.ts';
import { ask } from '../crash/load.ts';
import { type Server, type Stores, startServer } from '../harness/servers.ts';
import { findPython } from '../python/find-python.ts';

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

/** A program that accepts tokens, with the cache that its library has by default. It throws for a bad token. */
interface Acceptor {
  readonly name: string;
  readonly accept: (token: string) => Promise<unknown>;
  /** Ends the process of a program that has one. */
  readonly stop?: () => void;
}

interface Expected {
  readonly issuer: string;
  readonly developerId: string;
  /** The Python with PyJWT, where there is one. */
  readonly python: string | undefined;
}

/** Programs with libraries of others and with our own, which fetch the keys from this instance. */
function acceptorsAt(baseUrl: string, { issuer, developerId, python }: Expected): Acceptor[] {
  const jwksUri = `${baseUrl}/.well-known/jwks.json`;
  const keys = createRemoteJWKSet(new URL(jwksUri));
  const client = new JwksClient({ jwksUri });
  const own = createVerifier({ jwksUri, issuer, developerId, allowSandbox: true });
  return [
    { name: 'jose', accept: (token) => jwtVerify(token, keys, { issuer, algorithms: ['RS256', 'ES256'] }) },
    { name: 'jsonwebtoken with jwks-rsa', accept: (token) => verifyWith(client, token, issuer) },
    { name: 'our SDK', accept: (token) => own.verify(token) },
    ...(python ? [{ name: 'PyJWT', ...startPyJwt(python, { jwksUri, issuer }) }] : []),
  ];
}

function verifyWith(client: JwksClient, token: string, issuer: string): Promise<unknown> {
  const keyOf: jsonwebtoken.GetPublicKeyOrSecret = ({ kid }, done) => {
    client.getSigningKey(kid).then(
      (key) => done(null, key.getPublicKey()),
      (error: Error) => done(error),
    );
  };
  return new Promise((resolve, reject) => {
    jsonwebtoken.verify(token, keyOf, { issuer, algorithms: ['RS256', 'ES256'] }, (error, payload) => {
      if (error) reject(error);
      else resolve(payload);
    });
  });
}

/** Reads a token from each line, and answers with an empty line or with the reason of a refusal. */
const PROGRAM = `
import sys, jwt
client = jwt.PyJWKClient(sys.argv[1])
for line in sys.stdin:
    try:
        token = line.strip()
        key = client.get_signing_key_from_jwt(token).key
        jwt.decode(token, key, algorithms=["RS256", "ES256"], issuer=sys.argv[2], options={"verify_aud": False})
        print("", flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\\n", " "), flush=True)
`;

/** @returns the Python that has PyJWT and its algorithms; undefined where there is none */
const findPyJwt = (): string | undefined => findPython('import jwt, cryptography');

interface ExpectedIssuer {
  readonly jwksUri: string;
  readonly issuer: string;
}

/** A process with PyJWT, and the cache that its `PyJWKClient` has by default. */
function startPyJwt(python: string, { jwksUri, issuer }: ExpectedIssuer) {
  const child = spawn(python, ['-c', PROGRAM, jwksUri, issuer], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: ((reason: string) => void)[] = [];
  const answerAll = (reason: string) => {
    for (const answer of waiting.splice(0)) answer(reason);
  };
  createInterface({ input: child.stdout }).on('line', (reason) => waiting.shift()?.(reason));
  child.once('error', ({ message }) => answerAll(message));
  child.once('exit', () => answerAll('The process with PyJWT has ended.'));
  child.stdin.on('error', () => {}); // a process that has ended, which `exit` tells
  return {
    /** @throws Error with the reason for a token that PyJWT refuses */
    async accept(token: string): Promise<void> {
      const reason = await new Promise<string>((resolve) => {
        if (child.exitCode !== null) return resolve('The process with PyJWT has ended.');
        waiting.push(resolve);
        child.stdin.write(`${token}\n`);
      });
      if (reason !== '') throw new Error(reason);
    },
    stop: () => void child.kill(),
  };
}
