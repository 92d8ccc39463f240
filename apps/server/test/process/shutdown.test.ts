import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startReceiver } from '../app/receiving.ts';
import { follow, open } from '../app/streams.ts';
import { holdTable } from '../servers/postgres.ts';
import { startHere } from '../servers/start-here.ts';
import { goodSettings, startServer } from '../servers/start-server.ts';

vi.setConfig({ testTimeout: 120_000 }); // a process takes seconds to start on a busy machine

/** A program whose fault shows on SIGUSR2. */
const faulty = (fault: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => ${fault})`)}`,
});

async function running(env: Readonly<Record<string, string>> = {}) {
  const { settings, url } = await goodSettings();
  const server = startServer({ ...settings, ...env });
  await server.ready();
  return { server, settings, url };
}

/** The same in this process, for promises that are not about the process itself. */
async function runningHere(env: Readonly<Record<string, string>> = {}) {
  const { settings, url } = await goodSettings();
  const server = startHere({ ...settings, ...env });
  await server.ready();
  return { server, settings, url };
}

/** Adds a request that the service has accepted and cannot answer before `release`. */
async function withRequestInFlight<T extends Awaited<ReturnType<typeof running | typeof runningHere>>>(
  service: T,
) {
  const { isAwaited, release } = await holdTable(service.settings.DATABASE_URL, 'api_key_index');
  const answer = signUp(service.url, new Agent()).catch((error: Error) => error);
  await isAwaited();
  return { ...service, answer, release };
}

test('SIGINT lets accepted requests finish, and accepts no new request', async () => {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const { server, url, settings, answer, release } = await withRequestInFlight(await running());
  await ask(`${url}/livez`, agent); // leaves an open connection

  server.child.kill('SIGINT');
  await isRefused(Number(settings.PORT));
  const health = await ask(`${url}/health`, agent);
  await release();

  expect(health).toMatchObject({ status: 503, body: '{"status":"degraded","failing":[]}', isReused: true });
  expect(health.connection).toBe('close');
  expect(await answer).toMatchObject({ status: 201, connection: 'close' });
  const { code, lines } = await server.exited;
  expect(code).toBe(0);
  expect(lines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
});

test('SIGTERM under load fails no accepted request, and does the work of every answered request', async () => {
  const { server, url, settings } = await running();
  const clients = Array.from({ length: 40 }, () => keepSigningUp(url));
  const warm = clients.map(({ hasAnswer }) => hasAnswer);
  await Promise.all(warm);

  server.child.kill('SIGTERM');
  const outcomes = await Promise.all(clients.map(({ outcome }) => outcome));

  expect((await server.exited).code).toBe(0);
  expect(outcomes.flatMap(({ failures }) => failures)).toEqual([]);
  const answers = outcomes.reduce((sum, { answers }) => sum + answers, 0);
  expect(answers).toBeGreaterThan(40);
  expect(await countDevelopers(settings.DATABASE_URL)).toBe(answers);
});

test('a stop ends live streams with a last frame, even a stream that nobody reads, and does not wait for them', async () => {
  const { server, url } = await runningHere();
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const { apiKey } = JSON.parse((await signUp(url, agent)).body);
  const [stream, idle] = [await follow({ url, apiKey }), await open({ url, apiKey })];

  server.signal();

  expect(await stream.ended).toBe('ended');
  expect(stream.comments()).toEqual(['keepalive', 'closing']);
  const { code, lines } = await server.exited;
  expect(code).toBe(0);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  idle.destroy();
});

test('a stop waits for the running job', async () => {
  const { settings } = await goodSettings();
  const { isAwaited, release } = await holdTable(settings.DATABASE_URL, 'auth_requests');
  const server = startHere(settings);
  await server.ready();
  await isAwaited();

  server.signal();
  await isRefused(Number(settings.PORT));
  const early = await Promise.race([server.exited, Promise.resolve('still running')]);
  await release();

  expect(early).toBe('still running');
  const { code, lines } = await server.exited;
  expect(code).toBe(0);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a stop waits for the webhook that is under way, as long as it may', async () => {
  const receiver = await startReceiver();
  const asked = Promise.withResolvers<void>();
  receiver.answer(() => asked.resolve()); // and answers nothing
  const { server, url } = await runningHere({
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
    SHUTDOWN_TIMEOUT_SECONDS: '2',
  });
  const { apiKey } = await post(url, '/v1/signup', { name: 'Acme', mode: 'sandbox' });
  await post(url, '/v1/webhooks', { url: receiver.url, events: ['agent.created'] }, apiKey);
  await post(url, '/v1/agents', { name: 'Travel booker' }, apiKey);
  await asked.promise;

  server.signal();

  const { code, lines } = await server.exited;
  expect(code).toBe(1);
  expect(lines.at(-1)).toMatchObject({ level: 'error', phase: 'jobs' });
});

describe('a service that cannot wait ends with code 1', () => {
  test('when the time for the stop is over', async () => {
    const { server, release } = await withRequestInFlight(
      await runningHere({ SHUTDOWN_TIMEOUT_SECONDS: '1' }),
    );

    server.signal();
    const { code, lines } = await server.exited;
    await release();

    expect(code).toBe(1);
    expect(lines.at(-1)).toMatchObject({
      level: 'error',
      phase: 'requests',
      msg: 'not stopped within 1 seconds: ended as it was',
    });
  });

  test('at once on the second signal', async () => {
    const { server, settings, release } = await withRequestInFlight(await runningHere());

    server.signal();
    await isRefused(Number(settings.PORT));
    server.signal();
    const { code } = await server.exited;
    await release();

    expect(code).toBe(1);
  });
});

test.each([
  ['an uncaught exception', "{ throw new Error('boom') }"],
  ['an unhandled rejection', "Promise.reject(new Error('boom'))"],
])('%s logs one fatal line, lets accepted requests finish, and ends with code 1', async (_, fault) => {
  const { server, answer, release, settings } = await withRequestInFlight(await running(faulty(fault)));

  server.child.kill('SIGUSR2');
  await isRefused(Number(settings.PORT));
  await release();

  expect(await answer).toMatchObject({ status: 201 });
  const { code, lines } = await server.exited;
  expect(code).toBe(1);
  expect(lines.filter(({ level }) => level === 'fatal')).toEqual([
    expect.objectContaining({ msg: 'unforeseen failure', err: expect.objectContaining({ message: 'boom' }) }),
  ]);
});

test('SIGTERM during start-up ends the server at once with code 0, before it listens', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { settings } = await goodSettings();
  const server = startServer({ ...settings, DATABASE_URL: `postgres://x@127.0.0.1:${port}/x` });
  const [socket] = await once(silent, 'connection');
  onTestFinished(() => void socket.destroy());

  server.child.kill('SIGTERM');

  const { code, lines } = await server.exited;
  expect(code).toBe(0);
  expect(lines.map(({ msg }) => msg)).not.toContain('ready');
});

