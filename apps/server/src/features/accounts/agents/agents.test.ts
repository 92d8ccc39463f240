import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  pagesOf,
  refusalOf,
  registerAgent,
} from '../../../../test/app/flow.ts';
import { type Call, type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { LARGEST_AGENT } from './agents.repo.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const asSandbox = () => service.asDeveloper({ mode: 'sandbox' });
const read = async (developer: Developer, agentId: string) =>
  (await developer('GET', `/v1/agents/${agentId}`)).json();
const listed = async (developer: Call, query = '') =>
  (await developer('GET', `/v1/agents${query}`)).json().agents.map(({ id }: { id: string }) => id);
const didDocument = (agentId: string) => service.app.inject(`/agents/${agentId}/did.json`);

const UNKNOWN = 'ag_00000000000000000000000000';
const pairs = {
  EC: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  Ed25519: generateKeyPairSync('ed25519'),
};
const jwkOf = (key: KeyObject): JsonWebKey => key.export({ format: 'jwk' });

describe('registering an agent', () => {
  test('makes an active agent with a lasting DID', async () => {
    const acme = await service.asDeveloper();

    const answer = await acme('POST', '/v1/agents', {
      name: '  Travel booker ',
      description: 'Books trips.\nAsks before it pays.',
      scopes: ['calendar:read', 'tool:mail:write', 'calendar:read'],
      publicKeyJwk: jwkOf(pairs.EC.publicKey),
    });

    const { agentId } = answer.json();
    expect(answer.statusCode).toBe(201);
    expect(agentId).toMatch(/^ag_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(answer.json()).toEqual({
      agentId,
      id: agentId,
      did: `did:web:auth.test:agents:${agentId}`,
      developerId: acme.developerId,
      name: 'Travel booker',
      description: 'Books trips.\nAsks before it pays.',
      scopes: ['calendar:read', 'tool:mail:write'],
      status: 'active',
      publicKeyJwk: jwkOf(pairs.EC.publicKey),
      origin: 'api',
      clientId: null,
      createdAt: service.clock().toISOString(),
      updatedAt: service.clock().toISOString(),
    });
    expect(await read(acme, agentId)).toEqual(answer.json());
    const [entry] = await entriesOf(acme, 'agent.created');
    expect(entry).toMatchObject({ agentId, agentDid: answer.json().did });
    expect(entry?.metadata).toEqual({
      name: 'Travel booker',
      actor: expect.stringMatching(/^developer:key_/),
    });
  });

  test('needs only a name, which need not be unique', async () => {
    const acme = await service.asDeveloper();

    const answers = [
      await acme('POST', '/v1/agents', { name: 'A' }),
      await acme('POST', '/v1/agents', { name: 'A' }),
    ];

    expect(answers[0]?.json()).toMatchObject({ description: '', scopes: [], publicKeyJwk: null });
    expect(answers[1]?.statusCode).toBe(201);
  });

  test.each([
    ['an EC key', jwkOf(pairs.EC.publicKey)],
    ['an RSA key', jwkOf(pairs.RSA.publicKey)],
    ['an Ed25519 key', { ...jwkOf(pairs.Ed25519.publicKey), alg: 'EdDSA', use: 'sig', kid: 'mine' }],
  ])('takes %s', async (_what, publicKeyJwk) => {
    const acme = await service.asDeveloper();

    const answer = await acme('POST', '/v1/agents', { name: 'A', publicKeyJwk });

    expect(answer.statusCode).toBe(201);
    expect(answer.json().publicKeyJwk).toEqual(publicKeyJwk);
  });

  test.each([
    ['a private EC key', jwkOf(pairs.EC.privateKey)],
    ['a private RSA key', jwkOf(pairs.RSA.privateKey)],
    ['a private Ed25519 key', jwkOf(pairs.Ed25519.privateKey)],
    ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0' }],
    ['a P-384 key', jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)],
    ['an X25519 key', jwkOf(generateKeyPairSync('x25519').publicKey)],
    ['a short RSA key', jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)],
    [
      'an RSA key that leading zeros make short',
      { ...jwkOf(pairs.RSA.publicKey), n: `${'A'.repeat(171)}${jwkOf(pairs.RSA.publicKey).n?.slice(171)}` },
    ],
    ['a weak RSA key', { ...jwkOf(pairs.RSA.publicKey), e: 'AQ' }],
    ['a point off the curve', { ...jwkOf(pairs.EC.publicKey), x: 'A'.repeat(43) }],
    ['a key for another use', { ...jwkOf(pairs.EC.publicKey), use: 'enc' }],
    ['a key of another algorithm', { ...jwkOf(pairs.EC.publicKey), alg: 'RS256' }],
    ['a certificate', { ...jwkOf(pairs.RSA.publicKey), x5c: ['MIIB'] }],
    ['a key with a URL', { ...jwkOf(pairs.RSA.publicKey), x5u: 'https://evil.example/' }],
    ['null', null],
    ['a text', 'key'],
  ])('refuses %s', async (_what, publicKeyJwk) => {
    const acme = await service.asDeveloper();

    const answer = await acme('POST', '/v1/agents', { name: 'A', publicKeyJwk });

    expect(answer.statusCode).toBe(400);
    expect(answer.json().details.fields[0].path).toMatch(/^publicKeyJwk/);
    expect(await listed(acme)).toEqual([]);
  });

  test.each([
    ['no name', {}, 'name', 'required'],
    ['a name of blanks', { name: ' ' }, 'name', 'too_short'],
    ['too long a name', { name: 'x'.repeat(201) }, 'name', 'too_long'],
    ['O14 a name with a line feed', { name: 'a\nb' }, 'name', 'format'],
    ['O14 a name that changes the reading direction', { name: 'a\u202Eb' }, 'name', 'format'],
    ['O14 a name with a directional isolate', { name: 'a\u2066b' }, 'name', 'format'],
    [
      'O14 a description with a control character',
      { name: 'a', description: 'a\u001bb' },
      'description',
      'format',
    ],
    ['too long a description', { name: 'a', description: 'x'.repeat(2001) }, 'description', 'too_long'],
    ['a description that is null', { name: 'a', description: null }, 'description', 'type'],
    ['101 scopes', { name: 'a', scopes: Array(101).fill('x') }, 'scopes', 'too_long'],
    ['scopes in one text', { name: 'a', scopes: 'x y' }, 'scopes', 'type'],
    ['a scope that is a number', { name: 'a', scopes: [7] }, 'scopes.0', 'type'],
    ['T5 an id', { name: 'a', id: UNKNOWN }, 'id', 'unknown'],
    ['T5 another developer', { name: 'a', developerId: 'dev_1' }, 'developerId', 'unknown'],
    ['T5 a status', { name: 'a', status: 'active' }, 'status', 'unknown'],
    ['T5 a DID', { name: 'a', did: 'did:web:evil.example' }, 'did', 'unknown'],
  ])('is refused with %s', async (_what, body, path, problem) => {
    const acme = await service.asDeveloper();

    const answer = await acme('POST', '/v1/agents', body);

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toContainEqual({ path, problem });
    expect(await listed(acme)).toEqual([]);
  });

  test('O14 keeps markup and characters without width as they are', async () => {
    const acme = await service.asDeveloper();
    const text = {
      name: '<b onclick=x>“A”</b>\u200B&amp;',
      description: '</script><script>alert(1)</script>',
    };

    expect((await acme('POST', '/v1/agents', text)).json()).toMatchObject(text);
  });

  test('names the malformed scopes', async () => {
    const acme = await service.asDeveloper();
    const wrong = ['a b', 'a"', 'a\\b', '', 'é', 'tool:x', 'tool:x:fly', 'x'.repeat(257)];

    const answer = await acme('POST', '/v1/agents', { name: 'A', scopes: ['calendar:read', ...wrong] });

    expect(refusalOf(answer)).toBe('400 INVALID_SCOPE');
    expect(answer.json().details.scopes).toEqual(wrong);
  });

  test('accepts a hundred scopes of any length', async () => {
    const acme = await service.asDeveloper();
    const scopes = Array.from({ length: 100 }, (_, at) => `${at}:${'x'.repeat(250)}`);

    expect((await acme('POST', '/v1/agents', { name: 'A', scopes })).json().scopes).toEqual(scopes);
  });

  test('stops at the quota of the plan, however many requests come at once', async () => {
    const small = await startApp({ env: { PLAN_FREE_AGENTS: '3' } });
    const acme = await small.asDeveloper();

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => acme('POST', '/v1/agents', { name: 'A' })),
    );
    const codes = answers.map(({ statusCode }) => statusCode).sort();
    const [agentId] = await listed(acme);
    await acme('DELETE', `/v1/agents/${agentId}`);
    const after = [
      await acme('POST', '/v1/agents', { name: 'A' }),
      await acme('POST', '/v1/agents', { name: 'A' }),
    ];

    expect(codes).toEqual([201, 201, 201, 402, 402, 402, 402, 402]);
    const refused = answers.find(({ statusCode }) => statusCode === 402);
    expect(refused?.json()).toMatchObject({
      code: 'PLAN_LIMIT_EXCEEDED',
      details: { limit: 3, plan: 'free', resource: 'agents', current: 3 },
    });
    expect(after.map(({ statusCode }) => statusCode)).toEqual([201, 402]);
  });

  test('writes a host with a port in the form of DIDs', async () => {
    const local = await startApp({ env: { DID_WEB_DOMAIN: 'localhost:3001' } });
    const { agentId, did } = await registerAgent(await local.asDeveloper());

    expect(did).toBe(`did:web:localhost%3A3001:agents:${agentId}`);
    const document = (await local.app.inject(`/agents/${agentId}/did.json`)).json();
    expect(document).toMatchObject({ id: did, controller: 'did:web:localhost%3A3001' });
  });
});

