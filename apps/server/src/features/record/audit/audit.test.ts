import { createHash } from 'node:crypto';
import { auditLine } from '@behest/protocol/audit-line';
import { parseJsonText } from '@behest/protocol/json';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { joinBy, memberOf } from '../../../../test/app/console.ts';
import { actionsOf, grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { statementsOf } from '../../../../test/app/round-trips.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

const sandbox = () => service.asDeveloper({ mode: 'sandbox' });

/** A valid entry about a grant of the developer. */
async function entryOf(developer: Developer, request: object = {}) {
  const { agentId, did, grantId } = await grantTo(developer, request);
  return { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'flight.booked' };
}

const append = (developer: Developer, entry: object) => developer('POST', '/v1/audit/log', entry);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('appending', () => {
  test('answers the entry, which is the next in the chain and can be read again', async () => {
    const acme = await sandbox();
    const entry = await entryOf(acme);
    const head = (await acme('GET', '/v1/audit/head')).json();
    const metadata = { amount: 420.5, nested: { b: [1, null, true], a: 'Ünïcode "\\"' }, '': {}, '€': -0 };

    const appended = await append(acme, { ...entry, status: 'failure', metadata });

    expect(appended.statusCode).toBe(201);
    const { entryId, hash } = appended.json();
    expect(appended.json()).toEqual({
      entryId,
      id: entryId,
      seq: head.seq + 1,
      developerId: acme.developerId,
      ...entry,
      status: 'failure',
      metadata: { ...metadata, '€': 0 },
      purpose: null,
      timestamp: '2026-01-01T00:00:00.000Z',
      prevHash: head.hash,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      salt: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      source: 'developer',
      requestId: appended.headers['x-request-id'],
    });
    expect(entryId).toMatch(/^alog_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(sha256(auditLine(appended.json()))).toBe(hash);
    expect((await acme('GET', `/v1/audit/${entryId}`)).json()).toEqual(appended.json());
    const { entries } = (await acme('GET', '/v1/audit/entries?order=desc&limit=1')).json();
    expect(entries).toEqual([appended.json()]);
    expect((await acme('GET', '/v1/audit/head')).json()).toMatchObject({
      seq: head.seq + 1,
      hash,
      timestamp: '2026-01-01T00:00:00.000Z',
    });
  });

  test('two entries in a row makes them neighbours, and adds neither an entry nor an event about it', async () => {
    const acme = await sandbox();
    const entry = await entryOf(acme);
    const before = await actionsOf(acme);

    const [one, two] = [(await append(acme, entry)).json(), (await append(acme, entry)).json()];

    expect(two).toMatchObject({ seq: one.seq + 1, prevHash: one.hash });
    expect(await actionsOf(acme)).toEqual([...before, 'flight.booked', 'flight.booked']);
    const events = service.db
      .selectFrom('outboxEvents')
      .select('type')
      .where('developerId', '=', acme.developerId);
    expect((await events.execute()).map(({ type }) => type)).not.toContain('flight.booked');
  });

  test('fills omitted members: the status is `success` and the metadata are empty', async () => {
    const acme = await sandbox();

    const appended = await append(acme, await entryOf(acme));

    expect(appended.json()).toMatchObject({ status: 'success', metadata: {} });
  });

  test('takes the purpose from the grant', async () => {
    const acme = await sandbox();
    const purpose = 'aml.screening';
    const entry = await entryOf(acme, { scopes: ['tool:screening:read'], purpose });

    expect((await append(acme, entry)).json()).toMatchObject({ purpose });
    expect((await append(acme, { ...entry, purpose })).statusCode).toBe(400);
  });

  test('is allowed after the grant has ended', async () => {
    const acme = await sandbox();
    const entry = await entryOf(acme);
    await acme('DELETE', `/v1/grants/${entry.grantId}`);

    expect((await append(acme, entry)).statusCode).toBe(201);
  });

  test.each(['hash', 'prevHash', 'timestamp', 'seq', 'developerId', 'id', 'salt', 'source', 'requestId'])(
    'A3: lets no developer choose %s',
    async (field) => {
      const acme = await sandbox();
      const entry = await entryOf(acme);

      const refused = await append(acme, { ...entry, [field]: 'x' });

      expect(refused.statusCode).toBe(400);
      expect(refused.json().details.fields).toEqual([{ path: field, problem: 'unknown' }]);
    },
  );

  test('A3: refuses a grant of another developer like an unknown grant', async () => {
    const [acme, other] = [await sandbox(), await sandbox()];
    const [own, foreign] = [await entryOf(acme), await entryOf(other)];

    const refused = await append(acme, foreign);

    expect(refused.statusCode).toBe(404);
    expect((await append(acme, { ...own, grantId: 'grnt_none' })).json().message).toBe(
      refused.json().message,
    );
    expect((await append(acme, own)).statusCode).toBe(201);
  });

  test.each([
    ['agentId', 'ag_other'],
    ['agentDid', 'did:web:other'],
    ['principalId', 'user_43'],
  ])('A3: refuses a value of %s that differs from the grant’s', async (field, value) => {
    const acme = await sandbox();
    const entry = await entryOf(acme);

    const refused = await append(acme, { ...entry, [field]: value });

    expect(refused.statusCode).toBe(400);
    expect(refused.json().details.fields).toEqual([{ path: field, problem: 'not_allowed' }]);
  });

  test.each(['agentId', 'agentDid', 'grantId', 'principalId', 'action'])('needs %s', async (field) => {
    const acme = await sandbox();
    const { [field]: _, ...rest } = (await entryOf(acme)) as Record<string, unknown>; // any member

    const refused = await append(acme, rest);

    expect(refused.json().details.fields).toEqual([{ path: field, problem: 'required' }]);
  });

  test.each([
    'grant.created',
    'token.issued',
    'developer.created',
    'authorization.blocked',
    'tool.enforce',
    'sd-jwt.issued',
    'billing.checkout_created',
  ])('A3: refuses the service’s action %s', async (action) => {
    const acme = await sandbox();

    const refused = await append(acme, { ...(await entryOf(acme)), action });

    expect(refused.statusCode).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'RESERVED_ACTION', details: { action } });
  });

  test.each([
    ['a', 201],
    ['x'.repeat(128), 201],
    ['Grant.Created', 201],
    ['0a.b_c:d/e-f', 201],
    ['x'.repeat(129), 400],
    ['', 400],
    ['.a', 400],
    ['a b', 400],
    ['é', 400],
    ['a\n', 400],
  ])('answers the action %j with %i', async (action, status) => {
    const acme = await sandbox();

    expect((await append(acme, { ...(await entryOf(acme)), action })).statusCode).toBe(status);
  });

  const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) });
  test.each<[string, unknown, string | undefined]>([
    ['of 16 KiB', { a: 'x'.repeat(16_384 - 8) }, undefined],
    ['of 16 KiB and a byte', { a: 'x'.repeat(16_384 - 7) }, 'too_long'],
    ['of as many bytes in fewer characters', { a: 'é'.repeat(8_189) }, 'too_long'],
    ['of 8 levels', nested(8), undefined],
    ['of 9 levels', nested(9), 'too_long'],
    ['of 9 levels of lists', { a: [[[[[[[[]]]]]]]] }, 'too_long'],
    ['with the largest integer', { a: 9_007_199_254_740_991 }, undefined],
    ['with the integer after it', { a: [{ b: 9_007_199_254_740_992 }] }, 'too_large'],
    ['with a far larger integer', { a: 1e21 }, 'too_large'],
    ['with small numbers', { a: 5e-324, b: 1e-7, c: 0.1 + 0.2, d: -9_007_199_254_740_991 }, undefined],
    ['of many small numbers, which the database writes out', { a: Array(400).fill(5e-324) }, 'too_long'],
    ['of many negative fractions, written out too', { a: Array(900).fill(-1.5e-17) }, 'too_long'],
    ['of 1,000 nodes', { a: Array(998).fill(0) }, undefined],
    ['of 1,001 nodes', { a: Array(999).fill(0) }, 'too_long'],
    ['of 1,001 nodes, empty objects', { a: Array(999).fill({}) }, 'too_long'],
    ['that is a list', [], 'type'],
    ['that is a text', 'x', 'type'],
    ['that is null', null, 'type'],
  ])('keeps metadata %s exactly, or names the problem', async (_, metadata, problem) => {
    const acme = await sandbox();

    const answer = await append(acme, { ...(await entryOf(acme)), metadata });

    if (problem) expect(answer.json().details.fields[0].problem).toBe(problem);
    else {
      expect((await acme('GET', `/v1/audit/${answer.json().entryId}`)).json().metadata).toEqual(metadata);
      const [listed] = (await acme('GET', '/v1/audit/entries?order=desc&limit=1')).json().entries;
      expect(listed.metadata).toEqual(metadata);
      expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
    }
  });

  test.each<[string, object]>([
    ['numbers', { a: Array(40).fill(5e-324), b: Array(3).fill(-1.25e-7), c: Array(9).fill(1e-7), d: 0.1 }],
    ['members and lists', { a: { b: [{}, [], [1, 2], { c: null, d: true }] }, e: 'é"\n\u0001' }],
  ])('A3, I16: counts the bytes that the database keeps of %s: exactly 16 KiB pass', async (_, some) => {
    const acme = await sandbox();
    const entry = await entryOf(acme);
    const keptOf = async (value: object) => {
      const asked = sql<{ kept: string }>`select ${JSON.stringify(value)}::jsonb::text as kept`;
      const kept = (await asked.execute(service.db)).rows[0]?.kept ?? '';
      return Buffer.byteLength(kept.replaceAll(/([,:]) /g, '$1'));
    };
    const room = 16_384 - (await keptOf({ ...some, fill: '' }));
    const full = { ...some, fill: 'x'.repeat(room) };

    expect(await keptOf(full)).toBe(16_384);
    expect((await append(acme, { ...entry, metadata: full })).statusCode).toBe(201);
    const refused = await append(acme, { ...entry, metadata: { ...full, fill: `${full.fill}x` } });
    expect(refused.json().details.fields).toEqual([{ path: 'metadata', problem: 'too_long' }]);
  });

  test.each<[object, string]>([
    [{ '"': 1 }, 'metadata'],
    [{ '\\': 1 }, 'metadata'],
    [{ 'a\nb': 1 }, 'metadata'],
    [{ '\u0001': 1 }, 'metadata'],
    [{ '\u001f': 1 }, 'metadata'],
    [{ a: [{ b: { '\\': 1, '\n': 2 } }] }, 'metadata.a.0.b'],
  ])('A5: refuses metadata %j, whose name JSON escapes, and names its object', async (metadata, path) => {
    const acme = await sandbox();
    const entry = await entryOf(acme);

    const refused = await append(acme, { ...entry, metadata });

    expect(refused.statusCode).toBe(400);
    expect(refused.json().details.fields).toEqual([{ path, problem: 'not_allowed' }]);
    const taken = await append(acme, { ...entry, metadata: { '\u007f': '\\', 'a/b': '\n', é: 1 } });
    const kept = await acme('GET', `/v1/audit/${taken.json().entryId}`);
    for (const read of [JSON.parse, parseJsonText]) {
      expect(sha256(auditLine(read(kept.body)))).toBe(taken.json().hash);
    }
  });

  test('A2: 50 entries at once makes one chain without gaps, which the API’s answers prove', async () => {
    const acme = await sandbox();
    const entry = await entryOf(acme);
    const { seq: before } = (await acme('GET', '/v1/audit/head')).json();

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => append(acme, { ...entry, metadata: { at } })),
    );

    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([201]));
    const { entries } = (await acme('GET', '/v1/audit/entries?limit=500')).json();
    expect(entries).toHaveLength(before + 50);
    let prevHash: string | null = null;
    for (const [at, each] of entries.entries()) {
      expect(each).toMatchObject({ seq: at + 1, prevHash });
      expect(sha256(auditLine(each))).toBe(each.hash);
      prevHash = each.hash;
    }
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({
      valid: true,
      checkedEntries: before + 50,
    });
  });

  test('sends two statements to the database: the grant, and the entry', async () => {
    const acme = await sandbox();
    const entry = await entryOf(acme);

    const statements = await statementsOf(() => append(acme, entry));

    expect(statements).toEqual(['find_grant_of_entry', 'write_together']);
  });
});

