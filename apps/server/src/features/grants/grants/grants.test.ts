import { describe, expect, test } from 'vitest';
import { insertBranches } from '../../../../test/app/delegated.ts';
import {
  actionsOf,
  authorize,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import { follow, listedTo } from '../../../../test/app/streams.ts';
import { announceExpiredGrants } from './expire.ts';
import { expiryOfGrants } from './grants.feature.ts';

const joinSandbox = sharedSandbox();

const pageOf = async (developer: Developer, query = '') =>
  (await developer('GET', `/v1/grants${query}`)).json();

const idsOf = async (developer: Developer, query = '') =>
  (await pageOf(developer, query)).grants.map(({ grantId }: { grantId: string }) => grantId);

/** A grant to an existing agent. */
async function grantMore(developer: Developer, agentId: string, request: object = {}) {
  const { code } = await authorize(developer, agentId, request);
  return (await developer('POST', '/v1/token', { code, agentId })).json();
}

describe('a grant', () => {
  test('shows its scopes, agent, principal and end', async () => {
    const { acme } = await joinSandbox();
    const scopes = ['tool:bank:read', 'calendar:read'];
    const { grantId, agentId, did } = await grantTo(acme, {
      scopes,
      audience: 'https://api.example',
      purpose: 'aml.screening',
      expiresIn: '7d',
    });

    const answer = await acme('GET', `/v1/grants/${grantId}`);

    expect(answer.statusCode).toBe(200);
    const grant = {
      grantId,
      id: grantId,
      agentId,
      agentDid: did,
      principalId: 'user_42',
      developerId: acme.developerId,
      scopes,
      status: 'active',
      agentStatus: 'active',
      issuedAt: '2026-01-01T00:00:00.000Z',
      expiresAt: '2026-01-08T00:00:00.000Z',
      rootGrantId: grantId,
      delegationDepth: 0,
      audience: 'https://api.example',
      purpose: 'aml.screening',
      authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'bank', purpose: 'aml.screening' }],
      consentMethod: 'sandbox',
      authRequestId: expect.stringMatching(/^areq_/),
      lastUsedAt: null,
      sandbox: true,
    };
    expect(answer.json()).toEqual(grant);
    expect(await pageOf(acme)).toEqual({ grants: [grant], nextCursor: null });
  });

  test('is expired from its end on, and revoked from its revocation on, whatever its end', async () => {
    const { acme, advance } = await startSandbox();
    const { grantId } = await grantTo(acme, { expiresIn: '1h' });
    const read = async () => (await acme('GET', `/v1/grants/${grantId}`)).json();

    advance(3599);
    expect(await read()).toMatchObject({ status: 'active' });
    advance(1);
    const expired = await read();
    await acme('DELETE', `/v1/grants/${grantId}`);

    expect(expired).toMatchObject({ status: 'expired' });
    expect(expired).not.toHaveProperty('revokedAt');
    expect(await read()).toMatchObject({
      status: 'revoked',
      revokedAt: '2026-01-01T01:00:00.000Z',
      revokedReason: 'developer',
    });
  });

  test('says that its agent is suspended, alone and in lists, until it is resumed', async () => {
    const { acme } = await joinSandbox();
    const { grantId, agentId } = await grantTo(acme);
    const shown = async () => {
      const [one, list] = [(await acme('GET', `/v1/grants/${grantId}`)).json(), await pageOf(acme)];
      return [one, list.grants[0]].map(({ status, agentStatus }) => [status, agentStatus]);
    };

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    const suspended = await shown();
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });

    expect(suspended).toEqual([
      ['active', 'suspended'],
      ['active', 'suspended'],
    ]);
    expect(await shown()).toEqual([
      ['active', 'active'],
      ['active', 'active'],
    ]);
  });

  test('names its parent and its root when it was delegated', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    const [child] = await insertBranches(service, { parentId: grantId });

    const record = (await acme('GET', `/v1/grants/${child?.grantId}`)).json();

    expect(record).toMatchObject({ parentGrantId: grantId, rootGrantId: grantId, delegationDepth: 1 });
    expect(record).not.toHaveProperty('authRequestId');
  });

  test.each([
    ['GET', ''],
    ['GET', '/tokens'],
    ['DELETE', ''],
  ] as const)('answers %s%s alike for a foreign, an unknown and a malformed id', async (method, tail) => {
    const { acme, asDeveloper, app } = await joinSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { grantId } = await grantTo(acme);

    for (const [developer, id] of [
      [stranger, grantId],
      [acme, 'grnt_00000000000000000000000000'],
      [acme, '%00'],
      [acme, 'x'.repeat(256)],
      [acme, 'x'.repeat(257)],
      [acme, "'; drop table grants"],
    ] as const) {
      expect(refusalOf(await developer(method, `/v1/grants/${encodeURI(id)}${tail}`))).toBe('404 NOT_FOUND');
    }
    const anonymous = await app.inject({ method, url: `/v1/grants/${grantId}${tail}` });
    expect(refusalOf(anonymous)).toBe('401 UNAUTHORIZED');
    expect((await acme('GET', `/v1/grants/${grantId}`)).json().status).toBe('active');
  });
});

