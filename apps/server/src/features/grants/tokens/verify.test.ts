import { describe, expect, test } from 'vitest';
import { insertBranches, setGrant } from '../../../../test/app/delegated.ts';
import {
  actionsOf,
  grantTo,
  partsOf,
  refusalOf,
  sharedSandbox,
  signedBy,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const joinSandbox = sharedSandbox();

const verify = (developer: Developer, token: unknown, more: object = {}) =>
  developer('POST', '/v1/tokens/verify', { token, ...more });

const verdictOf = async (developer: Developer, token: unknown, more: object = {}) =>
  (await verify(developer, token, more)).json();

const olderVerdictOf = async (developer: Developer, token: unknown) =>
  (await developer('POST', '/v1/grants/verify', { token })).json();

const lastUseOf = async (developer: Developer, grantId: string) =>
  (await developer('GET', `/v1/grants/${grantId}`)).json().lastUsedAt;

describe('verifying a token', () => {
  test('shows the grant, its parties and its scopes', async () => {
    const { acme } = await joinSandbox();
    const scopes = ['tool:bank:read', 'calendar:*'];
    const { agentId, did, grantId, grantToken } = await grantTo(acme, {
      scopes,
      audience: 'https://api.example',
      purpose: 'aml.screening',
    });

    const answer = await verify(acme, grantToken);

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      valid: true,
      grantId,
      scopes,
      principal: 'user_42',
      agent: did,
      expiresAt: '2026-01-02T00:00:00.000Z',
      tokenId: partsOf(grantToken).payload.jti,
      agentId,
      agentDid: did,
      principalId: 'user_42',
      developerId: acme.developerId,
      issuedAt: '2026-01-01T00:00:00.000Z',
      delegationDepth: 0,
      audience: 'https://api.example',
      purpose: 'aml.screening',
      authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'bank', purpose: 'aml.screening' }],
      sandbox: true,
    });
  });

  test('writes no audit entry', async () => {
    const { acme } = await joinSandbox();
    const { grantToken } = await grantTo(acme);
    const before = await actionsOf(acme);

    await verify(acme, grantToken);

    expect(await actionsOf(acme)).toEqual(before);
  });

  test('compares a required audience with the audience of the grant', async () => {
    const { acme } = await joinSandbox();
    const bound = await grantTo(acme, { audience: 'https://api.example' });
    const free = await grantTo(acme);
    const audience = (name: string) => ({ audience: name });

    expect(await verdictOf(acme, bound.grantToken, audience('https://api.example'))).toMatchObject({
      valid: true,
    });
    for (const [token, name] of [
      [bound.grantToken, 'https://api.exampl'],
      [bound.grantToken, 'https://api.example/v1'],
      [free.grantToken, 'https://api.example'],
    ] as const) {
      expect(await verdictOf(acme, token, audience(name))).toEqual({ valid: false, reason: 'audience' });
    }
  });

  test('compares required scopes with the granted scopes', async () => {
    const { acme } = await joinSandbox();
    const { grantToken } = await grantTo(acme, { scopes: ['calendar:*', 'email:send'] });
    const needing = (...requiredScopes: string[]) => verdictOf(acme, grantToken, { requiredScopes });

    expect(await needing()).toMatchObject({ valid: true });
    expect(await needing('calendar:read', 'email:send')).toMatchObject({ valid: true });
    expect(await needing('calendar:read', 'email:read')).toEqual({ valid: false, reason: 'scope' });
    expect(await needing('Calendar:read')).toEqual({ valid: false, reason: 'scope' });
    expect(await needing('*')).toEqual({ valid: false, reason: 'scope' });
  });

  test.each([
    ['no token', {}, 'token required'],
    ['an empty token', { token: '' }, 'token too_short'],
    ['a token that is a number', { token: 5 }, 'token type'],
    ['a token that is null', { token: null }, 'token type'],
    ['an unknown field', { token: 'x', scopes: [] }, 'scopes unknown'],
  ])('refuses %s', async (_, body, problem) => {
    const { acme } = await joinSandbox();

    const refused = await acme('POST', '/v1/tokens/verify', body);

    expect(refused.statusCode).toBe(400);
    const [field] = refused.json().details.fields;
    expect(`${field.path} ${field.problem}`).toBe(problem);
  });

  test.each(['/v1/tokens/verify', '/v1/grants/verify'])('%s needs an API key and JSON', async (url) => {
    const { acme, app } = await joinSandbox();
    const headers = {
      authorization: `Bearer ${acme.apiKey}`,
      'content-type': 'application/x-www-form-urlencoded',
    };

    const anonymous = await app.inject({ method: 'POST', url, body: { token: 'x' } });
    const form = await app.inject({ method: 'POST', url, headers, body: 'token=x' });

    expect(refusalOf(anonymous)).toBe('401 UNAUTHORIZED');
    expect(refusalOf(form)).toBe('415 UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('a token that is no longer valid tells its owner the reason', () => {
  test('expired, from the second in which it ends', async () => {
    const { acme, advance } = await startSandbox();
    const { grantToken } = await grantTo(acme, { tokenExpiresIn: '1m' });

    advance(59);
    expect(await verdictOf(acme, grantToken)).toMatchObject({ valid: true });
    advance(1);
    expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'expired' });
    expect(await olderVerdictOf(acme, grantToken)).toEqual({ active: false, reason: 'expired' });
  });

  test('revoked, with its grant or alone', async () => {
    const { acme } = await joinSandbox();
    const [one, other] = [await grantTo(acme), await grantTo(acme)];

    await acme('DELETE', `/v1/grants/${one.grantId}`);
    await acme('POST', '/v1/tokens/revoke', { token: other.grantToken });

    for (const { grantToken } of [one, other]) {
      expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'revoked' });
      expect(await olderVerdictOf(acme, grantToken)).toEqual({ active: false, reason: 'revoked' });
    }
  });

  test('grant_inactive, where the grant ends before it', async () => {
    const { acme, service, clock } = await joinSandbox();
    const { grantToken, grantId } = await grantTo(acme);

    await setGrant(service, grantId, { expiresAt: clock() });

    expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'grant_inactive' });
    expect(await olderVerdictOf(acme, grantToken)).toEqual({ active: false, reason: 'expired' });
  });

  test('agent_inactive, until the agent is resumed', async () => {
    const { acme } = await joinSandbox();
    const { grantToken, agentId } = await grantTo(acme);

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'agent_inactive' });
    expect(await olderVerdictOf(acme, grantToken)).toEqual({ active: false, reason: 'agent_inactive' });

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });
    expect(await verdictOf(acme, grantToken)).toMatchObject({ valid: true });
  });

  test('revoked for good, with its agent', async () => {
    const { acme } = await joinSandbox();
    const { grantToken, agentId } = await grantTo(acme);

    await acme('DELETE', `/v1/agents/${agentId}`);

    expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'revoked' });
  });
});

