import { beforeAll, describe, expect, test } from 'vitest';
import { authenticator } from '../../../../test/app/authenticator.ts';
import {
  consoleBrowser,
  memberOf,
  registerPasskey,
  showPasskey,
  signInByKey,
} from '../../../../test/app/console.ts';
import { entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { type Call, type Service, startApp } from '../../../../test/app/start-app.ts';
import { execute } from '../../../../test/servers/postgres.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

const asSandbox = () => service.asDeveloper({ mode: 'sandbox' });

describe('signing in by key', () => {
  test('makes the first owner, and shows what the session may do', async () => {
    const acme = await asSandbox();
    const browser = consoleBrowser(service);

    const answer = await signInByKey(browser, acme);

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      sessionId: expect.stringMatching(/^cons_/),
      member: {
        id: expect.stringMatching(/^mem_/),
        memberId: answer.json().member.id,
        email: 'ada@acme.example',
        displayName: 'Ada',
        role: 'owner',
        status: 'active',
        invitedBy: expect.stringMatching(/^developer:key_/),
        createdAt: '2026-01-01T00:00:00.000Z',
        lastSeenAt: null,
        identity: 'passkey',
        protectedUntil: null,
      },
      developer: { developerId: acme.developerId, name: 'Acme', mode: 'sandbox', plan: 'free' },
      csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      capabilities: ['read', 'export', 'operate', 'configure', 'people', 'govern', 'own'],
      passkeyRequired: false,
      openedBy: 'key',
      expiresAt: '2026-01-01T12:00:00.000Z',
      idleExpiresAt: '2026-01-01T01:00:00.000Z',
      steppedUpUntil: null,
    });
    const [cookie] = answer.cookies;
    expect(cookie).toMatchObject({
      ...{ name: '__Host-bh_console', path: '/', httpOnly: true, sameSite: 'Strict', secure: true },
    });
    expect(cookie).not.toHaveProperty('domain');
    expect((await browser.call('GET', '/v1/console/session')).json()).toEqual(answer.json());
  });

  test('leaves an account with members to its members, unless it is a sandbox', async () => {
    const [live, sandbox] = [await service.asDeveloper(), await asSandbox()];
    await memberOf(service, live);
    await signInByKey(consoleBrowser(service), sandbox);
    const bob = { displayName: 'Bob', email: 'bob@acme.example' };

    const refused = await signInByKey(consoleBrowser(service), live, bob);
    const linked = await live('POST', '/v1/console/session/links', {});
    const same = await signInByKey(consoleBrowser(service), sandbox);
    const another = await signInByKey(consoleBrowser(service), sandbox, bob);

    expect([refused.statusCode, linked.statusCode]).toEqual([403, 403]);
    expect(same.json().member.displayName).toBe('Ada');
    expect(another.json().member.displayName).toBe('Bob');
  });

  test('of a live account opens nothing before a passkey is registered', async () => {
    const acme = await service.asDeveloper();
    const browser = consoleBrowser(service);

    const { passkeyRequired, capabilities, expiresAt } = (await signInByKey(browser, acme)).json();
    const read = await browser.call('GET', '/v1/agents');

    expect({ passkeyRequired, capabilities, expiresAt }).toEqual({
      ...{ passkeyRequired: true, capabilities: [], expiresAt: '2026-01-01T00:30:00.000Z' },
    });
    expect(refusalOf(read)).toBe('403 FORBIDDEN');
    expect((await browser.call('GET', '/v1/console/session')).statusCode).toBe(200);
  });

  test('of a live account opens it again for the first owner, until they have a passkey', async () => {
    const acme = await service.asDeveloper();
    const first = (await signInByKey(consoleBrowser(service), acme)).json();
    service.advance(1801);
    const browser = consoleBrowser(service);

    const again = await signInByKey(browser, acme, { displayName: 'Bob', email: 'bob@acme.example' });
    await registerPasskey(browser);

    expect(again.json()).toMatchObject({
      passkeyRequired: true,
      member: { id: first.member.id, displayName: 'Ada' },
    });
    expect((await signInByKey(consoleBrowser(service), acme)).statusCode).toBe(403);
  });

  test('takes a full key alone, and makes one owner of two first sign-ins at once', async () => {
    const acme = await asSandbox();
    const runtime = await acme.asRuntime();

    const refused = await signInByKey(consoleBrowser(service), { ...acme, apiKey: runtime.apiKey } as never);
    const both = await Promise.all([1, 2].map(() => signInByKey(consoleBrowser(service), acme)));

    expect(refused.statusCode).toBe(403);
    expect(both.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(new Set(both.map((answer) => answer.json().member.id)).size).toBe(1);
  });
});

