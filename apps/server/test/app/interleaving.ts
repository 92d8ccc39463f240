import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import type { Executor } from '../../src/platform/db/db.ts';
import { execute } from '../servers/postgres.ts';
import { censusOf, rowsOf } from './census.ts';
import { refusalOf } from './flow.ts';
import { type Developer, openConnections, type Service, startApp, type TestOptions } from './start-app.ts';
import { stepping } from './steps.ts';

/** A side of a race: a process of the service, and the developer's way to call it. */
export interface Side {
  readonly service: Service;
  readonly acme: Developer;
}

type Act<Held> = (side: Side, held: Held) => Promise<LightMyRequestResponse | undefined>;

export interface Race<Held> {
  /** Makes the things that the two race for. Each run has a new developer. */
  readonly prepare: (acme: Developer, service: Service) => Promise<Held>;
  readonly one: Act<NoInfer<Held>>;
  /** Does the same as `one` when it is absent. */
  readonly other?: Act<NoInfer<Held>>;
  /** The answers of one after the other, in both orders. */
  readonly answers: readonly string[];
  /** Further answers of two at once, which leave the same rows. */
  readonly orElse?: readonly string[];
  /** A look at what the census leaves out. */
  readonly look?: (side: Side, held: NoInfer<Held>) => Promise<unknown>;
}

interface Seen {
  readonly answers: string;
  readonly holds: readonly string[];
}

/**
 * Two processes over one database. Work of the first stops after each of its steps in turn, and the second does its own
 * work meanwhile, until it is done or waits for a lock. Each such run has to end like one of the two orders in which
 * they follow each other: the same answers, and the same rows in every table.
 */
export function interleaving(options: TestOptions = {}) {
  const steps = stepping();
  let started: Promise<readonly [Service, Service]> | undefined;
  const start = async () => {
    const here = await startApp({ ...options, isShared: true, dbAs: steps.dbAs, storeAs: steps.storeAs });
    const there = await startApp({ ...options, isShared: true });
    await openConnections(there.db);
    return [here, there] as const;
  };
  afterAll(async () => {
    const services = (await started) ?? [];
    for (const service of services) await service.stop();
    const [{ databaseUrl = undefined } = {}] = services;
    if (databaseUrl) expect(await deadlocksIn(databaseUrl), 'deadlocks of works that take turns').toBe(0);
  });

  async function newRun<Held>({ prepare, look }: Race<Held>) {
    started ??= start();
    const [here, there] = await started;
    const acme = await here.asDeveloper({ mode: 'sandbox' });
    const held = await prepare(acme, here);
    const elsewhere = Object.assign(there.calling(acme.apiKey), { ...acme });
    const sides = { here: { service: here, acme }, there: { service: there, acme: elsewhere } };
    const see = async (answers: readonly string[]): Promise<Seen> => {
      const looked = look && JSON.stringify(await look(sides.there, held));
      const census = await censusOf(there.db, acme.developerId);
      return { answers: answers.join(', '), holds: looked === undefined ? census : [...census, looked] };
    };
    return { held, see, ...sides };
  }

  async function inTurn<Held>(race: Race<Held>, isTurned: boolean) {
    const [first, second] = inOrder(race, isTurned);
    const { held, see, here, there } = await newRun(race);
    const { outcome, reads } = await steps.walk(
      () => answerOf(first(here, held)),
      0,
      async () => {},
    );
    const before = await rowsOf(there.service.db, there.acme.developerId);
    const answers = [outcome, await answerOf(second(there, held))];
    const after = await rowsOf(there.service.db, there.acme.developerId);
    const isUnchanged = (table: string) => before.has(table) && before.get(table) === after.get(table);
    // To stop before a step that only reads what the other work leaves as it is, and after it, is the same.
    const stops = reads.flatMap((_, at) => (reads[at + 1]?.every(isUnchanged) ? [] : [at + 1]));
    return { seen: await see(isTurned ? answers.toReversed() : answers), stops };
  }

  /** @returns undefined when the work that stops has fewer steps */
  async function meeting<Held>(race: Race<Held>, isTurned: boolean, stopAfter: number) {
    const [stopping, entering] = inOrder(race, isTurned);
    const { held, see, here, there } = await newRun(race);
    let entered: Promise<string> | undefined;
    const enter = async () => {
      entered = answerOf(entering(there, held));
      await untilWaiting(there.service.db, entered);
    };
    const { outcome, steps: taken } = await steps.walk(
      () => answerOf(stopping(here, held)),
      stopAfter,
      enter,
    );
    if (!entered) return undefined;
    const answers = [outcome, await entered];
    return { after: taken[stopAfter - 1], seen: await see(isTurned ? answers.toReversed() : answers) };
  }

  async function race<Held>(what: Race<Held>): Promise<void> {
    const inOrders = [await inTurn(what, false), await inTurn(what, true)];
    const orders = inOrders.map(({ seen }) => seen);
    expect([...new Set(orders.map(({ answers }) => answers))].sort()).toEqual([...what.answers].sort());
    for (const isTurned of what.other ? [false, true] : [false]) {
      const runs: string[] = [];
      for (const stop of inOrders[isTurned ? 1 : 0]?.stops ?? []) {
        const run = await meeting(what, isTurned, stop);
        if (!run) break;
        runs.push(String(run.after));
        mustBeLikeOne(withMore(orders, what), run.seen, `after ${runs.join(', ')}`);
      }
      expect(runs).not.toEqual([]);
    }
  }

  return { race };
}

/**
 * Works that wait for each other in a circle: Postgres ends one of them, which is done again, so that answers and rows
 * do not show it. A connection tells of its deadlocks when it is closed.
 */
async function deadlocksIn(databaseUrl: string): Promise<number> {
  const others = `select from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
  while (((await execute(databaseUrl, others)).rowCount ?? 0) > 0);
  const counts = `select deadlocks from pg_stat_database where datname = current_database()`;
  return Number((await execute(databaseUrl, counts)).rows[0]?.deadlocks);
}

const inOrder = <Held>({ one, other = one }: Race<Held>, isTurned: boolean) =>
  isTurned ? ([other, one] as const) : ([one, other] as const);

/** Each order with its own answers, and with those that two at once may have besides. */
const withMore = (orders: readonly Seen[], { orElse = [] }: { readonly orElse?: readonly string[] }) =>
  orders.flatMap((order) => [order, ...orElse.map((answers) => ({ ...order, answers }))]);

function mustBeLikeOne(orders: readonly Seen[], seen: Seen, when: string): void {
  if (orders.some((order) => isDeepStrictEqual(order, seen))) return;
  const nearest = orders.find(({ answers }) => answers === seen.answers) ?? orders[0];
  expect(seen, when).toEqual(nearest);
}

async function answerOf(asked: Promise<LightMyRequestResponse | undefined>): Promise<string> {
  const answer = await asked;
  if (!answer) return 'done';
  return answer.statusCode < 400 ? String(answer.statusCode) : refusalOf(answer);
}

/** Waits until `work` is done, or any statement in the database waits for a lock. */
export async function untilWaiting(db: Executor, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  const ended = work.then(end, end);
  const waiting = sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  while (!isDone) {
    await Promise.race([ended, setTimeout(5)]);
    if (!isDone && (await waiting.execute(db)).rows.length > 0) return;
  }
}
