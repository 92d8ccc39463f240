import { describe, expect, test } from 'vitest';
import { waitUntil } from '../../../../../../scripts/machine/folders.ts';
import { grantTo, registerAgent, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import { statementsOf } from '../../../../test/app/round-trips.ts';
import { emit, listedTo } from '../../../../test/app/streams.ts';
import { admitting, MAX_WAITING } from './outlet.ts';
import { tailOf } from './tail.ts';

const inSandbox = sharedSandbox();

describe('the list of events', () => {
  test('has the events, oldest first, each as the text that every subscriber receives', async () => {
    const { acme, db } = await inSandbox();
    const { grantId } = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${grantId}`);

    const answer = await acme('GET', '/v1/events');

    expect(answer.statusCode).toBe(200);
    expect(answer.json().events.map(({ type }: { type: string }) => type)).toEqual([
      'developer.created',
      'agent.created',
      'authorization.requested',
      'authorization.approved',
      'grant.created',
      'token.issued',
      'grant.revoked',
    ]);
    expect(answer.json().nextCursor).toBeNull();
    const rows = await db
      .selectFrom('outboxEvents')
      .select('envelope')
      .where('developerId', '=', acme.developerId)
      .orderBy('seq')
      .execute();
    expect(answer.body).toBe(
      `{"events":[${rows.map(({ envelope }) => envelope).join(',')}],"nextCursor":null}`,
    );
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
  });

  test('comes in pages, and has events that happen meanwhile at the end', async () => {
    const { acme } = await inSandbox();
    for (let each = 0; each < 4; each += 1) await registerAgent(acme);

    const first = (await acme('GET', '/v1/events?limit=3')).json();
    await registerAgent(acme, 'The last');
    const second = (await acme('GET', `/v1/events?limit=3&cursor=${first.nextCursor}`)).json();

    const all = await listedTo(acme);
    expect(all).toHaveLength(6);
    expect([...first.events, ...second.events]).toEqual(all);
    expect(second.nextCursor).toBeNull();
    expect(second.events.at(-1)).toMatchObject({ type: 'agent.created', data: { name: 'The last' } });
  });

  test.each([
    ['grant.created', ['grant.created']],
    ['token.*,agent.created', ['agent.created', 'token.issued']],
    ['vault.*', []],
  ])('with the types %s has events of these types only', async (types, expected) => {
    const { acme } = await inSandbox();
    await grantTo(acme);

    expect((await listedTo(acme, `types=${types}`)).map(({ type }) => type)).toEqual(expected);
  });

  test('has debits only when the query names them', async () => {
    const { acme, service } = await inSandbox();
    await emit(service, acme, ['budget.debited', 'budget.threshold']);
    const countOf = async (query: string) => (await listedTo(acme, query)).length;

    expect(await countOf('')).toBe(2);
    expect(await countOf('types=*')).toBe(2);
    expect(await countOf('types=budget.*')).toBe(2);
    expect(await countOf('types=budget.debited')).toBe(1);
  });

  test.each([
    ['types=grant.made', 'types.0', 'not_allowed'],
    ['types=grant.created,', 'types.1', 'not_allowed'],
    ['types=authorization.blocked', 'types.0', 'not_allowed'],
    ['types=', 'types', 'too_short'],
    ['cursor=evt_1', 'cursor', 'format'],
    ['limit=501', 'limit', 'too_large'],
    ['since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z', 'until', 'too_small'],
    ['since=yesterday', 'since', 'format'],
  ])('refuses %s', async (query, path, problem) => {
    const { acme } = await inSandbox();

    const answer = await acme('GET', `/v1/events?${query}`);

    expect([answer.statusCode, answer.json().details.fields]).toEqual([
      400,
      expect.arrayContaining([{ path, problem }]),
    ]);
  });

  test('skips any number of events of other types', async () => {
    const { acme, service } = await inSandbox();
    const [early] = await emit(service, acme, ['vault.credential.stored']);
    await emit(
      service,
      acme,
      Array.from({ length: 10_500 }, () => 'token.issued'),
    );
    const [late] = await emit(service, acme, ['vault.credential.stored']);

    const { events, nextCursor } = (await acme('GET', '/v1/events?types=vault.*')).json();

    expect(events.map(({ id }: { id: string }) => id)).toEqual([early]);
    const rest = (await acme('GET', `/v1/events?types=vault.*&cursor=${nextCursor}`)).json();
    expect(rest).toEqual({ events: [expect.objectContaining({ id: late })], nextCursor: null });
  });

  test('T3 has no event of another developer, whatever the cursor', async () => {
    const { acme, service } = await inSandbox();
    const stranger = await service.asDeveloper();
    await grantTo(acme);

    for (const query of ['', 'cursor=0', 'cursor=3', 'types=grant.*']) {
      const events = await listedTo(stranger, query);
      expect(
        events.map(({ developerId }) => developerId).filter((id) => id !== stranger.developerId),
      ).toEqual([]);
    }
    expect(await listedTo(stranger)).toHaveLength(1);
  });

  test('takes one statement to the database', async () => {
    const { acme } = await inSandbox();
    for (let use = 0; use < 2; use += 1) await acme('GET', '/v1/events'); // makes the key known

    expect(
      await statementsOf(() => acme('GET', '/v1/events?types=grant.*&since=2025-12-31T00:00:00Z')),
    ).toHaveLength(1);
  });
});

describe('the list by time', () => {
  test('goes from `since` to just before `until`', async () => {
    const { acme, advance } = await startSandbox({ startsAt: '2026-01-01T00:00:00Z' });
    for (let hour = 1; hour <= 5; hour += 1) {
      advance(3600);
      await registerAgent(acme, `At ${hour}`);
    }
    const namesOf = async (query: string) => (await listedTo(acme, query)).map(({ data }) => data.name);

    expect(await namesOf('types=agent.*&since=2026-01-01T02:00:00Z&until=2026-01-01T04:00:00Z')).toEqual([
      'At 2',
      'At 3',
    ]);
    expect(await namesOf('types=agent.*&since=2026-01-01T04:00:00.001Z')).toEqual(['At 5']);
    expect(await namesOf('types=agent.*&until=2026-01-01T01:00:00Z')).toEqual([]);
  });

  test('goes back 72 hours', async () => {
    const { acme, advance } = await startSandbox();
    await registerAgent(acme);
    advance(72 * 3600);
    expect(await listedTo(acme)).toHaveLength(2);
    await registerAgent(acme);

    advance(1);

    expect(await listedTo(acme, 'since=2025-01-01T00:00:00Z')).toHaveLength(1);
  });
});

/** A follower from the developer's next event on. `afterRead` runs when Postgres has answered a read. */
async function startFollowing(afterRead: (reads: number) => Promise<void> = async () => {}) {
  const { service, acme } = await startSandbox();
  const [last] = await emit(service, acme, ['agent.created']);
  const received: string[] = [];
  let reads = 0;
  const db = service.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reads += 1;
      await afterRead(reads);
      return result;
    },
  });
  const tail = tailOf(db, (error) => received.push(String(error)));
  const follower = {
    tenant: { developerId: acme.developerId },
    agentIds: null,
    seq: 0n,
    onEvent: ({ id }: { id: string }) => void received.push(id),
  };
  const emitted = (count: number, more?: object) =>
    emit(service, acme, Array<string>(count).fill('agent.updated'), { ...more });
  return { tail, follower, received, last, emitted, reads: () => reads, developerId: acme.developerId };
}

test('a wake during a read is followed by another read', async () => {
  let late: string[] = [];
  const started = await startFollowing(async (reads) => {
    if (reads > 1) return;
    late = await started.emitted(1);
    started.tail.wake([started.developerId]);
  });

  started.tail.follow(started.follower);

  expect(await waitUntil(() => started.received.includes(late[0] ?? 'none'), { seconds: 5 })).toBe(true);
  expect(started.reads()).toBe(2);
});

test('large events come in several reads, all of them and in their order', async () => {
  const { tail, follower, received, emitted, reads } = await startFollowing();
  const ids = await emitted(40, { text: 'x'.repeat(20_000) });

  tail.follow(follower);

  expect(await waitUntil(() => received.includes(ids.at(-1) ?? ''), { seconds: 5 })).toBe(true);
  expect(received.slice(-ids.length)).toEqual(ids);
  expect(reads()).toBe(4); // each ends with the event that reaches 256 KiB
});

/** An outlet that takes everything at once. */
function newOutlet() {
  const sent: string[] = [];
  let isCutOff = false;
  return {
    sent,
    isCutOff: () => isCutOff,
    event: ({ id }: { readonly id: string }) => void sent.push(id),
    gap() {},
    keepalive() {},
    taken: async () => {},
    isClosed: () => isCutOff,
    onceClosed() {},
    end() {},
    cutOff() {
      isCutOff = true;
    },
  };
}

const eventOf = (id: string, bytes: number) => ({ id, type: 'grant.created', envelope: 'x'.repeat(bytes) });
const admitAll = async () => 'sent' as const;
const noTrouble = (error: unknown) => {
  throw error;
};
const LARGE = MAX_WAITING / 2 + 1;

test('an outlet that asks about each event sends more than 1 MiB in all, as long as less waits', async () => {
  const outlet = newOutlet();
  const asking = admitting(outlet, admitAll, noTrouble);

  for (const id of ['one', 'two', 'three']) {
    asking.event(eventOf(id, LARGE));
    await asking.taken();
  }

  expect([outlet.sent, outlet.isCutOff()]).toEqual([['one', 'two', 'three'], false]);
});

test('I15: a consumer is cut off when more than 1 MiB waits to be asked about', () => {
  const outlet = newOutlet();
  const asking = admitting(outlet, admitAll, noTrouble);

  asking.event(eventOf('one', LARGE));
  expect(outlet.isCutOff()).toBe(false);
  asking.event(eventOf('two', LARGE));

  expect(outlet.isCutOff()).toBe(true);
});
