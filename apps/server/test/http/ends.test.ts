import type { RouteOptions } from 'fastify';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { censusOf } from '../app/census.ts';
import { deletionsLast } from '../app/every-caller.ts';
import { operationOf, type Possessions, possessionsOf, requestTo } from '../app/every-route.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';

/** The routes that end a record of a developer, besides those that delete. */
const ALSO_END = ['POST /v1/tokens/revoke'];

const ends = ({ method, config, url }: RouteOptions) =>
  (config?.access === 'developer' || config?.access === 'session') &&
  (method === 'DELETE' || ALSO_END.includes(`${method} ${url}`));

/** Each route that ends something, in an order in which each finds its record. */
const endingsOf = (service: Service) =>
  deletionsLast({ routes: service.routes.filter(ends) })
    .map((route) => ({ operation: operationOf(route), isPersons: route.config?.access === 'session' }))
    .sort((one, other) => Number(isLast(one.operation)) - Number(isLast(other.operation)));
const isLast = (operation: string) => operation === AGENT || operation === 'DELETE /v1/principal/session';

const AGENT = 'DELETE /v1/agents/:id';

type Ending = ReturnType<typeof endingsOf>[number];

function call(service: Service, developer: Developer, its: Possessions, { operation, isPersons }: Ending) {
  const { method, url, body } = requestTo(operation, its);
  const caller = isPersons ? service.calling(String(its.sessionToken)) : developer;
  return caller(method, url, body);
}

/** The counters of a developer that are not the number of rows that they count. */
async function wrongCounters({ db, clock }: Service, { developerId }: Developer) {
  const { rows } = await sql`select resource, used, exact_use(developer_id, resource, ${clock()}) as exact
    from quota_counters where developer_id = ${developerId}
      and used <> exact_use(developer_id, resource, ${clock()})`.execute(db);
  return rows;
}

test('an end that is asked for twice is written once, and gives its place of the plan back once', async () => {
  const service = await startApp({ isShared: true });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const its = await possessionsOf(acme);
  let written = 0;
  expect(await wrongCounters(service, acme)).toEqual([]);

  for (const ending of endingsOf(service)) {
    const first = await call(service, acme, its, ending);
    const ended = await censusOf(service.db, acme.developerId);
    await call(service, acme, its, ending);

    expect(await censusOf(service.db, acme.developerId), ending.operation).toEqual(ended);
    expect(await wrongCounters(service, acme), ending.operation).toEqual([]);
    if (first.statusCode < 300) written += 1;
  }
  expect(written).toBeGreaterThan(12);
});

test('nothing is written about records that ended with their agent', async () => {
  const service = await startApp({ isShared: true });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const its = await possessionsOf(acme);
  await call(service, acme, its, { operation: AGENT, isPersons: false });
  const ended = await censusOf(service.db, acme.developerId);

  for (const ending of endingsOf(service).filter(({ operation }) =>
    /grant|v1\/token|authorize/.test(operation),
  )) {
    await call(service, acme, its, ending);
    expect(await censusOf(service.db, acme.developerId), ending.operation).toEqual(ended);
  }
});
