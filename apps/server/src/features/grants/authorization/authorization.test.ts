import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  partsOf,
  pkce,
  refusalOf,
  registerAgent,
} from '../../../../test/app/flow.ts';
import { statementsOf } from '../../../../test/app/round-trips.ts';
import { type Developer, type Service, startApp, type TestOptions } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const REQUEST = { principalId: 'user_42', scopes: ['calendar:read', 'email:send'] };
const UNKNOWN = 'ag_00000000000000000000000000';

/** A developer with an agent, and a function that sends an authorization request for it. */
async function asker({ mode = 'sandbox', on = service }: { mode?: 'live' | 'sandbox'; on?: Service } = {}) {
  const developer = await on.asDeveloper({ mode });
  const { agentId, did } = await registerAgent(developer);
  const ask = (request: object = {}) =>
    developer('POST', '/v1/authorize', { agentId, ...REQUEST, ...request });
  return { developer, agentId, did, ask };
}

/** The same, on a service with options of its own. */
async function askerWith(options: TestOptions, mode?: 'live' | 'sandbox') {
  const on = await startApp(options);
  return { ...on, ...(await asker({ on, ...(mode && { mode }) })) };
}

const requestsOf = ({ developerId }: Developer) =>
  service.db.selectFrom('authRequests').selectAll().where('developerId', '=', developerId).execute();

describe('asking in the sandbox', () => {
  test('is answered with a code at once', async () => {
    const { developer, agentId, ask } = await asker();
    await developer('PATCH', '/v1/me', { redirectUris: ['https://app.example/cb'] });

    const answer = await ask({
      scopes: ['tool:mail:read', 'email:send', 'tool:mail:read'],
      expiresIn: '7d',
      redirectUri: 'https://app.example/cb',
      state: 'xyz',
      audience: 'https://api.example',
      purpose: 'payments.payout',
    });

    const { id, code, consentUrl, ...rest } = answer.json();
    const now = service.clock();
    expect(answer.statusCode).toBe(201);
    expect(id).toMatch(/^areq_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(consentUrl).toMatch(new RegExp(`^https://auth\\.test/consent\\?req=${id}#ticket=[\\w-]{43}$`));
    expect(rest).toEqual({
      authRequestId: id,
      agentId,
      principalId: 'user_42',
      scopes: ['tool:mail:read', 'email:send'],
      expiresIn: '7d',
      status: 'approved',
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + 600_000).toISOString(),
      decidedAt: now.toISOString(),
      redirectUri: 'https://app.example/cb',
      state: 'xyz',
      audience: 'https://api.example',
      purpose: 'payments.payout',
      authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'mail', purpose: 'payments.payout' }],
      sandbox: true,
    });
  });

  test('records the request and the approval by the sandbox in the chain', async () => {
    const { developer, agentId, did, ask } = await asker();
    const scopes = ['tool:mail:read'];

    const { id } = (await ask({ scopes, purpose: 'payments.payout' })).json();

    const [requested] = await entriesOf(developer, 'authorization.requested');
    const [approved] = await entriesOf(developer, 'authorization.approved');
    const about = {
      agentId,
      agentDid: did,
      principalId: 'user_42',
      purpose: 'payments.payout',
      status: 'success',
      grantId: null,
    };
    const actor = expect.stringMatching(/^developer:key_/);
    expect(requested).toMatchObject({ ...about, metadata: { authRequestId: id, scopes, actor } });
    expect(Object.keys(requested?.metadata ?? {}).sort()).toEqual(['actor', 'authRequestId', 'scopes']);
    expect(approved).toMatchObject(about);
    expect(approved?.metadata).toEqual({
      authRequestId: id,
      scopes,
      method: 'sandbox',
      narrowed: false,
      actor,
    });
    const events = await service.db
      .selectFrom('outboxEvents')
      .selectAll()
      .where('developerId', '=', developer.developerId)
      .where('type', 'like', 'authorization.%')
      .orderBy('type')
      .execute();
    const told = events.map(({ envelope }) => JSON.parse(envelope));
    const { developerId } = developer;
    const common = { authRequestId: id, agentId, principalId: 'user_42', scopes, purpose: 'payments.payout' };
    expect(told).toEqual([
      {
        id: told[0].id,
        type: 'authorization.approved',
        createdAt: told[0].createdAt,
        timestamp: told[0].createdAt,
        developerId,
        specVersion: '0.6',
        sandbox: true,
        data: { ...common, method: 'sandbox', narrowed: false },
      },
      {
        id: told[1].id,
        type: 'authorization.requested',
        createdAt: told[1].createdAt,
        timestamp: told[1].createdAt,
        developerId,
        specVersion: '0.6',
        sandbox: true,
        data: common,
      },
    ]);
  });

  test('waits for a person when `autoApprove` is false', async () => {
    const { ask } = await asker();

    const answer = (await ask({ autoApprove: false })).json();

    expect(answer).toMatchObject({ status: 'pending', sandbox: true });
    expect(answer).not.toHaveProperty('code');
    expect(answer).not.toHaveProperty('decidedAt');
    expect((await ask({ autoApprove: true })).json()).toHaveProperty('code');
  });

  test('costs one read, one write and one command to the store', async () => {
    const puts: number[] = [];
    const { ask } = await askerWith({
      storeAs: (store) => ({
        ...store,
        put: async (entries) => {
          puts.push(entries.length);
          await store.put(entries);
        },
      }),
    });
    await ask(); // from here on the key is known
    puts.length = 0;

    const statements = await statementsOf(ask);

    expect(statements).toEqual(['find_asker', 'write_together']);
    expect(puts).toEqual([2]); // ticket and code, in one round trip
  });
});

