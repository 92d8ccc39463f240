import type { LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';
import { type Call, type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** A pending request, and the calls that its developer may make about it. */
async function pending({
  mode = 'sandbox',
  on = service,
  request = {},
}: {
  mode?: 'live' | 'sandbox';
  on?: Service;
  request?: object;
} = {}) {
  const developer = await on.asDeveloper({ mode });
  const { agentId } = await registerAgent(developer);
  const asked = await authorize(developer, agentId, {
    ...(mode === 'sandbox' && { autoApprove: false }),
    ...request,
  });
  const path = `/v1/authorize/${asked.id}`;
  const person = personOn(on);
  return {
    developer,
    agentId,
    asked,
    person,
    id: String(asked.id),
    get: () => developer('GET', path),
    statusNow: async () => (await developer('GET', path)).json().status,
    approve: () => developer('POST', `${path}/approve`),
    deny: () => developer('POST', `${path}/deny`),
    cancel: () => developer('DELETE', path),
    code: () => developer('POST', `${path}/code`),
    exchange: (code: string) => developer('POST', '/v1/token', { code, agentId }),
    entries: (action: string) => entriesOf(developer, `authorization.${action}`),
  };
}

type Pending = Awaited<ReturnType<typeof pending>>;

const said = (answer: LightMyRequestResponse) =>
  answer.statusCode < 300 ? `${answer.statusCode}` : refusalOf(answer);

describe('listing requests', () => {
  const idsIn = (answer: LightMyRequestResponse) =>
    answer.json().requests.map(({ id }: { id: string }) => id);

  async function withRequests() {
    const own = await startApp(); // with a clock that moves
    const acme = await own.asDeveloper({ mode: 'sandbox' });
    const [one, two] = [await registerAgent(acme), await registerAgent(acme)];
    const ask = async (agentId: string, principalId: string) => {
      own.advance(1);
      return String((await authorize(acme, agentId, { principalId, autoApprove: false })).id);
    };
    const ids = [
      await ask(one.agentId, 'user_42'),
      await ask(two.agentId, 'user_42'),
      await ask(two.agentId, 'user_43'),
      await ask(one.agentId, 'user_43'),
    ] as const;
    return { ...own, acme, one, two, ids, list: (query: string) => acme('GET', `/v1/authorize?${query}`) };
  }

  test('shows the newest first as each is read by itself, page by page, and no other developer’s', async () => {
    const { acme, ids, list, asDeveloper } = await withRequests();
    const eve = await asDeveloper({ mode: 'sandbox' });
    const { agentId } = await registerAgent(eve);
    await authorize(eve, agentId);

    const first = await list('limit=3');
    const rest = await list(`limit=3&cursor=${first.json().nextCursor}`);

    expect([...idsIn(first), ...idsIn(rest)]).toEqual(ids.toReversed());
    expect(rest.json().nextCursor).toBeNull();
    expect(first.json().requests[0]).toEqual((await acme('GET', `/v1/authorize/${ids[3]}`)).json());
    expect(first.body).not.toMatch(/code|ticket|consentUrl/);
  });

  test('takes each filter, and all together, by the status of this moment', async () => {
    const { acme, ids, list, one, two, advance, clock } = await withRequests();
    const [first, second, third, fourth] = ids;
    await acme('POST', `/v1/authorize/${first}/approve`);
    await acme('POST', `/v1/authorize/${second}/deny`);
    await acme('DELETE', `/v1/authorize/${third}`);

    expect(idsIn(await list(`agentId=${one.agentId}`))).toEqual([fourth, first]);
    expect(idsIn(await list('principalId=user_42'))).toEqual([second, first]);
    expect(idsIn(await list(`principalId=user_42&agentId=${two.agentId}`))).toEqual([second]);
    expect(idsIn(await list('status=approved'))).toEqual([first]);
    expect(idsIn(await list('status=denied'))).toEqual([second]);
    expect(idsIn(await list('status=cancelled'))).toEqual([third]);
    expect(idsIn(await list('status=pending'))).toEqual([fourth]);
    expect(idsIn(await list(`status=pending&agentId=${two.agentId}`))).toEqual([]);
    expect(idsIn(await list('status=expired'))).toEqual([]);
    const now = clock().toISOString();
    expect(idsIn(await list(`until=${now}`))).toEqual([third, second, first]);
    expect(idsIn(await list(`since=${now}`))).toEqual([fourth]);

    advance(24 * 3600);
    expect(idsIn(await list('status=pending'))).toEqual([]);
    expect(idsIn(await list('status=expired'))).toEqual([fourth, first]);
  });

  test('shows a bound key the requests of its agents', async () => {
    const { acme, ids, one, two } = await withRequests();
    const bound = await acme.asRuntime(one.agentId);

    expect(idsIn(await bound('GET', '/v1/authorize'))).toEqual([ids[3], ids[0]]);
    expect(idsIn(await bound('GET', '/v1/authorize?principalId=user_42'))).toEqual([ids[0]]);
    expect(idsIn(await bound('GET', `/v1/authorize?agentId=${two.agentId}`))).toEqual([]);
  });

  test('looks at 2,000 requests for a page, and says where the next one goes on', async () => {
    const { db, acme, ids, list } = await withRequests();
    await acme('POST', `/v1/authorize/${ids[0]}/deny`);
    await sql`insert into auth_requests select (jsonb_populate_record(one, jsonb_build_object(
        'id', 'areq_7' || lpad(n::text, 25, '0'), 'status', 'cancelled'))).*
      from auth_requests one, generate_series(1, 2000) n where one.id = ${ids[3]}`.execute(db);

    const first = await list('status=denied');
    const second = await list(`status=denied&cursor=${first.json().nextCursor}`);

    expect(first.json()).toEqual({ requests: [], nextCursor: `areq_7${'1'.padStart(25, '0')}` });
    expect([idsIn(second), second.json().nextCursor]).toEqual([[ids[0]], null]);
  });

  test.each([
    'status=gone',
    'limit=0',
    'cursor=grnt_1',
    'since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
  ])('is refused with %s', async (query) => {
    const developer = await service.asDeveloper();

    expect((await developer('GET', `/v1/authorize?${query}`)).statusCode).toBe(400);
  });
});

describe('reading a request', () => {
  test('shows the request as it was sent, with its status and without any secret', async () => {
    const { developer, asked, get } = await pending({
      request: { state: 's', redirectUri: 'https://app.example/cb' },
    });

    const answer = await get();

    const { consentUrl: _, ...record } = asked;
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual(record);
    await developer('POST', `/v1/authorize/${asked.id}/approve`);
    expect((await get()).json()).toEqual({
      ...record,
      status: 'approved',
      decidedAt: service.clock().toISOString(),
      expiresAt: new Date(service.clock().getTime() + 600_000).toISOString(),
    });
  });

  test('shows `expired` as soon as the request, or its unused code, has expired', async () => {
    const on = await startApp();
    const open = await pending({ on, request: { consentExpiresIn: '60s' } });
    const allowed = await pending({ on, request: { consentExpiresIn: '60s' } });
    on.advance(59);
    await allowed.approve();

    expect([await open.statusNow(), await allowed.statusNow()]).toEqual(['pending', 'approved']);
    on.advance(1);
    expect([await open.statusNow(), await allowed.statusNow()]).toEqual(['expired', 'approved']);
    on.advance(598);
    expect(await allowed.statusNow()).toBe('approved');
    on.advance(1);
    expect(await allowed.statusNow()).toBe('expired');
  });
});

describe('T11 a fresh code', () => {
  /** An approved request that a `runtime` key has made. @param bound whether the key is bound to the agent */
  async function askedByHost({ bound = false } = {}) {
    const owner = await service.asDeveloper({ mode: 'sandbox' });
    const { agentId } = await registerAgent(owner);
    const host = await owner.asRuntime(...(bound ? [agentId] : []));
    const body = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const { id } = (await host('POST', '/v1/authorize', body)).json();
    const codeFor = async (call: Call) => (await call('POST', `/v1/authorize/${id}/code`)).statusCode;
    const rotated = async (call: Call) =>
      service.calling((await call('POST', '/v1/keys/rotate', { graceSeconds: 300 })).json().apiKey);
    return { owner, host, agentId, id, codeFor, rotated };
  }

  test.each([false, true])('goes to the key that made the request (bound: %s)', async (bound) => {
    const { host, codeFor } = await askedByHost({ bound });

    expect(await codeFor(host)).toBe(201);
  });

  test('goes to its successors by rotation, however many', async () => {
    const { host, codeFor, rotated } = await askedByHost({ bound: true });

    const second = await rotated(host);
    const third = await rotated(second);

    for (const call of [host, second, third]) expect(await codeFor(call)).toBe(201);
  });

  test('goes to no key that was replaced before the request was made', async () => {
    const { owner, agentId, codeFor, rotated, host } = await askedByHost();
    const second = await rotated(host);
    const successor = await rotated(second);
    const body = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const { id } = (await successor('POST', '/v1/authorize', body)).json();
    const answers = async (call: Call) => (await call('POST', `/v1/authorize/${id}/code`)).statusCode;

    expect(await answers(host)).toBe(404);
    expect(await answers(second)).toBe(404);
    expect(await answers(successor)).toBe(201);
    expect(await answers(owner)).toBe(201);
    expect(await codeFor(host)).toBe(201); // its own request
  });

  test('goes to any `full` key, and to no other `runtime` key, bound or not', async () => {
    const { owner, agentId, id, codeFor, rotated } = await askedByHost();
    const unbound = await owner.asRuntime();
    const others = [unbound, await owner.asRuntime(agentId), await rotated(unbound)];

    for (const call of others) {
      expect(await codeFor(call)).toBe(404);
      expect((await call('GET', `/v1/authorize/${id}`)).json().status).toBe('approved');
    }
    expect(await codeFor(owner)).toBe(201);
    const second = (await owner('POST', '/v1/keys', { name: 'second' })).json();
    expect(await codeFor(service.calling(second.apiKey))).toBe(201);
  });

  test('goes to `full` keys alone when the key that made the request is not known', async () => {
    const { owner, host, id, codeFor } = await askedByHost();
    await service.db.updateTable('authRequests').set({ keyId: null }).where('id', '=', id).execute();

    expect(await codeFor(host)).toBe(404);
    expect(await codeFor(owner)).toBe(201);
  });
});

describe('a fresh code', () => {
  test('is given for an approved request without a redirect URI; its first exchange consumes the request', async () => {
    const { approve, code, exchange, statusNow } = await pending();
    const first = (await approve()).json().code;

    const answer = await code();

    const { code: fresh, ...rest } = answer.json();
    expect(answer.statusCode).toBe(201);
    expect(rest).toEqual({
      authRequestId: expect.stringMatching(/^areq_/),
      expiresAt: new Date(service.clock().getTime() + 600_000).toISOString(),
    });
    expect(fresh).not.toBe(first);
    expect((await exchange(fresh)).statusCode).toBe(201);
    expect(refusalOf(await exchange(first))).toBe('400 INVALID_GRANT code_used');
    expect(await statusNow()).toBe('consumed');
  });

  test('leaves earlier codes valid', async () => {
    const { approve, code, exchange } = await pending();
    const first = (await approve()).json().code;
    await code();

    expect((await exchange(first)).statusCode).toBe(201);
  });

  test('expires when the first code would have expired', async () => {
    const on = await startApp();
    const { approve, code, exchange } = await pending({ on });
    await approve();

    on.advance(599);
    const late = (await code()).json();
    on.advance(1);

    expect(late.expiresAt).toBe('2026-01-01T00:10:00.000Z');
    expect(refusalOf(await exchange(late.code))).toBe('400 INVALID_GRANT code_expired');
    expect(await code().then((answer) => [refusalOf(answer), answer.json().details])).toEqual([
      '410 GONE',
      { status: 'expired' },
    ]);
  });

  test('is refused where the request has a redirect URI', async () => {
    const { approve, code } = await pending({ request: { redirectUri: 'https://app.example/cb' } });
    await approve();

    const answer = await code();

    expect(refusalOf(answer)).toBe('409 CONFLICT');
    expect(answer.json().details).toEqual({ field: 'redirectUri' });
  });
});

describe('O13 deciding with an API key', () => {
  test('is possible only in the sandbox', async () => {
    const { approve, deny, statusNow } = await pending({ mode: 'live' });

    expect([refusalOf(await approve()), refusalOf(await deny())]).toEqual([
      '403 CONSENT_REQUIRED',
      '403 CONSENT_REQUIRED',
    ]);
    expect(await statusNow()).toBe('pending');
  });

  test('approves and denies there, and records the API key as the actor', async () => {
    const [yes, no] = [await pending(), await pending()];

    const [approved, denied] = [await yes.approve(), await no.deny()];

    expect(approved.json()).toEqual({
      requestId: yes.id,
      authRequestId: yes.id,
      status: 'approved',
      code: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(denied.json()).toEqual({ requestId: no.id, authRequestId: no.id, status: 'denied' });
    const scopes = ['calendar:read', 'email:send'];
    const actor = expect.stringMatching(/^developer:key_/);
    const [approval] = await yes.entries('approved');
    const [denial] = await no.entries('denied');
    expect(approval?.metadata).toEqual({
      authRequestId: yes.id,
      scopes,
      method: 'sandbox',
      narrowed: false,
      actor,
    });
    expect(denial?.metadata).toEqual({ authRequestId: no.id, actor });
  });

  test('accepts no members in the body', async () => {
    const { developer, id, statusNow } = await pending();

    const answer = await developer('POST', `/v1/authorize/${id}/approve`, { scopes: ['*'] });

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(await statusNow()).toBe('pending');
  });
});

describe('cancelling a request', () => {
  test('ends a pending request once, and records it', async () => {
    const { cancel, entries, statusNow, id } = await pending();

    const answers = [await cancel(), await cancel()];

    expect(answers.map(said)).toEqual(['204', '410 GONE']);
    expect(answers[1]?.json().details).toEqual({ status: 'cancelled' });
    expect(await statusNow()).toBe('cancelled');
    const told = await entries('cancelled');
    expect(told.map(({ metadata }) => metadata.authRequestId)).toEqual([id]);
  });
});

/** How a request gets each status through the API. */
const ways = {
  pending: async () => {},
  approved: async ({ approve }: Pending) => void (await approve()),
  denied: async ({ deny }: Pending) => void (await deny()),
  cancelled: async ({ cancel }: Pending) => void (await cancel()),
  consumed: async ({ approve, exchange }: Pending) => void (await exchange((await approve()).json().code)),
  expired: async (_request: Pending, on: Service) => on.advance(3600),
} as const;

describe('a request with the status', () => {
  // approve, deny, cancel, code: calls of the developer; page: the decision of a person who has the page open
  test.each([
    ['pending', { approve: '200', deny: '200', cancel: '204', code: '409 CONFLICT', page: '200' }],
    [
      'approved',
      { approve: '404 NOT_FOUND', deny: '404 NOT_FOUND', cancel: '410 GONE', code: '201', page: '410 GONE' },
    ],
    [
      'denied',
      {
        approve: '404 NOT_FOUND',
        deny: '404 NOT_FOUND',
        cancel: '410 GONE',
        code: '410 GONE',
        page: '410 GONE',
      },
    ],
    [
      'cancelled',
      {
        approve: '404 NOT_FOUND',
        deny: '404 NOT_FOUND',
        cancel: '410 GONE',
        code: '410 GONE',
        page: '410 GONE',
      },
    ],
    [
      'consumed',
      {
        approve: '404 NOT_FOUND',
        deny: '404 NOT_FOUND',
        cancel: '410 GONE',
        code: '410 GONE',
        page: '410 GONE',
      },
    ],
    [
      'expired',
      {
        approve: '404 NOT_FOUND',
        deny: '404 NOT_FOUND',
        cancel: '410 GONE',
        code: '410 GONE',
        page: '410 GONE',
      },
    ],
  ] as const)('%s accepts the calls that fit it and refuses the rest', async (status, expected) => {
    const on = await startApp({ store: 'memory' });

    for (const [act, answer] of Object.entries(expected)) {
      const request = await pending({ on });
      await request.person.open(request.asked.consentUrl);
      await ways[status](request, on);
      expect(await request.statusNow()).toBe(status);

      const acts: Record<string, () => Promise<LightMyRequestResponse>> = {
        approve: request.approve,
        deny: request.deny,
        cancel: request.cancel,
        code: request.code,
        page: () => request.person.approve(request.id),
      };
      const given = await acts[act]?.();

      expect(given && said(given), act).toBe(answer);
      if (answer === '410 GONE' && status !== 'expired') expect(given?.json().details).toEqual({ status });
      if (!/^20/.test(answer)) expect(await request.statusNow(), act).toBe(status);
    }
  });
});

describe('O12 when decisions come at once', () => {
  const decisions = {
    'approve and approve': ({ approve }: Pending) => [approve(), approve()],
    'approve and deny': ({ approve, deny }: Pending) => [approve(), deny()],
    'approve and cancel': ({ approve, cancel }: Pending) => [approve(), cancel()],
    'the person and the developer': ({ person, id, approve, cancel }: Pending) => [
      person.approve(id),
      person.deny(id),
      approve(),
      cancel(),
    ],
  };

  test.each(Object.entries(decisions))('%s, one takes effect', async (_what, decide) => {
    for (let round = 0; round < 5; round += 1) {
      const request = await pending();
      await request.person.open(request.asked.consentUrl);

      const answers = await Promise.all(decide(request));

      const won = answers.filter(({ statusCode }) => statusCode < 300);
      expect(won).toHaveLength(1);
      for (const lost of answers.filter((answer) => !won.includes(answer))) {
        expect(['404 NOT_FOUND', '410 GONE']).toContain(refusalOf(lost));
      }
      const told = [
        ...(await request.entries('approved')),
        ...(await request.entries('denied')),
        ...(await request.entries('cancelled')),
      ];
      expect(told).toHaveLength(1);
    }
  });

  test('a revocation of the agent overrides them', async () => {
    for (let round = 0; round < 5; round += 1) {
      const request = await pending();

      const [approved] = await Promise.all([
        request.approve(),
        request.developer('DELETE', `/v1/agents/${request.agentId}`),
      ]);

      expect(['200', '404 NOT_FOUND']).toContain(said(approved));
      expect(await request.statusNow()).toBe('cancelled');
      if (approved.statusCode === 200) {
        expect(refusalOf(await request.exchange(approved.json().code))).toMatch(/^400 INVALID_GRANT/);
      }
    }
  });
});

describe('O5 a code', () => {
  test('does nothing before the approval, and nothing after the request is cancelled or denied', async () => {
    // The store has a code before the approval commits. Without an approved request the code leads nowhere.
    const codes: string[] = [];
    const on = await startApp({
      storeAs: (store) => ({
        ...store,
        put: async (entries) => {
          codes.push(...entries.map(({ key }) => key));
          await store.put(entries);
        },
      }),
    });
    const request = await pending({ on });
    const [first] = await Promise.all([request.approve()]);
    const { code } = first.json();
    await request.developer('DELETE', `/v1/agents/${request.agentId}`);

    expect(codes.some((key) => key.startsWith('bh:{code:'))).toBe(true);
    expect(refusalOf(await request.exchange(code))).toMatch(/^400 INVALID_GRANT/);
  });

  test('is never given for another developer’s request', async () => {
    const [own, eve] = [await pending(), await pending()];
    await own.approve();

    for (const [method, part] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/code'],
      ['POST', '/approve'],
      ['POST', '/deny'],
    ] as const) {
      const foreign = await eve.developer(method, `/v1/authorize/${own.id}${part}`);
      const unknown = await eve.developer(method, `/v1/authorize/areq_00000000000000000000000000${part}`);
      const { requestId: _, ...said404 } = unknown.json();
      expect(refusalOf(foreign)).toBe('404 NOT_FOUND');
      expect(foreign.json()).toEqual({ ...said404, requestId: foreign.json().requestId });
    }
    expect(await own.statusNow()).toBe('approved');
  });
});
