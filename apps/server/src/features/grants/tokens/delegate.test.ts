import { describe, expect, test } from 'vitest';
import {
  authorize,
  entriesOf,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
  signedBy,
  startSandbox,
} from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

const joinSandbox = sharedSandbox();

const gmail = { type: 'urn:service:tools:v1', connector: 'gmail' } as const;

const delegate = (developer: Developer, body: object) => developer('POST', '/v1/grants/delegate', body);

/** @throws with the answer when the status is not 201 */
async function delegated(developer: Developer, body: object) {
  const answer = await delegate(developer, { scopes: ['calendar:read'], ...body });
  if (answer.statusCode !== 201) throw new Error(`delegate: ${answer.body}`);
  return answer.json();
}

const verdictOf = async (developer: Developer, token: string) =>
  (await developer('POST', '/v1/tokens/verify', { token })).json();

async function grantsOf(
  developer: Developer,
  query = '',
): Promise<{ grantId: string; [key: string]: unknown }[]> {
  return (await developer('GET', `/v1/grants${query}`)).json().grants;
}

/** A grant with a helper that may be given a part of it. */
async function parentAndHelper(developer: Developer, request: object = {}) {
  const parent = await grantTo(developer, request);
  const helper = await registerAgent(developer, 'Helper');
  const body = { parentGrantToken: parent.grantToken, subAgentId: helper.agentId, scopes: ['calendar:read'] };
  return { parent, helper, body };
}

