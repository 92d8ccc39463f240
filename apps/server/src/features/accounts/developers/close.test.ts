import { describe, expect, test } from 'vitest';
import { registerWebhook, startWithWebhooks } from '../../../../test/app/deliveries.ts';
import { tokenIn, verifyAddress } from '../../../../test/app/every-caller.ts';
import { authorize, grantTo, openSession, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { personOn } from '../../../../test/app/person.ts';
import { followLink, LISTENING, newServer, sendForm, tokensOf } from '../../../../test/app/published.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const close = (developer: Developer, confirm = developer.developerId) =>
  developer('POST', '/v1/me/close', { confirm });

/** The actions of an account, whose keys have ended. */
async function actionsIn({ db }: Service, { developerId }: Developer) {
  const entries = db.selectFrom('auditEntries').select('action').where('developerId', '=', developerId);
  return (await entries.orderBy('seq').execute()).map(({ action }) => action);
}

const activeGrants = ({ db }: Service, { developerId }: Developer) =>
  db
    .selectFrom('grants')
    .select('id')
    .where('developerId', '=', developerId)
    .where('status', '=', 'active')
    .execute();

describe('closing an account', () => {
  test('refuses a key even if its own end was not recorded', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const own = service.db.updateTable('developers').where('id', '=', acme.developerId);
    await own.set({ closedAt: service.clock() }).execute();

    expect(refusalOf(await acme('GET', '/v1/me'))).toBe('401 UNAUTHORIZED');
  });

  test('ends its keys at once, and its agents, grants, requests and sessions with it', async () => {
    const service = await startApp();
    const [acme, other] = [
      await service.asDeveloper({ mode: 'sandbox' }),
      await service.asDeveloper({ mode: 'sandbox' }),
    ];
    const runtime = await acme.asRuntime();
    const { agentId, grantToken } = await grantTo(acme);
    const stranger = await grantTo(other);
    const { sessionToken } = (await openSession(acme)).json();
    const approved = await authorize(acme, agentId);
    const pending = await authorize(acme, agentId, { autoApprove: false });
    const person = personOn(service);
    await person.open(pending.consentUrl);
    const before = await actionsIn(service, acme);

    const closed = await close(acme);

    expect(closed.statusCode).toBe(202);
    expect(closed.json()).toEqual({
      closedAt: '2026-01-01T00:00:00.000Z',
      erasedAfter: '2026-01-31T00:00:00.000Z',
    });
    for (const key of [acme, runtime]) expect(refusalOf(await key('GET', '/v1/me'))).toBe('401 UNAUTHORIZED');
    expect(refusalOf(await close(acme))).toBe('401 UNAUTHORIZED');
    expect(await activeGrants(service, acme)).toEqual([]);
    expect((await person.see(pending.id)).statusCode).toBe(410);
    const own = { method: 'GET', url: '/v1/principal/grants' } as const;
    const seen = await service.app.inject({ ...own, headers: { authorization: `Bearer ${sessionToken}` } });
    expect(seen.statusCode).toBe(401);
    expect((await service.app.inject(`/agents/${agentId}/did.json`)).statusCode).toBe(410);
    expect((await actionsIn(service, acme)).slice(before.length)).toEqual([
      'apikey.revoked',
      'apikey.revoked',
      'agent.revoked',
      'grant.revoked',
      'authorization.cancelled',
      'authorization.cancelled',
      'developer.closed',
    ]);
    expect(approved.code).toBeDefined();
    expect((await other('POST', '/v1/tokens/verify', { token: grantToken })).json()).toEqual({
      valid: false,
    });
    expect((await other('POST', '/v1/tokens/verify', { token: stranger.grantToken })).json()).toMatchObject({
      valid: true,
    });
  });

  test('makes its OAuth clients and resources unknown, also those that registered themselves', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { clientId, clientSecret = '' } = await newClient(acme, {
      ...{ authMethod: 'client_secret_post', redirectUris: [LISTENING] },
    });
    const { resource, credential } = await newServer(acme);
    const metadata = { redirect_uris: [LISTENING], grant_types: ['authorization_code', 'refresh_token'] };
    const { client_id: stranger } = (
      await service.app.inject({ method: 'POST', url: '/oauth/register', payload: metadata })
    ).json();
    const { refresh_token: held } = (await tokensOf(service, stranger, resource)).json();
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING });
    const own = { client_id: clientId, client_secret: clientSecret };
    const refresh = { grant_type: 'refresh_token', refresh_token: 'ref_x' };
    const answers = async () => {
      const bearer = { headers: { authorization: `Bearer ${credential}` } };
      const sent = [
        await sendForm(service, 'token', { ...refresh, ...own }),
        await sendForm(service, 'par', { ...Object.fromEntries(new URL(link).searchParams), ...own }),
        await sendForm(service, 'introspect', { token: 'x' }, bearer),
        await sendForm(service, 'token', { ...refresh, refresh_token: held, client_id: stranger }),
      ];
      const { answer } = await followLink(service, clientId, {});
      return [...sent.map((each) => each.json().error ?? each.statusCode), answer.statusCode];
    };
    expect(await answers()).toEqual(['invalid_grant', 201, 200, 200, 303]);

    await close(acme);

    expect(await answers()).toEqual([...Array(4).fill('invalid_client'), 400]);
  });

  test('needs the account’s own id, and a `full` key', async () => {
    const service = await startApp();
    const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
    const runtime = await acme.asRuntime();

    const foreign = await close(acme, other.developerId);
    const weak = await runtime('POST', '/v1/me/close', { confirm: acme.developerId });

    expect(refusalOf(foreign)).toBe('400 BAD_REQUEST');
    expect(foreign.json().details.fields).toEqual([{ path: 'confirm', problem: 'not_allowed' }]);
    expect(refusalOf(weak)).toBe('403 FORBIDDEN');
    expect((await acme('GET', '/v1/me')).statusCode).toBe(200);
  });

  test('happens once when it is asked for several times at once', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper();

    const answers = await Promise.all(Array.from({ length: 5 }, () => close(acme)));

    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([202, 401, 401, 401, 401]);
    const actions = await actionsIn(service, acme);
    expect(actions.filter((action) => action === 'developer.closed')).toHaveLength(1);
  });

  test('leaves no key, no grant and no agent of calls at the same moment', async () => {
    const service = await startApp();
    for (let round = 0; round < 5; round += 1) {
      const acme = await service.asDeveloper({ mode: 'sandbox' });
      const { agentId } = await registerAgent(acme);
      const codes = [];
      for (let at = 0; at < 4; at += 1) codes.push((await authorize(acme, agentId)).code);

      const [made] = await Promise.all([
        acme('POST', '/v1/keys', { name: 'late' }),
        close(acme),
        ...codes.map((code) => acme('POST', '/v1/token', { code, agentId })),
      ]);

      expect(await activeGrants(service, acme)).toEqual([]);
      if (made.statusCode === 201) {
        const late = service.calling(made.json().apiKey);
        expect((await late('GET', '/v1/me')).statusCode).toBe(401);
      }
    }
  });

  test('voids the mailed link, and lets another account verify the address', async () => {
    const service = await startApp();
    const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
    const email = await verifyAddress(service, acme);
    await acme('POST', '/v1/signup/verify', { email: `new-${email}` });
    const open = tokenIn(service.mails);
    const press = (token: string) =>
      service.app.inject({ method: 'POST', url: `/v1/signup/verify/${token}` });

    await close(acme);
    await other('POST', '/v1/signup/verify', { email });

    expect(refusalOf(await press(open))).toBe('404 NOT_FOUND');
    expect((await press(tokenIn(service.mails))).statusCode).toBe(200);
    expect((await other('GET', '/v1/me')).json()).toMatchObject({ email, emailVerified: true });
  });

  test('is told to each subscriber in one last attempt, after which its endpoint is disabled', async () => {
    const started = await startWithWebhooks();
    const { service, acme, deliver, advance, db } = started;
    const [all, some] = [await startReceiver(), await startReceiver()];
    const down = await startReceiver();
    down.answerStatus(500);
    await registerWebhook(acme, all.url);
    await registerWebhook(acme, some.url, ['grant.*']);
    await registerWebhook(acme, down.url, ['developer.closed']);
    await deliver();
    const before = { all: all.received.length, some: some.received.length };
    await grantTo(acme);
    await deliver();
    expect(some.received.length).toBeGreaterThan(before.some); // the control: both are told of a grant
    const reached = { all: all.received.length, some: some.received.length, down: down.received.length };

    await close(acme);
    await deliver();
    advance(3600);
    await deliver();

    const types = all.received.slice(reached.all).map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(['developer.closed']);
    expect(some.received.length).toBe(reached.some);
    expect(down.received.length).toBe(reached.down + 1);
    const endpoints = db.selectFrom('webhookEndpoints').select('status');
    const statuses = await endpoints.where('developerId', '=', acme.developerId).execute();
    expect(statuses.map(({ status }) => status)).toEqual(['disabled', 'disabled', 'disabled']);
    expect(service.logLines).toEqual([]);
  });
});