describe('listing agents', () => {
  test('shows the newest first, page by page, and no other developer’s', async () => {
    const { asDeveloper, advance } = await startApp();
    const [acme, eve] = [await asDeveloper(), await asDeveloper()];
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      await registerAgent(acme, name);
      await registerAgent(eve, `${name} of Eve`);
      advance(1);
    }

    const pages = await pagesOf(acme, '/v1/agents?limit=2', 'agents');

    const names = pages.map((page) => page.map(({ name }) => name));
    expect(names).toEqual([['five', 'four'], ['three', 'two'], ['one']]);
  });

  test('counts on no agent being larger than the largest, when it does not measure a short page', async () => {
    const acme = await service.asDeveloper();
    const answer = await acme('POST', '/v1/agents', {
      name: '€'.repeat(200),
      description: '€'.repeat(2000),
      scopes: Array.from({ length: 100 }, (_, at) => `x:${'y'.repeat(251)}${100 + at}`),
      publicKeyJwk: { ...jwkOf(pairs.EC.publicKey), kid: '"'.repeat(256) },
    });
    expect(answer.statusCode).toBe(201);

    const { agents } = (await acme('GET', '/v1/agents?limit=1')).json();

    const longestKey = 2731; // characters of an RSA modulus of 16,384 bits
    expect(Buffer.byteLength(JSON.stringify(agents)) + longestKey).toBeLessThan(LARGEST_AGENT);
  });

  test('T4 shows only own agents after another developer’s cursor', async () => {
    const { asDeveloper, advance } = await startApp();
    const [acme, eve] = [await asDeveloper(), await asDeveloper()];
    const own = await registerAgent(acme);
    advance(1);
    const foreign = await registerAgent(eve);

    expect(await listed(acme, `?cursor=${foreign.agentId}`)).toEqual([own.agentId]);
    expect(await listed(eve, `?cursor=${own.agentId}`)).toEqual([]);
  });

  test.each(['', '?status=suspended'])('lists no proposed agent, on any page: %s', async (query) => {
    const acme = await service.asDeveloper();
    const own = [await registerAgent(acme), await registerAgent(acme)];
    const [first, last] = own.map(({ agentId }) => agentId).sort(); // of one moment, so in any order
    await service.db
      .updateTable('agents')
      .set({ isProposed: true, status: 'suspended', clientId: 'dcr_1' })
      .where('id', '=', String(first))
      .execute();
    await acme('PATCH', `/v1/agents/${last}`, { status: 'suspended' });

    expect(await listed(acme, query)).toEqual([last]);
    expect(await listed(acme, `${query}${query ? '&' : '?'}cursor=${last}`)).toEqual([]);
  });

  test('hides revoked agents unless the query asks for them', async () => {
    const acme = await service.asDeveloper();
    const [active, suspended, revoked] = [
      await registerAgent(acme),
      await registerAgent(acme),
      await registerAgent(acme),
    ];
    await acme('PATCH', `/v1/agents/${suspended.agentId}`, { status: 'suspended' });
    await acme('DELETE', `/v1/agents/${revoked.agentId}`);

    expect((await listed(acme)).sort()).toEqual([active.agentId, suspended.agentId].sort());
    expect(await listed(acme, '?status=active')).toEqual([active.agentId]);
    expect(await listed(acme, '?status=suspended')).toEqual([suspended.agentId]);
    expect(await listed(acme, '?status=revoked')).toEqual([revoked.agentId]);
  });

  test('finds agents by the beginning of their names, in any case and in the order of names', async () => {
    const [acme, eve] = [await service.asDeveloper(), await service.asDeveloper()];
    const names = [
      'travel',
      'Travel booker',
      'TRAVEL desk',
      'Tram',
      'Untravelled',
      '100%_sure',
      '100 per cent',
    ];
    for (const name of names) await registerAgent(acme, name);
    await registerAgent(eve, 'Travel of Eve');
    const suspended = await registerAgent(acme, 'Travel stopped');
    await acme('PATCH', `/v1/agents/${suspended.agentId}`, { status: 'suspended' });
    const revoked = await registerAgent(acme, 'Travel ended');
    await acme('DELETE', `/v1/agents/${revoked.agentId}`);
    const found = async (query: string) =>
      (await pagesOf(acme, `/v1/agents?${query}`, 'agents')).map((page) => page.map(({ name }) => name));

    expect(await found('name=tRavel')).toEqual([
      ['travel', 'Travel booker', 'TRAVEL desk', 'Travel stopped'],
    ]);
    expect(await found('name=trav&limit=3')).toEqual([
      ['travel', 'Travel booker', 'TRAVEL desk'],
      ['Travel stopped'],
    ]);
    expect(await found('name=travel&status=suspended')).toEqual([['Travel stopped']]);
    expect(await found('name=travel&status=revoked')).toEqual([['Travel ended']]);
    expect(await found('name=100%25_')).toEqual([['100%_sure']]);
    expect(await found('name=avel')).toEqual([[]]);
  });

  test('finds by name only the agents of a bound key', async () => {
    const acme = await service.asDeveloper();
    const own = await registerAgent(acme, 'Travel one');
    await registerAgent(acme, 'Travel two');
    const bound = await acme.asRuntime(own.agentId);

    expect(await listed(bound, '?name=travel')).toEqual([own.agentId]);
    expect(await listed(bound, `?name=travel&cursor=${own.agentId}`)).toEqual([]);
    expect(await listed(bound, '?name=other')).toEqual([]);
  });

  test.each([
    'name=',
    `name=${'x'.repeat(201)}`,
    'status=gone',
    'limit=0',
    'limit=501',
    'limit=ten',
    'cursor=x',
    'cursor=key_00000000000000000000000000',
  ])('is refused with %s', async (query) => {
    const acme = await service.asDeveloper();

    expect((await acme('GET', `/v1/agents?${query}`)).statusCode).toBe(400);
  });
});

