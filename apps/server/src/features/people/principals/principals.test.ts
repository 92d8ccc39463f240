import { describe, expect, test } from 'vitest';
import { insertBranches } from '../../../../test/app/delegated.ts';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  openSession,
  partsOf,
  profileOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
  signedBy,
  startSandbox,
} from '../../../../test/app/flow.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';
import { storeCredential } from '../../../../test/app/vault.ts';

const joinSandbox = sharedSandbox();

/** A way to call the service as the session's principal. */
async function asPrincipal(
  service: Service,
  developer: Developer,
  principalId = 'user_42',
  expiresIn?: string,
) {
  const opened = await openSession(developer, principalId, expiresIn);
  if (opened.statusCode !== 201) throw new Error(opened.body);
  const { sessionToken } = opened.json();
  return Object.assign(service.calling(sessionToken), { sessionToken: String(sessionToken) });
}
interface Depth {
  readonly delegationDepth: number;
}

type Person = Awaited<ReturnType<typeof asPrincipal>>;

const grantIdsOf = async (person: Person, query = '') =>
  (await person('GET', `/v1/principal/grants${query}`))
    .json()
    .grants.map(({ grantId }: { grantId: string }) => grantId);

const verdictOn = async (developer: Developer, token: string) =>
  (await developer('POST', '/v1/tokens/verify', { token })).json();

/** Adds a grant for an existing agent. */
async function grantMore(developer: Developer, agentId: string, request: object = {}) {
  const { code } = await authorize(developer, agentId, request);
  return (await developer('POST', '/v1/token', { code, agentId })).json();
}

test('grants are shown in the words of the manifests, in the language of the browser', async () => {
  const { acme, service } = await joinSandbox();
  const send = { permission: 'write', title: 'Send mail', titles: { de: { title: 'Post senden' } } };
  const manifest = { $schema: 'x', connector: 'acme_mail', tools: { send_mail: send, wipe: 'admin' } };
  await acme('PUT', '/v1/manifests/acme_mail', manifest);
  await grantTo(acme, { scopes: ['tool:acme_mail:write', 'tool:other:read'] });
  const { sessionToken } = await asPrincipal(service, acme);

  const seen = await service.app.inject({
    method: 'GET',
    url: '/v1/principal/grants',
    headers: { authorization: `Bearer ${sessionToken}`, 'accept-language': 'de' },
  });

  const words = { title: 'Post senden', description: null, language: 'de' };
  expect(seen.json().grants[0].tools).toEqual([
    {
      ...{
        connector: 'acme_mail',
        tool: '*',
        level: 'write',
        title: null,
        description: null,
        language: null,
      },
      ...{ covers: [{ tool: 'send_mail', level: 'write', ...words }], more: 0 },
    },
  ]);
});