test('a stop succeeds while Redis is away', async () => {
  const { server } = await runningHere({ REDIS_URL: 'redis://127.0.0.1:1' });

  server.signal();

  expect((await server.exited).code).toBe(0);
});

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: string;
  /** Whether the request reused an open connection. */
  readonly isReused: boolean;
}

function ask(url: string, agent: Agent, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request(url, { agent, ...(body && { method: 'POST', headers }) });
    const failed = (error: NodeJS.ErrnoException) =>
      reject(new Error(`${error.code} ${asked.reusedSocket ? 'on an open connection' : 'connecting'}`));
    asked.on('error', failed);
    asked.on('response', (response: IncomingMessage) => {
      const { statusCode: status, headers } = response;
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', failed);
      response.on('end', () =>
        resolve({ status, connection: headers.connection, body: text, isReused: asked.reusedSocket }),
      );
    });
    asked.end(body && JSON.stringify(body));
  });
}

const signUp = (url: string, agent: Agent) => ask(`${url}/v1/signup`, agent, { name: 'Acme' });

/** A client on one connection. It sends requests one by one until an answer closes the connection. */
function keepSigningUp(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let tellOfAnswer = () => {};
  const hasAnswer = new Promise<void>((resolve) => {
    tellOfAnswer = resolve;
  });
  const outcome = (async () => {
    const failures: string[] = [];
    for (let answers = 0; ; ) {
      try {
        const { status, connection } = await signUp(url, agent);
        if (status === 201) answers += 1;
        else failures.push(`status ${status}`);
        tellOfAnswer();
        if (connection === 'close') return { answers, failures };
      } catch (error) {
        failures.push(String(error));
        tellOfAnswer();
        return { answers, failures };
      }
    }
  })();
  return { hasAnswer, outcome };
}

/** Resolves when the port refuses connections, a moment after the signal. */
async function isRefused(port: number): Promise<void> {
  for (let isOpen = true; isOpen; ) {
    const socket = connect(port, '127.0.0.1');
    isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
  }
}

async function post(url: string, path: string, body: object, apiKey?: string) {
  const authorization = apiKey && { authorization: `Bearer ${apiKey}` };
  const headers = { 'content-type': 'application/json', ...authorization };
  return Object(
    await (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json(),
  );
}

async function countDevelopers(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select count(*)::int as count from developers');
  await client.end();
  return rows[0].count;
}