describe('the list of grants', () => {
  test('shows each grant once, newest first, page by page', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId } = await registerAgent(acme);
    const made: string[] = [];
    for (let each = 0; each < 5; each += 1) {
      advance(1);
      made.unshift((await grantMore(acme, agentId)).grantId);
    }

    const first = await pageOf(acme, '?limit=2');
    advance(1);
    await grantMore(acme, agentId); // after the first page, hence on no later page
    const second = await pageOf(acme, `?limit=2&cursor=${first.nextCursor}`);
    const third = await pageOf(acme, `?limit=2&cursor=${second.nextCursor}`);

    const shown = [first, second, third].flatMap(({ grants }) => grants).map(({ id }) => id);
    expect(shown).toEqual(made);
    expect(third.nextCursor).toBeNull();
  });

  test('can be filtered by agent, principal, purpose, status, tree and time', async () => {
    const { acme, advance, service } = await startSandbox();
    const purpose = 'aml.screening';
    const one = await grantTo(acme, { principalId: 'ann', expiresIn: '1h' });
    advance(10);
    const two = await grantTo(acme, { principalId: 'bob', purpose, scopes: ['tool:bank:read'] });
    advance(10);
    const [child] = await insertBranches(service, { parentId: two.grantId, agentId: one.agentId });
    advance(10);
    const three = await grantTo(acme, { principalId: 'ann' });
    await acme('DELETE', `/v1/grants/${three.grantId}`);
    advance(3600);

    expect(await idsOf(acme, `?agentId=${one.agentId}`)).toEqual([child?.grantId, one.grantId]);
    expect(await idsOf(acme, '?principalId=ann')).toEqual([three.grantId, one.grantId]);
    expect(await idsOf(acme, `?purpose=${purpose}`)).toEqual([child?.grantId, two.grantId]);
    expect(await idsOf(acme, '?status=active')).toEqual([child?.grantId, two.grantId]);
    expect(await idsOf(acme, '?status=expired')).toEqual([one.grantId]);
    expect(await idsOf(acme, '?status=revoked')).toEqual([three.grantId]);
    expect(await idsOf(acme, `?parentGrantId=${two.grantId}`)).toEqual([child?.grantId]);
    expect(await idsOf(acme, `?rootGrantId=${two.grantId}`)).toEqual([child?.grantId, two.grantId]);
    expect(await idsOf(acme, '?principalId=ann&status=expired')).toEqual([one.grantId]);
    const [at, after] = ['2026-01-01T00:00:10Z', '2026-01-01T01:00:10%2B01:00'];
    expect(await idsOf(acme, `?since=${at}&principalId=ann`)).toEqual([three.grantId]);
    expect(await idsOf(acme, `?until=${after}`)).toEqual([one.grantId]);
    expect(await idsOf(acme, `?since=${at}&until=2026-01-01T00:00:10.001Z`)).toContain(two.grantId);
  });

  test('shows no grant of another developer, and is empty when filtered by foreign ids', async () => {
    const { acme, asDeveloper } = await joinSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { agentId, grantId } = await grantTo(acme);

    expect(await idsOf(stranger)).toEqual([]);
    for (const filter of [`agentId=${agentId}`, `rootGrantId=${grantId}`, `parentGrantId=${grantId}`]) {
      expect(await pageOf(stranger, `?${filter}`)).toEqual({ grants: [], nextCursor: null });
    }
    expect(await pageOf(stranger, `?cursor=${grantId}`)).toEqual({ grants: [], nextCursor: null });
  });

  test.each([
    ['status=open', 'status'],
    ['status=active&status=revoked', 'status'],
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=-1', 'limit'],
    ['cursor=x', 'cursor'],
    ['cursor=tok_00000000000000000000000000', 'cursor'],
    ['since=yesterday', 'since'],
    ['since=2016-12-31T23:59:60Z', 'since'],
    ['since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z', 'until'],
    ['principalId=%00', 'principalId'],
    [`purpose=${'x'.repeat(257)}`, 'purpose'],
  ])('refuses ?%s', async (query, path) => {
    const { acme } = await joinSandbox();

    const refused = await acme('GET', `/v1/grants?${query}`);

    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    expect(refused.json().details.fields[0].path).toBe(path);
  });

  test('refuses unknown parameters, and needs an API key', async () => {
    const { acme, app } = await joinSandbox();

    const refused = await acme('GET', '/v1/grants?page=2');
    expect(refused.statusCode).toBe(400);
    expect(refused.json().details.fields).toEqual([{ path: 'page', problem: 'unknown' }]);
    expect(refusalOf(await app.inject('/v1/grants'))).toBe('401 UNAUTHORIZED');
  });
});