describe('a text that is not a token of the caller', () => {
  const nothing = '{"valid":false}';

  test.each([
    ['a word', () => 'x'],
    ['an API key', (_: string, key: string) => key],
    ['two parts', (token: string) => token.split('.').slice(0, 2).join('.')],
    ['no signature', (token: string) => `${token.split('.').slice(0, 2).join('.')}.`],
    ['a trailing newline', (token: string) => `${token}\n`],
    ['padding', (token: string) => `${token}=`],
    ['its JSON form', (token: string) => JSON.stringify({ payload: token })],
    ['16 KiB and a byte', (token: string) => token.padEnd(16_385, 'A')],
    ['half a megabyte', () => 'a.'.repeat(250_000)],
  ])('J9 gets only `valid: false`: %s', async (_, make) => {
    const { acme } = await joinSandbox();
    const { grantToken } = await grantTo(acme);

    const answer = await verify(acme, make(grantToken, acme.apiKey));

    expect([answer.statusCode, answer.body]).toEqual([200, nothing]);
    expect(await verdictOf(acme, grantToken)).toMatchObject({ valid: true });
  });

  test('J19 tells another developer nothing, whether the token is valid, expired or revoked', async () => {
    const { acme, asDeveloper, advance } = await startSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { grantToken } = await grantTo(acme, { tokenExpiresIn: '1m' });
    const revoked = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${revoked.grantId}`);

    expect((await verify(stranger, grantToken)).body).toBe(nothing);
    expect((await verify(stranger, revoked.grantToken)).body).toBe(nothing);
    expect(await olderVerdictOf(stranger, grantToken)).toEqual({ active: false, reason: 'not_found' });
    expect(await verdictOf(acme, grantToken)).toMatchObject({ valid: true });
    advance(60);
    expect((await verify(stranger, grantToken)).body).toBe(nothing);
    expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'expired' });
  });

  test('J17 a genuine signature over another kind of token is refused', async () => {
    const { acme, service } = await joinSandbox();
    const { grantToken } = await grantTo(acme);
    const { payload } = partsOf(grantToken);
    const others = [
      'decision+jwt',
      'principal-session+jwt',
      'vc+jwt',
      'agent-passport+jwt',
      'consent-hint+jwt',
    ];

    for (const typ of others) {
      const token = await signedBy(service, payload, { typ });
      expect((await verify(acme, token)).body).toBe(nothing);
      const older = await acme('POST', '/v1/grants/verify', { token });
      expect(refusalOf(older)).toBe('400 BAD_REQUEST');
    }
    const same = await signedBy(service, payload);
    expect(await verdictOf(acme, same)).toMatchObject({ valid: true });
  });

  test('J6 J7 a header that demands anything is refused, even with a genuine signature', async () => {
    const { acme, service } = await joinSandbox();
    const { payload } = partsOf((await grantTo(acme)).grantToken);

    for (const header of [
      { crit: ['exp'] },
      { b64: false },
      { jku: 'https://keys.example' },
      { cty: 'JWT' },
    ]) {
      expect((await verify(acme, await signedBy(service, payload, header))).body).toBe(nothing);
    }
  });

  test('J16 a token of another deployment is refused, even with our key', async () => {
    const { acme, service } = await joinSandbox();
    const { payload } = partsOf((await grantTo(acme)).grantToken);

    for (const iss of ['https://auth.test/', 'https://auth.tes', 'https://other.test', undefined]) {
      expect((await verify(acme, await signedBy(service, { ...payload, iss }))).body).toBe(nothing);
    }
  });
});

describe('J18 the stored grant decides, whatever a genuine signature says', () => {
  const details = [{ type: 'urn:service:tools:v1', connector: 'bank', tools: ['get_balance'] }];
  const wider = [{ type: 'urn:service:tools:v1', connector: 'bank' }];

  const changes: Record<string, object> = {
    'another principal': { sub: 'user_43' },
    'another agent': { client_id: 'ag_other' },
    'another actor': { act: { sub: 'did:web:auth.test:agents:ag_other' }, agt: undefined },
    'an actor before it': { act: { sub: 'same', act: { sub: 'did:web:auth.test:agents:ag_other' } } },
    'more scopes': { scp: ['tool:bank:read', 'email:send', '*'], scope: 'tool:bank:read email:send *' },
    'fewer scopes': { scp: ['email:send'], scope: 'email:send' },
    'scopes in another order': { scp: ['email:send', 'tool:bank:read'], scope: 'email:send tool:bank:read' },
    'an unknown id': { jti: 'tok_00000000000000000000000000' },
    'a later end': { exp: 1_800_000_000 },
    'an earlier end': { exp: Date.parse('2026-01-01T12:00:00Z') / 1000 },
    'an earlier begin': { iat: Date.parse('2025-12-31T23:00:00Z') / 1000 },
    'another audience': { aud: 'https://other.example' },
    'a second audience': { aud: ['https://api.example', 'https://other.example'] },
    'no audience': { aud: undefined },
    'wider details': { authorization_details: wider },
    'no details': { authorization_details: undefined },
    'no sandbox': { sandbox: undefined },
    'a false sandbox': { sandbox: false },
    'another grant': { 'urn:service:grant': { grant_id: 'grnt_other' }, grnt: undefined },
    'a parent': { parentGrnt: 'grnt_other' },
    'a depth': { delegationDepth: 1 },
    'a key to prove': { cnf: { jkt: 'a'.repeat(43) } },
    'an older name that differs': { grnt: 'grnt_other' },
    'an older agent that differs': { agt: 'did:web:auth.test:agents:ag_other' },
    'an older name that is null': { agt: null },
    'a scope text that differs': { scope: 'email:send' },
  };

  async function issued(service: Service, acme: Developer) {
    const { grantToken, did } = await grantTo(acme, {
      scopes: ['tool:bank:read', 'email:send'],
      audience: 'https://api.example',
      authorizationDetails: details,
    });
    const { payload } = partsOf(grantToken);
    const changed = (change: object) =>
      signedBy(
        service,
        JSON.parse(JSON.stringify({ ...payload, ...change }).replaceAll('"same"', `"${did}"`)),
      );
    return { payload, changed };
  }

  test.each([true, false])('with and without the older names (%s)', async (legacy) => {
    const { acme, service } = await startSandbox({ env: { GRANT_TOKEN_LEGACY_CLAIMS: String(legacy) } });
    const { changed } = await issued(service, acme);
    expect(await verdictOf(acme, await changed({}))).toMatchObject({ valid: true });

    const answers: [string, string][] = [];
    for (const [name, change] of Object.entries(changes)) {
      answers.push([name, (await verify(acme, await changed(change))).body]);
    }

    expect(answers).toEqual(Object.keys(changes).map((name) => [name, '{"valid":false}']));
  });

  test('with another developer, neither of the two learns anything', async () => {
    const { acme, service, asDeveloper } = await joinSandbox();
    const other = await asDeveloper({ mode: 'sandbox' });
    const { payload, changed } = await issued(service, acme);
    const grant = { ...payload['urn:service:grant'], developer_id: other.developerId };
    const token = await changed({ dev: other.developerId, 'urn:service:grant': grant });

    expect((await verify(acme, token)).body).toBe('{"valid":false}');
    expect((await verify(other, token)).body).toBe('{"valid":false}');
  });

  test('with only the older names, as before 0.6, it is the same token', async () => {
    const { acme, service } = await joinSandbox();
    const { grantToken } = await grantTo(acme);
    const { iss, sub, dev, scp, jti, iat, exp, agt, grnt, sandbox } = partsOf(grantToken).payload;
    const older = { iss, sub, dev, scp, jti, iat, exp, agt, grnt, sandbox };

    expect(await verdictOf(acme, await signedBy(service, older, { typ: undefined }))).toMatchObject({
      valid: true,
    });
    const wider = { ...older, scp: ['*'] };
    expect((await verify(acme, await signedBy(service, wider, { typ: undefined }))).body).toBe(
      '{"valid":false}',
    );
  });
});

describe('the last use of a grant', () => {
  test('is set by verifying, once a minute at most', async () => {
    const { acme, advance } = await startSandbox();
    const { grantToken, grantId } = await grantTo(acme);
    expect(await lastUseOf(acme, grantId)).toBeNull();

    advance(1);
    await verify(acme, grantToken);
    expect(await lastUseOf(acme, grantId)).toBe('2026-01-01T00:00:01.000Z');
    advance(59);
    await verify(acme, grantToken);
    expect(await lastUseOf(acme, grantId)).toBe('2026-01-01T00:00:01.000Z');
    advance(1);
    await verify(acme, grantToken);
    expect(await lastUseOf(acme, grantId)).toBe('2026-01-01T00:01:01.000Z');
  });

  test('is not set when the token is refused', async () => {
    const { acme, advance } = await startSandbox();
    const { grantToken, grantId, agentId } = await grantTo(acme, { tokenExpiresIn: '1m' });

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    await verify(acme, grantToken);
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });
    advance(60);
    await verify(acme, grantToken);
    await acme('DELETE', `/v1/grants/${grantId}`);
    await verify(acme, grantToken);

    expect(await lastUseOf(acme, grantId)).toBeNull();
  });

  test('does not make a verification wait for a lock on the grant', async () => {
    const { acme, db } = await joinSandbox();
    const { grantToken, grantId } = await grantTo(acme);

    const verdict = await db.transaction().execute(async (tx) => {
      await tx.selectFrom('grants').select('id').where('id', '=', grantId).forUpdate().execute();
      return verdictOf(acme, grantToken);
    });

    expect(verdict).toMatchObject({ valid: true });
  });
});

describe('the older answer', () => {
  test('has the token’s claims, and the older names even when the token lacks them', async () => {
    const { acme } = await startSandbox({ env: { GRANT_TOKEN_LEGACY_CLAIMS: 'false' } });
    const { grantToken, grantId, did } = await grantTo(acme);
    const { payload } = partsOf(grantToken);
    expect(payload).not.toHaveProperty('grnt');

    const answer = await acme('POST', '/v1/grants/verify', { token: grantToken });

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ active: true, claims: { ...payload, agt: did, grnt: grantId } });
  });

  test('names the parent of a delegated grant', async () => {
    const { acme, service, db } = await joinSandbox();
    const { grantToken, grantId, did } = await grantTo(acme);
    const [child] = await insertBranches(service, { parentId: grantId });
    const row = await db
      .selectFrom('tokens')
      .selectAll()
      .where('id', '=', String(child?.tokenId))
      .executeTakeFirstOrThrow();
    const { payload } = partsOf(grantToken);
    const delegated = {
      ...payload,
      jti: row.id,
      exp: row.expiresAt.getTime() / 1000,
      act: { sub: did, act: { sub: did } },
      'urn:service:grant': {
        grant_id: child?.grantId,
        agent_did: did,
        parent_grant_id: grantId,
        delegation_depth: 1,
      },
      agt: undefined,
      grnt: undefined,
    };
    const token = await signedBy(service, delegated);

    expect((await olderVerdictOf(acme, token)).claims).toMatchObject({
      grnt: child?.grantId,
      agt: did,
      parentGrnt: grantId,
      parentAgt: did,
      delegationDepth: 1,
    });
    expect(await verdictOf(acme, token)).toMatchObject({
      valid: true,
      parentGrantId: grantId,
      delegationDepth: 1,
    });
  });

  test('refuses a text that is no grant token, and does not find a token that was never issued', async () => {
    const { acme, service } = await joinSandbox();
    const { grantToken } = await grantTo(acme);
    const unknown = { ...partsOf(grantToken).payload, jti: 'tok_unknown' };

    for (const token of ['x', `${grantToken}x`, 'a.b.c']) {
      expect(refusalOf(await acme('POST', '/v1/grants/verify', { token }))).toBe('400 BAD_REQUEST');
    }
    expect(await olderVerdictOf(acme, await signedBy(service, unknown))).toEqual({
      active: false,
      reason: 'not_found',
    });
  });
});

test('R5 a revoked token is refused in the next request, even while Redis is away', async () => {
  const { acme } = await startSandbox();
  const { grantToken, grantId } = await grantTo(acme);
  const away = await startApp({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });
  const there = away.calling(acme.apiKey);
  const ask = async () => (await there('POST', '/v1/tokens/verify', { token: grantToken })).json();

  expect(await ask()).toMatchObject({ valid: true });
  expect((await there('DELETE', `/v1/grants/${grantId}`)).statusCode).toBe(204);

  expect(await ask()).toEqual({ valid: false, reason: 'revoked' });
  expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'revoked' });
});