describe('opening a session', () => {
  test('gives a token for these routes only, and the address of the page', async () => {
    const { acme } = await joinSandbox();
    await grantTo(acme);

    const answer = await openSession(acme);

    expect(answer.statusCode).toBe(201);
    const { sessionToken, ...rest } = answer.json();
    expect(rest).toEqual({
      dashboardUrl: `https://auth.test/permissions#session=${sessionToken}`,
      expiresAt: '2026-01-01T01:00:00.000Z',
    });
    const { header, payload } = partsOf(sessionToken);
    expect(header).toEqual({
      alg: 'RS256',
      kid: expect.stringMatching(/^service-/),
      typ: 'principal-session+jwt',
    });
    expect(payload).toEqual({
      iss: expect.any(String),
      aud: `${payload.iss}/v1/principal`,
      sub: 'user_42',
      dev: acme.developerId,
      purpose: 'principal_dashboard',
      jti: expect.stringMatching(/^psn_/),
      iat: 1_767_225_600,
      exp: 1_767_229_200,
      sandbox: true,
    });
  });

  test('is told to the audit log and to subscribers, and the token is stored nowhere', async () => {
    const { acme, db } = await joinSandbox();
    await grantTo(acme);

    const { sessionToken } = (await openSession(acme)).json();

    const [entry] = await entriesOf(acme, 'principal.session_created');
    const { jti: sessionId } = partsOf(sessionToken).payload;
    const actor = expect.stringMatching(/^developer:key_/);
    expect(entry).toMatchObject({
      principalId: 'user_42',
      status: 'success',
      metadata: { sessionId, actor },
    });
    const event = await db
      .selectFrom('outboxEvents')
      .select('envelope')
      .where('developerId', '=', acme.developerId)
      .where('type', '=', 'principal.session_created')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(event.envelope).data).toEqual({ principalId: 'user_42', sessionId });
    const rows = await db.selectFrom('principalSessions').selectAll().where('id', '=', sessionId).execute();
    expect(JSON.stringify([rows, event, entry])).not.toContain(sessionToken.split('.')[2]);
  });

  test.each([
    ['longer than a day lasts a day', '25h', 86_400],
    ['of nine thousand million days also lasts a day', '9999999999d', 86_400],
    ['may be short', '1s', 1],
  ])('a session %s', async (_, expiresIn, seconds) => {
    const { acme } = await joinSandbox();
    await grantTo(acme);

    const { payload } = partsOf((await openSession(acme, 'user_42', expiresIn)).json().sessionToken);

    expect(payload.exp - payload.iat).toBe(seconds);
  });

  test.each([
    ['nobody', {}, 'principalId required'],
    ['a principal without a name', { principalId: '' }, 'principalId too_short'],
    ['a principal with a control character in the name', { principalId: 'a\u0007' }, 'principalId format'],
    ['a time of zero', { principalId: 'user_42', expiresIn: '0h' }, 'expiresIn format'],
    ['an unknown field', { principalId: 'user_42', sub: 'x' }, 'sub unknown'],
  ])('refuses %s', async (_, body, problem) => {
    const { acme } = await joinSandbox();
    await grantTo(acme);

    const refused = await acme('POST', '/v1/principal-sessions', body);

    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    const [field] = refused.json().details.fields;
    expect(`${field.path} ${field.problem}`).toBe(problem);
  });

  test('is refused for a principal who has only credentials that the developer stored', async () => {
    const { acme } = await joinSandbox();
    await storeCredential(acme);

    expect(refusalOf(await openSession(acme))).toBe('404 NOT_FOUND');
    await grantTo(acme);
    expect((await openSession(acme)).statusCode).toBe(201);
  });

  test('is refused for a principal without an active grant at this developer, whatever other developers have', async () => {
    const { acme, service } = await joinSandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    await grantTo(other);
    const { grantId } = await grantTo(acme, { principalId: 'user_43' });
    await acme('DELETE', `/v1/grants/${grantId}`);
    const before = await actionsOf(acme);

    const answers = [await openSession(acme), await openSession(acme, 'user_43')];

    expect(answers.map(refusalOf)).toEqual(['404 NOT_FOUND', '404 NOT_FOUND']);
    expect(await actionsOf(acme)).toEqual(before);
  });

  test('is refused when the only grant has expired', async () => {
    const { acme, advance } = await startSandbox();
    await grantTo(acme, { expiresIn: '1h' });

    advance(3600);

    expect(refusalOf(await openSession(acme))).toBe('404 NOT_FOUND');
  });

  test('deletes the expired sessions of the same developer, and nothing else', async () => {
    const { acme, service, advance, db } = await startSandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    for (const developer of [acme, other]) await grantTo(developer, { expiresIn: '7d' });
    await openSession(acme, 'user_42', '1h');
    await openSession(other, 'user_42', '1h');
    await openSession(acme, 'user_42', '3h');
    advance(3600);

    await openSession(acme);

    const rows = await db
      .selectFrom('principalSessions')
      .select('developerId')
      .where('developerId', 'in', [acme.developerId, other.developerId])
      .execute();
    const left = rows.map(({ developerId }) => (developerId === acme.developerId ? 'acme' : 'other'));
    expect(left.sort()).toEqual(['acme', 'acme', 'other']);
  });
});

