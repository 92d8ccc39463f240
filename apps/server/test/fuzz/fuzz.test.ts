import { beforeAll, describe, expect, test } from 'vitest';
import { SEED } from '../../../../test/harness/seed.setup.ts';
import { startListening } from '../app/listening.ts';
import { faultsOf } from './answers.ts';
import type { Answer } from './client.ts';
import type { Draft } from './requests.ts';
import { fuzz, limits, sightOf, told } from './run.ts';

const REQUESTS = 4000; // from the fixed seed, and half as many from the other; `npm run bench -- fuzz` sends more
const PATIENCE = 300_000; // milliseconds, because other tests share the machine
const SEEDS = [SEED, SEED + 1] as const;

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true, env: limits });
  return service.stop;
});

const run = (seed: number, requests: number) => {
  const { routes, advance, url, db } = service;
  const port = Number(new URL(url).port);
  return fuzz({ port, routes, seed, requests, advance, sightOf: () => sightOf(db) });
};

describe('I1: every request to any route', () => {
  test(
    `gets an answer that the route declares, and changes nothing when refused, with seed ${SEEDS[0]}`,
    async () => {
      const { failures, succeeded, statuses, refusedAlone } = await run(SEEDS[0], REQUESTS);

      expect(told(failures)).toBe('');
      // The pages of connect sessions take a browser's cookie, which no draft has.
      // The bodies of SCIM are described by its own schemas, which no draft reads.
      // A login by single sign-on takes an identity provider, which no draft is, and OAuth takes forms.
      // Approvers, members, operators and receivers of signals have credentials of their own, which no draft has.
      const open = service.routes.filter(
        ({ config, schema, url }) =>
          !['connect', 'approver', 'console', 'operator', 'ssf'].includes(config?.access ?? '') &&
          !(config?.access === 'scim' && schema?.body) &&
          !/^\/(?:sso|oauth|v1\/console)\//.test(url),
      );
      expect(succeeded.size).toBeGreaterThan(open.length * 0.36);
      expect([...statuses.keys()]).toEqual(
        expect.arrayContaining(['200', '201', '204', '400', '401', '403', '404']),
      );
      expect(refusedAlone).toBeGreaterThan(2);
    },
    PATIENCE,
  );

  test(
    `keeps both promises with seed ${SEEDS[1]}`,
    async () => {
      const { failures } = await run(SEEDS[1], REQUESTS / 2);

      expect(told(failures)).toBe('');
    },
    PATIENCE,
  );
});

describe('the fuzzer finds fault with an answer', () => {
  const plain = { params: {}, query: [], contentType: '', headers: [], developer: 0, foreign: 0, broken: [] };

  /** Asks without a key for an agent that does not exist, and checks the answer after a change. */
  async function faultsWhen(change: (answer: Answer) => Partial<Answer>): Promise<string[]> {
    const route = service.routes.find(({ method, url }) => method === 'GET' && url === '/v1/agents');
    if (!route) throw new Error('There is no such route.');
    const draft: Draft = { ...plain, route, method: 'GET', path: route.url, credential: 'none' };
    const { statusCode, headers, body } = await service.app.inject(route.url);
    const answer: Answer = { status: statusCode, headers: Object(headers), body };
    return faultsOf(
      draft,
      { method: 'GET', target: route.url, headers: [] },
      { ...answer, ...change(answer) },
    );
  }
  const without = (name: string) => (answer: Answer) => ({
    headers: Object.fromEntries(Object.entries(answer.headers).filter(([each]) => each !== name)),
  });

  test('only when there is a fault', async () => {
    expect(await faultsWhen(() => ({}))).toEqual([]);
  });

  test.each<[string, (answer: Answer) => Partial<Answer>]>([
    ['a status of 500', () => ({ status: 500 })],
    ['a status that is not declared', () => ({ status: 418 })],
    ['no challenge', without('www-authenticate')],
    ['no rate headers', without('x-ratelimit-limit')],
    ['no request id', without('x-request-id')],
    ['a missing standard header', without('x-frame-options')],
    [
      'another request id in the body',
      ({ body }) => ({ body: body.replace(/"requestId":"/, '"requestId":"x') }),
    ],
    ['an extra member', ({ body }) => ({ body: body.replace('{', '{"stack":"",') })],
    ['an unknown code', ({ body }) => ({ body: body.replace('UNAUTHORIZED', 'NOPE') })],
    ['a place in a file', ({ body }) => ({ body: body.replace('Send', 'at app.ts:12 Send') })],
    ['Retry-After', ({ headers }) => ({ headers: { ...headers, 'retry-after': '1' } })],
  ])('for %s', async (_, change) => {
    expect(await faultsWhen(change)).not.toEqual([]);
  });
});
