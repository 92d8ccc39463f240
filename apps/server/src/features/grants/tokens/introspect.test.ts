import { describe, expect, test } from 'vitest';
import {
  actionsOf,
  entriesOf,
  grantTo,
  partsOf,
  refusalOf,
  sharedSandbox,
  signedBy,
  startSandbox,
} from '../../../../test/app/flow.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';

const joinSandbox = sharedSandbox();

const url = '/v1/tokens/introspect';
const FORM = 'application/x-www-form-urlencoded';

const asForm = ({ app }: Pick<Service, 'app'>, { apiKey }: Developer, body: string, type = FORM) =>
  app.inject({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': type },
    body,
  });

describe('introspecting a token (RFC 7662)', () => {
  test('shows its claims by their registered names, for JSON and for a form', async () => {
    const { acme, app } = await joinSandbox();
    const { agentId, did, grantId, grantToken } = await grantTo(acme, {
      scopes: ['tool:bank:read', 'email:send'],
      audience: 'https://api.example',
      purpose: 'aml.screening',
    });

    const json = await acme('POST', url, { token: grantToken });
    const form = await asForm({ app }, acme, `token=${grantToken}&token_type_hint=access_token`);

    expect(json.statusCode).toBe(200);
    expect(json.json()).toEqual({
      active: true,
      scope: 'tool:bank:read email:send',
      client_id: agentId,
      token_type: 'Bearer',
      exp: Date.parse('2026-01-02T00:00:00Z') / 1000,
      iat: Date.parse('2026-01-01T00:00:00Z') / 1000,
      nbf: Date.parse('2025-12-31T23:59:30Z') / 1000,
      sub: 'user_42',
      aud: 'https://api.example',
      iss: 'https://auth.test',
      jti: partsOf(grantToken).payload.jti,
      act: { sub: did },
      authorization_details: [{ type: 'urn:service:tools:v1', connector: 'bank', purpose: 'aml.screening' }],
      dev: acme.developerId,
      'urn:service:grant': { grant_id: grantId, agent_did: did, developer_id: acme.developerId },
    });
    expect(form.json()).toEqual(json.json());
  });

  test('answers every other text only with `active: false`', async () => {
    const { acme, asDeveloper, advance } = await startSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { grantToken, refreshToken } = await grantTo(acme, { tokenExpiresIn: '1m' });
    const revoked = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${revoked.grantId}`);
    const asked = async (developer: Developer, token: string) =>
      (await developer('POST', url, { token })).body;

    const inactive = '{"active":false}';
    expect(await asked(acme, 'anything')).toBe(inactive);
    expect(await asked(acme, refreshToken)).toBe(inactive);
    expect(await asked(acme, acme.apiKey)).toBe(inactive);
    expect(await asked(acme, revoked.grantToken)).toBe(inactive);
    expect(await asked(stranger, grantToken)).toBe(inactive);
    expect(await asked(acme, grantToken)).not.toBe(inactive);
    advance(60);
    expect(await asked(acme, grantToken)).toBe(inactive);
  });

  test('counts as a use of the grant', async () => {
    const { acme } = await joinSandbox();
    const { grantToken, grantId } = await grantTo(acme);

    await acme('POST', url, { token: grantToken });

    const { lastUsedAt } = (await acme('GET', `/v1/grants/${grantId}`)).json();
    expect(lastUsedAt).toBe('2026-01-01T00:00:00.000Z');
  });

  test('ignores unknown members, as the standard demands', async () => {
    const { acme, app } = await joinSandbox();
    const { grantToken } = await grantTo(acme);

    expect((await acme('POST', url, { token: grantToken, resource: 'x' })).json().active).toBe(true);
    expect((await asForm({ app }, acme, `token=${grantToken}&resource=x`)).json().active).toBe(true);
  });
});

describe('a failure has the shape that OAuth libraries read (RFC 6749 §5.2)', () => {
  test.each([
    ['no token, as JSON', '{}', 'application/json'],
    ['an empty token, as JSON', '{"token":""}', 'application/json'],
    ['a token that is a number', '{"token":5}', 'application/json'],
    ['malformed JSON', '{', 'application/json'],
    ['no token, as a form', 'token_type_hint=access_token', FORM],
    ['an empty token, as a form', 'token=', FORM],
    ['a token sent twice', 'token=a&token=b', FORM],
  ])('400 invalid_request for %s', async (_, body, type) => {
    const { acme, app } = await joinSandbox();

    const refused = await asForm({ app }, acme, body, type);

    expect(refused.statusCode).toBe(400);
    expect(refused.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
    expect(refused.headers['x-request-id']).toEqual(expect.any(String));
  });

  test.each([[undefined], ['Bearer bh_live_wrong'], ['Basic YTpi']])(
    '401 invalid_client for the credential %s',
    async (authorization) => {
      const { app } = await joinSandbox();
      const headers = authorization === undefined ? {} : { authorization };

      const refused = await app.inject({ method: 'POST', url, headers, body: { token: 'x' } });

      expect(refused.statusCode).toBe(401);
      expect(refused.json()).toEqual({ error: 'invalid_client', error_description: expect.any(String) });
      expect(refused.headers['www-authenticate']).toMatch(/^Bearer/);
    },
  );

  test('415 for a body that is neither JSON nor a form', async () => {
    const { acme, app } = await joinSandbox();

    const refused = await asForm({ app }, acme, 'token=x', 'text/plain');

    expect(refused.statusCode).toBe(415);
    expect(refused.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
  });
});

const revoke = (developer: Developer, body: object) => developer('POST', '/v1/tokens/revoke', body);

const verdictOf = async (developer: Developer, token: string) =>
  (await developer('POST', '/v1/tokens/verify', { token })).json();

describe('revoking a token', () => {
  test.each(['by its id', 'by its text'])(
    '%s ends it, and its grant and refresh token go on',
    async (way) => {
      const { acme } = await joinSandbox();
      const { agentId, grantId, grantToken, refreshToken } = await grantTo(acme);
      const { jti } = partsOf(grantToken).payload;

      const answer = await revoke(acme, way === 'by its id' ? { jti } : { token: grantToken });

      expect([answer.statusCode, answer.body]).toEqual([204, '']);
      expect(await verdictOf(acme, grantToken)).toEqual({ valid: false, reason: 'revoked' });
      expect((await acme('GET', `/v1/grants/${grantId}`)).json().status).toBe('active');
      const refreshed = await acme('POST', '/v1/token/refresh', { agentId, refreshToken });
      expect((await verdictOf(acme, refreshed.json().grantToken)).valid).toBe(true);
      const [revoked, ...more] = await entriesOf(acme, 'token.revoked');
      expect(revoked).toMatchObject({ grantId, status: 'success', metadata: { tokenId: jti } });
      expect(more).toEqual([]);
    },
  );

  test('changes nothing when repeated, and is recorded once', async () => {
    const { acme, advance } = await startSandbox();
    const { grantId, grantToken } = await grantTo(acme);
    await revoke(acme, { token: grantToken });

    advance(60);
    const again = await revoke(acme, { token: grantToken });

    expect(again.statusCode).toBe(204);
    expect(await entriesOf(acme, 'token.revoked')).toHaveLength(1);
    const { tokens } = (await acme('GET', `/v1/grants/${grantId}/tokens`)).json();
    expect(tokens).toMatchObject([{ status: 'revoked', revokedAt: '2026-01-01T00:00:00.000Z' }]);
  });

  test('changes nothing where its grant is revoked already', async () => {
    const { acme } = await joinSandbox();
    const { grantId, grantToken } = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${grantId}`);
    const before = await actionsOf(acme);

    const answer = await revoke(acme, { token: grantToken });

    expect(answer.statusCode).toBe(204);
    expect(await actionsOf(acme)).toEqual(before);
  });

  test('accepts an expired token', async () => {
    const { acme, advance } = await startSandbox();
    const { grantToken } = await grantTo(acme, { tokenExpiresIn: '1m' });

    advance(3600);

    expect((await revoke(acme, { token: grantToken })).statusCode).toBe(204);
  });

  test('does not count as a use of the grant', async () => {
    const { acme } = await joinSandbox();
    const { grantId, grantToken } = await grantTo(acme);

    await revoke(acme, { token: grantToken });

    expect((await acme('GET', `/v1/grants/${grantId}`)).json().lastUsedAt).toBeNull();
  });

  test('finds and ends nothing for a token of another developer, or an unknown token', async () => {
    const { acme, asDeveloper, service } = await joinSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { grantToken, refreshToken } = await grantTo(acme);
    const { payload } = partsOf(grantToken);
    const unissued = await signedBy(service, { ...payload, jti: 'tok_unknown' });

    for (const refused of [
      await revoke(stranger, { token: grantToken }),
      await revoke(stranger, { jti: payload.jti }),
      await revoke(acme, { jti: 'tok_unknown' }),
      await revoke(acme, { token: unissued }),
      await revoke(acme, { token: refreshToken }),
      await revoke(acme, { token: `${grantToken}x` }),
    ]) {
      expect(refusalOf(refused)).toBe('404 NOT_FOUND');
    }
    expect((await verdictOf(acme, grantToken)).valid).toBe(true);
  });

  test.each([
    ['neither id nor text', {}, 'jti required'],
    ['both', { jti: 'a', token: 'b' }, 'token not_allowed'],
    ['an id over 512 characters', { jti: 'a'.repeat(513) }, 'jti too_long'],
    ['an empty text', { token: '' }, 'token too_short'],
    ['another field', { jti: 'a', grantId: 'b' }, 'grantId unknown'],
  ])('refuses %s', async (_, body, problem) => {
    const { acme } = await joinSandbox();

    const refused = await revoke(acme, body);

    expect(refused.statusCode).toBe(400);
    const [field] = refused.json().details.fields;
    expect(`${field.path} ${field.problem}`).toBe(problem);
  });

  test('needs an API key', async () => {
    const { app } = await joinSandbox();

    const answer = await app.inject({ method: 'POST', url: '/v1/tokens/revoke', body: { jti: 'a' } });

    expect(refusalOf(answer)).toBe('401 UNAUTHORIZED');
  });
});