describe('a person’s own grants', () => {
  test('are listed with purpose and scopes in words', async () => {
    const { acme, service } = await joinSandbox();
    await acme('PATCH', '/v1/me', { scopeDescriptions: { 'tool:bank:read': 'See what is on your account' } });
    const { grantId, agentId } = await grantTo(acme, {
      scopes: ['tool:bank:read', 'calendar:read'],
      purpose: 'aml.screening',
      audience: 'https://api.example',
    });
    const person = await asPrincipal(service, acme);

    const answer = await person('GET', '/v1/principal/grants');

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      grants: [
        {
          grantId,
          agentId,
          ...profileOf((await acme('GET', `/v1/agents/${agentId}`)).json()),
          scopes: ['tool:bank:read', 'calendar:read'],
          scopeDescriptions: ['See what is on your account', 'Read your calendar'],
          scopeExplanations: [null, null],
          status: 'active',
          issuedAt: '2026-01-01T00:00:00.000Z',
          expiresAt: '2026-01-02T00:00:00.000Z',
          delegationDepth: 0,
          purpose: 'aml.screening',
          purposeLabel: expect.any(String),
          audience: 'https://api.example',
          argumentLimits: [],
          tools: [],
          lastUsedAt: null,
        },
      ],
      principalId: 'user_42',
      developerName: 'Acme',
      sandbox: true,
      sessionExpiresAt: '2026-01-01T01:00:00.000Z',
      nextCursor: null,
    });
  });

  test('say in words what the agent may pass to tools', async () => {
    const { acme, service } = await joinSandbox();
    const rules = { '': { open: true }, '/amount': { max: '500' }, '/to/iban': { prefix: ['DE'] } };
    await grantTo(acme, {
      scopes: ['tool:bank:write'],
      authorizationDetails: [
        {
          type: 'urn:service:tools:v1',
          connector: 'bank',
          tools: ['transfer'],
          arguments: { transfer: rules },
        },
      ],
    });
    const person = await asPrincipal(service, acme);

    const { grants } = (await person('GET', '/v1/principal/grants')).json();

    const lines = [
      { path: 'amount', text: 'at most 500' },
      { path: 'to › iban', text: 'begins with “DE”' },
    ];
    expect(grants[0].argumentLimits).toEqual([{ connector: 'bank', tool: 'transfer', open: true, lines }]);
  });

  test('name the grant that they were delegated from', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    const [child] = await insertBranches(service, { parentId: grantId });
    const person = await asPrincipal(service, acme);

    const { grants } = (await person('GET', '/v1/principal/grants')).json();

    const [branch, root] = grants.toSorted((a: Depth, b: Depth) => b.delegationDepth - a.delegationDepth);
    expect(branch).toMatchObject({ grantId: child?.grantId, parentGrantId: grantId, delegationDepth: 1 });
    expect(root).toMatchObject({ grantId, delegationDepth: 0 });
    expect(root).not.toHaveProperty('parentGrantId');
  });

  test('are the active grants, and with `status=all` also those that have ended, whose agent may be gone', async () => {
    const { acme, service } = await joinSandbox();
    const [ended, gone, living] = [await grantTo(acme), await grantTo(acme), await grantTo(acme)];
    const person = await asPrincipal(service, acme);
    await acme('DELETE', `/v1/grants/${ended.grantId}`);
    await acme('DELETE', `/v1/agents/${gone.agentId}`);

    const { grants } = (await person('GET', '/v1/principal/grants?status=all')).json();

    expect(await grantIdsOf(person)).toEqual([living.grantId]);
    const ofGrant = ({ grantId }: { grantId: string }) =>
      grants.find((grant: { grantId: string }) => grant.grantId === grantId);
    expect(grants).toHaveLength(3);
    expect(ofGrant(living)).toMatchObject({ status: 'active' });
    expect(ofGrant(ended)).toMatchObject({
      status: 'revoked',
      revokedReason: 'developer',
      agentName: 'Travel booker',
    });
    const nobody = { agentName: null, agentDescription: null, agentDid: null };
    expect(ofGrant(gone)).toMatchObject({ status: 'revoked', revokedReason: 'agent_revoked', ...nobody });
  });

  test('come in pages without the grants of other principals', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    const branches = await insertBranches(service, { parentId: grantId, count: 249 });
    const other = await grantTo(acme, { principalId: 'user_43' });
    await insertBranches(service, { parentId: other.grantId, count: 20 });
    const person = await asPrincipal(service, acme);

    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor && `?cursor=${cursor}`;
      const body = (await person('GET', `/v1/principal/grants${query}`)).json();
      pages.push(body.grants.map((grant: { grantId: string }) => grant.grantId));
      cursor = body.nextCursor;
    }

    expect(pages.map((page) => page.length)).toEqual([100, 100, 50]);
    const all = [grantId, ...branches.map((branch) => branch.grantId)];
    expect(pages.flat()).toEqual(all.sort().reverse());
  });

  test.each(['status=ended', 'limit=501', 'cursor=alog_1', 'cursor=x'])('refuse %s', async (query) => {
    const { acme, service } = await joinSandbox();
    await grantTo(acme);
    const person = await asPrincipal(service, acme);

    expect(refusalOf(await person('GET', `/v1/principal/grants?${query}`))).toBe('400 BAD_REQUEST');
  });
});

