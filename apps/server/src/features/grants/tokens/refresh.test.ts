import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { insertChain } from '../../../../test/app/delegated.ts';
import {
  actionsOf,
  entriesOf,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';

const joinSandbox = sharedSandbox();

const refreshing =
  (developer: Developer, agentId: string) =>
  (refreshToken: string, change: object = {}) =>
    developer('POST', '/v1/token/refresh', { refreshToken, agentId, ...change });

const verdictOf = async (developer: Developer, token: string) =>
  (await developer('POST', '/v1/tokens/verify', { token })).json();

const statusOf = async (developer: Developer, grantId: string) =>
  (await developer('GET', `/v1/grants/${grantId}`)).json();

describe('refreshing', () => {
  test('gives new tokens for the same grant, whose end does not move', async () => {
    const { acme, advance } = await startSandbox();
    const scopes = ['tool:bank:read', 'calendar:read'];
    const asked = { scopes, expiresIn: '40d', audience: 'https://api.example', purpose: 'aml.screening' };
    const first = await grantTo(acme, asked);
    const { agentId, did, grantId } = first;

    advance(86_400);
    const answer = await refreshing(acme, agentId)(first.refreshToken);

    expect(answer.statusCode).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const issued = answer.json();
    expect(issued).toEqual({
      grantToken: expect.any(String),
      tokenType: 'Bearer',
      expiresAt: '2026-01-03T00:00:00.000Z',
      refreshToken: expect.stringMatching(/^ref_[0-9A-Z]{26}[\w-]{43}$/),
      refreshExpiresAt: '2026-02-01T00:00:00.000Z',
      grantId,
      grantExpiresAt: '2026-02-10T00:00:00.000Z',
      agentId,
      principalId: 'user_42',
      scopes,
      audience: 'https://api.example',
      purpose: 'aml.screening',
      authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'bank', purpose: 'aml.screening' }],
      sandbox: true,
    });
    expect(issued.refreshToken).not.toBe(first.refreshToken);
    const [before, after] = [partsOf(first.grantToken).payload, partsOf(issued.grantToken).payload];
    const { jti, iat, nbf, exp } = after;
    expect(after).toEqual({ ...before, jti, iat, nbf, exp });
    expect(jti).not.toBe(before.jti);
    expect(after.act).toEqual({ sub: did });
    expect((await verdictOf(acme, issued.grantToken)).valid).toBe(true);
  });

  test('leaves earlier tokens valid until they expire', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId, grantToken, refreshToken } = await grantTo(acme, {
      expiresIn: '2h',
      tokenExpiresIn: '30m',
    });

    advance(60);
    await refreshing(acme, agentId)(refreshToken);

    expect((await verdictOf(acme, grantToken)).valid).toBe(true);
    advance(1740);
    expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'expired' });
  });

  test('R3 never outlives the grant', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId, refreshToken } = await grantTo(acme, { expiresIn: '36h' });

    advance(86_000);
    const issued = (await refreshing(acme, agentId)(refreshToken)).json();

    const end = '2026-01-02T12:00:00.000Z';
    expect(issued).toMatchObject({ expiresAt: end, refreshExpiresAt: end, grantExpiresAt: end });
  });

  test('is recorded as a new token, and not as a new grant', async () => {
    const { acme } = await joinSandbox();
    const { agentId, refreshToken, grantId } = await grantTo(acme);

    const { grantToken, expiresAt } = (await refreshing(acme, agentId)(refreshToken)).json();

    const [, refreshed] = await entriesOf(acme, 'token.issued');
    const tokenId = partsOf(grantToken).payload.jti;
    expect(refreshed).toMatchObject({ grantId, metadata: { tokenId, expiresAt, refreshed: true } });
    expect(await entriesOf(acme, 'grant.created')).toHaveLength(1);
  });

  test('goes on as long as each refresh token is used in time', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId, ...first } = await grantTo(acme, { expiresIn: '90d' });
    const refresh = refreshing(acme, agentId);

    let { refreshToken } = first;
    for (let month = 0; month < 3; month += 1) {
      advance(29 * 86_400);
      refreshToken = (await refresh(refreshToken)).json().refreshToken;
    }
    const last = await refresh(refreshToken);

    expect(last.json()).toMatchObject({ expiresAt: '2026-03-30T00:00:00.000Z' });
  });

  test.each([
    ['no refresh token', { refreshToken: undefined }, 'refreshToken required'],
    ['no agent', { agentId: undefined }, 'agentId required'],
    ['O8 scopes', { scopes: ['*'] }, 'scopes unknown'],
    ['a lifetime', { expiresIn: '90d' }, 'expiresIn unknown'],
  ])('refuses %s', async (_, change, problem) => {
    const { acme } = await joinSandbox();
    const { agentId, refreshToken } = await grantTo(acme);

    const refused = await refreshing(acme, agentId)(refreshToken, change);

    expect(refused.statusCode).toBe(400);
    const [field] = refused.json().details.fields;
    expect(`${field.path} ${field.problem}`).toBe(problem);
    expect((await refreshing(acme, agentId)(refreshToken)).statusCode).toBe(201);
  });

  test('needs an API key', async () => {
    const { acme, app } = await joinSandbox();
    const { agentId, refreshToken } = await grantTo(acme);
    const body = { agentId, refreshToken };

    const answer = await app.inject({ method: 'POST', url: '/v1/token/refresh', body });

    expect(refusalOf(answer)).toBe('401 UNAUTHORIZED');
  });
});

