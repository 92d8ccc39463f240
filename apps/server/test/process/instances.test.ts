import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { authorize, grantTo, refusalOf, registerAgent, startSandbox } from '../app/flow.ts';
import { startReceiver } from '../app/receiving.ts';
import { startApp } from '../app/start-app.ts';
import { startHere } from '../servers/start-here.ts';
import { freePort, goodSettings, startServer } from '../servers/start-server.ts';

/** Two instances of the service over one database and one Redis, and a developer who knows both. */
async function startTwo() {
  const first = await startSandbox();
  const second = await startApp();
  return { here: first.acme, there: second.calling(first.acme.apiKey), first, second };
}

const algOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).alg;

describe('two instances over one database and one Redis', () => {
  test('agree on a grant from its request to its end, through either instance', async () => {
    const { here, there } = await startTwo();
    const { agentId } = await registerAgent(here);
    const { code } = await authorize(here, agentId);

    const {
      grantToken: token,
      refreshToken,
      grantId,
    } = (await there('POST', '/v1/token', { code, agentId })).json();
    const again = await here('POST', '/v1/token', { code, agentId });
    const verified = await here('POST', '/v1/tokens/verify', { token });
    const refreshed = await here('POST', '/v1/token/refresh', { refreshToken, agentId });
    const { grantToken: later } = refreshed.json();

    expect(refusalOf(again)).toBe('400 INVALID_GRANT code_used');
    expect(verified.json()).toMatchObject({ valid: true, grantId });
    expect((await there('POST', '/v1/tokens/verify', { token: later })).json()).toMatchObject({
      valid: true,
    });
    expect((await there('DELETE', `/v1/grants/${grantId}`)).statusCode).toBe(204);
    for (const each of [token, later]) {
      const gone = { valid: false, reason: 'revoked' };
      expect((await here('POST', '/v1/tokens/verify', { token: each })).json()).toEqual(gone);
      expect((await there('POST', '/v1/tokens/verify', { token: each })).json()).toEqual(gone);
    }
    const spent = await here('POST', '/v1/token/refresh', {
      refreshToken: refreshed.json().refreshToken,
      agentId,
    });
    expect(refusalOf(spent)).toBe('400 INVALID_GRANT grant_revoked');
  });

  test('publish the same keys', async () => {
    const { first, second } = await startTwo();

    const [one, other] = [
      await first.app.inject('/.well-known/jwks.json'),
      await second.app.inject('/.well-known/jwks.json'),
    ];

    expect(one.body).toBe(other.body);
    expect(one.headers.etag).toBe(other.headers.etag);
  });

  test('each change to a new key in their own time, and verify the other’s tokens meanwhile', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const env = {
      EC_PRIVATE_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      JWT_SIGNING_ALG: 'ES256',
      SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '900',
    };
    const { acme, service: early } = await startSandbox({ env });
    const late = await startApp({ env, startsAt: '2026-01-01T00:10:00Z' });
    early.advance(600);
    const sides = [acme, Object.assign(late.calling(acme.apiKey), acme)];

    const signedAfter: string[][] = [];
    for (const seconds of [0, 301, 600]) {
      for (const service of [early, late]) service.advance(seconds);
      const tokens = await Promise.all(sides.map(async (side) => (await grantTo(side)).grantToken));
      signedAfter.push(tokens.map(algOf));
      for (const side of sides) {
        const verdicts = tokens.map(async (token) =>
          (await side('POST', '/v1/tokens/verify', { token })).json(),
        );
        expect((await Promise.all(verdicts)).map(({ valid }) => valid)).toEqual([true, true]);
      }
    }

    expect(signedAfter).toEqual([
      ['RS256', 'RS256'],
      ['ES256', 'RS256'],
      ['ES256', 'ES256'],
    ]);
  });

  test('O2 give one grant for a code that comes to both at once, thirty times each', async () => {
    const { here, there } = await startTwo();
    const { agentId } = await registerAgent(here);
    const { code } = await authorize(here, agentId);
    const body = { code, agentId };

    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, each) => (each % 2 ? here : there)('POST', '/v1/token', body)),
    );

    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
    expect((await here('GET', '/v1/grants')).json().grants).toHaveLength(1);
  });

  test('R2 give one successor for a refresh token that comes to both at once', async () => {
    const { here, there } = await startTwo();
    const { agentId, refreshToken } = await grantTo(here);
    const body = { refreshToken, agentId };

    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, each) => (each % 2 ? here : there)('POST', '/v1/token/refresh', body)),
    );

    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
  });

  test('never verify a token at one instance after its revocation at the other', async () => {
    const { here, there } = await startTwo();

    for (let round = 0; round < 25; round += 1) {
      const { grantToken: token, grantId } = await grantTo(here);
      const during = Array.from({ length: 4 }, () => here('POST', '/v1/tokens/verify', { token }));
      await there('DELETE', `/v1/grants/${grantId}`);
      const after = await Promise.all(
        Array.from({ length: 4 }, () => here('POST', '/v1/tokens/verify', { token })),
      );
      await Promise.all(during);

      expect(after.map((answer) => answer.json().valid)).toEqual([false, false, false, false]);
    }
  });
});