describe('changing an agent', () => {
  test('replaces the named members and leaves the rest, its DID above all', async () => {
    const { asDeveloper, advance } = await startApp();
    const acme = await asDeveloper();
    const { agentId } = await registerAgent(acme);
    const before = await read(acme, agentId);
    const change = {
      name: ' Trip booker ',
      description: 'x',
      scopes: ['a', 'b', 'a'],
      publicKeyJwk: jwkOf(pairs.Ed25519.publicKey),
    };

    advance(60);
    const answer = await acme('PATCH', `/v1/agents/${agentId}`, change);

    const after = {
      ...before,
      ...change,
      name: 'Trip booker',
      scopes: ['a', 'b'],
      updatedAt: '2026-01-01T00:01:00.000Z',
    };
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual(after);
    const cleared = await acme('PATCH', `/v1/agents/${agentId}`, {
      description: '',
      scopes: [],
      publicKeyJwk: null,
    });
    expect(cleared.json()).toEqual({ ...after, description: '', scopes: [], publicKeyJwk: null });
    const told = await entriesOf(acme, 'agent.updated');
    expect(told.map(({ metadata }) => metadata)).toMatchObject([
      { name: 'Trip booker', changed: ['name', 'description', 'scopes', 'publicKeyJwk'] },
      { name: 'Trip booker', changed: ['description', 'scopes', 'publicKeyJwk'] },
    ]);
  });

  test.each([
    ['nothing', {}, '', 'too_short'],
    ['no name', { name: '' }, 'name', 'too_short'],
    ['no description', { description: null }, 'description', 'type'],
    ['the status `revoked`', { status: 'revoked' }, 'status', 'not_allowed'],
    ['T5 a DID', { did: 'did:web:evil.example' }, 'did', 'unknown'],
    ['T5 another developer', { name: 'x', developerId: 'dev_1' }, 'developerId', 'unknown'],
  ])('is refused with %s', async (_what, change, path, problem) => {
    const acme = await service.asDeveloper();
    const { agentId } = await registerAgent(acme);
    const before = await read(acme, agentId);

    const answer = await acme('PATCH', `/v1/agents/${agentId}`, change);

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toEqual([{ path, problem }]);
    expect(await read(acme, agentId)).toEqual(before);
  });

  test('leaves existing grants unchanged when the agent declares less', async () => {
    const acme = await asSandbox();
    const { agentId, grantToken } = await grantTo(acme, { scopes: ['calendar:read'] });

    await acme('PATCH', `/v1/agents/${agentId}`, { scopes: ['email:send'] });

    const { valid, scopes } = (await acme('POST', '/v1/tokens/verify', { token: grantToken })).json();
    expect([valid, scopes]).toEqual([true, ['calendar:read']]);
  });
});

