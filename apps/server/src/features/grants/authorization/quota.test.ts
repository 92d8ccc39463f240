import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  actionsOf,
  authorize,
  entriesOf,
  openSession,
  refusalOf,
  registerAgent,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { startApp, type TestOptions } from '../../../../test/app/start-app.ts';
import { expiryOfRequests } from './authorization.feature.ts';
import { expireDueRequests } from './expire.ts';

const ASKED = { principalId: 'user_42', scopes: ['calendar:read'] };
const REFUSED = '402 PLAN_LIMIT_EXCEEDED';

/** An account whose plan has room for so many open requests, and ways to ask for one more. */
async function withRoom(room: number, options: TestOptions = {}) {
  const started = await startSandbox({
    ...options,
    env: { PLAN_FREE_OPEN_REQUESTS: String(room), ...options.env },
  });
  const { acme, db, clock } = started;
  const { agentId } = await registerAgent(acme);
  const ask = (request: object = {}) =>
    acme('POST', '/v1/authorize', { agentId, ...ASKED, autoApprove: false, ...request });
  const opened = async (request: object = {}) => (await ask(request)).json();
  /** How many more requests the account may open, found by opening them. */
  const roomLeft = async () => {
    let left = 0;
    while ((await ask()).statusCode === 201) left += 1;
    return left;
  };
  const counter = async () => {
    const { rows } = await sql<{ used: string }>`select used from quota_counters
      where developer_id = ${acme.developerId} and resource = 'open_requests'`.execute(db);
    return Number(rows[0]?.used);
  };
  const noteEnds = () => expireDueRequests({ db, clock });
  return { ...started, agentId, ask, opened, roomLeft, counter, noteEnds };
}