vi.setConfig({ testTimeout: 120_000 }); // a process takes seconds to start on a busy machine
const PATIENCE = { timeout: 20_000, interval: 50 }; // less than the 30 seconds of the poll

test('two processes deliver each event once, right after the commit, and a new process delivers the rest', async () => {
  const { settings, url } = await goodSettings();
  const allowing = {
    ...settings,
    VAULT_ENCRYPTION_KEY: 'a1'.repeat(32),
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
  };
  const port = String(await freePort());
  const [one, other] = [startServer(allowing), startHere({ ...allowing, PORT: port })];
  await Promise.all([one.ready(), other.ready()]);
  const receiver = await startReceiver();
  const idsReceived = () => receiver.received.map(({ headers }) => headers['webhook-id']);

  let apiKey = '';
  const post = async (base: string, path: string, body: object) => {
    const headers = {
      'content-type': 'application/json',
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    };
    const answer = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(answer.ok).toBe(true);
    return Object(await answer.json());
  };
  ({ apiKey } = await post(url, '/v1/signup', { name: 'Acme', mode: 'sandbox' }));
  await post(url, '/v1/webhooks', { url: receiver.url, events: ['agent.created'] });
  const bases = [url, `http://127.0.0.1:${port}`];

  for (let at = 0; at < 10; at += 1)
    await post(String(bases[at % 2]), '/v1/agents', { name: 'Travel booker' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(10), PATIENCE);
  expect(new Set(idsReceived()).size).toBe(10);

  // Only the process that is killed during the delivery could send it.
  other.signal();
  expect((await other.exited).code).toBe(0);
  receiver.answer(() => {});
  await post(url, '/v1/agents', { name: 'Travel booker' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(11), PATIENCE);
  one.child.kill('SIGKILL');
  await once(one.child, 'exit');
  receiver.answerStatus(204);

  const next = startHere(allowing);
  await next.ready();
  await post(url, '/v1/agents', { name: 'Travel booker' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(12), PATIENCE);
  expect(new Set(idsReceived()).size).toBe(12); // the interrupted delivery waits for the end of its lease
});

describe('PROCESSES=2', () => {
  /** Each answer names the process that made it. */
  const naming = `import('node:diagnostics_channel').then(({ subscribe }) =>
    subscribe('http.server.request.start', ({ response }) => response.setHeader('x-process', process.pid)))`;

  async function startBoth(env: Readonly<Record<string, string>> = {}) {
    const { settings, url } = await goodSettings();
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(naming)}`;
    const server = startServer({
      ...settings,
      NODE_OPTIONS,
      PROCESSES: '2',
      RATE_LIMIT_DEFAULT: '1000000',
      ...env,
    });
    const hasLogged = (msg: string) =>
      vi.waitFor(() => expect(server.lines.map((line) => line.msg)).toContain(msg), {
        timeout: 60_000,
        interval: 50,
      });
    await server.ready();
    await hasLogged('all processes listen');
    return { server, url, hasLogged };
  }

  /** Asks over a new connection, unless an agent has one. */
  function ask(url: string, agent?: Agent) {
    const { promise, resolve, reject } = Promise.withResolvers<{
      status?: number;
      pid: number;
      text: string;
    }>();
    get(url, { agent: agent ?? false, timeout: 5000 }, async (answer) => {
      const text = (await answer.setEncoding('utf8').toArray()).join('');
      resolve({ status: answer.statusCode ?? 0, pid: Number(answer.headers['x-process']), text });
    })
      .on('timeout', () => reject(new Error('no answer')))
      .on('error', reject);
    return promise;
  }

  async function pidsAt(url: string) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(`${url}/livez`)));
    return new Set(answers.map(({ pid }) => pid));
  }

  test('serves one port by two processes, and a scrape of either shows the sum', async () => {
    const { server, url } = await startBoth();

    const pids = await pidsAt(url);
    const scrapes = [await ask(`${url}/metrics`), await ask(`${url}/metrics`)];

    expect(pids.size).toBe(2);
    expect(pids).not.toContain(server.child.pid);
    expect(new Set(scrapes.map(({ pid }) => pid)).size).toBe(2);
    for (const { text } of scrapes) {
      const counted = /^http_request_duration_seconds_count\{.*route="\/livez".*\} (\d+)$/m.exec(text);
      expect(counted?.[1]).toBe('8');
      expect(text).toMatch(/^redis_up 1$/m);
    }
  });

  test('replaces a process that is killed', async () => {
    const { server, url } = await startBoth();
    const [killed = 0, other = 0] = await pidsAt(url);

    process.kill(killed, 'SIGKILL');

    await vi.waitFor(async () => {
      const found = await pidsAt(url);
      expect([found.size, found.has(killed), found.has(other)]).toEqual([2, false, true]);
    }, PATIENCE);
    expect(server.lines.find(({ level }) => level === 'error')).toMatchObject({
      msg: 'a process ended, and is replaced',
      pid: killed,
      signal: 'SIGKILL',
    });
  });

  test('SIGHUP replaces both under load without a lost request, and SIGTERM ends all', async () => {
    const { server, url, hasLogged } = await startBoth();
    const before = await pidsAt(url);
    let isLoaded = true;
    const clients = Array.from({ length: 16 }, async (_, at) => {
      const agent = new Agent({ keepAlive: at % 2 === 0, maxSockets: 1 });
      const answers: string[] = [];
      while (isLoaded)
        answers.push(await ask(`${url}/livez`, agent).then(({ status }) => `${status}`, String));
      agent.destroy();
      return answers;
    });

    server.child.kill('SIGHUP');
    await hasLogged('all processes are replaced');
    isLoaded = false;
    const answers = (await Promise.all(clients)).flat();
    const after = await pidsAt(url);
    server.child.kill('SIGTERM');
    const { code, lines } = await server.exited;

    expect(new Set(answers)).toEqual(new Set(['200']));
    expect([after.size, after.isDisjointFrom(before)]).toEqual([2, true]);
    expect(code).toBe(0);
    expect(lines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
    for (const pid of [...before, ...after]) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('SIGHUP leaves both as they are when no new process can start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'processes-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'token');
    writeFileSync(file, 'a-token-of-the-operator');
    const { server, url, hasLogged } = await startBoth({ METRICS_TOKEN_FILE: file });
    const before = await pidsAt(url);
    rmSync(file);

    server.child.kill('SIGHUP');
    await hasLogged('a new process did not start: the restart is given up');

    expect(server.lines).toContainEqual(
      expect.objectContaining({ level: 'fatal', msg: 'METRICS_TOKEN_FILE cannot be read' }),
    );
    expect(await pidsAt(url)).toEqual(before);
  });

  test.each([
    ['a setting is wrong', { PORT: 'http' }, 'PORT must be an integer between 1 and 65535'],
    [
      'there is no Redis to share',
      { REDIS_URL: 'memory:' },
      'PROCESSES above 1 needs a Redis: REDIS_URL=memory: counts in one process only',
    ],
    ['the number is none', { PROCESSES: '0' }, 'PROCESSES must be auto or an integer between 1 and 64'],
  ])('ends with one message when %s', async (_, wrong, message) => {
    const { settings } = await goodSettings();

    const { code, lines } = await startServer({ ...settings, PROCESSES: '2', ...wrong }).exited;

    expect(code).toBe(1);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([['fatal', message]]);
  });
});