describe('suspending an agent', () => {
  test('stops everything it may do, and resuming starts it again', async () => {
    const acme = await asSandbox();
    const { agentId, grantToken, refreshToken } = await grantTo(acme);
    const { code } = await authorize(acme, agentId);
    const ask = () => acme('POST', '/v1/authorize', { agentId, principalId: 'p', scopes: ['x'] });
    const verify = async () => (await acme('POST', '/v1/tokens/verify', { token: grantToken })).json();

    const suspended = await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    const refused = [
      refusalOf(await ask()),
      refusalOf(await acme('POST', '/v1/token', { code, agentId })),
      refusalOf(await acme('POST', '/v1/token/refresh', { refreshToken, agentId })),
    ];
    const whileSuspended = await verify();
    const resumed = await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });

    expect([suspended.json().status, resumed.json().status]).toEqual(['suspended', 'active']);
    expect(refused).toEqual([
      '409 AGENT_INACTIVE',
      '400 INVALID_GRANT agent_inactive',
      '400 INVALID_GRANT agent_inactive',
    ]);
    expect(whileSuspended).toEqual({ valid: false, reason: 'agent_inactive' });
    expect(await verify()).toMatchObject({ valid: true });
    expect((await ask()).statusCode).toBe(201);
    expect((await acme('POST', '/v1/token', { code, agentId })).statusCode).toBe(201);
    expect((await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).statusCode).toBe(201);
  });

  test('is recorded as an act of its own, once, beside other changes', async () => {
    const acme = await service.asDeveloper();
    const { agentId, did } = await registerAgent(acme);
    const patch = (change: object) => acme('PATCH', `/v1/agents/${agentId}`, change);

    await patch({ status: 'suspended' });
    await patch({ status: 'suspended' });
    await patch({ status: 'active', name: 'Again' });

    const actions = (await actionsOf(acme)).slice(2);
    expect(actions).toEqual(['agent.suspended', 'agent.updated', 'agent.resumed']);
    const [entry] = await entriesOf(acme, 'agent.suspended');
    expect(entry).toMatchObject({ agentId, agentDid: did, metadata: { name: 'Travel booker' } });
    const [updated] = await entriesOf(acme, 'agent.updated');
    expect(updated?.metadata).toMatchObject({ name: 'Again', changed: ['name'] });
  });
});