describe('a link', () => {
  const linkOf = async (acme: Call, body = {}) => {
    const answer = await acme('POST', '/v1/console/session/links', body);
    expect(answer.statusCode).toBe(201);
    const { url, expiresAt } = answer.json();
    expect(url).toMatch(/^https:\/\/auth\.test\/console#link=[\w-]{43}$/);
    expect(expiresAt).toBe(new Date(service.clock().getTime() + 600_000).toISOString());
    return { link: url.slice(-43) };
  };
  const open = (body: object) => consoleBrowser(service).call('POST', '/v1/console/session/link', { body });

  test('opens the console once, as the person it names', async () => {
    const acme = await asSandbox();
    const link = await linkOf(acme, { displayName: 'Eve', email: 'Eve@acme.example' });

    const answers = await Promise.all([open(link), open(link)]);

    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 404]);
    const opened = answers.find(({ statusCode }) => statusCode === 200)?.json();
    expect(opened.member).toMatchObject({ displayName: 'Eve', email: 'eve@acme.example', role: 'owner' });
    expect(opened.openedBy).toBe('link');
    expect((await open(link)).statusCode).toBe(404);
  });

  test('without a name opens the console as the first owner', async () => {
    const acme = await asSandbox();

    const first = (await open(await linkOf(acme))).json();
    const second = (await open(await linkOf(acme))).json();

    expect(first.member).toMatchObject({ displayName: 'Owner', email: null });
    expect(second.member.id).toBe(first.member.id);
  });

  test('ends after ten minutes', async () => {
    const acme = await asSandbox();
    const [early, late] = [await linkOf(acme), await linkOf(acme)];

    service.advance(599);
    expect((await open(early)).statusCode).toBe(200);
    service.advance(1);
    expect((await open(late)).statusCode).toBe(404);
  });

  test('ends with the key that made it, and so does its session', async () => {
    const acme = await asSandbox();
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'other' })).json();
    const other = acme.withToken(apiKey);
    const browser = consoleBrowser(service);
    await browser.call('POST', '/v1/console/session/link', { body: await linkOf(other) });
    const unused = await linkOf(other);
    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(200);

    await acme('DELETE', `/v1/keys/${keyId}`);

    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(401);
    expect((await open(unused)).statusCode).toBe(404);
  });

  test.each(['', 'x', 'a'.repeat(42), 'a'.repeat(43)])('that nobody made is refused: %s', async (link) => {
    expect((await open({ link })).statusCode).toBe(link.length === 43 ? 404 : 400);
  });
});

