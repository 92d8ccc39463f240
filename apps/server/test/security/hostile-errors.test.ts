import http from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { LightMyRequestResponse } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { smtpMailer } from '../../src/platform/mail/smtp-mailer.ts';
import { tracedStore } from '../../src/platform/redis/open-store.ts';
import { callAs, callersOf, deletionsLast } from '../app/every-caller.ts';
import {
  failingPostgres,
  failingRedis,
  hostileError,
  MARK,
  recordingTracer,
  SAID,
} from '../app/hostile-errors.ts';
import { startMailServer } from '../app/mail-server.ts';
import { startApp, type TestOptions } from '../app/start-app.ts';

vi.setConfig({ testTimeout: 120_000 }); // every route is called, which takes long on a busy machine

async function startWorld(options: TestOptions = {}) {
  const { tracer, told } = recordingTracer();
  const redis = failingRedis();
  const storeAs: TestOptions['storeAs'] = (store) => tracedStore(redis.storeAs(store), tracer);
  const service = await startApp({ logLevel: 'debug', tracer, storeAs, ...options });
  return { ...(await callersOf(service)), told, redis };
}
type World = Awaited<ReturnType<typeof startWorld>>;

/** Calls every route, those that delete last. */
async function walk(world: World, before: () => void): Promise<LightMyRequestResponse[]> {
  const answers: LightMyRequestResponse[] = [];
  for (const route of deletionsLast(world.service)) {
    before();
    const answer = await callAs(world, route).catch(cut);
    if (answer) answers.push(answer);
  }
  return answers;
}

/** An answer that is sent while it is made ends in the middle when its work fails. */
function cut(error: unknown): undefined {
  if (!String(error).includes('response destroyed before completion')) throw error;
}

/** Nothing that left the service repeats a member of an error, and the log alone repeats its text. */
async function expectSilence({ service, told }: World, answers: readonly LightMyRequestResponse[]) {
  const { body: metrics } = await service.app.inject({ method: 'GET', url: '/metrics' });
  const said = answers.map(({ headers, body }) => JSON.stringify(headers) + body).join('\n');
  for (const [where, text] of Object.entries({ said, metrics, spans: told.join('\n') })) {
    expect(text.includes(MARK), `a member of an error in the ${where}`).toBe(false);
    expect(text.includes(SAID), `the text of an error in the ${where}`).toBe(false);
  }
  const shown = service.logLines.filter((line) => line.includes(MARK));
  expect(shown.map((line) => line.slice(0, 400))).toEqual([]);
}
const failed = (answers: readonly LightMyRequestResponse[]) =>
  answers.filter(({ statusCode }) => statusCode >= 500);
const linesWith = ({ service }: World, text: string) =>
  service.logLines.filter((line) => line.includes(text));

test('L1: nothing repeats the members of an error of Postgres, whichever statement of a route fails', async () => {
  const world = await startWorld();
  const postgres = failingPostgres();

  const answers: LightMyRequestResponse[] = [];
  for (const after of [0, 1, 3]) answers.push(...(await walk(world, () => postgres.fail(after))));
  postgres.heal();

  expect(failed(answers).length).toBeGreaterThan(80);
  expect(linesWith(world, SAID).length).toBeGreaterThan(80);
  await expectSilence(world, answers);
});

test('L1: nothing repeats the members of an error of Redis, whichever command of a route fails', async () => {
  const world = await startWorld();

  const answers: LightMyRequestResponse[] = [];
  for (const after of [0, 1]) answers.push(...(await walk(world, () => world.redis.fail(after))));
  world.redis.heal();

  expect(world.redis.failures()).toBeGreaterThan(80);
  expect(linesWith(world, SAID).length).toBeGreaterThan(5);
  await expectSilence(world, answers);
});

test('L1: nothing repeats the members of an error of a signature', async () => {
  const world = await startWorld();
  const real = world.service.keyRing.signer();
  const sign = vi.fn(() => Promise.reject(hostileError('ERR_OSSL')));
  vi.spyOn(world.service.keyRing, 'signer').mockReturnValue({ ...real, sign });

  const answers = await walk(world, () => {});

  expect(sign.mock.calls.length).toBeGreaterThan(2);
  expect(failed(answers).length).toBeGreaterThan(2);
  await expectSilence(world, answers);
});

test('L1: nothing repeats what a mail server says, nor the address that it says it about', async () => {
  const { env, refuse } = await startMailServer({ user: 'behest', password: 'x' });
  const world = await startWorld();
  const real = smtpMailer(env.SMTP_URL, env.MAIL_FROM, false, ({ text }) => text);
  vi.spyOn(world.service.mails, 'send').mockImplementation(real.send);
  refuse(`550 ${MARK} <ada@example.org>`);

  const answers = [
    await world.acme('POST', '/v1/signup/verify', { email: 'ada@example.org' }),
    await world.person.call('POST', `/v1/consent/${world.requestId}/email`),
  ];

  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 502]);
  expect(linesWith(world, 'mail').length).toBeGreaterThan(1);
  await expectSilence(world, answers);
  expect(linesWith(world, 'ada@example.org')).toEqual([]);
});

test('L1: nothing repeats the members of an error of a webhook’s connection, or of what comes after', async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' };
  const world = await startWorld({ env });
  const request = vi.spyOn(http, 'request').mockImplementation(() => {
    throw hostileError('ECONNRESET');
  });
  onTestFinished(() => request.mockRestore());
  const hook = { url: 'http://127.0.0.1:1/', events: ['*'] };
  const { webhookId } = (await world.acme('POST', '/v1/webhooks', hook)).json();

  world.service.startFeatures();
  await world.acme('POST', `/v1/webhooks/${webhookId}/test`, {});
  await vi.waitUntil(() => linesWith(world, SAID).length > 0, { timeout: 25_000, interval: 20 });
  await turn();

  await expectSilence(world, []);
});