describe('the tokens of a grant', () => {
  test('are listed newest first, each with its current status and never with its text', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId, grantId, grantToken, refreshToken } = await grantTo(acme, {
      tokenExpiresIn: '1h',
      expiresIn: '3h',
    });
    const refresh = async (token: string) =>
      (await acme('POST', '/v1/token/refresh', { agentId, refreshToken: token })).json();
    advance(1800);
    const second = await refresh(refreshToken);
    advance(1800);
    const third = await refresh(second.refreshToken);
    const ids = [third, second, { grantToken }].map((issued) => partsOf(issued.grantToken).payload.jti);
    await acme('POST', '/v1/tokens/revoke', { jti: ids[1] });

    const answer = await acme('GET', `/v1/grants/${grantId}/tokens`);

    expect(answer.json()).toEqual({
      tokens: [
        {
          tokenId: ids[0],
          issuedAt: '2026-01-01T01:00:00.000Z',
          expiresAt: '2026-01-01T02:00:00.000Z',
          status: 'active',
        },
        {
          tokenId: ids[1],
          issuedAt: '2026-01-01T00:30:00.000Z',
          expiresAt: '2026-01-01T01:30:00.000Z',
          status: 'revoked',
          revokedAt: '2026-01-01T01:00:00.000Z',
        },
        {
          tokenId: ids[2],
          issuedAt: '2026-01-01T00:00:00.000Z',
          expiresAt: '2026-01-01T01:00:00.000Z',
          status: 'expired',
        },
      ],
      nextCursor: null,
    });
    expect(answer.body).not.toContain(grantToken);
    const first = (await acme('GET', `/v1/grants/${grantId}/tokens?limit=2`)).json();
    const rest = (await acme('GET', `/v1/grants/${grantId}/tokens?cursor=${first.nextCursor}`)).json();
    expect([...first.tokens, ...rest.tokens]).toEqual(answer.json().tokens);
  });

  test('are revoked with the grant', async () => {
    const { acme, advance } = await startSandbox();
    const { grantId } = await grantTo(acme);

    advance(5);
    await acme('DELETE', `/v1/grants/${grantId}`);

    const { tokens } = (await acme('GET', `/v1/grants/${grantId}/tokens`)).json();
    expect(tokens).toMatchObject([{ status: 'revoked', revokedAt: '2026-01-01T00:00:05.000Z' }]);
  });
});