describe('time', () => {
  test('never goes back along a chain, whatever a clock says', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const entry = await entryOf(acme);

    service.advance(-3600);
    const late = (await append(acme, entry)).json();
    service.advance(7200.789);
    const next = (await append(acme, entry)).json();

    expect([late.timestamp, next.timestamp]).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T01:00:00.789Z',
    ]);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });
});

describe('an entry of the service', () => {
  test('names the action, its subject, its actor and its request', async () => {
    const acme = await sandbox();

    const made = await acme('POST', '/v1/agents', { name: 'Travel booker' });

    const { entries } = (await acme('GET', '/v1/audit/entries?action=agent.created')).json();
    const { agentId, did } = made.json();
    expect(entries).toEqual([
      {
        entryId: entries[0].id,
        id: entries[0].id,
        seq: 2,
        developerId: acme.developerId,
        agentId,
        agentDid: did,
        grantId: null,
        principalId: null,
        action: 'agent.created',
        status: 'success',
        metadata: { name: 'Travel booker', actor: expect.stringMatching(/^developer:key_/) },
        purpose: null,
        timestamp: '2026-01-01T00:00:00.000Z',
        prevHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        salt: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
        source: 'service',
        requestId: made.headers['x-request-id'],
      },
    ]);
  });

  test('is in the chain of its developer, whose first entry has no previous hash', async () => {
    const [acme, other] = [await sandbox(), await sandbox()];
    await registerAgent(acme);

    for (const developer of [acme, other]) {
      const { entries } = (await developer('GET', '/v1/audit/entries')).json();
      expect(entries[0]).toMatchObject({ seq: 1, prevHash: null, action: 'developer.created' });
    }
    expect((await acme('GET', '/v1/audit/head')).json().seq).toBe(2);
    expect((await other('GET', '/v1/audit/head')).json().seq).toBe(1);
  });

  test('has an event in the outbox, which is the same text for every subscriber', async () => {
    const acme = await sandbox();
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'Travel "booker"' })).json();

    const event = await service.db
      .selectFrom('outboxEvents')
      .selectAll()
      .where('developerId', '=', acme.developerId)
      .where('type', '=', 'agent.created')
      .executeTakeFirstOrThrow();

    expect(event.id).toMatch(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(event.envelope).toBe(
      `{"id":"${event.id}","type":"agent.created","createdAt":"2026-01-01T00:00:00.000Z",` +
        `"timestamp":"2026-01-01T00:00:00.000Z","developerId":"${acme.developerId}","specVersion":"0.6",` +
        `"sandbox":true,"data":{"agentId":"${agentId}","name":"Travel \\"booker\\""}}`,
    );
  });

  test('has an event without the actor, and without a sandbox mark for a live account', async () => {
    const live = await service.asDeveloper();
    const { envelope } = await service.db
      .selectFrom('outboxEvents')
      .select('envelope')
      .where('developerId', '=', live.developerId)
      .executeTakeFirstOrThrow();

    expect(Object.keys(JSON.parse(envelope))).toEqual([
      'id',
      'type',
      'createdAt',
      'timestamp',
      'developerId',
      'specVersion',
      'data',
    ]);
    expect(JSON.parse(envelope).data).not.toHaveProperty('actor');
  });
});