describe('a person’s audit entries', () => {
  test('are counted by session, so one session leaves another its requests', async () => {
    const { acme, service } = await startSandbox({ env: { RATE_LIMIT_PRINCIPAL_AUDIT: '2' } });
    await grantTo(acme);
    const [one, other] = [await asPrincipal(service, acme), await asPrincipal(service, acme)];
    const asked = [one, one, one, other];

    const statuses = [];
    for (const person of asked) statuses.push((await person('GET', '/v1/principal/audit')).statusCode);

    expect(statuses).toEqual([200, 200, 429, 200]);
    expect((await one('GET', '/v1/principal/grants')).statusCode).toBe(200);
  });

  test('are listed newest first, without the salt and without the developer’s private members', async () => {
    const { acme, service } = await joinSandbox();
    await acme('PATCH', '/v1/me', { auditPrivateKeys: ['margin', 'actor'] });
    const { grantId, agentId, did } = await grantTo(acme);
    const concerned = { agentId, agentDid: did, grantId, principalId: 'user_42' };
    const metadata = { amount: 420.5, margin: 12, nested: { margin: 1 } };
    await acme('POST', '/v1/audit/log', { ...concerned, action: 'flight.booked', metadata });
    const person = await asPrincipal(service, acme);

    const answer = await person('GET', '/v1/principal/audit');

    expect(answer.statusCode).toBe(200);
    const { entries, nextCursor } = answer.json();
    expect(nextCursor).toBeNull();
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'principal.session_created',
      'flight.booked',
      'token.issued',
      'grant.created',
      'authorization.approved',
      'authorization.requested',
    ]);
    const [stored] = await entriesOf(acme, 'flight.booked');
    expect(entries[1]).toEqual({
      entryId: Object(stored).entryId,
      ...concerned,
      agentName: 'Travel booker',
      action: 'flight.booked',
      metadata: { amount: 420.5, nested: { margin: 1 } },
      status: 'success',
      purpose: null,
      timestamp: '2026-01-01T00:00:00.000Z',
      hash: Object(stored).hash,
    });
    expect(answer.body).not.toMatch(/salt|requestId|"actor"/);
    expect(answer.body).not.toContain(String(Object(stored).salt));
  });

  test('can be filtered by grant, and another principal’s grant gives nothing', async () => {
    const { acme, service } = await joinSandbox();
    const [first, second] = [await grantTo(acme), await grantTo(acme)];
    const neighbours = await grantTo(acme, { principalId: 'user_43' });
    const person = await asPrincipal(service, acme);
    const about = async ({ grantId }: { grantId: string }) => {
      const { entries } = (await person('GET', `/v1/principal/audit?grantId=${grantId}`)).json();
      return entries.map((entry: { action: string; grantId: string }) => [entry.action, entry.grantId]);
    };

    const ofFirst = ['token.issued', 'grant.created'].map((action) => [action, first.grantId]);
    const ofSecond = ['token.issued', 'grant.created'].map((action) => [action, second.grantId]);
    expect([await about(first), await about(second)]).toEqual([ofFirst, ofSecond]);
    expect(await about(neighbours)).toEqual([]);
  });

  test('come in pages of at most a hundred', async () => {
    const { acme, service } = await joinSandbox();
    const { agentId } = await grantTo(acme);
    for (let at = 0; at < 3; at += 1) await grantMore(acme, agentId);
    await grantMore(acme, agentId, { principalId: 'user_43' });
    const person = await asPrincipal(service, acme);

    const whole = (await person('GET', '/v1/principal/audit')).json().entries;
    const pages = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor && `&cursor=${cursor}`;
      const body = (await person('GET', `/v1/principal/audit?limit=7${query}`)).json();
      pages.push(...body.entries);
      cursor = body.nextCursor;
    }

    expect(whole).toHaveLength(17);
    expect(pages).toEqual(whole);
    expect(refusalOf(await person('GET', '/v1/principal/audit?limit=101'))).toBe('400 BAD_REQUEST');
  });
});

