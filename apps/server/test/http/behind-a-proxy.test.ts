import { once } from 'node:events';
import http from 'node:http';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { grantTo, startSandbox } from '../app/flow.ts';
import { startListening } from '../app/listening.ts';
import { newDatabase } from '../app/start-app.ts';
import { startHere } from '../servers/start-here.ts';
import { freePort, redisUrl, startServer } from '../servers/start-server.ts';

const portOf = (url: string) => Number(new URL(url).port);

describe('three instances behind one proxy, on one database and one Redis', () => {
  test.runIf(process.platform === 'linux')(
    'I10 count together, by the address that the proxy saw',
    async () => {
      const env = { TRUST_PROXY: '1', RATE_LIMIT_SIGNUP: '6' };
      const services = [
        await startListening({ env }),
        await startListening({ env }),
        await startListening({ env }),
      ];
      const { port, took } = await startRoundRobin(services.map(({ url }) => portOf(url)));
      const own = () => `127.${Math.ceil(Math.random() * 250)}.${Math.ceil(Math.random() * 250)}.7`;
      const [one, other] = [own(), own()];
      const signUp = (localAddress: string, index: number) =>
        ask({
          ...{ port, method: 'POST', path: '/v1/signup', body: { name: 'Acme' }, localAddress },
          headers: { 'x-forwarded-for': `192.0.2.${index}` }, // an address that the client made up
        });

      const statuses = [];
      for (let index = 0; index < 9; index += 1) statuses.push((await signUp(one, index)).status);

      expect(statuses).toEqual([...Array(6).fill(201), ...Array(3).fill(429)]);
      expect([...took.values()]).toEqual([3, 3, 3]);
      expect((await signUp(other, 0)).status).toBe(201);
    },
  );

  test('refuse a revoked token at once, each of them', async () => {
    const { acme, settings } = await startSandbox();
    const env = { PUBLIC_BASE_URL: settings.http.publicBaseUrl }; // one service, by one name
    const services = [
      await startListening({ env }),
      await startListening({ env }),
      await startListening({ env }),
    ];
    const { port, took } = await startRoundRobin(services.map(({ url }) => portOf(url)));
    const { grantId, grantToken: token } = await grantTo(acme);
    const headers = { authorization: `Bearer ${acme.apiKey}` };
    const verify = () => ask({ port, method: 'POST', path: '/v1/tokens/verify', body: { token }, headers });
    const thrice = async () =>
      [await verify(), await verify(), await verify()].map(({ body }) => JSON.parse(body).valid);

    expect(await thrice()).toEqual([true, true, true]);
    expect((await ask({ port, method: 'DELETE', path: `/v1/grants/${grantId}`, headers })).status).toBe(204);
    expect(await thrice()).toEqual([false, false, false]);
    expect(Math.min(...took.values())).toBeGreaterThan(1);
  });
});

test('an instance that is killed under load loses only the requests that it was answering', async () => {
  const settings = {
    NODE_ENV: 'test',
    DATABASE_URL: await newDatabase(),
    REDIS_URL: redisUrl(),
    RSA_PRIVATE_KEY: inject('rsaKey'),
    HOST: '127.0.0.1',
    TRUST_PROXY: '1',
    RATE_LIMIT_SIGNUP: '100000',
    RATE_LIMIT_SIGNUP_HOURLY: '100000',
  };
  const ports = [await freePort(), await freePort()];
  const victim = startServer({ ...settings, PORT: String(ports[0]) });
  await Promise.all([victim.ready(), startHere({ ...settings, PORT: String(ports[1]) }).ready()]);
  const { port, took } = await startRoundRobin(ports);
  const signUp = () => ask({ port, method: 'POST', path: '/v1/signup', body: { name: 'Acme' } });

  const underWay = Array.from({ length: 40 }, signUp);
  await Promise.race(underWay); // so that both are at work
  victim.child.kill('SIGKILL');
  const during = await Promise.all(underWay);
  await victim.exited;
  const after = await Promise.all(Array.from({ length: 40 }, signUp));

  const lost = during.filter(({ status }) => status !== 201);
  expect(lost.map(({ status, body }) => [status, body])).toEqual(lost.map(() => [502, String(ports[0])]));
  expect(lost.length).toBeLessThanOrEqual(20);
  expect(after.map(({ status }) => status)).toEqual(Array(40).fill(201));
  expect(took.get(ports[1] ?? 0)).toBeGreaterThanOrEqual(60);
});

interface Asked {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: object;
  /** The address of this machine that the request comes from. */
  readonly localAddress?: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: http.IncomingHttpHeaders;
}

/** Sends a request on a connection of its own. */
async function ask({ port, method = 'GET', path, headers, body, localAddress = '127.0.0.1' }: Asked) {
  const text = body && JSON.stringify(body);
  const request = http.request({
    ...{ host: '127.0.0.1', port, method, path, localAddress, agent: false },
    headers: { ...headers, ...(text && { 'content-type': 'application/json' }) },
  });
  request.end(text);
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response ?? []) chunks.push(chunk);
  const answer: Answer = {
    status: response?.statusCode ?? 0,
    body: Buffer.concat(chunks).toString(),
    headers: response?.headers ?? {},
  };
  return answer;
}

/**
 * A proxy that tries these ports in turn. It appends the client's address to `X-Forwarded-For`, goes to the
 * next port where nobody listens, and answers 502 for a lost request. @returns its port, and the port that
 * each request reached
 */
async function startRoundRobin(ports: readonly number[]) {
  const took = new Map(ports.map((port) => [port, 0]));
  let turn = 0;
  const forward = (
    from: http.IncomingMessage,
    to: http.ServerResponse,
    body: Buffer,
    at: number,
    tries: number,
  ): void => {
    const port = ports[at % ports.length] ?? 0;
    const seen = from.socket.remoteAddress;
    const before = from.headers['x-forwarded-for'];
    const headers = { ...from.headers, 'x-forwarded-for': before ? `${before}, ${seen}` : seen };
    const options = { host: '127.0.0.1', port, method: from.method, path: from.url, headers, agent: false };
    const onward = http.request(options, (answer) => {
      took.set(port, (took.get(port) ?? 0) + 1);
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => to.destroy()).pipe(to);
    });
    onward.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && tries > 1) return forward(from, to, body, at + 1, tries - 1);
      to.writeHead(502).end(String(port));
    });
    onward.end(body);
  };
  const proxy = http.createServer(async (from, to) => {
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk);
    forward(from, to, Buffer.concat(chunks), turn++, ports.length);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  return { port: typeof address === 'object' && address ? address.port : 0, took };
}
