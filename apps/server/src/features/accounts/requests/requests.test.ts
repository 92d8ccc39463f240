import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { refusalOf, registerAgent, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import { newDatabase, startApp } from '../../../../test/app/start-app.ts';
import { createFailureBuffer } from './buffer.ts';
import { deleteOldFailures } from './read.ts';

const sandbox = sharedSandbox();
const NOBODY = 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

const refusal = {
  requestId: 'r-1',
  operationId: 'agents.get',
  method: 'GET',
  route: '/v1/agents/:id',
  status: 404,
  code: 'NOT_FOUND',
  subReason: null,
  agentId: null,
  keyId: null,
  durationMs: 3,
};

describe('GET /v1/requests', () => {
  test('shows what was refused and why, and nothing that was sent', async () => {
    const { acme, app, advance } = await startSandbox();
    const { agentId } = await registerAgent(acme);
    const headers = { authorization: `Bearer ${acme.apiKey}`, 'x-request-id': 'mine-1' };
    await app.inject({ url: '/v1/agents/ag_a-secret-of-mine', headers });
    advance(1);
    const body = { agentId, principalId: 'a secret', scopes: ['no scope'] };
    const refused = await acme('POST', '/v1/authorize', body);
    advance(1);
    await acme('POST', '/v1/token', { code: 'a secret', agentId });
    await acme('GET', `/v1/agents/${agentId}`);

    const answer = await acme('GET', '/v1/requests');
    const { requests, nextCursor, truncated } = answer.json();

    expect(answer.body).not.toContain('secret');
    expect([nextCursor, truncated]).toEqual([null, false]);
    expect(requests).toEqual([
      expect.objectContaining({ operationId: 'tokens.exchange', status: 400, agentId }),
      expect.objectContaining({ requestId: refused.json().requestId, code: refused.json().code, agentId }),
      {
        id: expect.stringMatching(/^freq_/),
        requestId: 'mine-1',
        at: '2026-01-01T00:00:00.000Z',
        operationId: 'agents.get',
        method: 'GET',
        route: '/v1/agents/:id',
        status: 404,
        code: 'NOT_FOUND',
        subReason: null,
        agentId: null,
        keyId: expect.stringMatching(/^key_/),
        durationMs: expect.any(Number),
      },
    ]);
    expect(requests[0].subReason).toBeTypeOf('string');
    const one = await acme('GET', '/v1/requests/mine-1');
    expect(one.json()).toEqual(requests[2]);
  });

  test('has refusals by role and by rate, and none of a key that is no key', async () => {
    const { acme, advance, calling } = await startSandbox({ env: { RATE_LIMIT_WEBHOOK_WRITE: '1' } });
    const made = await acme('POST', '/v1/keys', { name: 'worker', role: 'runtime' });
    const { apiKey, keyId } = made.json();
    await calling(apiKey)('GET', '/v1/webhooks');
    await calling('bh_live_no_key')('GET', '/v1/webhooks');
    advance(1);
    const hook = { url: 'https://a.test/', events: ['*'] };
    await acme('POST', '/v1/webhooks', hook);
    await acme('POST', '/v1/webhooks', hook);

    expect((await acme('GET', '/v1/requests')).json().requests).toMatchObject([
      { operationId: 'webhooks.create', status: 429, code: 'RATE_LIMITED' },
      { operationId: 'webhooks.list', status: 403, code: 'FORBIDDEN', keyId },
    ]);
  });

  test('is filtered, and read page by page', async () => {
    const { acme, advance } = await startSandbox();
    for (const id of ['a', 'b', 'c']) {
      await acme('GET', `/v1/agents/${id}`);
      await acme('GET', `/v1/webhooks/${id}`);
      await acme('POST', '/v1/webhooks', {});
      advance(60);
    }
    const list = async (query: string) => (await acme('GET', `/v1/requests?${query}`)).json();
    const operations = async (query: string) =>
      (await list(query)).requests.map(({ operationId }: { operationId: string }) => operationId);

    expect(await operations('code=NOT_FOUND&operationId=webhooks.get')).toEqual(
      Array(3).fill('webhooks.get'),
    );
    expect(await operations('status=400')).toEqual(Array(3).fill('webhooks.create'));
    expect(await operations(`agentId=${NOBODY}`)).toEqual([]);
    expect(await operations('since=2026-01-01T00:01:00Z&until=2026-01-01T00:02:00Z')).toHaveLength(3);
    const first = await list('limit=5');
    const rest = await list(`limit=5&cursor=${first.nextCursor}`);
    const all = await list('');
    expect([...first.requests, ...rest.requests]).toEqual(all.requests);
    expect(rest.nextCursor).toBeNull();
    for (const bad of ['status=200', 'code=x', 'since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z'])
      expect((await acme('GET', `/v1/requests?${bad}`)).statusCode, bad).toBe(400);
  });

  test('needs a full key, and shows no other account', async () => {
    const { acme, calling, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const { requestId } = (await acme('GET', `/v1/agents/${NOBODY}`)).json();

    expect(refusalOf(await calling('no')('GET', '/v1/requests'))).toBe('401 UNAUTHORIZED');
    expect((await other('GET', '/v1/requests')).json().requests).toEqual([]);
    expect(refusalOf(await other('GET', `/v1/requests/${requestId}`))).toBe('404 NOT_FOUND');
    expect((await acme('GET', `/v1/requests/${requestId}`)).statusCode).toBe(200);
  });
});

describe('a flood of refusals', () => {
  test('writes a bounded number of rows, and is counted whole', async () => {
    const { acme, service, advance } = await startSandbox();
    const { note, flush } = createFailureBuffer(service);
    for (let sent = 0; sent < 1000; sent += 1) note(acme, { ...refusal, requestId: `r-${sent}` });
    await flush();
    advance(60);
    for (let sent = 0; sent < 100; sent += 1) note(acme, { ...refusal, code: 'FORBIDDEN' });
    await flush();

    const { rows } = await sql<{ rows: number }>`select count(*)::int as rows from failed_requests
      where developer_id = ${acme.developerId}`.execute(service.db);
    expect(rows).toEqual([{ rows: 307 }]);
    expect((await acme('GET', '/v1/requests/groups')).json()).toEqual({
      since: '2025-12-29T00:00:00.000Z',
      groups: [
        {
          code: 'NOT_FOUND',
          operationId: 'agents.get',
          count: 1000,
          lastAt: '2026-01-01T00:00:00.000Z',
          lastRequestId: 'r-999',
        },
        expect.objectContaining({ code: 'FORBIDDEN', count: 100 }),
      ],
      truncated: true,
    });
    expect((await acme('GET', '/v1/requests?limit=1')).json().truncated).toBe(true);
  });

  test('of one account leaves the rows of another alone', async () => {
    const { acme, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const { note, flush } = createFailureBuffer(service);
    for (let sent = 0; sent < 500; sent += 1) note(acme, refusal);
    note(other, refusal);
    await flush();

    expect((await other('GET', '/v1/requests')).json()).toMatchObject({
      requests: [{ requestId: 'r-1' }],
      truncated: false,
    });
  });
});

test('refusals that could not be written wait for the next time', async () => {
  const { acme, db } = await sandbox();
  await sql`alter table failed_requests rename to failed_away`.execute(db);
  const meanwhile = await acme('GET', `/v1/agents/${NOBODY}`);
  const failed = await acme('GET', '/v1/requests');
  await sql`alter table failed_away rename to failed_requests`.execute(db);

  expect([meanwhile.statusCode, failed.statusCode]).toEqual([404, 500]);
  const { requests } = (await acme('GET', '/v1/requests')).json();
  expect(
    requests.map(({ operationId, code }: Record<string, string>) => `${operationId} ${code}`).sort(),
  ).toEqual(['agents.get NOT_FOUND', 'requests.list INTERNAL_ERROR']);
});

test('refusals are written when the service stops, and after 72 hours shown no longer and deleted', async () => {
  const databaseUrl = await newDatabase();
  const first = await startApp({ databaseUrl, isShared: true });
  const acme = await first.asDeveloper({ mode: 'sandbox' });
  const { requestId } = (await acme('GET', `/v1/agents/${NOBODY}`)).json();
  await first.stop();

  const { calling, db, clock, advance } = await startApp({ databaseUrl });
  const read = () => calling(acme.apiKey)('GET', `/v1/requests/${requestId}`);
  expect((await read()).statusCode).toBe(200);
  advance(72 * 3600 + 1);
  expect((await read()).statusCode).toBe(404);
  expect((await calling(acme.apiKey)('GET', '/v1/requests')).json().requests).toMatchObject([
    { status: 404 },
  ]);
  const rows = async () => (await sql`select request_id from failed_requests`.execute(db)).rows.length;
  const before = await rows();
  advance(3600);
  await deleteOldFailures({ db, clock }, AbortSignal.any([]));
  expect([before, await rows()]).toEqual([2, 1]);
});