describe('ending a grant as the person', () => {
  test('ends it at once with all delegated grants, recorded as the person’s own act', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId, grantToken, refreshToken, agentId } = await grantTo(acme);
    const [child] = await insertBranches(service, { parentId: grantId });
    const person = await asPrincipal(service, acme);

    const answer = await person('DELETE', `/v1/principal/grants/${grantId}`);

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect(await verdictOn(acme, grantToken)).toEqual({ valid: false, reason: 'revoked' });
    const refreshed = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    expect(refreshed.statusCode).toBe(400);
    expect(await grantIdsOf(person)).toEqual([]);
    const entries = await entriesOf(acme, 'grant.revoked');
    const told = { rootGrantId: grantId, cascade: true, revokedBy: 'principal', actor: 'principal' };
    expect(entries.map((entry) => [entry.grantId, entry.metadata])).toEqual([
      [grantId, { ...told, reason: 'principal' }],
      [child?.grantId, { ...told, reason: 'parent', causedBy: grantId }],
    ]);
  });

  test('is harmless to repeat, and recorded once', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    const person = await asPrincipal(service, acme);
    await person('DELETE', `/v1/principal/grants/${grantId}`);
    const before = await actionsOf(acme);

    const again = await person('DELETE', `/v1/principal/grants/${grantId}`);

    expect(again.statusCode).toBe(204);
    expect(await actionsOf(acme)).toEqual(before);
  });

  test('T3 treats another principal’s grant, or one of the same principal elsewhere, like an unknown grant', async () => {
    const { acme, service } = await joinSandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const own = await grantTo(acme);
    const [neighbours, elsewhere] = [await grantTo(acme, { principalId: 'user_43' }), await grantTo(other)];
    const person = await asPrincipal(service, acme);

    const [foreign, far, unknown] = [
      await person('DELETE', `/v1/principal/grants/${neighbours.grantId}`),
      await person('DELETE', `/v1/principal/grants/${elsewhere.grantId}`),
      await person('DELETE', '/v1/principal/grants/grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'),
    ];
    const all = await person('DELETE', '/v1/principal/grants');

    expect([foreign, far, unknown].map(refusalOf)).toEqual(Array(3).fill('404 NOT_FOUND'));
    expect(all.json()).toEqual({ revoked: 1, cancelled: 0 });
    expect(await verdictOn(acme, own.grantToken)).toMatchObject({ valid: false });
    expect(await verdictOn(acme, neighbours.grantToken)).toMatchObject({ valid: true });
    expect(await verdictOn(other, elsewhere.grantToken)).toMatchObject({ valid: true });
  });

  test('ends all active grants, and counts them', async () => {
    const { acme, service } = await joinSandbox();
    const [first, second] = [await grantTo(acme), await grantTo(acme)];
    const [child] = await insertBranches(service, { parentId: first.grantId });
    const ended = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${ended.grantId}`);
    const person = await asPrincipal(service, acme);

    const answer = await person('DELETE', '/v1/principal/grants');
    const again = await person('DELETE', '/v1/principal/grants');

    expect([answer.json(), again.json()]).toEqual([
      { revoked: 3, cancelled: 0 },
      { revoked: 0, cancelled: 0 },
    ]);
    const entries = await entriesOf(acme, 'grant.revoked');
    const byPerson = entries.filter(({ metadata }) => metadata.revokedBy === 'principal');
    expect(byPerson.map(({ grantId }) => grantId).sort()).toEqual(
      [first.grantId, second.grantId, child?.grantId].sort(),
    );
    expect(byPerson.map(({ metadata }) => metadata.reason)).toEqual(Array(3).fill('principal'));
    for (const { grantToken } of [first, second]) {
      expect(await verdictOn(acme, grantToken)).toEqual({ valid: false, reason: 'revoked' });
    }
  });
});

describe('R11: open requests end', () => {
  /** An approved request with its code, and a pending one, for an agent and a person. */
  async function openRequests(acme: Developer, agentId: string, principalId = 'user_42') {
    const approved = await authorize(acme, agentId, { principalId });
    const pending = await authorize(acme, agentId, { principalId, autoApprove: false });
    const { id: pendingId } = pending;
    const statuses = async () =>
      Promise.all(
        [approved.id, pendingId].map(async (id) => (await acme('GET', `/v1/authorize/${id}`)).json().status),
      );
    const redeem = () => acme('POST', '/v1/token', { code: approved.code, agentId });
    const freshCode = () => acme('POST', `/v1/authorize/${approved.id}/code`);
    return { statuses, redeem, freshCode, ids: [approved.id, pendingId] };
  }

  test('with the end of everything, and their codes with them', async () => {
    const { acme, service } = await joinSandbox();
    const { agentId } = await grantTo(acme);
    const [own, others] = [await openRequests(acme, agentId), await openRequests(acme, agentId, 'user_43')];
    const person = await asPrincipal(service, acme);

    const answer = await person('DELETE', '/v1/principal/grants');

    expect(answer.json()).toEqual({ revoked: 1, cancelled: 2 });
    expect(await own.statuses()).toEqual(['cancelled', 'cancelled']);
    expect(refusalOf(await own.redeem())).toMatch(/^400 INVALID_GRANT/);
    expect(refusalOf(await own.freshCode())).toBe('410 GONE');
    const told = await entriesOf(acme, 'authorization.cancelled');
    expect(told.map(({ metadata }) => metadata.authRequestId).sort()).toEqual([...own.ids].sort());
    expect(told[0]).toMatchObject({ agentId, principalId: 'user_42', metadata: { actor: 'principal' } });
    expect(await others.statuses()).toEqual(['approved', 'pending']);
    expect((await others.redeem()).statusCode).toBe(201);
  });

  test('with the end of one grant, of its agent alone', async () => {
    const { acme, service } = await joinSandbox();
    const ended = await grantTo(acme);
    const kept = await grantTo(acme);
    const [own, ofOtherAgent] = [
      await openRequests(acme, ended.agentId),
      await openRequests(acme, kept.agentId),
    ];
    const person = await asPrincipal(service, acme);

    expect((await person('DELETE', `/v1/principal/grants/${ended.grantId}`)).statusCode).toBe(204);

    expect(await own.statuses()).toEqual(['cancelled', 'cancelled']);
    expect(refusalOf(await own.redeem())).toMatch(/^400 INVALID_GRANT/);
    expect(await ofOtherAgent.statuses()).toEqual(['approved', 'pending']);
    expect((await ofOtherAgent.redeem()).statusCode).toBe(201);
  });
});

describe('a session', () => {
  test('ends on every route when the person ends it, and other sessions go on', async () => {
    const { acme, service } = await joinSandbox();
    const { grantId } = await grantTo(acme);
    const [person, elsewhere] = [await asPrincipal(service, acme), await asPrincipal(service, acme)];

    const answer = await person('DELETE', '/v1/principal/session');

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    const after = [
      await person('GET', '/v1/principal/grants'),
      await person('GET', '/v1/principal/audit'),
      await person('DELETE', `/v1/principal/grants/${grantId}`),
      await person('DELETE', '/v1/principal/grants'),
      await person('DELETE', '/v1/principal/session'),
    ];
    expect(after.map(refusalOf)).toEqual(Array(5).fill('401 UNAUTHORIZED'));
    for (const { headers } of after) expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(await grantIdsOf(elsewhere)).toEqual([grantId]);
  });

  test('ends when its time is over', async () => {
    const { acme, service, advance } = await startSandbox();
    await grantTo(acme);
    const person = await asPrincipal(service, acme, 'user_42', '1h');

    advance(3599);
    const before = await person('GET', '/v1/principal/grants');
    advance(1);

    expect(before.statusCode).toBe(200);
    expect(refusalOf(await person('GET', '/v1/principal/grants'))).toBe('401 UNAUTHORIZED');
  });

  test('outlives the last grant, so the person can still read the history', async () => {
    const { acme, service } = await joinSandbox();
    await grantTo(acme);
    const person = await asPrincipal(service, acme);
    await person('DELETE', '/v1/principal/grants');

    expect((await person('GET', '/v1/principal/grants')).json()).toMatchObject({
      grants: [],
      developerName: 'Acme',
    });
    expect((await person('GET', '/v1/principal/audit')).json().entries[0]).toMatchObject({
      action: 'grant.revoked',
    });
  });

  test('J17 takes a genuine token of its own kind, for these routes and for an existing session', async () => {
    const { acme, service } = await joinSandbox();
    const { grantToken } = await grantTo(acme);
    const { sessionToken } = await asPrincipal(service, acme);
    const { header, payload } = partsOf(sessionToken);
    const { typ } = header;
    const ask = async (token: string) =>
      (await service.calling(token)('GET', '/v1/principal/grants')).statusCode;
    const changed = (change: object, type: object = { typ }) =>
      signedBy(service, { ...payload, ...change }, type);

    const good = await ask(await changed({}));
    const { checkpoint } = (await acme('GET', '/v1/audit/head')).json();
    const wrong = await Promise.all([
      ask(grantToken),
      ask(checkpoint),
      changed({}, { typ: 'audit-checkpoint+jwt' }).then(ask),
      ask(`${sessionToken.slice(0, -8)}AAAAAAAA`),
      changed({}, { typ: 'at+jwt' }).then(ask),
      changed({}, { typ: 'JWT' }).then(ask),
      changed({}, { typ: undefined }).then(ask),
      changed({ aud: payload.iss }).then(ask),
      changed({ aud: undefined }).then(ask),
      changed({ iss: 'https://elsewhere.example' }).then(ask),
      changed({ purpose: 'other' }).then(ask),
      changed({ scp: ['*'] }).then(ask),
      changed({ sub: 'user_43' }).then(ask),
      changed({ sub: '' }).then(ask),
      changed({ dev: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' }).then(ask),
      changed({ jti: 'psn_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' }).then(ask),
      changed({ exp: payload.iat }).then(ask),
    ]);

    expect([good, ...wrong]).toEqual([200, ...wrong.map(() => 401)]);
  });

  test('J17 is no grant: its token never verifies, and delegates nothing', async () => {
    const { acme, service } = await joinSandbox();
    await grantTo(acme);
    const { sessionToken: token } = await asPrincipal(service, acme);
    const { agentId } = await registerAgent(acme, 'Helper');

    const verdicts = [
      (await acme('POST', '/v1/tokens/verify', { token })).json(),
      (await acme('POST', '/v1/tokens/introspect', { token })).json(),
    ];
    const delegated = await acme('POST', '/v1/grants/delegate', {
      parentGrantToken: token,
      subAgentId: agentId,
      scopes: ['calendar:read'],
    });

    expect(verdicts).toEqual([{ valid: false }, { active: false }]);
    expect(refusalOf(await acme('POST', '/v1/grants/verify', { token }))).toBe('400 BAD_REQUEST');
    expect(refusalOf(delegated)).toBe('400 INVALID_GRANT parent_invalid');
  });

  test('T10 needs a `full` key to open', async () => {
    const { acme } = await joinSandbox();
    await grantTo(acme);
    const runtime = await acme.asRuntime();

    const refused = await runtime('POST', '/v1/principal-sessions', { principalId: 'user_42' });

    expect(refusalOf(refused)).toBe('403 FORBIDDEN');
    expect((await openSession(acme)).statusCode).toBe(201);
  });
});

test('the number of sessions that a developer opens in a minute is limited', async () => {
  const { acme } = await startSandbox({ realLimits: true, store: 'memory' });
  await grantTo(acme);

  const statuses = [];
  for (let at = 0; at < 11; at += 1) statuses.push((await openSession(acme)).statusCode);

  expect(statuses).toEqual([...Array(10).fill(201), 429]);
});