describe('O13 O15 asking live', () => {
  test('gets no code, only the URL of the consent page', async () => {
    const { ask } = await asker({ mode: 'live' });

    const answer = (await ask()).json();

    expect(answer).toMatchObject({ status: 'pending', consentUrl: expect.stringContaining('#ticket=') });
    expect(answer).not.toHaveProperty('code');
    expect(answer).not.toHaveProperty('sandbox');
    expect(answer.expiresAt).toBe(new Date(service.clock().getTime() + 3_600_000).toISOString());
  });

  test.each([true, false])('refuses autoApprove: %s', async (autoApprove) => {
    const { developer, ask } = await asker({ mode: 'live' });

    const answer = await ask({ autoApprove });

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toEqual([{ path: 'autoApprove', problem: 'not_allowed' }]);
    expect(await requestsOf(developer)).toEqual([]);
  });

  test('O15 does not reach agents of the sandbox, and the sandbox does not reach live agents', async () => {
    const [live, sandbox] = [await asker({ mode: 'live' }), await asker()];

    expect(refusalOf(await live.ask({ agentId: sandbox.agentId }))).toBe('404 NOT_FOUND');
    expect(refusalOf(await sandbox.ask({ agentId: live.agentId }))).toBe('404 NOT_FOUND');
  });
});

