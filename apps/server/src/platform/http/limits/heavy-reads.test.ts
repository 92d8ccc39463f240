import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { addErrorHandler } from '../answers/error-handler.ts';
import { bodyOf } from '../answers/send.ts';
import { addHeavyReads, pauseOf } from './heavy-reads.ts';

const declared = { access: 'developer', role: 'runtime', rate: 'default', failures: [] } as const;

/**
 * Routes `/heavy`, which reads in parts, and `/light`. Each part waits until the test lets it go on. A request names its
 * developer, and perhaps its session, in headers.
 */
async function startReading(poolMax = 10) {
  const app = Fastify();
  onTestFinished(() => app.close());
  const parts: { developer: string; goOn: () => void }[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  const part = (developer: string) =>
    new Promise<void>((resolve) => {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      const goOn = () => {
        atOnce -= 1;
        resolve();
      };
      parts.push({ developer, goOn });
    });

  addErrorHandler(app);
  app.decorateRequest('declared');
  app.decorateRequest('pattern', 'unknown');
  app.decorateRequest('caller', null);
  addHeavyReads(app, poolMax);
  app.addHook('onRequest', async (request) => {
    request.declared = request.routeOptions.config;
    const { developer, session } = request.headers;
    const known = { tenant: { developerId: String(developer) }, requestId: 'r' };
    if (session) {
      const caller = { ...known, sessionId: String(session), principalId: 'p' };
      request.caller = { kind: 'session', caller };
    } else {
      const caller = {
        ...known,
        agentIds: null,
        actor: 'developer:k',
        role: 'full',
        mode: 'live',
        plan: 'free',
      } as const;
      request.caller = { kind: 'key', caller, chargeMore: async () => {} };
    }
  });
  app.get<{ Querystring: { parts?: string } }>(
    '/heavy',
    { config: { ...declared, isHeavy: true } },
    async (request) => {
      const { query, headers } = request;
      for (let left = Number(query.parts ?? 1); left > 0; left -= 1) {
        await part(String(headers.developer));
        if (left > 1) await pauseOf(request);
      }
      if (headers.broken) throw new Error('broken');
      return { read: true };
    },
  );
  app.get('/made', { config: { ...declared, isHeavy: true } }, async ({ headers }, reply) => {
    const texts = async function* () {
      await part(String(headers.developer));
      yield 'a';
      yield 'b';
    };
    return reply.send(bodyOf({ texts: texts() }, reply));
  });
  app.get('/light', { config: declared }, async () => ({ read: true }));
  await app.ready();

  const settled = async () => {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  };
  return {
    parts,
    mostAtOnce: () => mostAtOnce,
    /** Sends a request from a connection. @returns the end of that connection, once the server has seen it */
    async readThroughSocket(url: string) {
      const closed = new Promise<void>((resolve) => {
        app.server.once('connection', (socket) => socket.once('close', () => resolve()));
      });
      const address = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
      const client = connect(Number(address.port), address.hostname);
      client.write(`GET ${url} HTTP/1.1\r\nhost: a\r\ndeveloper: a\r\n\r\n`);
      await vi.waitUntil(() => parts.length > 0);
      return async () => {
        client.destroy();
        await closed;
      };
    },
    /** Sends a request, and returns when it has got as far as it can. */
    async read(headers: Record<string, string>, url = '/heavy', method: 'GET' | 'HEAD' = 'GET') {
      const answer = app.inject({ method, url, headers }).then((response) => response);
      await settled();
      return { answer };
    },
    /** Lets parts go on, and those that come after them, until none waits. */
    async finish() {
      for (let next = parts.shift(); next; next = parts.shift()) {
        next.goOn();
        await settled();
      }
    },
    /** Lets the first part go on. @returns its developer */
    async step() {
      const next = parts.shift();
      next?.goOn();
      await settled();
      return next?.developer;
    },
  };
}

const refusal = (limit: number) => ({
  code: 'TOO_MANY_CONNECTIONS',
  message: 'Too many heavy reads run at once, retry in 1 seconds',
  details: { limit, retryAfter: 1 },
});

describe('I16: heavy reads', () => {
  test('run two at once for a developer, and a third is refused at once', async () => {
    const { read, finish } = await startReading();
    const under = [await read({ developer: 'a' }), await read({ developer: 'a' })];

    const third = await (await read({ developer: 'a' })).answer;
    const light = await (await read({ developer: 'a' }, '/light')).answer;

    expect([third.statusCode, third.headers['retry-after'], third.json()]).toMatchObject([
      429,
      '1',
      refusal(2),
    ]);
    expect(light.statusCode).toBe(200);
    await finish();
    for (const { answer } of under) expect((await answer).statusCode).toBe(200);
    const after = await read({ developer: 'a' });
    await finish();
    expect((await after.answer).statusCode).toBe(200);
  });

  test('end at their next pause when the client has left', async () => {
    const { readThroughSocket, read, step, finish, parts } = await startReading();
    const leave = await readThroughSocket('/heavy?parts=3');

    await step();
    expect(parts).toHaveLength(1); // the client waits, and the read goes on
    await leave();
    await step();

    expect(parts).toHaveLength(0);
    const under = [await read({ developer: 'a' }), await read({ developer: 'a' })]; // both places are free
    await finish();
    for (const { answer } of under) expect((await answer).statusCode).toBe(200);
  });

  test('run one at a time for a session, and count with those of its developer', async () => {
    const { read, finish } = await startReading();
    const session = { developer: 'a', session: 's' };
    const under = [await read(session)];

    expect((await (await read(session)).answer).json()).toMatchObject(refusal(1));
    under.push(await read({ ...session, session: 't' }));
    expect((await (await read({ developer: 'a' })).answer).json()).toMatchObject(refusal(2));
    expect((await (await read({ ...session, session: 'u' })).answer).json()).toMatchObject(refusal(2));
    await finish();
    for (const { answer } of under) expect((await answer).statusCode).toBe(200);
  });

  test.each([
    [10, 3],
    [6, 3],
    [5, 2],
    [3, 1],
    [1, 1],
  ])('use, in a pool of %i connections, %i of them, and others wait', async (poolMax, most) => {
    const { read, finish, parts, mostAtOnce } = await startReading(poolMax);
    const all = [];
    for (const developer of ['a', 'b', 'c', 'd', 'e']) all.push(await read({ developer }));

    expect(parts).toHaveLength(most);
    await finish();

    for (const { answer } of all) expect((await answer).statusCode).toBe(200);
    expect(mostAtOnce()).toBe(most);
  });

  test('let others go first between their parts when they are long', async () => {
    const { read, step, finish } = await startReading(2); // one connection
    await read({ developer: 'a' }, '/heavy?parts=3');
    await read({ developer: 'a' }, '/heavy?parts=3');
    await read({ developer: 'b' });
    await read({ developer: 'c' });

    const turns = [await step(), await step(), await step(), await step(), await step()];

    expect(turns).toEqual(['a', 'a', 'b', 'c', 'a']);
    await finish();
  });

  test('of one account do not take both of two places', async () => {
    const { read, finish } = await startReading(4);
    const under = [await read({ developer: 'a' }), await read({ developer: 'b' })];

    expect((await (await read({ developer: 'a' })).answer).json()).toMatchObject(refusal(1));
    await finish();
    for (const { answer } of under) expect((await answer).statusCode).toBe(200);
  });

  test('wait ten seconds for a connection and no longer, also in the middle', async () => {
    const { read, step, finish } = await startReading(2);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const long = await read({ developer: 'a' }, '/heavy?parts=2');
    const waiting = await read({ developer: 'b' });
    let isAnswered = false;
    void waiting.answer.then(() => {
      isAnswered = true;
    });

    await vi.advanceTimersByTimeAsync(9_999);
    await nextTurn();
    expect(isAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);

    const late = await waiting.answer;
    expect([late.statusCode, late.headers['retry-after'], late.json()]).toMatchObject([429, '1', refusal(1)]);
    for (let time = 0; time < 2; time += 1) {
      const again = await read({ developer: 'b' });
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await again.answer).json()).toMatchObject(refusal(1)); // it waited: a refused read counts no longer
    }
    await read({ developer: 'c' });
    await step(); // a has read its first part, and waits for c
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await long.answer).json()).toMatchObject(refusal(1));
    await finish();
  });

  test('give their place to others while an answer is taken, and wait for it until the answer is whole', async () => {
    const { read, step, finish } = await startReading(2);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const made = await read({ developer: 'a' }, '/made');
    const other = await read({ developer: 'b' });

    expect(await step()).toBe('a'); // and the other read has its place
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await step()).toBe('b');

    expect((await made.answer).body).toBe('ab');
    expect((await other.answer).statusCode).toBe(200);
    for (let time = 0; time < 2; time += 1) {
      const again = await read({ developer: 'a' });
      await finish();
      expect((await again.answer).statusCode).toBe(200);
    }
  });

  test.each([
    ['fail', { broken: 'yes' }, 'GET', 500],
    ['are asked for their head', {}, 'HEAD', 200],
  ] as const)('leave their places when they %s', async (_, headers, method, expected) => {
    const { read, finish } = await startReading(2);

    for (let time = 0; time < 4; time += 1) {
      const { answer } = await read({ developer: 'a', session: 's', ...headers }, '/heavy', method);
      await finish();
      expect((await answer).statusCode).toBe(expected);
    }
  });
});