describe('a refresh token in the wrong hands', () => {
  test('R3 gets the same answer as an unknown token, and is not spent', async () => {
    const { acme, asDeveloper } = await joinSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { agentId: otherAgent } = await registerAgent(acme);
    const { agentId, refreshToken } = await grantTo(acme);
    const refresh = refreshing(acme, agentId);
    const id = refreshToken.slice(0, 30);

    const refusals = [
      await refresh('anything'),
      await refresh(`ref_${'0'.repeat(26)}${'a'.repeat(43)}`),
      await refresh(`${id}${'a'.repeat(43)}`), // the id alone is worth nothing
      await refresh(` ${refreshToken}`),
      await refresh(refreshToken, { agentId: otherAgent }),
      await refreshing(stranger, agentId)(refreshToken),
    ];

    for (const refused of refusals) {
      expect(refusalOf(refused)).toBe('400 INVALID_GRANT refresh_unknown');
      expect(refused.json().message).toBe(refusals[0]?.json().message);
    }
    expect((await refresh(refreshToken)).statusCode).toBe(201);
  });
});

describe('a refresh token that is not valid now', () => {
  test('R3 ends with its grant', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId, refreshToken } = await grantTo(acme, { expiresIn: '1h' });

    advance(3600);

    expect(refusalOf(await refreshing(acme, agentId)(refreshToken))).toBe('400 INVALID_GRANT grant_expired');
  });

  test('R3 ends after thirty days, although the grant goes on', async () => {
    const { acme, advance } = await startSandbox();
    const [late, early] = [
      await grantTo(acme, { expiresIn: '90d' }),
      await grantTo(acme, { expiresIn: '90d' }),
    ];

    advance(30 * 86_400 - 1);
    expect((await refreshing(acme, early.agentId)(early.refreshToken)).statusCode).toBe(201);
    advance(1);
    const refused = await refreshing(acme, late.agentId)(late.refreshToken);

    expect(refusalOf(refused)).toBe('400 INVALID_GRANT refresh_expired');
    expect(await statusOf(acme, late.grantId)).toMatchObject({ status: 'active' });
  });

  test('R3 ends when its grant is revoked', async () => {
    const { acme } = await joinSandbox();
    const { agentId, refreshToken, grantId } = await grantTo(acme);

    await acme('DELETE', `/v1/grants/${grantId}`);

    expect(refusalOf(await refreshing(acme, agentId)(refreshToken))).toBe('400 INVALID_GRANT grant_revoked');
  });

  test('O16 waits while its agent is suspended', async () => {
    const { acme } = await joinSandbox();
    const { agentId, refreshToken } = await grantTo(acme);
    const refresh = refreshing(acme, agentId);

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    const suspended = await refresh(refreshToken);
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });

    expect(refusalOf(suspended)).toBe('400 INVALID_GRANT agent_inactive');
    expect((await refresh(refreshToken)).statusCode).toBe(201);
  });
});