describe('a request', () => {
  test.each([
    ['a principal of 256 characters', { principalId: 'p'.repeat(256) }],
    ['a principal of any letters', { principalId: 'Ærø 愛 <b>’;--' }],
    ['a hundred scopes', { scopes: Array.from({ length: 100 }, (_, at) => `s${at}`) }],
    ['2,048 bytes of scopes', { scopes: Array.from({ length: 8 }, (_, at) => `${at}`.padEnd(256, 'x')) }],
    ['a scope of one character', { scopes: ['x'] }],
    ['the scope of everything', { scopes: ['*'] }],
    ['a minute', { expiresIn: '60s', tokenExpiresIn: '60s', consentExpiresIn: '60s' }],
    ['the longest times', { expiresIn: '365d', tokenExpiresIn: '24h', consentExpiresIn: '1d' }],
    ['a state of 8,192 characters', { state: 's'.repeat(8192) }],
    ['an empty state', { state: '' }],
    ['O7 a state with line ends and markup', { state: 'a\r\nSet-Cookie: x=1&code=evil<script>' }],
    ['an audience', { audience: 'a'.repeat(1024) }],
    ['an empty list of details', { authorizationDetails: [] }],
  ])('may have %s', async (_what, request) => {
    const { ask } = await asker();

    const answer = await ask(request);

    expect(answer.statusCode).toBe(201);
    const { tokenExpiresIn: _1, consentExpiresIn: _2, authorizationDetails: _3, ...read } = Object(request);
    expect(answer.json()).toMatchObject(read);
  });

  test.each([
    ['no agent', { agentId: undefined }, 'agentId', 'required'],
    ['an empty agent id', { agentId: '' }, 'agentId', 'too_short'],
    ['an agent that is a number', { agentId: 7 }, 'agentId', 'type'],
    ['no principal', { principalId: undefined }, 'principalId', 'required'],
    ['an empty principal id', { principalId: '' }, 'principalId', 'too_short'],
    ['too long a principal', { principalId: 'p'.repeat(257) }, 'principalId', 'too_long'],
    ['O14 a principal with a control character', { principalId: 'a\u0007b' }, 'principalId', 'format'],
    ['O14 a principal with a line feed', { principalId: 'a\nb' }, 'principalId', 'format'],
    ['no scopes', { scopes: undefined }, 'scopes', 'required'],
    ['an empty list of scopes', { scopes: [] }, 'scopes', 'too_short'],
    ['scopes in one text', { scopes: 'calendar:read' }, 'scopes', 'type'],
    ['a scope that is an object', { scopes: [{}] }, 'scopes.0', 'type'],
    ['101 scopes', { scopes: Array.from({ length: 101 }, (_, at) => `s${at}`) }, 'scopes', 'too_long'],
    [
      '2,049 bytes of scopes',
      { scopes: ['y', ...Array.from({ length: 8 }, (_, at) => `${at}`.padEnd(256, 'x'))] },
      'scopes',
      'too_long',
    ],
    [
      'too long a redirect URI',
      { redirectUri: `https://app.example/${'x'.repeat(2029)}` },
      'redirectUri',
      'too_long',
    ],
    ['an empty redirect URI', { redirectUri: '' }, 'redirectUri', 'too_short'],
    [
      'more than a token can hold',
      {
        purpose: 'payments.payout',
        scopes: Array.from({ length: 100 }, (_, at) => `tool:c${at}:read`),
      },
      'scopes',
      'too_long',
    ],
    ['O7 too long a state', { state: 's'.repeat(8193) }, 'state', 'too_long'],
    ['a state that is a number', { state: 7 }, 'state', 'type'],
    ['an empty audience', { audience: '' }, 'audience', 'too_short'],
    ['too long an audience', { audience: 'a'.repeat(1025) }, 'audience', 'too_long'],
    ['an audience of two words', { audience: 'a b' }, 'audience', 'format'],
    [
      'O4 a challenge without its method',
      { codeChallenge: pkce().asked.codeChallenge },
      'codeChallengeMethod',
      'required',
    ],
    ['O4 a method without a challenge', { codeChallengeMethod: 'S256' }, 'codeChallenge', 'required'],
    [
      'O4 the method `plain`',
      { ...pkce().asked, codeChallengeMethod: 'plain' },
      'codeChallengeMethod',
      'not_allowed',
    ],
    [
      'O4 the method `s256`',
      { ...pkce().asked, codeChallengeMethod: 's256' },
      'codeChallengeMethod',
      'not_allowed',
    ],
    [
      'O4 a challenge of 42 characters',
      { ...pkce().asked, codeChallenge: 'A'.repeat(42) },
      'codeChallenge',
      'format',
    ],
    [
      'O4 a challenge of 44 characters',
      { ...pkce().asked, codeChallenge: 'A'.repeat(44) },
      'codeChallenge',
      'format',
    ],
    [
      'O4 a challenge in another alphabet',
      { ...pkce().asked, codeChallenge: `${'A'.repeat(42)}=` },
      'codeChallenge',
      'format',
    ],
    ['a flag that is a text', { autoApprove: 'false' }, 'autoApprove', 'type'],
    ['T5 a status', { status: 'approved' }, 'status', 'unknown'],
    ['T5 a code of its own', { code: 'mine' }, 'code', 'unknown'],
    ['T5 another developer', { developerId: 'dev_1' }, 'developerId', 'unknown'],
  ])('is refused with %s', async (_what, request, path, problem) => {
    const { developer, ask } = await asker();

    const answer = await ask(request);

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toContainEqual({ path, problem });
    expect(await requestsOf(developer)).toEqual([]);
  });

  test.each(['expiresIn', 'tokenExpiresIn', 'consentExpiresIn'])(
    'O9 is refused with another %s, and nothing is cut',
    async (field) => {
      const { developer, ask } = await asker();
      const beyond = { expiresIn: '366d', tokenExpiresIn: '1441m', consentExpiresIn: '86401s' }[field];
      const wrong = [
        '0',
        '0s',
        '-1h',
        '+1h',
        '1e9d',
        '1e2s',
        'NaN',
        'Infinity',
        '1h;2h',
        '1.5h',
        '1 h',
        ' 1h',
        '1H',
        '1w',
        '01h',
        '',
        'h',
        '9999999999d',
        '99999999999s',
        '59s',
        beyond,
        3600,
        null,
        ['1h'],
      ];

      const answers = await Promise.all(wrong.map((duration) => ask({ [field]: duration })));

      for (const [at, answer] of answers.entries()) {
        expect(refusalOf(answer), String(wrong[at])).toBe('400 BAD_REQUEST');
        expect(answer.json().details.fields[0].path).toBe(field);
      }
      expect(await requestsOf(developer)).toEqual([]);
    },
  );

  test('O9 has the longest lifetimes that the operator set', async () => {
    const { ask } = await askerWith({
      env: { MAX_GRANT_LIFETIME_SECONDS: '3600', GRANT_TOKEN_MAX_TTL_SECONDS: '600' },
    });

    const answers = await Promise.all([
      ask({ expiresIn: '1h', tokenExpiresIn: '10m' }),
      ask({ expiresIn: '3601s' }),
      ask({ expiresIn: '1h', tokenExpiresIn: '601s' }),
      ask(), // 24 h
    ]);

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 400, 400, 400]);
  });

  test('is refused with the name of every malformed scope', async () => {
    const { ask } = await asker();
    const wrong = [
      'a b',
      'a"b',
      'a\\b',
      '',
      'é',
      'a\nb',
      'x'.repeat(257),
      'tool:',
      'tool:mail',
      'tool:mail:fly',
      'tool:ma il:read',
      'tool:mail:read:x:capped:',
      'tool::read',
    ];

    const answer = await ask({ scopes: ['email:send', ...wrong, 'tool:mail:read:in*:capped:10'] });

    expect(refusalOf(answer)).toBe('400 INVALID_SCOPE');
    expect(answer.json().details.scopes).toEqual(wrong);
  });

  test.each([
    ['a known purpose', 'aml.screening', ['tool:mail:read'], true],
    ['a private purpose', 'x-acme-corp.travel.booking_2', ['email:send', 'tool:mail:read'], true],
    ['an unknown purpose', 'aml.everything', ['tool:mail:read'], false],
    ['an empty purpose', '', ['tool:mail:read'], false],
    ['a private purpose without a term', 'x-acme', ['tool:mail:read'], false],
    ['a private purpose in capitals', 'x-Acme.travel', ['tool:mail:read'], false],
    ['a known purpose without a tool', 'aml.screening', ['email:send'], false],
    ['a known purpose with every tool', 'aml.screening', ['tool:*:read'], false],
  ])('binds its purpose to a tool: %s', async (_what, purpose, scopes, isGood) => {
    const { ask } = await asker();

    const answer = await ask({ purpose, scopes });

    if (isGood) return expect(answer.json()).toMatchObject({ purpose });
    expect(refusalOf(answer)).toBe('400 INVALID_PURPOSE');
    expect(answer.json().details).toEqual({ purpose });
  });

  const entry = { type: 'urn:service:tools:v1', connector: 'mail' };
  const whole = {
    ...entry,
    tools: ['send', 'draft_*'],
    caps: { send: { per_hour: 5, per_day: 20 }, cost_units: { per_case: 0 } },
    data_region: 'eu-1',
  };

  test('carries its details into the token, under either name', async () => {
    const { developer, agentId, ask } = await asker();
    const scopes = ['tool:mail:write', 'tool:crm:read'];

    for (const name of ['authorizationDetails', 'authorization_details']) {
      const answer = await ask({ scopes, [name]: [whole] });
      const { code, authorizationDetails } = answer.json();
      const { grantToken } = (await developer('POST', '/v1/token', { code, agentId })).json();

      expect(authorizationDetails).toEqual([whole]);
      expect(partsOf(grantToken).payload.authorization_details).toEqual([whole]);
    }
  });

  test('with a purpose has one entry for each connector, in the order of the scopes', async () => {
    const { ask } = await asker();
    const purpose = 'payments.payout';

    const answer = await ask({
      scopes: ['tool:crm:read', 'x', 'tool:mail:write', 'tool:crm:write'],
      purpose,
      authorizationDetails: [whole],
    });

    expect(answer.json().authorizationDetails).toEqual([
      { ...entry, connector: 'crm', purpose },
      { ...whole, purpose },
    ]);
  });

  test.each([
    [
      'both names',
      { authorizationDetails: [entry], authorization_details: [entry] },
      'authorization_details',
      'not_allowed',
    ],
    ['no list', { authorizationDetails: entry }, 'authorizationDetails', 'type'],
    [
      'another type',
      { authorizationDetails: [{ ...entry, type: 'x' }] },
      'authorizationDetails.0.type',
      'not_allowed',
    ],
    [
      'no type',
      { authorization_details: [{ connector: 'mail' }] },
      'authorization_details.0.type',
      'required',
    ],
    [
      'an unknown member',
      { authorizationDetails: [{ ...entry, admin: true }] },
      'authorizationDetails.0.admin',
      'unknown',
    ],
    [
      'a purpose inside',
      { authorizationDetails: [{ ...entry, purpose: 'payments.payout' }] },
      'authorizationDetails.0.purpose',
      'not_allowed',
    ],
    [
      'a connector of no scope',
      { authorizationDetails: [{ ...entry, connector: 'crm' }] },
      'authorizationDetails.0.connector',
      'not_allowed',
    ],
    [
      'a connector twice',
      { authorizationDetails: [entry, entry] },
      'authorizationDetails.1.connector',
      'not_allowed',
    ],
    [
      'caps of a wildcard',
      { authorizationDetails: [{ ...entry, caps: { 'send*': { per_day: 1 } } }] },
      'authorizationDetails.0.caps.send*',
      'format',
    ],
    ['21 entries', { authorizationDetails: Array(21).fill(entry) }, 'authorizationDetails', 'too_long'],
    [
      'over 2,048 bytes',
      {
        authorizationDetails: [
          { ...entry, tools: Array.from({ length: 20 }, (_, at) => `${at}`.padEnd(110, 'x')) },
        ],
      },
      'authorizationDetails',
      'too_long',
    ],
  ])('is refused with invalid details: %s', async (_what, details, path, problem) => {
    const { developer, ask } = await asker();

    const answer = await ask({ scopes: ['tool:mail:write'], ...details });

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toContainEqual({ path, problem });
    expect(await requestsOf(developer)).toEqual([]);
  });

  test('stays within the scopes that the agent declares, once the developer enforces them', async () => {
    const { developer, agentId, ask } = await asker();
    await developer('PATCH', `/v1/agents/${agentId}`, { scopes: ['calendar:*', 'tool:mail:write'] });
    const inside = { scopes: ['calendar:read', 'tool:mail:read:inbox'] };
    const outside = { scopes: ['calendar:read', 'email:send', 'tool:mail:admin'] };

    const before = await ask(outside);
    await developer('PATCH', '/v1/me', { enforceAgentScopes: true });
    const [within, beyond] = [await ask(inside), await ask(outside)];

    expect(before.statusCode).toBe(201);
    expect(within.statusCode).toBe(201);
    expect(refusalOf(beyond)).toBe('400 INVALID_SCOPE');
    expect(beyond.json().details.scopes).toEqual(['email:send', 'tool:mail:admin']);
  });
});