describe('a session', () => {
  test('calls the API as its member, and the audit log says so', async () => {
    const acme = await asSandbox();
    const ada = await memberOf(service, acme);

    const made = await ada.call('POST', '/v1/agents', { body: { name: 'Bot', scopes: ['calendar:read'] } });

    expect(made.statusCode).toBe(201);
    const [entry] = await entriesOf(acme, 'agent.created');
    expect(entry?.metadata).toMatchObject({ actor: `member:${ada.memberId}`, sessionId: ada.sessionId });
    expect((await ada.call('GET', '/v1/agents')).json().agents).toHaveLength(1);
  });

  test('sees nothing of another account', async () => {
    const [acme, other] = [await asSandbox(), await asSandbox()];
    const ada = await memberOf(service, acme);
    const [own, foreign] = [await registerAgent(acme), await registerAgent(other)];

    expect((await ada.call('GET', `/v1/agents/${foreign.agentId}`)).statusCode).toBe(404);
    expect((await ada.call('GET', `/v1/agents/${own.agentId}`)).statusCode).toBe(200);
  });

  test('ends an hour after its last use, which a request in the background is not', async () => {
    const ada = await memberOf(service, await asSandbox());
    const ask = (headers = {}) => ada.call('GET', '/v1/agents', { headers });

    service.advance(3500);
    expect((await ask()).statusCode).toBe(200);
    service.advance(3500);
    expect((await ask({ 'behest-background': '1' })).statusCode).toBe(200);
    service.advance(101);
    expect((await ask({ 'behest-background': '1' })).statusCode).toBe(401);
  });

  test('ends after twelve hours in any case', async () => {
    const ada = await memberOf(service, await asSandbox());
    const statuses: number[] = [];

    for (let hour = 0; hour < 24; hour += 1) {
      service.advance(1800);
      statuses.push((await ada.call('GET', '/v1/console/session')).statusCode);
    }

    expect(statuses.indexOf(401)).toBe(23);
  });

  test('ends with the key that opened it', async () => {
    const acme = await asSandbox();
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'other' })).json();
    const browser = consoleBrowser(service);
    await signInByKey(browser, { ...acme, apiKey } as never);
    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(200);

    await acme('DELETE', `/v1/keys/${keyId}`);

    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(401);
  });

  test('ends at sign-out, with everything that the browser kept', async () => {
    const acme = await asSandbox();
    const ada = await memberOf(service, acme);
    const cookie = ada.headers();

    const answer = await ada.call('DELETE', '/v1/console/session');

    expect(answer.statusCode).toBe(204);
    expect(answer.headers['clear-site-data']).toBe('"cache", "storage"');
    expect((await ada.call('GET', '/v1/console/session', { headers: cookie })).statusCode).toBe(401);
    const [entry] = await entriesOf(acme, 'console.session_ended');
    expect(entry?.metadata).toMatchObject({ memberId: ada.memberId, reason: 'signed_out' });
  });

  test('ends when the same browser signs in again', async () => {
    const acme = await asSandbox();
    const ada = await memberOf(service, acme);
    const former = ada.headers();

    await signInByKey(ada, acme);

    expect((await ada.call('GET', '/v1/agents', { headers: former })).statusCode).toBe(401);
    expect((await ada.call('GET', '/v1/agents')).statusCode).toBe(200);
  });

  test('gives no stored answer to a member who may do it no more, and the same one again when they may', async () => {
    const acme = await service.asDeveloper();
    const ada = await memberOf(service, acme);
    const change = () =>
      ada.call('PATCH', '/v1/me', { body: { capsMode: 'warn' }, headers: { 'idempotency-key': 'one' } });
    const policy = () =>
      ada.call('POST', '/v1/policies', {
        body: { name: 'Refunds', effect: 'allow', scopes: ['payments:refund'] },
        headers: { 'idempotency-key': 'two' },
      });
    const [first, made] = [await change(), await policy()];

    service.advance(601);
    const [tooLate, tooLatePolicy] = [await change(), await policy()];
    const shown = { device: ada.shown?.device ?? authenticator(), handle: ada.shown?.handle ?? '' };
    await showPasskey(ada, shown, 'session/step-up');
    const again = await change();
    await execute(service.databaseUrl, `update members set role = 'admin' where id = '${ada.memberId}'`);
    const demoted = await change();

    expect([first.statusCode, made.statusCode]).toEqual([200, 201]);
    expect([tooLate, tooLatePolicy].map(refusalOf)).toEqual(['403 STEP_UP_REQUIRED', '403 STEP_UP_REQUIRED']);
    expect([again.json(), again.headers['idempotency-replayed']]).toEqual([first.json(), 'true']);
    expect(refusalOf(demoted)).toBe('403 FORBIDDEN');
  });

  test('keeps the answers of its requests apart from those of the key', async () => {
    const acme = await asSandbox();
    const ada = await memberOf(service, acme);
    const body = { name: 'Bot', scopes: ['calendar:read'] };
    const headers = { 'idempotency-key': 'one' };

    const first = await ada.call('POST', '/v1/agents', { body, headers });
    const again = await ada.call('POST', '/v1/agents', { body, headers });
    const ofKey = await service.app.inject({
      ...{ method: 'POST', url: '/v1/agents', body },
      headers: { ...headers, authorization: `Bearer ${acme.apiKey}` },
    });

    expect(again.json()).toEqual(first.json());
    expect(ofKey.json().id).not.toBe(first.json().id);
  });
});