describe('delegating', () => {
  test('gives another agent a part of a grant, for the same person', async () => {
    const { acme } = await joinSandbox();
    const { parent, helper, body } = await parentAndHelper(acme);

    const answer = await delegate(acme, body);

    expect(answer.statusCode).toBe(201);
    const child = answer.json();
    expect(child).toEqual({
      grantToken: expect.any(String),
      tokenType: 'Bearer',
      expiresAt: '2026-01-01T01:00:00.000Z',
      refreshToken: expect.stringMatching(/^ref_/),
      refreshExpiresAt: '2026-01-01T01:00:00.000Z',
      grantId: expect.stringMatching(/^grnt_/),
      grantExpiresAt: '2026-01-01T01:00:00.000Z',
      agentId: helper.agentId,
      principalId: 'user_42',
      scopes: ['calendar:read'],
      parentGrantId: parent.grantId,
      delegationDepth: 1,
      sandbox: true,
    });
    expect(await verdictOf(acme, child.grantToken)).toMatchObject({
      valid: true,
      grantId: child.grantId,
      agentId: helper.agentId,
      scopes: ['calendar:read'],
      parentGrantId: parent.grantId,
      delegationDepth: 1,
    });
    expect(await verdictOf(acme, parent.grantToken)).toMatchObject({ valid: true, delegationDepth: 0 });
  });

  test('shows in the token which agent acts, and through which agents', async () => {
    const { acme } = await joinSandbox();
    const { parent, helper, body } = await parentAndHelper(acme);
    const last = await registerAgent(acme, 'Last');
    const first = await delegated(acme, body);
    const second = await delegated(acme, { parentGrantToken: first.grantToken, subAgentId: last.agentId });

    const { payload } = partsOf(second.grantToken);

    const act = { sub: last.did, act: { sub: helper.did, act: { sub: parent.did } } };
    expect(payload).toMatchObject({
      sub: 'user_42',
      client_id: last.agentId,
      act,
      'urn:service:grant': {
        grant_id: second.grantId,
        agent_did: last.did,
        parent_grant_id: first.grantId,
        delegation_depth: 2,
      },
      parentAgt: helper.did,
      parentGrnt: first.grantId,
      delegationDepth: 2,
    });
    const introspection = await acme('POST', '/v1/tokens/introspect', { token: second.grantToken });
    expect(introspection.json()).toMatchObject({ active: true, act, client_id: last.agentId });
  });

  test('makes a grant that names its parent, and a list shows the whole tree', async () => {
    const { acme } = await joinSandbox();
    const { parent, body, helper } = await parentAndHelper(acme);
    const child = await delegated(acme, body);
    const below = { parentGrantToken: child.grantToken, subAgentId: parent.agentId };
    const grandchild = await delegated(acme, below);
    await grantTo(acme);

    const tree = await grantsOf(acme, `?rootGrantId=${parent.grantId}`);
    const children = await grantsOf(acme, `?parentGrantId=${parent.grantId}`);

    expect(new Map(tree.map(({ grantId, delegationDepth }) => [grantId, delegationDepth]))).toEqual(
      new Map([
        [parent.grantId, 0],
        [child.grantId, 1],
        [grandchild.grantId, 2],
      ]),
    );
    expect(children).toEqual([
      {
        grantId: child.grantId,
        id: child.grantId,
        agentId: helper.agentId,
        agentDid: helper.did,
        agentStatus: 'active',
        principalId: 'user_42',
        developerId: acme.developerId,
        scopes: ['calendar:read'],
        status: 'active',
        issuedAt: '2026-01-01T00:00:00.000Z',
        expiresAt: '2026-01-01T01:00:00.000Z',
        parentGrantId: parent.grantId,
        parentTokenId: partsOf(parent.grantToken).payload.jti,
        rootGrantId: parent.grantId,
        delegationDepth: 1,
        consentMethod: 'delegated',
        lastUsedAt: null,
        sandbox: true,
      },
    ]);
  });

  test('is recorded as a new grant and a new token', async () => {
    const { acme, db } = await joinSandbox();
    const { parent, helper, body } = await parentAndHelper(acme);

    const { grantId, grantToken } = await delegated(acme, body);

    const about = { grantId, agentId: helper.agentId, principalId: 'user_42' };
    const events = await db
      .selectFrom('outboxEvents')
      .select(['type', 'envelope'])
      .where('developerId', '=', acme.developerId)
      .orderBy('type')
      .execute();
    const told = events
      .map(({ type, envelope }) => [type, JSON.parse(envelope).data])
      .filter(([, data]) => data.grantId === grantId);
    const ends = '2026-01-01T01:00:00.000Z';
    const created = {
      scopes: ['calendar:read'],
      expiresAt: ends,
      consentMethod: 'delegated',
      parentGrantId: parent.grantId,
      delegationDepth: 1,
    };
    const issued = {
      tokenId: partsOf(grantToken).payload.jti,
      scopes: ['calendar:read'],
      expiresAt: ends,
      refreshed: false,
    };
    expect(told).toEqual([
      ['grant.created', { ...about, ...created }],
      ['token.issued', { ...about, ...issued }],
    ]);
    const entries = [await entriesOf(acme, 'grant.created'), await entriesOf(acme, 'token.issued')];
    expect(entries.map((each) => each.at(-1))).toMatchObject([
      { ...about, metadata: { ...created, actor: expect.stringMatching(/^developer:key_/) } },
      { ...about, metadata: issued },
    ]);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test('R7 may be from an agent to itself, and each delegation counts', async () => {
    const { acme } = await joinSandbox();
    const { parent } = await parentAndHelper(acme);
    let held = parent.grantToken;
    for (const depth of [1, 2, 3]) {
      const child = await delegated(acme, { parentGrantToken: held, subAgentId: parent.agentId });
      expect(child.delegationDepth).toBe(depth);
      held = child.grantToken;
    }

    const answer = await delegate(acme, {
      parentGrantToken: held,
      subAgentId: parent.agentId,
      scopes: ['calendar:read'],
    });

    expect(refusalOf(answer)).toBe('400 DELEGATION_DEPTH_EXCEEDED');
    expect(answer.json().details).toEqual({ maxDepth: 3, depth: 4 });
  });
});

describe('R12 a grant that an agent makes for itself, or round a circle', () => {
  /** A grant of 30 days whose tokens live for a minute. */
  const short = { expiresIn: '30d', tokenExpiresIn: '60s' };

  test('ends with the presented token, and cannot be refreshed', async () => {
    const { acme, advance } = await startSandbox();
    const { parent, helper, body } = await parentAndHelper(acme, short);
    const toSelf = { parentGrantToken: parent.grantToken, subAgentId: parent.agentId, expiresIn: '30d' };
    advance(10);
    const own = await delegated(acme, toSelf);
    const helpers = await delegated(acme, { ...body, expiresIn: '30d' });
    const back = await delegated(acme, {
      parentGrantToken: helpers.grantToken,
      subAgentId: parent.agentId,
      expiresIn: '30d',
    });

    expect(own).toMatchObject({
      grantExpiresAt: '2026-01-01T00:01:00.000Z',
      expiresAt: '2026-01-01T00:01:00.000Z',
      refreshToken: null,
      refreshExpiresAt: null,
    });
    expect(back).toMatchObject({ grantExpiresAt: helpers.expiresAt, refreshToken: null });
    expect(helpers).toMatchObject({
      agentId: helper.agentId,
      grantExpiresAt: '2026-01-31T00:00:00.000Z',
      refreshToken: expect.stringMatching(/^ref_/),
    });
    expect(await verdictOf(acme, own.grantToken)).toMatchObject({ valid: true });
    advance(50);
    expect(await verdictOf(acme, own.grantToken)).toMatchObject({ valid: false });
    const refreshed = await acme('POST', '/v1/token/refresh', {
      refreshToken: helpers.refreshToken,
      agentId: helper.agentId,
    });
    expect(refreshed.statusCode).toBe(201);
  });

  test('still may be shorter than the token', async () => {
    const { acme } = await startSandbox();
    const { parent } = await parentAndHelper(acme);

    const own = await delegated(acme, {
      parentGrantToken: parent.grantToken,
      subAgentId: parent.agentId,
      expiresIn: '5m',
    });

    expect(own.grantExpiresAt).toBe('2026-01-01T00:05:00.000Z');
  });
});

describe('R12 the revocation of a token', () => {
  test.each([['jti'], ['token']])('ends what was delegated with it, by %s', async (by) => {
    const { acme } = await startSandbox();
    const { parent, helper, body } = await parentAndHelper(acme);
    const child = await delegated(acme, body);
    const below = await registerAgent(acme, 'Third');
    const grandchild = await delegated(acme, {
      parentGrantToken: child.grantToken,
      subAgentId: below.agentId,
    });
    const again = await acme('POST', '/v1/token/refresh', {
      refreshToken: parent.refreshToken,
      agentId: parent.agentId,
    });
    const otherToken = again.json().grantToken;
    const other = await delegated(acme, { ...body, parentGrantToken: otherToken });
    const jti = partsOf(parent.grantToken).payload.jti;

    const answer = await acme(
      'POST',
      '/v1/tokens/revoke',
      by === 'jti' ? { jti } : { token: parent.grantToken },
    );

    expect(answer.statusCode).toBe(204);
    for (const token of [parent.grantToken, child.grantToken, grandchild.grantToken]) {
      expect(await verdictOf(acme, token)).toEqual({ valid: false, reason: 'revoked' });
    }
    const refreshed = await acme('POST', '/v1/token/refresh', {
      refreshToken: child.refreshToken,
      agentId: helper.agentId,
    });
    expect(refusalOf(refreshed)).toBe('400 INVALID_GRANT grant_revoked');
    for (const token of [otherToken, other.grantToken]) {
      expect(await verdictOf(acme, token)).toMatchObject({ valid: true });
    }
    const reasons = (await grantsOf(acme, `?rootGrantId=${parent.grantId}`)).map(
      ({ grantId, revokedReason }) => [grantId, revokedReason],
    );
    expect(new Map(reasons as [string, string][])).toEqual(
      new Map([
        [parent.grantId, undefined],
        [child.grantId, 'token_revoked'],
        [grandchild.grantId, 'parent'],
        [other.grantId, undefined],
      ]),
    );
    const actions = (await entriesOf(acme, 'grant.revoked')).map(({ grantId, metadata }) => [
      grantId,
      metadata.reason,
      metadata.causedBy,
    ]);
    expect(actions).toEqual([
      [child.grantId, 'token_revoked', undefined],
      [grandchild.grantId, 'parent', child.grantId],
    ]);
    expect((await acme('POST', '/v1/tokens/revoke', { jti })).statusCode).toBe(204);
    expect(await entriesOf(acme, 'grant.revoked')).toHaveLength(2);
  });
});

describe('the depth of delegations', () => {
  test('is set by the developer, up to ten, and otherwise by the operator', async () => {
    const { acme } = await startSandbox({ env: { MAX_DELEGATION_DEPTH: '1' } });
    const { parent, body } = await parentAndHelper(acme);
    const { agentId: subAgentId } = parent;
    expect((await acme('GET', '/v1/me')).json()).toMatchObject({ maxDelegationDepth: null });
    const child = await delegated(acme, body);
    const deeper = { parentGrantToken: child.grantToken, subAgentId, scopes: ['calendar:read'] };
    expect((await delegate(acme, deeper)).json().details).toEqual({ maxDepth: 1, depth: 2 });

    const changed = await acme('PATCH', '/v1/me', { maxDelegationDepth: 10 });

    expect(changed.json()).toMatchObject({ updated: true, maxDelegationDepth: 10 });
    let held = child.grantToken;
    for (let depth = 2; depth <= 10; depth += 1) {
      held = (await delegated(acme, { parentGrantToken: held, subAgentId })).grantToken;
    }
    expect(await verdictOf(acme, held)).toMatchObject({ valid: true, delegationDepth: 10 });
    expect((await delegate(acme, { ...deeper, parentGrantToken: held })).json().details).toEqual({
      maxDepth: 10,
      depth: 11,
    });
    await acme('PATCH', '/v1/me', { maxDelegationDepth: null });
    expect(refusalOf(await delegate(acme, deeper))).toBe('400 DELEGATION_DEPTH_EXCEEDED');
  });

  test.each([0, 11, 1.5, '3'])('cannot be set to %j', async (maxDelegationDepth) => {
    const { acme } = await joinSandbox();

    expect(refusalOf(await acme('PATCH', '/v1/me', { maxDelegationDepth }))).toBe('400 BAD_REQUEST');
  });
});

describe('R7 a part is never wider than the whole', () => {
  const request = {
    scopes: ['calendar:*', 'tool:gmail:write:inv*:capped:500'],
    audience: 'https://api.example',
    purpose: 'aml.screening',
    authorizationDetails: [
      { ...gmail, tools: ['send', 'get_*'], caps: { send: { per_day: 5 } }, data_region: 'eu' },
    ],
  };

  test('it inherits the members that it does not mention', async () => {
    const { acme } = await joinSandbox();
    const { parent, body } = await parentAndHelper(acme, request);

    const child = await delegated(acme, { ...body, scopes: ['tool:gmail:read:invoice:capped:5'] });

    expect(child).toMatchObject({
      scopes: ['tool:gmail:read:invoice:capped:5'],
      audience: request.audience,
      purpose: request.purpose,
      authorizationDetails: parent.authorizationDetails,
    });
    const { payload } = partsOf(child.grantToken);
    const lineage = {
      type: 'urn:service:caps-lineage:v1',
      connector: 'gmail',
      ancestors: [{ grant: parent.grantId, caps: { send: { per_day: 5 } } }],
    };
    expect(payload.aud).toBe(request.audience);
    expect(payload.authorization_details).toEqual([...parent.authorizationDetails, lineage]);
    const [shown] = await grantsOf(acme, `?parentGrantId=${parent.grantId}`);
    const verdict = await verdictOf(acme, child.grantToken);
    expect([shown, verdict]).toMatchObject([
      { authorizationDetails: parent.authorizationDetails, purpose: request.purpose },
      { authorizationDetails: parent.authorizationDetails, purpose: request.purpose, valid: true },
    ]);
  });

  test('it shows its narrowed details, and every cap above it, the root’s first', async () => {
    const { acme } = await joinSandbox();
    const { parent, body } = await parentAndHelper(acme, request);
    const narrower = (perDay: number) => [{ ...gmail, tools: ['send'], caps: { send: { per_day: perDay } } }];
    const scopes = ['tool:gmail:write:invoice:capped:5'];
    const child = await delegated(acme, { ...body, scopes, authorizationDetails: narrower(4) });
    const below = { ...body, parentGrantToken: child.grantToken, scopes };

    const last = await delegated(acme, { ...below, authorizationDetails: narrower(3) });

    const entry = { purpose: 'aml.screening', data_region: 'eu', ...narrower(3)[0] };
    expect(last.authorizationDetails).toEqual([entry]);
    expect(partsOf(last.grantToken).payload.authorization_details).toEqual([
      entry,
      {
        type: 'urn:service:caps-lineage:v1',
        connector: 'gmail',
        ancestors: [
          { grant: parent.grantId, caps: { send: { per_day: 5 } } },
          { grant: child.grantId, caps: { send: { per_day: 4 } } },
        ],
      },
    ]);
    expect(await verdictOf(acme, last.grantToken)).toMatchObject({ valid: true, delegationDepth: 2 });
  });

  const asked = { scopes: ['tool:gmail:read:invoice:capped:5'] };
  test.each<[string, object, string]>([
    ['another scope', { scopes: ['email:send'] }, 'INVALID_SCOPE'],
    ['a higher level', { scopes: ['tool:gmail:admin:invoice:capped:5'] }, 'INVALID_SCOPE'],
    ['no resource', { scopes: ['tool:gmail:read:capped:5'] }, 'INVALID_SCOPE'],
    ['a wider resource', { scopes: ['tool:gmail:read:in*:capped:5'] }, 'INVALID_SCOPE'],
    ['no cap', { scopes: ['tool:gmail:read:invoice'] }, 'INVALID_SCOPE'],
    ['a higher cap', { scopes: ['tool:gmail:read:invoice:capped:501'] }, 'INVALID_SCOPE'],
    ['any connector', { scopes: ['tool:*:read:invoice:capped:5'] }, 'INVALID_SCOPE'],
    ['another case', { scopes: ['Calendar:read', ...asked.scopes] }, 'INVALID_SCOPE'],
    ['two scopes in one', { scopes: ['calendar:read email:send', ...asked.scopes] }, 'INVALID_SCOPE'],
    ['everything', { scopes: ['*', ...asked.scopes] }, 'INVALID_SCOPE'],
    ['nothing', { scopes: [] }, 'BAD_REQUEST'],
    ['another audience', { ...asked, audience: 'https://other.example' }, 'BAD_REQUEST'],
    ['another purpose', { ...asked, purpose: 'payments.payout' }, 'INVALID_PURPOSE'],
    ['no tool for its purpose', { scopes: ['calendar:read'] }, 'INVALID_PURPOSE'],
    ['another tool', { ...asked, authorizationDetails: [{ ...gmail, tools: ['drop'] }] }, 'BAD_REQUEST'],
    ['a wider prefix', { ...asked, authorizationDetails: [{ ...gmail, tools: ['get*'] }] }, 'BAD_REQUEST'],
    [
      'more calls',
      { ...asked, authorizationDetails: [{ ...gmail, caps: { send: { per_day: 6 } } }] },
      'BAD_REQUEST',
    ],
    ['another region', { ...asked, authorizationDetails: [{ ...gmail, data_region: 'us' }] }, 'BAD_REQUEST'],
    [
      'a lineage of its own',
      { ...asked, authorizationDetails: [{ type: 'urn:service:caps-lineage:v1', connector: 'gmail' }] },
      'BAD_REQUEST',
    ],
    ['an empty budget', { ...asked, budget: { amount: '0' } }, 'BAD_REQUEST'],
    ['another form', { ...asked, credentialFormat: 'sd-jwt' }, 'BAD_REQUEST'],
    ['a longer life of tokens', { ...asked, tokenExpiresIn: '2h' }, 'BAD_REQUEST'],
    ['a moment', { ...asked, expiresIn: '59s' }, 'BAD_REQUEST'],
    ['no time at all', { ...asked, expiresIn: '0s' }, 'BAD_REQUEST'],
    ['O9 a time before', { ...asked, expiresIn: '-1h' }, 'BAD_REQUEST'],
    ['O9 for ever', { ...asked, expiresIn: 'Infinity' }, 'BAD_REQUEST'],
    ['O9 two times', { ...asked, expiresIn: '1h;2h' }, 'BAD_REQUEST'],
    ['O9 longer than any grant', { ...asked, expiresIn: '366d' }, 'BAD_REQUEST'],
  ])('O8 refuses %s, and makes no grant', async (_, wider, code) => {
    const { acme } = await joinSandbox();
    const { parent, body } = await parentAndHelper(acme, { ...request, tokenExpiresIn: '1h' });

    const answer = await delegate(acme, { ...body, ...wider });

    expect(refusalOf(answer)).toBe(`400 ${code}`);
    expect(await grantsOf(acme)).toHaveLength(1);
    expect((await delegate(acme, { ...body, ...asked })).statusCode).toBe(201); // a part that fits
    expect(await grantsOf(acme, `?parentGrantId=${parent.grantId}`)).toHaveLength(1);
  });

  test('every scope that is not covered is named', async () => {
    const { acme } = await joinSandbox();
    const { body } = await parentAndHelper(acme);

    const answer = await delegate(acme, { ...body, scopes: ['calendar:read', 'calendar:write', 'x'] });

    expect(answer.json().details).toEqual({ scopes: ['calendar:write', 'x'] });
  });

  test('a part may add an audience to a grant without one, but never a purpose', async () => {
    const { acme } = await joinSandbox();
    const { body } = await parentAndHelper(acme, { scopes: ['tool:gmail:read'] });
    const scopes = ['tool:gmail:read'];

    expect(refusalOf(await delegate(acme, { ...body, scopes, purpose: 'aml.screening' }))).toBe(
      '400 INVALID_PURPOSE',
    );
    const child = await delegated(acme, { ...body, scopes, audience: 'https://api.example' });

    expect(partsOf(child.grantToken).payload.aud).toBe('https://api.example');
    const below = { ...body, scopes, parentGrantToken: child.grantToken, audience: 'https://other.example' };
    expect(refusalOf(await delegate(acme, below))).toBe('400 BAD_REQUEST');
  });

  test('its time ends with its parent’s, and its tokens with it', async () => {
    const { acme, advance } = await startSandbox();
    const { parent, body } = await parentAndHelper(acme, { expiresIn: '2h', tokenExpiresIn: '2h' });
    advance(5400);

    const child = await delegated(acme, { ...body, expiresIn: '7d' });

    expect(child).toMatchObject({
      grantExpiresAt: parent.grantExpiresAt,
      expiresAt: parent.grantExpiresAt,
      refreshExpiresAt: parent.grantExpiresAt,
    });
    const { refreshToken, agentId } = child;
    advance(1799);
    const refreshed = (await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).json();
    expect(refreshed).toMatchObject({
      grantExpiresAt: parent.grantExpiresAt,
      expiresAt: parent.grantExpiresAt,
    });
    advance(1);
    const late = { refreshToken: refreshed.refreshToken, agentId };
    expect(refusalOf(await acme('POST', '/v1/token/refresh', late))).toBe('400 INVALID_GRANT grant_expired');
    expect(await verdictOf(acme, refreshed.grantToken)).toEqual({ valid: false, reason: 'expired' });
  });

  test('its tokens live no longer than its parent’s do', async () => {
    const { acme } = await joinSandbox();
    const { body } = await parentAndHelper(acme, { tokenExpiresIn: '10m' });

    const [own, shorter] = [
      await delegated(acme, body),
      await delegated(acme, { ...body, tokenExpiresIn: '5m' }),
    ];

    expect(own.expiresAt).toBe('2026-01-01T00:10:00.000Z');
    expect(shorter.expiresAt).toBe('2026-01-01T00:05:00.000Z');
  });

  test('a part that does not fit into a token is refused', async () => {
    const { acme } = await joinSandbox();
    const tools = Array.from({ length: 36 }, (_, each) => `${'t'.repeat(30)}${each}`);
    const caps = Object.fromEntries(tools.map((tool) => [tool, { per_day: 1_000_000 }]));
    const { parent, body } = await parentAndHelper(acme, {
      scopes: ['tool:gmail:read'],
      authorizationDetails: [{ ...gmail, caps }],
    });
    await acme('PATCH', '/v1/me', { maxDelegationDepth: 10 });
    let held = parent.grantToken;
    const scopes = ['tool:gmail:read'];
    const answers: string[] = [];
    for (let depth = 1; depth <= 10 && answers.at(-1) !== '400 BAD_REQUEST'; depth += 1) {
      const answer = await delegate(acme, { ...body, scopes, parentGrantToken: held });
      answers.push(refusalOf(answer));
      if (answer.statusCode === 201) held = answer.json().grantToken;
    }

    expect(answers.slice(0, 2)).toEqual(['201', '201']);
    expect(answers.at(-1)).toBe('400 BAD_REQUEST');
    expect(await verdictOf(acme, held)).toMatchObject({ valid: true });
  });
});

describe('a delegated grant', () => {
  test('keeps its chain, its part and its end when it is refreshed', async () => {
    const { acme } = await joinSandbox();
    const { parent, helper, body } = await parentAndHelper(acme, {
      scopes: ['tool:gmail:read'],
      purpose: 'aml.screening',
      authorizationDetails: [{ ...gmail, caps: { send: { per_day: 5 } } }],
    });
    const child = await delegated(acme, { ...body, scopes: ['tool:gmail:read'] });
    const { refreshToken, agentId } = child;

    const answer = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });

    expect(answer.statusCode).toBe(201);
    const refreshed = answer.json();
    expect(refreshed).toMatchObject({ grantId: child.grantId, grantExpiresAt: child.grantExpiresAt });
    const [before, after] = [child, refreshed].map(({ grantToken }) => partsOf(grantToken).payload);
    expect({ ...after, jti: before.jti }).toEqual(before);
    expect(after.act).toEqual({ sub: helper.did, act: { sub: parent.did } });
    expect(await verdictOf(acme, refreshed.grantToken)).toMatchObject({ valid: true, delegationDepth: 1 });
  });

  test('does not verify with another chain of agents', async () => {
    const { acme, service } = await joinSandbox();
    const { parent, helper, body } = await parentAndHelper(acme);
    const { grantToken } = await delegated(acme, body);
    const { payload } = partsOf(grantToken);
    const withAct = (act: object) => signedBy(service, { ...payload, act, parentAgt: undefined });
    const own = { sub: helper.did, act: { sub: parent.did } };

    expect(await verdictOf(acme, await withAct(own))).toMatchObject({ valid: true });
    for (const act of [
      { sub: helper.did },
      { sub: helper.did, act: { sub: helper.did } },
      { sub: helper.did, act: { sub: parent.did, act: { sub: parent.did } } },
    ]) {
      expect(await verdictOf(acme, await withAct(act))).toEqual({ valid: false });
    }
  });

  test('is unverified when its parent was allowed without proof', async () => {
    const { acme, db } = await joinSandbox();
    const { parent, body } = await parentAndHelper(acme);
    await db.updateTable('grants').set({ isUnverified: true }).where('id', '=', parent.grantId).execute();

    const { grantId } = await delegated(acme, body);

    expect((await acme('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({ unverified: true });
    expect((await entriesOf(acme, 'grant.created')).at(-1)?.metadata).toMatchObject({ unverified: true });
  });
});

describe('the token that a delegation presents', () => {
  test('has to be a grant token of the developer, and the refusal tells nothing of others', async () => {
    const { acme, asDeveloper, service } = await joinSandbox();
    const { parent, body } = await parentAndHelper(acme);
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const theirs = await grantTo(stranger);
    const { payload } = partsOf(parent.grantToken);
    const { code } = await authorize(acme, parent.agentId);
    const forged = [
      'x',
      'a.b.c',
      'x'.repeat(20_000),
      `${parent.grantToken}x`,
      parent.refreshToken,
      code,
      acme.apiKey,
      theirs.grantToken,
      await signedBy(service, { ...payload, jti: 'tok_unknown' }),
      await signedBy(service, { ...payload, scp: ['*'], scope: '*' }),
      await signedBy(service, payload, { typ: 'consent-hint+jwt' }),
    ];

    const answers = await Promise.all(
      forged.map((parentGrantToken) => delegate(acme, { ...body, parentGrantToken })),
    );

    const bodies = answers.map(({ body: text }) => text.replace(/"requestId":"[^"]*"/, ''));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.map(refusalOf)).toEqual(forged.map(() => '400 INVALID_GRANT parent_invalid'));
    expect((await delegate(acme, body)).statusCode).toBe(201);
  });

  test('is refused once the token or its grant is revoked', async () => {
    const { acme } = await joinSandbox();
    const { parent, body } = await parentAndHelper(acme);
    const { refreshToken, agentId } = parent;
    const refreshed = (await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).json();
    await acme('POST', '/v1/tokens/revoke', { token: parent.grantToken });

    expect(refusalOf(await delegate(acme, body))).toBe('400 INVALID_GRANT parent_revoked');
    const again = { ...body, parentGrantToken: refreshed.grantToken };
    expect((await delegate(acme, again)).statusCode).toBe(201);
    await acme('DELETE', `/v1/grants/${parent.grantId}`);
    expect(refusalOf(await delegate(acme, again))).toBe('400 INVALID_GRANT parent_revoked');
  });

  test('is refused once it has expired', async () => {
    const { acme, advance } = await startSandbox();
    const { body } = await parentAndHelper(acme, { tokenExpiresIn: '10m' });

    advance(600);

    expect(refusalOf(await delegate(acme, body))).toBe('400 INVALID_GRANT parent_expired');
  });

  test('O16 is refused while its agent is suspended, and for good once its agent is revoked', async () => {
    const { acme } = await joinSandbox();
    const { parent, body } = await parentAndHelper(acme);
    const agent = `/v1/agents/${parent.agentId}`;

    await acme('PATCH', agent, { status: 'suspended' });
    expect(refusalOf(await delegate(acme, body))).toBe('400 INVALID_GRANT agent_inactive');
    await acme('PATCH', agent, { status: 'active' });
    expect((await delegate(acme, body)).statusCode).toBe(201);
    await acme('DELETE', agent);
    expect(refusalOf(await delegate(acme, body))).toBe('400 INVALID_GRANT parent_revoked');
  });
});

describe('the agent that a delegation names', () => {
  test('has to be an active agent of the developer', async () => {
    const { acme, asDeveloper } = await joinSandbox();
    const { helper, body } = await parentAndHelper(acme);
    const foreign = await registerAgent(await asDeveloper({ mode: 'sandbox' }));
    const to = async (subAgentId: string) => refusalOf(await delegate(acme, { ...body, subAgentId }));

    expect(await to(foreign.agentId)).toBe('404 NOT_FOUND');
    expect(await to('ag_unknown')).toBe('404 NOT_FOUND');
    await acme('PATCH', `/v1/agents/${helper.agentId}`, { status: 'suspended' });
    expect(await to(helper.agentId)).toBe('409 AGENT_INACTIVE');
    await acme('PATCH', `/v1/agents/${helper.agentId}`, { status: 'active' });
    expect(await to(helper.agentId)).toBe('201');
    await acme('DELETE', `/v1/agents/${helper.agentId}`);
    expect(await to(helper.agentId)).toBe('404 NOT_FOUND');
  });

  test('O8 gets no scope that it does not declare, where the developer enforces declared scopes', async () => {
    const { acme } = await joinSandbox();
    const { body, helper } = await parentAndHelper(acme);
    const declare = (scopes: string[]) => acme('PATCH', `/v1/agents/${helper.agentId}`, { scopes });

    await declare(['email:send']);
    expect(refusalOf(await delegate(acme, body))).toBe('201');
    await acme('PATCH', '/v1/me', { enforceAgentScopes: true });
    const refused = await delegate(acme, body);
    await declare(['email:send', 'calendar:read']);

    expect(refusalOf(refused)).toBe('400 INVALID_SCOPE');
    expect(refused.json().details).toEqual({ scopes: ['calendar:read'] });
    expect(refusalOf(await delegate(acme, body))).toBe('201');
  });

  test('gets no grant when the plan is full', async () => {
    const { acme } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: '2' } });
    const { body } = await parentAndHelper(acme);
    const child = await delegated(acme, body);

    const answer = await delegate(acme, body);

    expect(refusalOf(answer)).toBe('402 PLAN_LIMIT_EXCEEDED');
    expect(answer.json().details).toMatchObject({ resource: 'active_grants', limit: 2 });
    await acme('DELETE', `/v1/grants/${child.grantId}`);
    expect((await delegate(acme, body)).statusCode).toBe(201);
  });
});