test('a grant that was allowed without proof of identity says so', async () => {
  const { acme, db } = await joinSandbox();
  const { grantId } = await grantTo(acme);
  await db
    .updateTable('grants')
    .set({ consentMethod: 'link', isUnverified: true })
    .where('id', '=', grantId)
    .execute();

  const grant = (await acme('GET', `/v1/grants/${grantId}`)).json();

  expect(grant).toMatchObject({ consentMethod: 'link', unverified: true });
});

async function withGrant() {
  const service = await startListening({ env: { PLAN_FREE_OPEN_REQUESTS: 'unlimited' } });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const grant = await grantTo(acme, {
    expiresIn: '1h',
    purpose: 'payments.payout',
    scopes: ['tool:stripe:write'],
  });
  const expiredEvents = () => listedTo(acme, 'types=grant.expired');
  return { ...service, acme, grant, expiredEvents };
}

describe('an expired grant', () => {
  test('is announced once, to streams and webhooks, and is no act', async () => {
    const { acme, grant, expiredEvents, advance, url, db, clock } = await withGrant();
    const { apiKey } = acme;
    const hook = { url: 'https://hooks.test/', events: ['grant.*'] };
    const { id } = (await acme('POST', '/v1/webhooks', hook)).json();
    const stream = await follow({ url, apiKey, query: 'types=grant.expired' });
    const before = await actionsOf(acme);

    advance(3599);
    await announceExpiredGrants({ db, clock });
    expect(await expiredEvents()).toEqual([]);
    advance(1);
    await Promise.all([announceExpiredGrants({ db, clock }), announceExpiredGrants({ db, clock })]);
    await announceExpiredGrants({ db, clock });

    const [event, ...more] = await expiredEvents();
    expect(more).toEqual([]);
    expect(event).toMatchObject({ type: 'grant.expired', developerId: acme.developerId, sandbox: true });
    expect(event?.data).toEqual({
      grantId: grant.grantId,
      agentId: grant.agentId,
      principalId: 'user_42',
      purpose: 'payments.payout',
      expiresAt: clock().toISOString(),
    });
    expect(await stream.first(1)).toEqual([event?.id]);
    const { deliveries } = (await acme('GET', `/v1/webhooks/${id}/deliveries`)).json();
    expect(deliveries).toMatchObject([{ eventId: event?.id, eventType: 'grant.expired' }]);
    expect(await actionsOf(acme)).toEqual(before);
  });

  test('is not announced when it was revoked in time', async () => {
    const { acme, grant, expiredEvents, advance, db, clock } = await withGrant();
    await acme('DELETE', `/v1/grants/${grant.grantId}`);
    advance(3600);

    await announceExpiredGrants({ db, clock });

    expect(await expiredEvents()).toEqual([]);
  });

  test('can be revoked, and its tree with it', async () => {
    const { acme, grant, advance, db, clock } = await withGrant();
    advance(3600);
    await announceExpiredGrants({ db, clock });

    expect((await acme('DELETE', `/v1/grants/${grant.grantId}`)).statusCode).toBe(204);
    expect((await acme('GET', `/v1/grants/${grant.grantId}`)).json().status).toBe('revoked');
  });
});

test('the job goes on, batch by batch, until every expiry is announced', async () => {
  const { acme, expiredEvents, advance, db, clock } = await withGrant();
  await Promise.all(Array.from({ length: 205 }, () => grantTo(acme, { expiresIn: '1h' })));
  advance(3600);

  await expiryOfGrants({ db, clock }).run(new AbortController().signal);

  expect(await expiredEvents()).toHaveLength(206);
});