describe('revoking an agent', () => {
  test('is final, and ends its grants and its open requests', async () => {
    const acme = await asSandbox();
    const { agentId, did, grantToken, grantId } = await grantTo(acme);
    const approved = await authorize(acme, agentId);
    const pending = await authorize(acme, agentId, { autoApprove: false });
    const bystander = await grantTo(acme);

    const answer = await acme('DELETE', `/v1/agents/${agentId}`);

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect(await read(acme, agentId)).toMatchObject({ status: 'revoked', did });
    expect((await acme('POST', '/v1/tokens/verify', { token: grantToken })).json().valid).toBe(false);
    expect((await acme('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({ status: 'revoked' });
    for (const { id } of [approved, pending]) {
      expect((await acme('GET', `/v1/authorize/${id}`)).json()).toMatchObject({ status: 'cancelled' });
    }
    expect(refusalOf(await acme('POST', '/v1/token', { code: approved.code, agentId }))).toMatch(
      /^400 INVALID_GRANT/,
    );
    expect((await acme('POST', '/v1/tokens/verify', { token: bystander.grantToken })).json().valid).toBe(
      true,
    );
    const told = (await actionsOf(acme)).slice(-4);
    expect(told).toEqual([
      'agent.revoked',
      'grant.revoked',
      'authorization.cancelled',
      'authorization.cancelled',
    ]);
    const [entry] = await entriesOf(acme, 'agent.revoked');
    expect(entry).toMatchObject({ agentId, agentDid: did });
    expect(entry?.metadata).toEqual({ name: 'Travel booker', revokedGrants: 1, actor: expect.any(String) });
    const cancelled = await entriesOf(acme, 'authorization.cancelled');
    expect(cancelled.map(({ metadata }) => metadata.authRequestId).sort()).toEqual(
      [approved.id, pending.id].sort(),
    );
  });

  test('leaves expired requests as they are', async () => {
    const { asDeveloper, advance } = await startApp();
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { agentId } = await registerAgent(acme);
    const late = await authorize(acme, agentId, { autoApprove: false, consentExpiresIn: '60s' });
    const unused = await authorize(acme, agentId);
    advance(600);

    await acme('DELETE', `/v1/agents/${agentId}`);

    for (const { id } of [late, unused]) {
      expect((await acme('GET', `/v1/authorize/${id}`)).json().status).toBe('expired');
    }
    expect(await entriesOf(acme, 'authorization.cancelled')).toEqual([]);
  });

  test('happens once, however many calls come at once', async () => {
    const acme = await asSandbox();
    const { agentId } = await grantTo(acme);

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => acme('DELETE', `/v1/agents/${agentId}`)),
    );

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(5).fill(204));
    expect(await entriesOf(acme, 'agent.revoked')).toHaveLength(1);
    expect(await entriesOf(acme, 'grant.revoked')).toHaveLength(1);
  });

  test('cannot be undone or worked around', async () => {
    const acme = await service.asDeveloper();
    const { agentId } = await registerAgent(acme);
    await acme('DELETE', `/v1/agents/${agentId}`);

    const changes = [{ status: 'active' }, { name: 'Back' }, { publicKeyJwk: null }];
    const answers = await Promise.all(
      changes.map((change) => acme('PATCH', `/v1/agents/${agentId}`, change)),
    );

    for (const answer of answers) {
      expect(answer.json()).toMatchObject({ code: 'AGENT_INACTIVE', details: { status: 'revoked' } });
    }
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([409, 409, 409]);
    expect(await read(acme, agentId)).toMatchObject({ status: 'revoked', name: 'Travel booker' });
  });

  test('frees its name', async () => {
    const acme = await service.asDeveloper();
    const { agentId } = await registerAgent(acme, 'One');
    await acme('DELETE', `/v1/agents/${agentId}`);

    expect((await acme('POST', '/v1/agents', { name: 'One' })).statusCode).toBe(201);
  });

  test('wins over a suspension at the same time', async () => {
    const acme = await service.asDeveloper();
    for (let round = 0; round < 5; round += 1) {
      const { agentId } = await registerAgent(acme);

      const [suspended, revoked] = await Promise.all([
        acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' }),
        acme('DELETE', `/v1/agents/${agentId}`),
      ]);

      expect(revoked.statusCode).toBe(204);
      expect([200, 409]).toContain(suspended.statusCode);
      expect((await read(acme, agentId)).status).toBe('revoked');
    }
  });

  test('leaves no request open that came at the same time', async () => {
    const acme = await asSandbox();
    for (let round = 0; round < 5; round += 1) {
      const { agentId } = await registerAgent(acme);
      const ask = () => acme('POST', '/v1/authorize', { agentId, principalId: 'p', scopes: ['x'] });

      const [first, second] = await Promise.all([ask(), ask(), acme('DELETE', `/v1/agents/${agentId}`)]);

      for (const answer of [first, second]) {
        expect(['201', '404 NOT_FOUND']).toContain(answer.statusCode === 201 ? '201' : refusalOf(answer));
        if (answer.statusCode !== 201) continue;
        expect((await acme('GET', `/v1/authorize/${answer.json().id}`)).json().status).toBe('cancelled');
      }
    }
  });
});