describe('reading', () => {
  const idsOf = (answer: { json(): { entries: { id: string }[] } }) =>
    answer.json().entries.map(({ id }) => id);

  test('goes page by page in the order of the chain, or from its end', async () => {
    const acme = await sandbox();
    await entryOf(acme);
    const all = idsOf(await acme('GET', '/v1/audit/entries'));

    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      let cursor = '';
      do {
        const page = await acme('GET', `/v1/audit/entries?limit=4&order=${order}${cursor}`);
        expect(page.json().entries.length).toBeLessThanOrEqual(4);
        seen.push(...idsOf(page));
        cursor = page.json().nextCursor && `&cursor=${page.json().nextCursor}`;
      } while (cursor);
      expect(seen).toEqual(order === 'asc' ? all : all.toReversed());
    }
    const exact = await acme('GET', `/v1/audit/entries?limit=${all.length}`);
    expect(exact.json().nextCursor).toBeNull();
  });

  test('shows later entries on the last page, and not at all in descending order', async () => {
    const acme = await sandbox();
    await registerAgent(acme);
    const first = (await acme('GET', '/v1/audit/entries?limit=1')).json();
    const last = (await acme('GET', '/v1/audit/entries?limit=1&order=desc')).json();

    await registerAgent(acme);

    const rest = (await acme('GET', `/v1/audit/entries?cursor=${first.nextCursor}`)).json();
    const older = (await acme('GET', `/v1/audit/entries?order=desc&cursor=${last.nextCursor}`)).json();
    expect(rest.entries.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3]);
    expect(older.entries.map(({ seq }: { seq: number }) => seq)).toEqual([1]);
  });

  test('accepts each filter, and all filters together', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const purpose = 'aml.screening';
    const one = await entryOf(acme, { scopes: ['tool:screening:read'], purpose });
    service.advance(60);
    const two = { ...(await entryOf(acme, { principalId: 'user_43' })), principalId: 'user_43' };
    await append(acme, { ...one, action: 'flight.booked', status: 'blocked' });
    await append(acme, { ...two, action: 'flight.cancelled' });
    await append(acme, { ...two, action: 'flightless' });
    const listed = async (query: string) => {
      const { entries } = (await acme('GET', `/v1/audit/entries?${query}`)).json();
      return entries.map(({ action }: { action: string }) => action);
    };
    const flow = ['agent.created', 'authorization.requested', 'authorization.approved', 'grant.created'];

    expect(await listed(`agentId=${two.agentId}`)).toEqual([
      ...flow,
      'token.issued',
      'flight.cancelled',
      'flightless',
    ]);
    expect(await listed(`grantId=${one.grantId}`)).toEqual([
      'grant.created',
      'token.issued',
      'flight.booked',
    ]);
    expect(await listed('principalId=user_43&source=developer')).toEqual(['flight.cancelled', 'flightless']);
    expect(await listed('action=flight.*')).toEqual(['flight.booked', 'flight.cancelled']);
    expect(await listed('action=flight')).toEqual([]);
    expect(await listed('action=agent.created')).toEqual(['agent.created', 'agent.created']);
    expect(await listed('action=fl_ght.*')).toEqual([]); // only `.*` at the end is a pattern
    expect(await listed('status=blocked')).toEqual(['flight.booked']);
    expect((await listed(`purpose=${purpose}`)).at(-1)).toBe('flight.booked');
    expect(await listed('source=developer')).toEqual(['flight.booked', 'flight.cancelled', 'flightless']);
    expect(await listed('source=service&action=flight.*')).toEqual([]);
    expect(
      await listed(`source=developer&agentId=${two.agentId}&action=flight.*&status=success&order=desc`),
    ).toEqual(['flight.cancelled']);
    expect(await listed('until=2026-01-01T00:01:00Z')).toHaveLength(6); // the sign-up, and one flow
    expect((await listed('since=2026-01-01T00:01:00Z'))[0]).toBe('agent.created');
    expect(await listed('since=2026-01-01T01:01:00.000%2B01:00')).toEqual(
      await listed('since=2026-01-01T00:01:00Z'),
    );
  });

  /** Registers an agent by a request that has its id from the client. */
  const registerIn = (requestId: string, apiKey: string) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'x-request-id': requestId };
    return service.app.inject({ method: 'POST', url: '/v1/agents', headers, body: { name: 'New' } });
  };

  test('finds what a key has done, and what one request has, among the entries of the service', async () => {
    const acme = await sandbox();
    const one = await entryOf(acme);
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'Second', role: 'full' })).json();
    const requestId = 'deploy-17.a';
    const created = await registerIn(requestId, apiKey);
    await service.calling(apiKey)('DELETE', `/v1/agents/${created.json().agentId}`);
    const actor = `developer:${keyId}`;
    await append(acme, { ...one, action: 'agent.imitated', metadata: { actor } });
    const listed = async (query: string) => {
      const { entries } = (await acme('GET', `/v1/audit/entries?${query}`)).json();
      return entries.map(({ action }: { action: string }) => action);
    };

    expect(await listed(`actor=${actor}`)).toEqual(['agent.created', 'agent.revoked']);
    expect(await listed(`actor=${actor}&order=desc&limit=1`)).toEqual(['agent.revoked']);
    expect(await listed(`actor=${actor}&requestId=${requestId}`)).toEqual(['agent.created']);
    expect(await listed(`requestId=${requestId}`)).toEqual(['agent.created']);
    expect(await listed('actor=system')).toEqual([]);
    expect(await listed('requestId=unknown')).toEqual([]);
  });

  test('shows another developer nothing of a request', async () => {
    const [acme, eve] = [await sandbox(), await sandbox()];
    await registerIn('shared-name', acme.apiKey);

    expect((await acme('GET', '/v1/audit/entries?requestId=shared-name')).json().entries).toHaveLength(1);
    expect((await eve('GET', '/v1/audit/entries?requestId=shared-name')).json().entries).toEqual([]);
  });

  test.each([
    'actor=',
    'requestId=',
    `actor=${'x'.repeat(129)}`,
    'since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z',
    'since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
    'since=yesterday',
    'since=2026-01-01',
    'until=1767225600',
    'order=newest',
    'status=done',
    'source=me',
    'action=*',
    'action=a*',
    'cursor=alog_1',
  ])('refuses the query %s', async (query) => {
    const acme = await sandbox();

    expect((await acme('GET', `/v1/audit/entries?${query}`)).statusCode).toBe(400);
  });

  test('answers 404 for an unknown entry and for an entry of another developer alike', async () => {
    const [acme, other] = [await sandbox(), await sandbox()];
    const [own] = idsOf(await acme('GET', '/v1/audit/entries'));

    const [foreign, unknown] = [
      await other('GET', `/v1/audit/${own}`),
      await other('GET', '/v1/audit/alog_1'),
    ];

    expect([foreign.statusCode, unknown.statusCode]).toEqual([404, 404]);
    expect(foreign.json().message).toBe(unknown.json().message);
    expect((await acme('GET', `/v1/audit/${own}`)).statusCode).toBe(200);
  });

  test('A3: is the only thing that a caller can do with an entry', async () => {
    const acme = await sandbox();
    const [id] = idsOf(await acme('GET', '/v1/audit/entries'));

    for (const method of ['PUT', 'PATCH', 'DELETE', 'POST'] as const) {
      const refused = await acme(method, `/v1/audit/${id}`, {});
      expect([refused.statusCode, refused.headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });

  test('sends one statement to the database, once the key is known', async () => {
    const acme = await sandbox();

    await acme('GET', '/v1/audit/head'); // signs a checkpoint, once a minute
    await acme('GET', '/v1/audit/head'); // the second use makes the key known
    for (const url of [
      '/v1/audit/entries',
      '/v1/audit/head',
      '/v1/agents',
      '/v1/grants',
      '/v1/keys',
      '/v1/me',
    ]) {
      const statements = await statementsOf(() => acme('GET', url));
      expect([url, statements.length]).toEqual([url, 1]);
    }
  });
});

describe('the quota of a plan', () => {
  const sandboxWith = async (env: Record<string, string>) => {
    const service = await startApp({ env });
    return { service, acme: await service.asDeveloper({ mode: 'sandbox' }) };
  };

  test('counts appended entries in a calendar month, and no entry of the service', async () => {
    const { service, acme } = await sandboxWith({ PLAN_FREE_AUDIT_APPENDS: '2' });
    const entry = await entryOf(acme);
    await append(acme, entry);
    await append(acme, entry);

    const refused = await append(acme, entry);

    expect(refused.statusCode).toBe(402);
    expect(refused.json()).toMatchObject({
      code: 'PLAN_LIMIT_EXCEEDED',
      details: { limit: 2, plan: 'free', resource: 'audit_appends', current: 2 },
    });
    await registerAgent(acme);
    expect((await actionsOf(acme)).slice(-3)).toEqual(['flight.booked', 'flight.booked', 'agent.created']);
    service.advance(31 * 86_400 - 1);
    expect((await append(acme, entry)).statusCode).toBe(402);
    service.advance(1);
    expect((await append(acme, entry)).statusCode).toBe(201);
    expect((await append(acme, entry)).statusCode).toBe(201);
    expect((await append(acme, entry)).statusCode).toBe(402);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test('is exact when 20 entries come at once, for each of two developers', async () => {
    const { service, acme } = await sandboxWith({ PLAN_FREE_AUDIT_APPENDS: '5' });
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const [entry, theirs] = [await entryOf(acme), await entryOf(other)];

    const answers = await Promise.all(Array.from({ length: 20 }, () => append(acme, entry)));

    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(5);
    expect(answers.filter(({ statusCode }) => statusCode === 402)).toHaveLength(15);
    expect((await append(other, theirs)).statusCode).toBe(201);
  });

  test('may be unlimited', async () => {
    const { acme } = await sandboxWith({ PLAN_FREE_AUDIT_APPENDS: 'unlimited' });
    const entry = await entryOf(acme);

    for (let call = 0; call < 3; call += 1) expect((await append(acme, entry)).statusCode).toBe(201);
  });

  test('holds for a group that waits for the chain together: the last entries are refused', async () => {
    const { acme } = await sandboxWith({ PLAN_FREE_AUDIT_APPENDS: '30' });
    const entry = await entryOf(acme);

    const answers = await Promise.all(Array.from({ length: 50 }, () => append(acme, entry)));

    const statuses = answers.map(({ statusCode }) => statusCode).sort();
    expect(statuses).toEqual([...Array(30).fill(201), ...Array(20).fill(402)]);
    expect((await append(acme, entry)).statusCode).toBe(402);
  });
});

describe('entries that come at once', () => {
  test('A2: are one unbroken chain, each answered with its own position in it', async () => {
    const acme = await sandbox();
    const entry = await entryOf(acme);
    const { seq: before } = (await acme('GET', '/v1/audit/head')).json();

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => append(acme, { ...entry, metadata: { n } })),
    );

    const made = answers.map((answer) => answer.json()).sort((a, b) => a.seq - b.seq);
    expect(made.map(({ seq }) => seq)).toEqual(made.map((_, at) => before + 1 + at));
    for (const [at, { hash }] of made.slice(0, -1).entries()) expect(made[at + 1].prevHash).toBe(hash);
    const { entries } = (await acme('GET', `/v1/audit/entries?limit=500&action=${entry.action}`)).json();
    expect(entries).toEqual(made);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test('share transactions when they wait for the same chain', async () => {
    const acme = await sandbox();
    const entry = await entryOf(acme);

    await Promise.all(Array.from({ length: 20 }, () => append(acme, entry)));

    const { rows } = await sql<{ transactions: string }>`select count(distinct xmin::text) as transactions
      from audit_entries where developer_id = ${acme.developerId} and action = ${entry.action}`.execute(
      service.db,
    );
    expect(Number(rows[0]?.transactions)).toBeLessThan(10);
  });
});

describe('the member who acted', () => {
  test('has a name beside the entry, outside of its hash, until they are removed', async () => {
    const acme = await sandbox();
    const ada = await memberOf(service, acme);
    const body = { email: 'bob@acme.example', role: 'operator' };
    const bob = await joinBy(
      service,
      (await ada.call('POST', '/v1/members/invitations', { body })).json().link,
    );
    await ada.call('POST', '/v1/agents', { body: { name: 'Of Ada' } });
    await bob.browser.call('POST', '/v1/agents', { body: { name: 'Of Bob' } });
    const entry = await entryOf(acme); // by a key
    const claimed = { actor: `member:${ada.memberId}` };
    await append(acme, { ...entry, action: 'agent.claims', metadata: claimed });
    const path = '/v1/audit/entries?action=agent.*';
    const namesOf = (entries: readonly Record<string, unknown>[]) =>
      entries.map(({ actorName, actorEmail }) => [actorName, actorEmail]);

    const toKey = (await acme('GET', path)).json().entries;
    const toMember = (await ada.call('GET', path)).json().entries;
    const bound = await acme.asRuntime(entry.agentId);
    const toBound = (await bound('GET', path)).json().entries;
    const exported = await acme('GET', '/v1/compliance/export/audit?format=csv');
    await ada.call('DELETE', `/v1/members/${bob.opened.json().member.id}`);
    const one = (await ada.call('GET', `/v1/audit/${toKey[1].id}`)).json();

    const none = [undefined, undefined];
    expect(namesOf(toKey)).toEqual([['Ada', undefined], ['Bob', undefined], none, none]);
    expect(namesOf(toMember)).toEqual([['Ada', 'ada@acme.example'], ['Bob', 'bob@acme.example'], none, none]);
    expect(namesOf(toBound)).toEqual([none, none]);
    for (const name of ['actorName', 'bob@acme.example']) expect(exported.body).not.toContain(name);
    expect(namesOf([one])).toEqual([['Removed member', undefined]]);
    expect(sha256(auditLine(one))).toBe(one.hash);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });
});
