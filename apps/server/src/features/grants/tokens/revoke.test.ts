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
import type { Developer } from '../../../../test/app/start-app.ts';

const joinSandbox = sharedSandbox();

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
