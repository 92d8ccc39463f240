import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf } from '../../../../test/app/flow.ts';
import { newClient } from '../../../../test/app/oauth.ts';
import { newProver } from '../../../../test/app/prover.ts';
import { besideClients, LISTENING, newServer, sendForm, tokensOf } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

/** Two processes of the service, which share the database and the store. */
let here: Service;
let there: Service;
beforeAll(async () => {
  const env = { ...besideClients, RATE_LIMIT_OAUTH_TOKEN: '1000', RATE_LIMIT_OAUTH_AUTHORIZE: '1000' };
  here = await startApp({ env, isShared: true });
  there = await startApp({ env, isShared: true, startsAt: here.clock().toISOString() });
});
afterAll(async () => {
  await there.stop();
  await here.stop();
});

const advance = (seconds: number) => [here, there].map((each) => each.advance(seconds));

async function startClient(service = here) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const { resource } = await newServer(acme, { scopes: ['calendar:read', 'calendar:write'] });
  const scope = 'calendar:read calendar:write';
  const issued = (await tokensOf(service, clientId, resource, { scope })).json();
  const refresh = (token: string, at = service, more: Record<string, string> = {}) =>
    sendForm(at, 'token', {
      ...{ grant_type: 'refresh_token', refresh_token: token, client_id: clientId, ...more },
    });
  const grantId = String(issued['urn:service:grant'].grant_id);
  const status = async () => (await acme('GET', `/v1/grants/${grantId}`)).json().status;
  return { acme, clientId, resource, grantId, status, token: String(issued.refresh_token), refresh };
}

const errorOf = async (answer: ReturnType<typeof sendForm>) => (await answer).json().error ?? 'none';