describe('T3 another developer’s agent', () => {
  test.each([
    ['GET', undefined],
    ['PATCH', { name: 'Mine' }],
    ['PATCH', { status: 'suspended' }],
    ['DELETE', undefined],
  ] as const)('is not found for %s %j', async (method, body) => {
    const [acme, eve] = [await service.asDeveloper(), await service.asDeveloper()];
    const { agentId } = await registerAgent(acme);
    const before = await read(acme, agentId);

    const foreign = await eve(method, `/v1/agents/${agentId}`, body);
    const unknown = await eve(method, `/v1/agents/${UNKNOWN}`, body);

    const { requestId: _, ...said } = unknown.json();
    expect(refusalOf(foreign)).toBe('404 NOT_FOUND');
    expect(foreign.json()).toEqual({ ...said, requestId: foreign.json().requestId });
    expect(await read(acme, agentId)).toEqual(before);
  });

  test.each(['x', '%20', 'ag_1%00', "'%20or%201=1--", 'x'.repeat(256)])(
    'is not found by the id %s either',
    async (id) => {
      const acme = await service.asDeveloper();

      expect((await acme('GET', `/v1/agents/${id}`)).statusCode).toBe(404);
    },
  );
});

describe('T10 a `runtime` key', () => {
  test('reads agents, but changes none of them', async () => {
    const acme = await service.asDeveloper();
    const { agentId } = await registerAgent(acme);
    const runtime = await acme.asRuntime();

    expect((await runtime('GET', '/v1/agents')).statusCode).toBe(200);
    expect((await runtime('GET', `/v1/agents/${agentId}`)).statusCode).toBe(200);
    const refused = [
      await runtime('POST', '/v1/agents', { name: 'x' }),
      await runtime('PATCH', `/v1/agents/${agentId}`, { scopes: ['*'] }),
      await runtime('DELETE', `/v1/agents/${agentId}`),
    ];
    expect(refused.map(refusalOf)).toEqual(Array(3).fill('403 FORBIDDEN'));
    expect((await read(acme, agentId)).status).toBe('active');
  });
});