describe('I17: open requests', () => {
  test('beyond the plan are refused, and the answer names the quota', async () => {
    const { acme, service, ask, roomLeft } = await withRoom(3);
    const other = await service.asDeveloper({ mode: 'sandbox' });

    const made = await roomLeft();
    const refused = await ask();

    expect(made).toBe(3);
    expect(refusalOf(refused)).toBe(REFUSED);
    expect(refused.json().details).toEqual({ limit: 3, plan: 'free', resource: 'open_requests', current: 3 });
    expect(await entriesOf(acme, 'authorization.requested')).toHaveLength(3);
    const { agentId } = await registerAgent(other);
    expect((await authorize(other, agentId)).status).toBe('approved');
  });

  test('are 100 on the plan of a new account', async () => {
    const { acme } = await startSandbox();
    const { agentId } = await registerAgent(acme);
    const asked = { agentId, ...ASKED, autoApprove: false };

    const answers = await Promise.all(
      Array.from({ length: 101 }, () => acme('POST', '/v1/authorize', asked)),
    );

    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(100);
    expect(answers.map(refusalOf).filter((refusal) => refusal === REFUSED)).toHaveLength(1);
  });

  test.each<[string, (one: Awaited<ReturnType<typeof withRoom>>, id: string) => Promise<unknown>]>([
    ['is cancelled', ({ acme }, id) => acme('DELETE', `/v1/authorize/${id}`)],
    ['is denied', ({ acme }, id) => acme('POST', `/v1/authorize/${id}/deny`)],
    [
      'was approved, and its code is exchanged',
      async ({ acme, agentId }, id) => {
        const { code } = (await acme('POST', `/v1/authorize/${id}/approve`)).json();
        await acme('POST', '/v1/token', { code, agentId });
      },
    ],
  ])('make room for one when one %s, and a repeated call makes no more', async (_, end) => {
    const account = await withRoom(3);
    const { id } = await account.opened();
    await account.roomLeft();

    await end(account, id);
    await end(account, id);

    expect(await account.roomLeft()).toBe(1);
  });

  test('keep their places when they are approved', async () => {
    const { acme, opened, roomLeft } = await withRoom(2);
    const { id } = await opened();
    await opened({ autoApprove: true });

    await acme('POST', `/v1/authorize/${id}/approve`);

    expect(await roomLeft()).toBe(0);
  });

  test('make room when their agent is revoked, or when a person ends everything', async () => {
    const { acme, agentId, opened, ask, roomLeft, service } = await withRoom(6);
    const doomed = await registerAgent(acme);
    await opened({ agentId: doomed.agentId });
    await opened({ agentId: doomed.agentId, autoApprove: true });
    const { code } = await opened({ principalId: 'user_7', autoApprove: true });
    await acme('POST', '/v1/token', { code, agentId });
    await opened({ principalId: 'user_7' });
    await roomLeft();

    await acme('DELETE', `/v1/agents/${doomed.agentId}`);
    const afterAgent = await roomLeft();
    const { sessionToken } = (await openSession(acme, 'user_7')).json();
    await service.calling(sessionToken)('DELETE', '/v1/principal/grants');

    expect(afterAgent).toBe(2);
    expect(await roomLeft()).toBe(1);
    expect((await ask()).statusCode).toBe(402);
  });

  test('count no more from the instant that they run out, before it is noted', async () => {
    const { ask, roomLeft, advance } = await withRoom(2);
    await ask({ consentExpiresIn: '60s' });
    await ask({ autoApprove: true });

    advance(59);
    const justBefore = await ask();
    advance(1);
    const afterRequest = await roomLeft();
    advance(540);

    expect(justBefore.statusCode).toBe(402);
    expect(afterRequest).toBe(1);
    expect(await roomLeft()).toBe(1); // the code is good for 600 seconds
  });

  test('make no room twice: by running out, and again when that is noted', async () => {
    const { ask, roomLeft, advance, noteEnds, counter } = await withRoom(3);
    for (let each = 0; each < 3; each += 1) await ask({ consentExpiresIn: '60s' });
    advance(60);
    const room = await roomLeft();

    await noteEnds();

    expect(room).toBe(3);
    expect(await counter()).toBe(3);
    expect(await roomLeft()).toBe(0);
  });

  test('give their places back in the transaction that notes their end', async () => {
    const { ask, advance, noteEnds, counter } = await withRoom(3);
    await ask({ consentExpiresIn: '60s' });
    await ask({ consentExpiresIn: '2h' });
    advance(60);

    const before = await counter();
    await noteEnds();

    expect([before, await counter()]).toEqual([2, 1]);
  });

  test('are exactly as many as the plan has room for when all come at once, while others end', async () => {
    const { acme, ask, opened, roomLeft } = await withRoom(9);
    const ending = await Promise.all(Array.from({ length: 4 }, () => opened()));

    const calls = [
      ...ending.map(
        ({ id }) =>
          () =>
            acme('DELETE', `/v1/authorize/${id}`),
      ),
      ...Array.from({ length: 30 }, () => () => ask()),
    ];
    const answers = await Promise.all(calls.map((call) => call()));
    const made = answers.filter(({ statusCode }) => statusCode === 201).length;

    expect(answers.filter(({ statusCode }) => statusCode === 204)).toHaveLength(4);
    expect(answers.filter(({ statusCode }) => statusCode === 402)).toHaveLength(30 - made);
    expect(made + (await roomLeft())).toBe(9);
  });

  test('leave nothing in the store when they are refused, however many come at once', async () => {
    const kept = new Set<string>();
    const { ask } = await withRoom(2, {
      storeAs: (store) => ({
        ...store,
        async put(entries) {
          for (const { key } of entries) kept.add(key);
          await store.put(entries);
        },
        async remove(key) {
          kept.delete(key);
          await store.remove(key);
        },
      }),
    });

    await Promise.all(Array.from({ length: 12 }, () => ask({ autoApprove: true })));

    expect(kept.size).toBe(4); // two tickets, and two codes
  });

  test.each<[string, number, (one: Awaited<ReturnType<typeof withRoom>>, id: string) => Promise<unknown>]>([
    ['is cancelled', 3600, ({ acme }, id) => acme('DELETE', `/v1/authorize/${id}`)],
    ['is denied', 3600, ({ acme }, id) => acme('POST', `/v1/authorize/${id}/deny`)],
    ['is approved', 4200, ({ acme }, id) => acme('POST', `/v1/authorize/${id}/approve`)],
    ['loses its agent', 3600, ({ acme, agentId }) => acme('DELETE', `/v1/agents/${agentId}`)],
  ])('keep a ticket for a late person an hour, and no longer, when one %s', async (_, seconds, end) => {
    const account = await withRoom(3, { store: 'memory' });
    const { id, consentUrl } = await account.opened({ consentExpiresIn: '24h' });
    const ticket = new URL(consentUrl).hash.replace('#ticket=', '');
    const open = async () =>
      (
        await account.app.inject({
          method: 'POST',
          url: `/v1/consent/${id}/session`,
          headers: { origin: 'https://auth.test' },
          payload: { ticket },
        })
      ).statusCode;
    const opened = await open();

    await end(account, id);
    account.advance(seconds - 1);
    const late = await open();
    account.advance(1);

    expect([opened, late, await open()]).toEqual([200, 410, 404]);
  });

  test('make room also while the store cannot be told', async () => {
    const keepFor = () => Promise.reject(new Error('The store is away.'));
    const { acme, opened, roomLeft } = await withRoom(2, { storeAs: (store) => ({ ...store, keepFor }) });
    const { id } = await opened();
    await roomLeft();

    const cancelled = await acme('DELETE', `/v1/authorize/${id}`);

    expect(cancelled.statusCode).toBe(204);
    expect(await roomLeft()).toBe(1);
  });

  test('approved at once have a ticket for an hour after their code', async () => {
    const { opened, app, advance } = await withRoom(3, { store: 'memory' });
    const { id, consentUrl } = await opened({ consentExpiresIn: '24h', autoApprove: true });
    const payload = { ticket: new URL(consentUrl).hash.replace('#ticket=', '') };
    const open = async () =>
      (await app.inject({ method: 'POST', url: `/v1/consent/${id}/session`, payload })).statusCode;

    advance(4199);
    const late = await open();
    advance(1);

    expect([late, await open()]).toEqual([410, 404]);
  });

  test('are refused before the quota of grants is looked at, and after the agent', async () => {
    const { ask, roomLeft } = await withRoom(0, { env: { PLAN_FREE_ACTIVE_GRANTS: '0' } });

    expect(await roomLeft()).toBe(0);
    expect((await ask()).json().details.resource).toBe('open_requests');
    expect(refusalOf(await ask({ agentId: 'ag_nobody' }))).toBe('404 NOT_FOUND');
  });
});