describe('agents K8: a refresh token that was just used', () => {
  test('agents 18: answers five requests at once, over two processes, with one answer, which goes on', async () => {
    const { acme, token, refresh } = await startClient();

    const all = await Promise.all([here, there, here, there, here].map((at) => refresh(token, at)));

    expect(all.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
    const [first, ...others] = all.map((answer) => answer.json());
    expect(others).toEqual(others.map(() => first));
    expect(await errorOf(refresh(first.refresh_token, there))).toBe('none');
    expect(await entriesOf(acme, 'token.issued')).toHaveLength(3);
    expect(await entriesOf(acme, 'token.reuse_detected')).toEqual([]);
  });

  test('is answered again until the overlap ends, then refused, and then it ends the grant', async () => {
    const { acme, token, status, refresh } = await startClient();
    const first = (await refresh(token)).json();

    advance(9.999);
    const { expires_in, ...again } = (await refresh(token, there)).json();
    advance(0.001);
    const after = await errorOf(refresh(token, there));
    const [standing, noted] = [await status(), (await entriesOf(acme, 'token.reuse_detected')).length];
    advance(20.001);
    const late = await errorOf(refresh(token));

    expect({ ...again, expires_in: expires_in + 10 }).toEqual(first);
    expect([after, standing, noted]).toEqual(['invalid_grant', 'active', 1]);
    expect([late, await status()]).toEqual(['invalid_grant', 'revoked']);
  });

  test('is not answered again once its grant is revoked, or its agent suspended', async () => {
    const one = await startClient();
    const other = await startClient();
    const agents = (await other.acme('GET', '/v1/agents')).json().agents;
    await one.refresh(one.token);
    await other.refresh(other.token);

    await one.acme('DELETE', `/v1/grants/${one.grantId}`);
    await other.acme('PATCH', `/v1/agents/${agents[0].agentId}`, { status: 'suspended' });

    expect(await errorOf(one.refresh(one.token, there))).toBe('invalid_grant');
    expect(await errorOf(other.refresh(other.token, there))).toBe('invalid_grant');
  });

  test('is not answered again by a policy that denies now', async () => {
    const { acme, token, refresh } = await startClient();
    await refresh(token);
    const policy = { name: 'No refreshes', effect: 'deny', scopes: ['calendar:*'] };
    expect((await acme('POST', '/v1/policies', policy)).statusCode).toBe(201);

    expect((await refresh(token, there)).statusCode).toBe(400);
  });

  test('gives one answer to one question: other scopes or resources are refused', async () => {
    const { token, resource, status, refresh } = await startClient();
    const fewer = { scope: 'calendar:read' };
    const first = (await refresh(token, here, fewer)).json();

    expect((await refresh(token, there, { ...fewer, resource })).json()).toEqual(first);
    expect(await errorOf(refresh(token, there))).toBe('invalid_grant');
    expect(await errorOf(refresh(token, there, { scope: 'calendar:write' }))).toBe('invalid_grant');
    expect([await status(), await errorOf(refresh(first.refresh_token))]).toEqual(['active', 'none']);
  });

  test('is that of its client, and of its key', async () => {
    const { acme, clientId, resource, token, refresh } = await startClient();
    const { clientId: otherId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
    await refresh(token);
    const base = 'https://auth.test';
    const [own, foreign] = [await newProver(here, base), await newProver(here, base)];
    const bound = (await tokensOf(here, clientId, resource)).json().refresh_token;
    const refreshBound = async (text: string, prover?: typeof own) =>
      sendForm(
        there,
        'token',
        { grant_type: 'refresh_token', refresh_token: text, client_id: clientId },
        prover ? { headers: { dpop: await prover.proof() } } : {},
      );

    expect(await errorOf(refresh(token, there, { client_id: otherId }))).toBe('invalid_grant');
    const first = (await refreshBound(bound, own)).json();
    expect(first.token_type).toBe('DPoP');
    expect((await refreshBound(bound, own)).json()).toEqual(first);
    expect(await errorOf(refreshBound(bound, foreign))).toBe('invalid_grant');
    expect(await errorOf(refreshBound(bound))).toBe('invalid_grant');
    const next = (await refreshBound(first.refresh_token, own)).json();
    expect((await refreshBound(first.refresh_token, own)).json()).toEqual(next);
    expect(await errorOf(refreshBound(first.refresh_token, foreign))).toBe('invalid_grant');
  });

  test('works once at /v1/token/refresh, whichever of the two endpoints comes first', async () => {
    const { acme, token, refresh } = await startClient();
    const [{ agentId }] = (await acme('GET', '/v1/agents')).json().agents;
    const natively = (refreshToken: string) => acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    const first = (await refresh(token)).json();

    expect((await natively(token)).json().details).toEqual({ reason: 'refresh_reused' });
    const second = (await natively(first.refresh_token)).json();
    expect(second.refreshToken).toMatch(/^ref_/);
    expect(await errorOf(refresh(first.refresh_token))).toBe('invalid_grant');
    expect((await natively(first.refresh_token)).json().details).toEqual({ reason: 'refresh_reused' });
  });

  test('works once where REFRESH_OVERLAP_SECONDS is 0', async () => {
    const service = await startApp({ env: { REFRESH_OVERLAP_SECONDS: '0' } });
    const { token, status, refresh } = await startClient(service);

    const statuses = (await Promise.all([1, 2, 3].map(() => refresh(token)))).map((each) => each.statusCode);

    expect(statuses.sort()).toEqual([200, 400, 400]);
    expect(await status()).toBe('active');
  });

  test('leaves nothing in the store that a reader could use', async () => {
    const { token, refresh } = await startClient();
    const first = (await refresh(token)).json();
    const successor = String(first.refresh_token).slice(0, 30);

    const kept = await here.store.get(`bh:{refreshed:${successor}}`);

    expect(kept).toMatch(/^[A-Za-z0-9+/]{200,}=*$/);
    const plain = Buffer.from(String(kept), 'base64').toString('latin1');
    for (const secret of [first.refresh_token, first.access_token, 'calendar'])
      expect(plain).not.toContain(secret);
  });
});