describe('the DID document of an agent', () => {
  test('names its key and its service endpoint', async () => {
    const acme = await service.asDeveloper();
    const publicKeyJwk = jwkOf(pairs.Ed25519.publicKey);
    const { agentId, did } = (
      await acme('POST', '/v1/agents', {
        name: 'Secret project',
        description: 'Hush',
        scopes: ['hush:read'],
        publicKeyJwk,
      })
    ).json();

    const answer = await didDocument(agentId);

    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/did+json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(answer.json()).toEqual({
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id: did,
      controller: 'did:web:auth.test',
      verificationMethod: [{ id: `${did}#key-1`, type: 'JsonWebKey2020', controller: did, publicKeyJwk }],
      authentication: [`${did}#key-1`],
      assertionMethod: [`${did}#key-1`],
      service: [
        {
          id: `${did}#authorization`,
          type: 'AgentAuthorizationService',
          serviceEndpoint: 'https://auth.test/v1',
        },
      ],
    });
    for (const hidden of ['Secret project', 'Hush', 'hush:read', acme.developerId]) {
      expect(answer.body).not.toContain(hidden);
    }
  });

  test('has no method for an agent without a key, and stays while it is suspended', async () => {
    const acme = await service.asDeveloper();
    const { agentId } = await registerAgent(acme);
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });

    const document = (await didDocument(agentId)).json();

    expect(document).toMatchObject({ verificationMethod: [], authentication: [], assertionMethod: [] });
  });

  test('is published by a domain of a developer only for the DIDs that name it', async () => {
    const acme = await service.asDeveloper();
    const { agentId, did } = await registerAgent(acme);
    const domain = 'agents.acme.test';
    const at = new Date('2026-01-01T00:00:00Z');
    const row = { developerId: acme.developerId, id: 'dom_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', domain };
    const ask = async (host: string) =>
      (await service.app.inject({ url: `/agents/${agentId}/did.json`, headers: { host } })).statusCode;
    const asked = async () => [await ask(domain), await ask('auth.test'), await ask('inner.name')];

    expect(await asked()).toEqual([200, 200, 200]);
    await service.db
      .insertInto('customDomains')
      .values({ ...row, status: 'verified', token: 't', createdAt: at, verifiedAt: at })
      .execute();
    const { developerId, id: domainId } = row;
    await service.db.insertInto('verifiedDomains').values({ developerId, domain, domainId }).execute();
    expect(await asked()).toEqual([404, 200, 200]);
    const moved = did.replace('auth.test', domain);
    await service.db.updateTable('agents').set({ did: moved }).where('id', '=', agentId).execute();
    expect(await asked()).toEqual([200, 200, 200]);
  });

  test('is gone with a revoked agent, and unknown for an unknown agent', async () => {
    const acme = await service.asDeveloper();
    const { agentId } = await registerAgent(acme);
    await acme('DELETE', `/v1/agents/${agentId}`);

    const [gone, unknown] = [await didDocument(agentId), await didDocument(UNKNOWN)];

    expect(gone.statusCode).toBe(410);
    expect(gone.json()).toMatchObject({ code: 'GONE', details: { status: 'revoked' } });
    expect(refusalOf(unknown)).toBe('404 NOT_FOUND');
    for (const answer of [gone, unknown]) {
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'access-control-allow-origin': '*',
      });
    }
  });
});
