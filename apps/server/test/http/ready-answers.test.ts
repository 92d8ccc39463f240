import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { addReadyAnswers } from '../../src/platform/http/answers/ready-answers.ts';
import { noMeter } from '../../src/platform/telemetry/meter.ts';
import { startApp } from '../app/start-app.ts';

const PATH = '/.well-known/jwks.json';

/** Sends over a connection, which `inject` does not. */
async function startListening() {
  const service = await startApp({ logLevel: 'debug' });
  const url = await service.app.listen({ port: 0, host: '127.0.0.1' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = async (headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const asked = request(url + PATH, { agent, method, headers }).end();
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    if (!answer) throw new Error('There is no answer.');
    const body = Buffer.concat(await answer.toArray()).toString();
    return { status: answer.statusCode, headers: answer.headers, body };
  };
  const lines = (): Record<string, unknown>[] => service.logLines.map((line) => JSON.parse(line));
  return { service, ask, lines };
}

const whole = {
  date: expect.any(String),
  connection: 'keep-alive',
  'keep-alive': expect.any(String),
  'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
};

test('a ready answer has the head and the body that the usual way gives', async () => {
  const { service, ask } = await startListening();
  const usual = await service.app.inject({ url: PATH });
  const ready = await ask();
  expect(ready).toEqual({ status: 200, headers: { ...usual.headers, ...whole }, body: usual.body });
  expect(JSON.parse(ready.body).keys).not.toEqual([]);
});

test('a ready answer is logged and counted, and keeps the id of its request', async () => {
  const { service, ask, lines } = await startListening();
  service.logLines.length = 0;
  const { headers } = await ask({ 'x-request-id': 'abc' });
  expect(headers['x-request-id']).toBe('abc');
  expect(lines()).toEqual([
    {
      ...{ level: 'info', msg: 'request', reqId: 'abc', method: 'GET', route: PATH, status: 200 },
      time: expect.any(String),
      responseTime: expect.any(Number),
    },
  ]);
});

test('a request that tells more takes the usual way, on the same connection', async () => {
  const { ask } = await startListening();
  const { headers } = await ask();
  const etag = String(headers.etag);
  const [page, held, changed, head, body, again] = [
    await ask({ origin: 'https://app.example' }),
    await ask({ 'if-none-match': etag }),
    await ask({ 'if-none-match': '"other"' }),
    await ask({}, 'HEAD'),
    await ask({}, 'POST'),
    await ask(),
  ];
  expect([page, held, changed, head, body, again].map(({ status }) => status)).toEqual([
    200, 304, 200, 200, 405, 200,
  ]);
  expect([held.body, head.body]).toEqual(['', '']);
  expect(page.headers['access-control-allow-origin']).toBe('*');
});

test('a route that counts its requests, or asks who sends them, has no ready answer', async () => {
  const ready = () => ({ document: { body: '', etag: '' }, headers: {} });
  const declare = (config: object) => {
    const app = Fastify();
    addReadyAnswers(app, { meter: noMeter, isProduction: false, hasLog: false, isStopping: () => false });
    return () => app.get('/', { config: { ready, ...config } as never }, () => '');
  };
  expect(declare({ access: 'none', rate: 'default' })).toThrow('without limit');
  expect(declare({ access: 'developer', rate: 'unlimited' })).toThrow('without limit');
  expect(declare({ access: 'none', rate: 'unlimited' })).not.toThrow();
});