describe('O1 the redirect URI of a request', () => {
  const registered = [
    'https://app.example/cb',
    'https://app.example:8443/cb?tenant=7',
    'http://127.0.0.1:3000/cb',
    'com.example.app:/cb',
  ];
  const altered = [
    'https://app.example/cb/',
    'https://app.example/other',
    'https://app.example/CB',
    'https://APP.example/cb',
    'HTTPS://app.example/cb',
    'https://app.example:443/cb',
    'https://app.example:8443/cb',
    'https://app.example:8443/cb?tenant=7&x=1',
    'https://app.example:8443/cb?tenant=8',
    'https://app.example/cb?x=1',
    'https://app.example/cb?',
    'https://app.example/cb#',
    'https://app.example/cb#x',
    'https://sub.app.example/cb',
    'https://app.example.evil.example/cb',
    'https://app.example@evil.example/cb',
    'https://user@app.example/cb',
    'https://app.example/x/../cb',
    'https://app.example/x/%2e%2e/cb',
    'https://app.example%2fcb',
    'https://app.example/%63b',
    'https://app.example\\cb',
    'https://*.example/cb',
    'http://app.example/cb',
    '//app.example/cb',
    '/cb',
    'http://127.0.0.1:3001/cb',
    'http://127.0.0.1/cb',
    'http://localhost:3000/cb',
    'http://[::1]:3000/cb',
    'com.example.app:/cb2',
    'com.example.app://cb',
    'myapp:/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
  ];

  test.each(['live', 'sandbox'] as const)('equals a registered one byte for byte (%s)', async (mode) => {
    const { developer, ask } = await asker({ mode });
    await developer('PATCH', '/v1/me', { redirectUris: registered });

    for (const redirectUri of registered) {
      expect((await ask({ redirectUri })).json(), redirectUri).toMatchObject({ redirectUri });
    }
    const stored = (await requestsOf(developer)).length;
    for (const redirectUri of altered) {
      const answer = await ask({ redirectUri });
      expect(refusalOf(answer), redirectUri).toBe('400 INVALID_REDIRECT_URI');
      expect(answer.headers.location).toBeUndefined();
    }
    expect(await requestsOf(developer)).toHaveLength(stored);
  });

  test('has to be registered, or absent, for a live developer', async () => {
    const { ask } = await asker({ mode: 'live' });

    expect(refusalOf(await ask({ redirectUri: 'https://app.example/cb' }))).toBe('400 INVALID_REDIRECT_URI');
    expect((await ask()).statusCode).toBe(201);
  });

  test('in the sandbox needs no registration while no URI is registered, but has to be acceptable', async () => {
    const { ask } = await asker();

    expect((await ask({ redirectUri: 'https://anywhere.example/cb' })).statusCode).toBe(201);
    for (const redirectUri of ['http://anywhere.example/cb', 'javascript:alert(1)', 'https://a@b.example/']) {
      expect(refusalOf(await ask({ redirectUri })), redirectUri).toBe('400 INVALID_REDIRECT_URI');
    }
  });
});

