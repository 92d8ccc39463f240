import { sql } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Executor } from '../../src/platform/db/db.ts';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';
import { callAs, callersOf, deletionsLast } from '../app/every-caller.ts';
import { operationOf } from '../app/every-route.ts';
import { newDatabase, startApp } from '../app/start-app.ts';

vi.setConfig({ testTimeout: 120_000 }); // every route is called, which takes long on a busy machine

/** Facts of each developer, as one text for each. */
async function factsOf(db: Executor, facts: string): Promise<Map<string, string>> {
  const { rows } = await sql.raw<{ developerId: string; fact: string }>(facts).execute(db);
  return new Map(rows.map(({ developerId, fact }) => [developerId, fact]));
}
const changed = (before: Map<string, string>, after: Map<string, string>) =>
  [...before.keys()].filter((developerId) => before.get(developerId) !== after.get(developerId));

/** Watches the transactions of this process. @returns whether the last that was begun is over */
function watchingCommits(): () => boolean {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  return () => {
    const texts = query.mock.calls.map(([first]: unknown[]) => String(Object(first).text ?? first));
    const last = texts.findLast((text) =>
      /^(begin.*|start transaction.*|commit|rollback)$/i.test(text.trim()),
    );
    return last === undefined || /^(commit|rollback)/i.test(last.trim());
  };
}

const EVENTS = 'select developer_id, event_seq::text as fact from audit_heads';
/** The facts of a developer and of its keys that authentication reads. */
const KEYS = `select d.id as developer_id, concat(d.mode, d.plan, d.closed_at, (select
    string_agg(concat(k.id, k.role, k.expires_at, k.revoked_at), ' ' order by k.id) from api_keys k where k.developer_id = d.id)) as fact from developers d`;

test('every route that writes events says so in its process, and every route that changes a key says so to all', async () => {
  const told = new Set<string>();
  const storeAs = (store: EphemeralStore): EphemeralStore => ({
    ...store,
    put: (entries) => {
      for (const { key } of entries) told.add(key);
      return store.put(entries);
    },
  });
  const service = await startApp({ databaseUrl: await newDatabase(), storeAs });
  const areCommitted = watchingCommits();
  const early = new Set<string>();
  service.notices.listen((developerIds) => {
    for (const developerId of developerIds) (areCommitted() ? told : early).add(developerId);
  });
  const callers = await callersOf(service);
  const { developerId } = callers.acme;
  /** Lifts what the walk over the routes has put on hold, because a hold keeps the account open. */
  const close = async () => {
    const { holds } = (await callers.acme('GET', '/v1/compliance/holds?standing=true')).json();
    for (const { id } of holds) await callers.acme('POST', `/v1/compliance/holds/${id}/release`);
    return callers.acme('POST', '/v1/me/close', { confirm: developerId });
  };
  const seen = { events: 0, keys: 0 };
  const untold: string[] = [];

  for (const route of deletionsLast(service)) {
    const operation = operationOf(route);
    const before = [await factsOf(service.db, EVENTS), await factsOf(service.db, KEYS)] as const;
    told.clear();
    await (operation === 'POST /v1/me/close' ? close() : callAs(callers, route));
    const ofEvents = changed(before[0], await factsOf(service.db, EVENTS));
    const withKeys = changed(before[1], await factsOf(service.db, KEYS));
    const isNew = operation === 'POST /v1/keys'; // nobody knows a new key
    const ofKeys = isNew ? [] : withKeys.map((id) => `bh:{developer:${id}}:version`);
    seen.events += ofEvents.length;
    seen.keys += ofKeys.length;
    const missing = [...ofEvents, ...ofKeys].filter((each) => !told.has(each));
    untold.push(...missing.map((each) => `${operation} ${each.replace(/dev_\w+/, 'dev_…')}`));
  }

  expect(untold).toEqual([]);
  expect([...early], 'told before the commit').toEqual([]);
  expect(seen).toEqual({
    events: expect.toSatisfy((count) => count > 15),
    keys: expect.toSatisfy((count) => count > 2),
  });
});