describe('a refresh token used twice', () => {
  test('R1 is refused, and within the grace period nothing else happens', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId, refreshToken, grantToken } = await grantTo(acme);
    const refresh = refreshing(acme, agentId);
    const successor = (await refresh(refreshToken)).json();

    advance(30);
    const again = await refresh(refreshToken);

    expect(refusalOf(again)).toBe('400 INVALID_GRANT refresh_reused');
    const [detected, ...more] = await entriesOf(acme, 'token.reuse_detected');
    expect(detected).toMatchObject({ status: 'blocked', metadata: { kind: 'refresh', revoked: false } });
    expect(more).toEqual([]);
    expect((await verdictOf(acme, grantToken)).valid).toBe(true);
    expect((await refresh(successor.refreshToken)).statusCode).toBe(201);
  });

  test('R1 later ends the grant, every token of it and everything delegated from it', async () => {
    const { acme, advance, service } = await startSandbox();
    const { agentId, refreshToken, grantToken, grantId } = await grantTo(acme);
    const refresh = refreshing(acme, agentId);
    const successor = (await refresh(refreshToken)).json();
    const [child] = await insertChain(service, grantId, [agentId]);

    advance(31);
    const again = await refresh(refreshToken);

    expect(refusalOf(again)).toBe('400 INVALID_GRANT refresh_reused');
    expect((await actionsOf(acme)).slice(-3)).toEqual([
      'token.reuse_detected',
      'grant.revoked',
      'grant.revoked',
    ]);
    for (const token of [grantToken, successor.grantToken]) {
      expect(await verdictOf(acme, token)).toEqual({ valid: false, reason: 'revoked' });
    }
    const next = await refresh(successor.refreshToken);
    expect(refusalOf(next)).toBe('400 INVALID_GRANT grant_revoked');
    expect(await statusOf(acme, grantId)).toMatchObject({ revokedReason: 'refresh_reuse' });
    expect(await statusOf(acme, String(child?.grantId))).toMatchObject({ revokedReason: 'parent' });
  });

  test('R1 reaches subscribers only when it ended the grant', async () => {
    const { acme, advance, db } = await startSandbox();
    const { agentId, refreshToken, grantId } = await grantTo(acme);
    const refresh = refreshing(acme, agentId);
    await refresh(refreshToken);

    await refresh(refreshToken);
    advance(31);
    await refresh(refreshToken);

    const events = await db
      .selectFrom('outboxEvents')
      .select(['type', 'envelope'])
      .where('developerId', '=', acme.developerId)
      .where('type', 'in', ['token.reuse_detected', 'grant.revoked'])
      .orderBy('type')
      .execute();
    expect(events.map(({ type }) => type)).toEqual(['grant.revoked', 'token.reuse_detected']);
    expect(JSON.parse(events[1]?.envelope ?? '').data).toMatchObject({
      grantId,
      agentId,
      kind: 'refresh',
      revoked: true,
    });
  });

  test('R1 ends nothing when another agent or another developer presents it', async () => {
    const { acme, advance, asDeveloper } = await startSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { agentId: otherAgent } = await registerAgent(acme);
    const { agentId, refreshToken, grantId } = await grantTo(acme);
    await refreshing(acme, agentId)(refreshToken);

    advance(31);
    await refreshing(acme, otherAgent)(refreshToken);
    await refreshing(stranger, agentId)(refreshToken);

    expect(await statusOf(acme, grantId)).toMatchObject({ status: 'active' });
  });

  test('R1 fills no log: attempts are counted, and the first of a minute is recorded', async () => {
    const { acme } = await startSandbox({ env: { REUSE_GRACE_SECONDS: '300' } });
    const { agentId, refreshToken } = await grantTo(acme);
    const refresh = refreshing(acme, agentId);
    await refresh(refreshToken);

    for (let each = 0; each < 5; each += 1) await refresh(refreshToken);

    expect(await entriesOf(acme, 'token.reuse_detected')).toHaveLength(1);
  });
});

test('R8 no code, refresh token or grant token is readable anywhere in the database', async () => {
  const { acme, service } = await joinSandbox();
  const { agentId } = await registerAgent(acme);
  const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
  const { code } = (await acme('POST', '/v1/authorize', asked)).json();
  const { grantToken, refreshToken } = (await acme('POST', '/v1/token', { code, agentId })).json();
  const refreshed = (await refreshing(acme, agentId)(refreshToken)).json();

  const stored = await everyText(service);

  const secret = (token: string) => token.slice(-43); // a refresh token without the id that finds its row
  for (const text of [
    code,
    grantToken,
    refreshed.grantToken,
    secret(refreshToken),
    secret(refreshed.refreshToken),
  ]) {
    expect(stored).not.toContain(text);
  }
  expect(stored).toContain(refreshToken.slice(0, 30)); // the id is stored, so the search above looked in the right place
});

/** Every row of every table, as text. */
async function everyText({ db }: Service): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(table_name) as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(db);
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const all = sql<{ text: string }>`select ${sql.raw(name)}::text as text from ${sql.raw(name)}`;
      return (await all.execute(db)).rows.map(({ text }) => text);
    }),
  );
  return texts.flat().join('\n');
}
