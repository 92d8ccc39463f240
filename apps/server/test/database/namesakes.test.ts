import { join } from 'node:path';
import type { RouteOptions } from 'fastify';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { readFunctions } from '../../src/platform/db/functions.ts';
import { deletionsLast } from '../app/every-caller.ts';
import { operationOf, type Possessions, possessionsOf, requestTo } from '../app/every-route.ts';
import { giveNamesakes, MARK, NAMESAKES, rowsOf, type TenantTable, tenantTables } from '../app/namesakes.ts';
import { type Developer, newDatabase, type Service, startApp } from '../app/start-app.ts';
import { callsOf } from './function-calls.ts';

vi.setConfig({ testTimeout: 120_000 }); // every route is called, which takes long on a busy machine

const functions = readFunctions(join(import.meta.dirname, '../../src'));

/** The answer and the effect of a call, which is then undone. */
async function effectOf(db: Executor, tables: readonly TenantTable[], call: string, developerId: string) {
  const undone = Symbol();
  let effect = { returned: '', own: '', others: '' };
  await inTransaction(db, async (tx) => {
    const { rows } = await sql.raw(call).execute(tx);
    const own = await rowsOf(tx, tables, [developerId]);
    const others = await rowsOf(tx, tables, NAMESAKES);
    effect = { returned: texted(rows), own: textsOf(own), others: texted(others) };
    throw undone;
  }).catch((error) => {
    if (error !== undone) throw new Error(`${call}: ${error}`);
  });
  return effect;
}

/** Without the random halves of ids that Postgres makes. */
const texted = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(/whd_[0-9A-Z]{10}[0-9A-F]{16}/g, 'whd_…');

/** Rows in an order that no random half decides. */
const textsOf = (rows: readonly string[]): string => rows.map(texted).toSorted().join('\n');

test('T3: each SQL function answers and does the same when other developers have records with all its ids', async () => {
  const { asDeveloper, db, clock } = await startApp({ databaseUrl: await newDatabase() });
  const tables = await tenantTables(db);
  const acme = await asDeveloper({ mode: 'sandbox' });
  const calls = await callsOf(db, acme, await possessionsOf(acme), clock());
  const effects = async () => {
    const all: Record<string, Awaited<ReturnType<typeof effectOf>>> = {};
    for (const [name, call] of Object.entries(calls))
      all[name] = await effectOf(db, tables, call, acme.developerId);
    return all;
  };

  const alone = await effects();
  await giveNamesakes(db, acme.developerId);
  const untouched = texted(await rowsOf(db, tables, NAMESAKES));
  const amongNamesakes = await effects();

  for (const [name, { returned, own, others }] of Object.entries(amongNamesakes)) {
    expect({ name, returned, own }).toEqual({ name, returned: alone[name]?.returned, own: alone[name]?.own });
    expect(others === untouched, `${name} leaves the records of others alone`).toBe(true);
  }
  const called = Object.keys(calls).map((name) => name.split(' ')[0]);
  expect([...new Set(called), 'ulid_time'].sort()).toEqual(functions.map(({ name }) => name).sort());
});

/** The outcome of every route for a developer, the deletions last. */
async function walk({ routes }: Service, developer: Developer, its: Possessions) {
  const inTurn = deletionsLast({ routes: routes.filter(isOfDevelopers) }).map(operationOf);
  const outcomes: { operation: string; status: number; length: number; body: string }[] = [];
  for (const operation of inTurn) {
    const { method, url, body } = requestTo(operation, its);
    const answer = await developer(method, url, body);
    // The path of a receipt is longer or shorter with the number of entries in the log.
    const isList = answer.body.startsWith('{') && !operation.endsWith('/receipt');
    const listed = Object.values(isList ? answer.json() : {}).filter(Array.isArray);
    outcomes.push({ operation, status: answer.statusCode, length: listed.flat().length, body: answer.body });
  }
  return outcomes;
}
const isOfDevelopers = ({ config, url }: RouteOptions) =>
  config?.access === 'developer' && !url.endsWith('/me/close');

test('T3: every route answers the same when other developers have records with all ids of the caller', async () => {
  const service = await startApp({ databaseUrl: await newDatabase() });
  const tables = await tenantTables(service.db);
  const [alone, acme] = [
    await service.asDeveloper({ mode: 'sandbox' }),
    await service.asDeveloper({ mode: 'sandbox' }),
  ];
  const expected = await walk(service, alone, await possessionsOf(alone));
  const its = await possessionsOf(acme);
  await giveNamesakes(service.db, acme.developerId);
  const before = texted(await rowsOf(service.db, tables, NAMESAKES));

  const found = await walk(service, acme, its);

  const facts = ({ operation, status, length }: (typeof found)[number]) => ({ operation, status, length });
  expect(found.map(facts)).toEqual(expected.map(facts));
  for (const { operation, body } of found) expect(body, operation).not.toContain(MARK);
  expect(texted(await rowsOf(service.db, tables, NAMESAKES))).toBe(before);
  expect(found.filter(({ status }) => status < 300).length).toBeGreaterThan(30);
});