describe('the agent of a request', () => {
  test('has to exist and belong to the developer', async () => {
    const { developer, ask } = await asker();
    const stranger = await asker();

    const [foreign, unknown] = [await ask({ agentId: stranger.agentId }), await ask({ agentId: UNKNOWN })];

    const { requestId: _, ...said } = unknown.json();
    expect(refusalOf(foreign)).toBe('404 NOT_FOUND');
    expect(foreign.json()).toEqual({ ...said, requestId: foreign.json().requestId });
    expect(await requestsOf(developer)).toEqual([]);
  });

  test('has to be active', async () => {
    const { developer, agentId, ask } = await asker();

    await developer('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    const suspended = await ask();
    await developer('DELETE', `/v1/agents/${agentId}`);
    const revoked = await ask();

    expect(refusalOf(suspended)).toBe('409 AGENT_INACTIVE');
    expect(suspended.json().details).toEqual({ status: 'suspended' });
    expect(refusalOf(revoked)).toBe('404 NOT_FOUND');
    expect(await requestsOf(developer)).toEqual([]);
  });

  test('is checked again when the request is written', async () => {
    const statuses = ['suspended', 'revoked'] as const;
    for (const status of statuses) {
      const interfering: { now?: () => Promise<unknown> } = {};
      const { developer, agentId, ask } = await askerWith({
        // Between the read and the write the service sends one command to the store.
        storeAs: (store) => ({
          ...store,
          put: async (entries) => {
            await store.put(entries);
            await interfering.now?.();
          },
        }),
      });
      interfering.now = () =>
        status === 'revoked'
          ? developer('DELETE', `/v1/agents/${agentId}`)
          : developer('PATCH', `/v1/agents/${agentId}`, { status });

      const answer = await ask();

      expect(refusalOf(answer)).toBe(status === 'revoked' ? '404 NOT_FOUND' : '409 AGENT_INACTIVE');
      expect(await requestsOf(developer)).toEqual([]);
      expect(await actionsOf(developer)).not.toContain('authorization.requested');
    }
  });
});

describe('O20 a live developer that has set up no proof', () => {
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  };

  test('may ask no principal where proof is required, and nothing is stored', async () => {
    const { developer, ask } = await askerWith({ env: { PRINCIPAL_PROOF: 'required' } }, 'live');

    const answer = await ask();
    const stored = await requestsOf(developer);
    await developer('PATCH', '/v1/me', { consentKeys: [jwk] });

    expect(refusalOf(answer)).toBe('409 CONFLICT');
    expect(answer.json().details).toEqual({ field: 'consentKeys' });
    expect(stored).toEqual([]);
    expect(await actionsOf(developer)).not.toContain('authorization.requested');
    expect((await ask()).statusCode).toBe(201);
  });

  test('may not ask anybody in production, where proof is required unless the operator says otherwise', async () => {
    const production = { NODE_ENV: 'production', VAULT_ENCRYPTION_KEY: 'ab'.repeat(32) };
    const byDefault = await askerWith({ env: production }, 'live');
    const optional = await askerWith({ env: { ...production, PRINCIPAL_PROOF: 'optional' } }, 'live');

    expect(refusalOf(await byDefault.ask())).toBe('409 CONFLICT');
    expect((await optional.ask()).statusCode).toBe(201);
  });

  test('may ask in the sandbox, and where proof is optional', async () => {
    const required = await askerWith({ env: { PRINCIPAL_PROOF: 'required' } });
    const optional = await askerWith({ env: { PRINCIPAL_PROOF: 'optional' } }, 'live');

    expect((await required.ask()).statusCode).toBe(201);
    expect((await optional.ask()).statusCode).toBe(201);
  });
});

