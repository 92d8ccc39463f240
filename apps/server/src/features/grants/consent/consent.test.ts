import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize, entriesOf, profileOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { hintClaims, linkParts, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const UNKNOWN = 'areq_00000000000000000000000000';
const CALLBACK = 'https://app.example/cb?tenant=7';

/** A request that waits for its person, and the person's browser. No proof is given unless a test says so. */
async function asked({
  mode = 'live',
  on = service,
  request = {},
}: {
  mode?: 'live' | 'sandbox';
  on?: Service;
  request?: object;
} = {}) {
  const developer = await on.asDeveloper({ mode });
  await developer('PATCH', '/v1/me', {
    redirectUris: [CALLBACK, 'com.example.app://accounts.bank.example/cb'],
  });
  const { agentId, did } = await registerAgent(developer);
  const ask = (more: object = {}) =>
    authorize(developer, agentId, { ...(mode === 'sandbox' && { autoApprove: false }), ...request, ...more });
  const { id, consentUrl, principalId } = await ask();
  return {
    developer,
    agentId,
    did,
    ask,
    id: String(id),
    consentUrl: String(consentUrl),
    principalId: String(principalId),
    person: personOn(on),
    statusNow: async () => (await developer('GET', `/v1/authorize/${id}`)).json().status,
    exchange: async (code: string) => (await developer('POST', '/v1/token', { code, agentId })).json(),
  };
}

describe('opening the page’s session', () => {
  test('takes the ticket of the link, and shows everything the person decides about', async () => {
    const request = {
      scopes: ['calendar:read', 'tool:mail:write:inbox', 'x-own-word'],
      expiresIn: '30d',
      redirectUri: CALLBACK,
      audience: 'https://api.example',
      purpose: 'aml.screening',
      authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'mail', tools: ['send'] }],
      consentExpiresIn: '10m',
    };
    const { developer, agentId, person, consentUrl, id } = await asked({ request });
    await developer('PATCH', '/v1/me', {
      name: 'Acme & Söhne',
      scopeDescriptions: { 'x-own-word': 'Do as Acme says' },
    });
    const words = { name: '<b>Booker</b>', description: 'Books\ntrips' };
    const agent = (await developer('PATCH', `/v1/agents/${agentId}`, words)).json();

    const answer = await person.open(consentUrl);

    const { csrfToken, request: shown, ...rest } = answer.json();
    const verification = { mode: 'link', satisfied: true, methods: [] };
    expect(answer.statusCode).toBe(200);
    expect(csrfToken).toMatch(/^[\w-]{43}$/);
    expect(rest).toEqual({ id, verification });
    expect(shown).toEqual({
      id,
      status: 'pending',
      developerName: 'Acme & Söhne',
      agentId,
      ...profileOf(agent),
      principalId: 'user_42',
      scopes: request.scopes,
      scopeDescriptions: ['Read your calendar', expect.stringContaining('mail'), 'Do as Acme says'],
      scopeExplanations: [null, null, null],
      scopeWordsSha256: null,
      purpose: 'aml.screening',
      purposeLabel: expect.any(String),
      authorizationDetails: [
        { type: 'urn:service:tools:v1', connector: 'mail', purpose: 'aml.screening', tools: ['send'] },
      ],
      manifests: [{ connector: 'mail', version: null, sha256: null, pinned: false }],
      argumentLimits: [],
      tools: [],
      grantExpiresIn: '30d',
      audience: 'https://api.example',
      redirectHost: 'app.example',
      expiresAt: new Date(service.clock().getTime() + 600_000).toISOString(),
      sandbox: false,
      fidoRequired: false,
      previous: null,
      diff: null,
      replacesGrantId: null,
      csrfToken,
      verification,
    });
    expect((await person.see(id)).json()).toEqual(shown);
  });

  test('names an app by its scheme, whatever is in place of the host', async () => {
    const { person, consentUrl } = await asked({
      request: { redirectUri: 'com.example.app://accounts.bank.example/cb' },
    });

    expect((await person.open(consentUrl)).json().request.redirectHost).toBe('com.example.app');
  });

  test('O22: gives the browser a cookie for this request alone, which no script can read and the browser forgets', async () => {
    const { person, consentUrl, id } = await asked();

    const answer = await person.open(consentUrl);

    const header = String(answer.headers['set-cookie']);
    expect(answer.cookies).toEqual([
      {
        name: `__Host-bh_consent_${id}`,
        value: expect.stringMatching(/^[\w-]{43}$/),
        path: '/',
        httpOnly: true,
        secure: true,
        sameSite: 'Lax',
      },
    ]);
    expect(header).not.toMatch(/domain|expires|max-age/i);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test('gives a cookie that works without TLS on a developer’s machine', async () => {
    const local = await startApp({ env: { PUBLIC_BASE_URL: 'http://localhost:3001' } });
    const { person, consentUrl, id, statusNow } = await asked({ on: local });

    const { cookies } = await person.open(consentUrl);
    const approved = await person.approve(id);

    expect(cookies[0]).toMatchObject({
      name: `bh_consent_${id}`,
      path: '/',
      httpOnly: true,
      sameSite: 'Lax',
    });
    expect(cookies[0]?.secure).toBeUndefined();
    expect([approved.statusCode, await statusNow()]).toEqual([200, 'approved']);
  });

  test('O18 is refused in the same words without the ticket and for an unknown request', async () => {
    const { person, consentUrl, id, ask } = await asked();
    const { ticket } = linkParts(consentUrl);
    const other = linkParts((await ask()).consentUrl);
    const open = (requestId: string, body: object) =>
      person.call('POST', `/v1/consent/${requestId}/session`, { body });

    const wrong = await Promise.all([
      open(id, { ticket: other.ticket }),
      open(id, { ticket: `${ticket}x` }),
      open(id, { ticket: ticket.slice(1) }),
      open(id, { ticket: id }),
      open(UNKNOWN, { ticket }),
      open('}:x', { ticket }),
    ]);

    const [first] = wrong;
    for (const answer of wrong) {
      expect(refusalOf(answer)).toBe('404 NOT_FOUND');
      expect(answer.json()).toEqual({ ...first?.json(), requestId: answer.json().requestId });
      expect(answer.cookies).toEqual([]);
    }
    expect((await open(id, { ticket })).statusCode).toBe(200);
  });

  test.each([
    [{}],
    [{ ticket: '' }],
    [{ ticket: 7 }],
    [{ ticket: 'x'.repeat(513) }],
    [{ ticket: 'x', code: 'y' }],
    [{ ticket: 'x', hint: '' }],
  ])('is refused with the body %j', async (body) => {
    const { person, id } = await asked();

    expect(refusalOf(await person.call('POST', `/v1/consent/${id}/session`, { body }))).toBe(
      '400 BAD_REQUEST',
    );
  });

  test('O18 lets the last browser win', async () => {
    const { person: first, consentUrl, id, statusNow } = await asked();
    const second = personOn(service);
    await first.open(consentUrl);
    await second.open(consentUrl);

    expect(refusalOf(await first.see(id))).toBe('401 UNAUTHORIZED');
    expect(refusalOf(await first.approve(id))).toBe('401 UNAUTHORIZED');
    expect(await statusNow()).toBe('pending');
    expect((await second.approve(id)).statusCode).toBe(200);
  });

  test('O18 keeps two requests in two tabs apart', async () => {
    const { person, consentUrl, id, ask } = await asked();
    const other = await ask();
    await person.open(consentUrl);
    await person.open(other.consentUrl);

    const answers = [await person.approve(id), await person.deny(other.id)];

    expect(answers.map((answer) => answer.json().status)).toEqual(['approved', 'denied']);
    expect(person.cookies.size).toBe(2);
  });

  test('is over once the request is decided or expired, and says which', async () => {
    const on = await startApp({ store: 'memory' });
    const [decided, late] = [await asked({ on, mode: 'sandbox' }), await asked({ on })];
    on.advance(60);
    await decided.developer('POST', `/v1/authorize/${decided.id}/deny`);
    on.advance(3540);

    const answers = [await decided.person.open(decided.consentUrl), await late.person.open(late.consentUrl)];

    expect(answers.map(refusalOf)).toEqual(['410 GONE', '410 GONE']);
    expect(answers.map((answer) => answer.json().details)).toEqual([
      { status: 'denied' },
      { status: 'expired' },
    ]);
  });
});

describe('deciding', () => {
  test('O6 O7 approves, and sends the code back to the app that the person came from', async () => {
    const state = 'a b&code=evil\r\n<ø>';
    const { person, consentUrl, id, exchange } = await asked({ request: { redirectUri: CALLBACK, state } });
    await person.open(consentUrl);

    const answer = await person.approve(id);

    const { code, redirectTo, ...rest } = answer.json();
    expect(answer.statusCode).toBe(200);
    expect(rest).toEqual({ status: 'approved', redirectUri: CALLBACK, state });
    expect(redirectTo.startsWith(`${CALLBACK}&`)).toBe(true);
    expect(redirectTo).toMatch(/^[!-~]+$/);
    expect([...new URL(redirectTo).searchParams]).toEqual([
      ['tenant', '7'],
      ['code', code],
      ['state', state], // O7: once, and no part of it is a parameter
      ['iss', 'https://auth.test'], // O6
    ]);
    expect(await exchange(code)).toMatchObject({
      principalId: 'user_42',
      scopes: ['calendar:read', 'email:send'],
    });
  });

  test('approves without a redirect too', async () => {
    const { person, consentUrl, id } = await asked();
    await person.open(consentUrl);

    expect((await person.approve(id)).json()).toEqual({
      status: 'approved',
      code: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  test('denies with or without a reason, which the chain keeps and the answer does not show', async () => {
    const { person, consentUrl, id, developer, ask, agentId, did } = await asked({
      request: { redirectUri: CALLBACK, state: 's' },
    });
    const silent = await ask({ redirectUri: undefined, state: undefined });
    await person.open(consentUrl);
    await person.open(silent.consentUrl);

    const answer = await person.deny(id, { reason: 'Not today.\nNor tomorrow.' });

    const { redirectTo, ...rest } = answer.json();
    expect(answer.statusCode).toBe(200);
    expect(rest).toEqual({ status: 'denied', redirectUri: CALLBACK, state: 's' });
    expect(Object.fromEntries(new URL(redirectTo).searchParams)).toEqual({
      tenant: '7',
      error: 'access_denied',
      state: 's',
      iss: 'https://auth.test',
    });
    expect((await person.deny(silent.id)).json()).toEqual({ status: 'denied' });
    const told = await entriesOf(developer, 'authorization.denied');
    const browser = { actor: 'principal', ip: '127.0.0.1', userAgent: 'Mozilla/5.0 (Person)' };
    expect(told[0]).toMatchObject({ agentId, agentDid: did, principalId: 'user_42', status: 'success' });
    expect(told.map(({ metadata }) => metadata)).toEqual([
      { authRequestId: id, reason: 'Not today.\nNor tomorrow.', ...browser },
      { authRequestId: silent.id, ...browser },
    ]);
  });

  test.each([
    [{ reason: 'x'.repeat(201) }],
    [{ reason: 'a\u202Eb' }],
    [{ reason: 'a\u0007b' }],
    [{ reason: 7 }],
    [{ why: 'x' }],
  ])('does not deny with %j', async (body) => {
    const { person, consentUrl, id, statusNow } = await asked();
    await person.open(consentUrl);

    expect(refusalOf(await person.deny(id, body))).toBe('400 BAD_REQUEST');
    expect(await statusNow()).toBe('pending');
  });

  test('records approval, person and browser in the chain, and leaves the browser out of the event', async () => {
    const { person, consentUrl, id, developer, agentId, did } = await asked();
    await person.open(consentUrl);
    await person.approve(id);

    const [entry] = await entriesOf(developer, 'authorization.approved');
    expect(entry).toMatchObject({ agentId, agentDid: did, principalId: 'user_42', status: 'success' });
    expect(entry?.metadata).toEqual({
      authRequestId: id,
      scopes: ['calendar:read', 'email:send'],
      method: 'link',
      narrowed: false,
      unverified: true,
      consentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      actor: 'principal',
      ip: '127.0.0.1',
      userAgent: 'Mozilla/5.0 (Person)',
    });
    const { envelope } = await service.db
      .selectFrom('outboxEvents')
      .select('envelope')
      .where('developerId', '=', developer.developerId)
      .where('type', '=', 'authorization.approved')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(envelope).data).toEqual({
      authRequestId: id,
      agentId,
      principalId: 'user_42',
      scopes: ['calendar:read', 'email:send'],
      method: 'link',
      narrowed: false,
      unverified: true,
      consentHash: entry?.metadata.consentHash,
    });
  });

  test('O12 happens once, and a second try learns the decision', async () => {
    const { person, consentUrl, id, developer } = await asked();
    await person.open(consentUrl);

    const answers = await Promise.all([
      person.approve(id),
      person.deny(id),
      person.approve(id),
      person.deny(id),
    ]);
    const later = [await person.approve(id), await person.deny(id), await person.see(id)];

    const won = answers.filter(({ statusCode }) => statusCode === 200);
    expect(won).toHaveLength(1);
    const { status } = won[0]?.json() ?? {};
    for (const answer of [...answers.filter((each) => !won.includes(each)), ...later]) {
      expect(refusalOf(answer)).toBe('410 GONE');
      expect(answer.json().details).toEqual({ status });
    }
    const told = [
      ...(await entriesOf(developer, 'authorization.approved')),
      ...(await entriesOf(developer, 'authorization.denied')),
    ];
    expect(told).toHaveLength(1);
  });

  test('O12 is refused when the request has expired or its agent is gone', async () => {
    const on = await startApp({ store: 'memory' });
    const [late, gone] = [await asked({ on, request: { consentExpiresIn: '60s' } }), await asked({ on })];
    await late.person.open(late.consentUrl);
    await gone.person.open(gone.consentUrl);
    on.advance(59);
    expect((await late.person.see(late.id)).statusCode).toBe(200);

    on.advance(1);
    await gone.developer('DELETE', `/v1/agents/${gone.agentId}`);

    for (const [{ person, id, statusNow }, status] of [
      [late, 'expired'],
      [gone, 'cancelled'],
    ] as const) {
      for (const answer of [await person.see(id), await person.approve(id), await person.deny(id)]) {
        expect([refusalOf(answer), answer.json().details]).toEqual(['410 GONE', { status }]);
      }
      expect(await statusNow()).toBe(status);
    }
  });

  test('is not possible once the store has lost the request, which has to be made again', async () => {
    const { person, consentUrl, id, ask, statusNow } = await asked();
    await person.open(consentUrl);
    for (const key of [`bh:{${id}}:ticket`, `bh:{${id}}:session`]) await service.store.remove(key);

    const answers = [
      await person.see(id),
      await person.approve(id),
      await person.deny(id),
      await person.open(consentUrl),
    ];
    const again = await ask();
    await person.open(again.consentUrl);

    expect(answers.map(refusalOf)).toEqual([...Array(3).fill('401 UNAUTHORIZED'), '404 NOT_FOUND']);
    expect(await statusNow()).toBe('pending');
    expect((await person.approve(again.id)).statusCode).toBe(200);
  });

  test('is not possible while the store is away, and is when it is back', async () => {
    const away: { error?: Error } = {};
    const on = await startApp({
      storeAs: (store) => ({
        ...store,
        get: (key) => (away.error ? Promise.reject(away.error) : store.get(key)),
        put: (entries) => (away.error ? Promise.reject(away.error) : store.put(entries)),
      }),
    });
    const { unavailable } = await import('../../../platform/errors.ts');
    const { person, consentUrl, id, statusNow } = await asked({ on });
    await person.open(consentUrl);

    away.error = unavailable('redis');
    const answers = [
      await person.open(consentUrl),
      await person.see(id),
      await person.approve(id),
      await person.deny(id),
    ];
    delete away.error;

    for (const answer of answers) {
      expect([refusalOf(answer), answer.json().details]).toEqual([
        '503 SERVICE_UNAVAILABLE',
        { dependency: 'redis' },
      ]);
    }
    expect(await statusNow()).toBe('pending');
    expect((await person.approve(id)).statusCode).toBe(200);
  });
});

describe('O19 approving less', () => {
  const request = {
    scopes: ['tool:mail:write', 'calendar:*', 'email:send'],
    expiresIn: '7d',
    authorizationDetails: [
      {
        type: 'urn:service:tools:v1',
        connector: 'mail',
        tools: ['send', 'draft_*'],
        caps: { send: { per_day: 5 } },
      },
    ],
  };

  test('narrows scopes, time and tools, and the grant holds the rest', async () => {
    const { person, consentUrl, id, developer, exchange } = await asked({ request });
    await person.open(consentUrl);

    const { code } = (
      await person.approve(id, {
        scopes: ['tool:mail:read', 'calendar:read', 'tool:mail:read'],
        expiresIn: '1h',
        tools: { mail: ['draft_new'] },
      })
    ).json();
    const grant = await exchange(code);

    const details = [{ ...request.authorizationDetails[0], tools: ['draft_new'] }];
    expect(grant).toMatchObject({
      scopes: ['tool:mail:read', 'calendar:read'],
      authorizationDetails: details,
      grantExpiresAt: new Date(service.clock().getTime() + 3_600_000).toISOString(),
    });
    expect((await developer('GET', `/v1/authorize/${id}`)).json()).toMatchObject({
      scopes: ['tool:mail:read', 'calendar:read'],
      expiresIn: '1h',
      authorizationDetails: details,
    });
    const [entry] = await entriesOf(developer, 'authorization.approved');
    expect(entry?.metadata).toMatchObject({ scopes: ['tool:mail:read', 'calendar:read'], narrowed: true });
  });

  test('keeps the rules of arguments, whatever else becomes less', async () => {
    const limited = {
      ...request.authorizationDetails[0],
      arguments: { send: { '/to': { email: ['acme.com'] } }, draft_new: { '/body': {} } },
    };
    const { person, consentUrl, id, exchange } = await asked({
      request: { ...request, authorizationDetails: [limited] },
    });
    await person.open(consentUrl);

    const less = { scopes: ['tool:mail:read'], expiresIn: '1h', tools: { mail: ['send'] } };
    const { code } = (await person.approve(id, less)).json();

    const { authorizationDetails } = await exchange(code);
    expect(authorizationDetails).toEqual([
      { ...limited, tools: ['send'], arguments: { send: limited.arguments.send } },
    ]);
  });

  test('drops the details of a connector that no scope reaches', async () => {
    const { person, consentUrl, id, exchange } = await asked({ request });
    await person.open(consentUrl);

    const { code } = (await person.approve(id, { scopes: ['email:send'] })).json();

    expect(await exchange(code)).not.toHaveProperty('authorizationDetails');
  });

  test.each([
    ['nothing', {}, false],
    [
      'everything, in another order',
      {
        scopes: ['email:send', 'tool:mail:write', 'calendar:*'],
        expiresIn: '168h',
        tools: { mail: ['send', 'draft_*'] },
      },
      false,
    ],
    ['a shorter time', { expiresIn: '167h' }, true],
    ['a scope less', { scopes: ['tool:mail:write', 'calendar:*'] }, true],
    ['a tool less', { tools: { mail: ['send'] } }, true],
  ])('says that it is less only when it is less: %s', async (_what, body, narrowed) => {
    const { person, consentUrl, id, developer } = await asked({ request });
    await person.open(consentUrl);

    expect((await person.approve(id, body)).statusCode).toBe(200);

    const [entry] = await entriesOf(developer, 'authorization.approved');
    expect(entry?.metadata.narrowed).toBe(narrowed);
  });

  test.each([
    ['a scope that was not asked for', { scopes: ['email:send', 'email:read'] }, 'INVALID_SCOPE'],
    ['a wider scope', { scopes: ['calendar:*', 'email:*'] }, 'INVALID_SCOPE'],
    ['a higher level', { scopes: ['tool:mail:admin'] }, 'INVALID_SCOPE'],
    ['O8 another case', { scopes: ['EMAIL:SEND'] }, 'INVALID_SCOPE'],
    ['O8 two scopes in one', { scopes: ['email:send email:read'] }, 'INVALID_SCOPE'],
    [
      'O8 a text that is no scope, within a wildcard',
      { scopes: ['calendar:read email:read'] },
      'INVALID_SCOPE',
    ],
    ['no scope at all', { scopes: [] }, 'BAD_REQUEST'],
    ['a longer time', { expiresIn: '8d' }, 'BAD_REQUEST'],
    ['too short a time', { expiresIn: '59s' }, 'BAD_REQUEST'],
    ['no time', { expiresIn: '0s' }, 'BAD_REQUEST'],
    ['a tool that was not asked for', { tools: { mail: ['delete'] } }, 'BAD_REQUEST'],
    ['a wider prefix', { tools: { mail: ['dr*'] } }, 'BAD_REQUEST'],
    ['tools of another connector', { tools: { crm: ['send'] } }, 'BAD_REQUEST'],
    ['no tools', { tools: { mail: [] } }, 'BAD_REQUEST'],
    ['another principal', { principalId: 'user_43' }, 'BAD_REQUEST'],
    ['another redirect', { redirectUri: 'https://evil.example' }, 'BAD_REQUEST'],
    ['more caps', { authorizationDetails: [] }, 'BAD_REQUEST'],
    ['another audience', { audience: 'x' }, 'BAD_REQUEST'],
  ])('refuses %s, and the request still waits', async (_what, body, code) => {
    const { person, consentUrl, id, statusNow } = await asked({ request });
    await person.open(consentUrl);

    const answer = await person.approve(id, body);

    expect(refusalOf(answer)).toBe(`400 ${code}`);
    expect(await statusNow()).toBe('pending');
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('keeps a tool scope while there is a purpose', async () => {
    const { person, consentUrl, id, statusNow, exchange } = await asked({
      request: { ...request, purpose: 'payments.payout' },
    });
    await person.open(consentUrl);

    const without = await person.approve(id, { scopes: ['email:send'] });
    const pending = await statusNow();
    const { code } = (await person.approve(id, { scopes: ['tool:mail:read'] })).json();

    expect(refusalOf(without)).toBe('400 BAD_REQUEST');
    expect(without.json().details.fields).toEqual([{ path: 'scopes', problem: 'not_allowed' }]);
    expect(pending).toBe('pending');
    expect(await exchange(code)).toMatchObject({ purpose: 'payments.payout', scopes: ['tool:mail:read'] });
  });
});

describe('O20 the person who decides', () => {
  test('is marked as unverified without a proof: on the page, in the grant and in the chain', async () => {
    const { person, consentUrl, id, developer, exchange } = await asked();

    const { verification } = (await person.open(consentUrl)).json();
    const { code } = (await person.approve(id)).json();
    const { grantId } = await exchange(code);

    expect(verification).toEqual({ mode: 'link', satisfied: true, methods: [] });
    expect((await developer('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({
      consentMethod: 'link',
      unverified: true,
    });
    const [approved] = await entriesOf(developer, 'authorization.approved');
    const [granted] = await entriesOf(developer, 'grant.created');
    expect(approved?.metadata).toMatchObject({ method: 'link', unverified: true });
    expect(granted?.metadata).toMatchObject({ consentMethod: 'link', unverified: true });
  });

  test('is the ticket’s holder in the sandbox, which needs no hint', async () => {
    const { person, consentUrl, id, developer, exchange } = await asked({ mode: 'sandbox' });

    const opened = (await person.open(consentUrl)).json();
    const { code } = (await person.approve(id)).json();
    const { grantId } = await exchange(code);

    expect(opened.verification).toEqual({ mode: 'sandbox', satisfied: true, methods: [] });
    expect(opened.request.sandbox).toBe(true);
    const grant = (await developer('GET', `/v1/grants/${grantId}`)).json();
    expect(grant).toMatchObject({ consentMethod: 'sandbox' });
    expect(grant).not.toHaveProperty('unverified');
  });

  test('has to give a proof from the moment that the developer sets it up, even on an open page', async () => {
    const { person, consentUrl, id, developer, principalId, statusNow } = await asked();
    await person.open(consentUrl);
    const voucher = await newVoucher();
    await developer('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });

    const refused = await person.approve(id);
    const shown = (await person.see(id)).json().verification;
    const hint = await voucher.hint(hintClaims(service, developer.developerId, { id, principalId }));

    expect(refusalOf(refused)).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    expect(refused.json().details).toEqual({ methods: ['hint'] });
    expect(shown).toEqual({ mode: 'developer', satisfied: false, methods: ['hint'] });
    expect(await statusNow()).toBe('pending');
    expect((await person.open(consentUrl, hint)).json().verification.satisfied).toBe(true);
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('has to give a proof once the operator requires it', async () => {
    const { person, consentUrl, id } = await asked();
    const strict = await startApp({ env: { PRINCIPAL_PROOF: 'required' } });
    const stranger = personOn(strict);

    const opened = (await stranger.open(consentUrl)).json();

    expect(opened.verification).toEqual({ mode: 'developer', satisfied: false, methods: ['hint'] });
    expect(refusalOf(await stranger.approve(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    await person.open(consentUrl);
    expect((await person.approve(id)).statusCode).toBe(200);
  });

  test('may deny without a proof', async () => {
    const { person, consentUrl, id, developer } = await asked();
    await developer('PATCH', '/v1/me', { consentKeys: [(await newVoucher()).jwk] });
    await person.open(consentUrl);

    expect((await person.deny(id)).json()).toEqual({ status: 'denied' });
  });

  test('decides in the browser that gave the proof, not in the session that it replaced', async () => {
    const later: (() => Promise<unknown>)[] = [];
    const on = await startApp({
      storeAs: (store) => ({
        ...store,
        async get(key) {
          // The first read checks the cookie, and the second the proof.
          const act = key.endsWith(':session') ? later.shift() : undefined;
          await act?.();
          return store.get(key);
        },
      }),
    });
    const { person: thief, consentUrl, id, principalId, developer, statusNow } = await asked({ on });
    const voucher = await newVoucher();
    await developer('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
    const hint = await voucher.hint(hintClaims(on, developer.developerId, { id, principalId }));
    const person = personOn(on);
    await thief.open(consentUrl);

    later.push(
      async () => {},
      () => person.open(consentUrl, hint),
    );
    const stolen = await thief.approve(id);

    expect(refusalOf(stolen)).toBe('401 UNAUTHORIZED');
    expect(await statusNow()).toBe('pending');
    expect((await person.approve(id)).statusCode).toBe(200);
  });
});