async function twoOpen() {
  const service = await startApp();
  const developer = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId, did } = await registerAgent(developer);
  const pending = await authorize(developer, agentId, {
    autoApprove: false,
    purpose: 'payments.payout',
    scopes: ['tool:stripe:write'],
  });
  const approved = await authorize(developer, agentId);
  const statusOf = async (id: string) => (await developer('GET', `/v1/authorize/${id}`)).json().status;
  return { ...service, developer, agentId, did, pending, approved, statusOf };
}

describe('a request that nobody decided, or whose code nobody exchanged, in time', () => {
  test('is recorded as expired once, in the chain and as an event', async () => {
    const { db, clock, advance, developer, agentId, did, pending, approved, statusOf } = await twoOpen();

    await expireDueRequests({ db, clock });
    const before = [await statusOf(pending.id), await statusOf(approved.id)];
    advance(601);
    await expireDueRequests({ db, clock });
    const afterCode = [await statusOf(pending.id), await statusOf(approved.id)];
    advance(3600);
    await Promise.all([expireDueRequests({ db, clock }), expireDueRequests({ db, clock })]);

    expect(before).toEqual(['pending', 'approved']);
    expect(afterCode).toEqual(['pending', 'expired']);
    expect(await statusOf(pending.id)).toBe('expired');
    const entries = await entriesOf(developer, 'authorization.expired');
    expect(entries).toHaveLength(2);
    expect(entries[1]).toMatchObject({
      agentId,
      agentDid: did,
      principalId: 'user_42',
      purpose: 'payments.payout',
      metadata: { authRequestId: pending.id, actor: 'system' },
    });
    const events = await db
      .selectFrom('outboxEvents')
      .select('envelope')
      .where('type', '=', 'authorization.expired')
      .where('developerId', '=', developer.developerId)
      .execute();
    expect(events.map(({ envelope }) => JSON.parse(envelope).sandbox)).toEqual([true, true]);
  });

  test('is refused in the same way before and after it is recorded as expired', async () => {
    const { db, clock, advance, developer, agentId, approved } = await twoOpen();
    advance(601);
    const exchange = () => developer('POST', '/v1/token', { code: approved.code, agentId });

    const early = await exchange();
    await expireDueRequests({ db, clock });
    const late = await exchange();

    expect(refusalOf(early)).toBe('400 INVALID_GRANT code_expired');
    expect(refusalOf(late)).toBe('400 INVALID_GRANT code_expired');
    expect(refusalOf(await developer('DELETE', `/v1/authorize/${approved.id}`))).toBe('410 GONE');
  });

  test('is not recorded as expired when it was consumed or denied in time', async () => {
    const { db, clock, advance, developer, agentId, pending, approved } = await twoOpen();
    await developer('POST', '/v1/token', { code: approved.code, agentId });
    await developer('POST', `/v1/authorize/${pending.id}/deny`);
    advance(86_400);

    await expireDueRequests({ db, clock });

    expect(await actionsOf(developer)).not.toContain('authorization.expired');
  });
});

test('the job goes on, batch by batch, until no request is due', async () => {
  const { db, clock, advance, developer, agentId } = await twoOpen();
  const many = Array.from({ length: 7 }, () => authorize(developer, agentId, { autoApprove: false }));
  await Promise.all(many);
  advance(3601);

  await expiryOfRequests({ db, clock, batch: 3 }).run(new AbortController().signal);

  expect(await entriesOf(developer, 'authorization.expired')).toHaveLength(9);
});