describe('a request is refused', () => {
  test('as long as the plan is full', async () => {
    const on = await startApp({ env: { PLAN_FREE_ACTIVE_GRANTS: '2' } });
    const developer = await on.asDeveloper({ mode: 'sandbox' });
    const { agentId } = await grantTo(developer, { expiresIn: '60s' });
    const second = await grantTo(developer);
    const ask = () => developer('POST', '/v1/authorize', { agentId, ...REQUEST });

    const refused = await ask();
    await developer('DELETE', `/v1/grants/${second.grantId}`);
    const room = await ask();

    expect(refusalOf(refused)).toBe('402 PLAN_LIMIT_EXCEEDED');
    expect(refused.json().details).toEqual({ limit: 2, plan: 'free', resource: 'active_grants', current: 2 });
    expect(room.statusCode).toBe(201);
    await grantTo(developer);
    expect((await ask()).statusCode).toBe(402);
    on.advance(60); // the first grant expires, and no counter changes
    expect((await ask()).statusCode).toBe(201);
  });

  test('for the first of several reasons, in the documented order', async () => {
    const { developer, agentId, ask } = await askerWith(
      { env: { PRINCIPAL_PROOF: 'required', PLAN_FREE_ACTIVE_GRANTS: '1' } },
      'live',
    );
    const shape = { expiresIn: '0s' };
    const scope = { scopes: ['no scope'] };
    const uri = { redirectUri: 'https://app.example/cb' };
    const nobody = { agentId: UNKNOWN };
    await developer('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });

    const refusals = [];
    for (const request of [
      { ...shape, ...scope, ...uri, ...nobody },
      { ...scope, ...uri, ...nobody },
      { ...uri, ...nobody },
      nobody,
      {},
    ]) {
      refusals.push(refusalOf(await ask(request)));
    }
    await developer('PATCH', `/v1/agents/${agentId}`, { status: 'active' });
    refusals.push(refusalOf(await ask()));

    expect(refusals).toEqual([
      '400 BAD_REQUEST',
      '400 INVALID_SCOPE',
      '400 INVALID_REDIRECT_URI',
      '404 NOT_FOUND',
      '409 AGENT_INACTIVE',
      '409 CONFLICT',
    ]);
  });

  test('while the store is away, and then nothing is written', async () => {
    const { developer, agentId, ask } = await askerWith({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });

    const answer = await ask();

    expect(refusalOf(answer)).toBe('503 SERVICE_UNAVAILABLE');
    expect(answer.json().details).toEqual({ dependency: 'redis' });
    expect(answer.headers).not.toHaveProperty('retry-after');
    expect(await requestsOf(developer)).toEqual([]);
    expect(await actionsOf(developer)).toEqual(['developer.created', 'agent.created']);
    expect((await developer('GET', `/v1/agents/${agentId}`)).statusCode).toBe(200);
  });

  test('after ten requests in a minute', async () => {
    const { ask } = await askerWith({ realLimits: true, store: 'memory' });

    const codes = [];
    for (let count = 0; count < 11; count += 1) codes.push((await ask()).statusCode);

    expect(codes).toEqual([...Array(10).fill(201), 429]);
  });

  test('without a credential, or with one of another kind', async () => {
    const { developer } = await asker();
    const { grantToken, agentId } = await grantTo(developer);
    const body = { agentId, ...REQUEST };
    const as = (authorization?: string) =>
      service.app.inject({
        method: 'POST',
        url: '/v1/authorize',
        body,
        headers: { ...(authorization && { authorization }) },
      });

    expect(refusalOf(await as())).toBe('401 UNAUTHORIZED');
    expect(refusalOf(await as(`Bearer ${grantToken}`))).toBe('401 UNAUTHORIZED');
    const runtime = await developer.asRuntime();
    expect((await runtime('POST', '/v1/authorize', body)).statusCode).toBe(201);
  });
});

test('R8 neither code nor ticket is in the database', async () => {
  const { developer, agentId } = await asker();
  const { code, consentUrl } = await authorize(developer, agentId);
  const ticket = consentUrl.split('ticket=')[1];

  const tables = ['authRequests', 'auditEntries', 'outboxEvents'] as const;
  const rows = await Promise.all(tables.map((table) => service.db.selectFrom(table).selectAll().execute()));

  expect(JSON.stringify(rows)).not.toContain(code);
  expect(JSON.stringify(rows)).not.toContain(ticket);
});
