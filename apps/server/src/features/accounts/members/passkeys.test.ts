import { beforeAll, describe, expect, test } from 'vitest';
import {
  consoleBrowser,
  memberOf,
  registerPasskey,
  showPasskey,
  signInByKey,
} from '../../../../test/app/console.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

const asSandbox = () => service.asDeveloper({ mode: 'sandbox' });
type Member = Awaited<ReturnType<typeof memberOf>>;
const shownBy = ({ shown }: Member) => shown ?? expect.unreachable('no passkey');
const makeKey = (browser: Pick<Member, 'call'>) =>
  browser.call('POST', '/v1/keys', { body: { name: 'worker', role: 'runtime' } });

describe('a passkey of a member', () => {
  test('opens the console of a live account, which its key no longer does', async () => {
    const acme = await service.asDeveloper();
    const browser = consoleBrowser(service);
    await signInByKey(browser, acme);
    const before = browser.headers();

    const { answer, device, handle } = await registerPasskey(browser);

    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toEqual({
      passkey: {
        ...{
          id: expect.stringMatching(/^cred_/),
          status: 'active',
          deviceName: null,
          transports: ['internal'],
        },
        ...{ createdAt: '2026-01-01T00:00:00.000Z', lastUsedAt: '2026-01-01T00:00:00.000Z' },
      },
      session: expect.objectContaining({
        ...{ passkeyRequired: false, openedBy: 'passkey', expiresAt: '2026-01-01T12:00:00.000Z' },
        steppedUpUntil: '2026-01-01T00:10:00.000Z',
      }),
      recoveryCodes: expect.any(Array),
    });
    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(200);
    expect((await browser.call('GET', '/v1/agents', { headers: before })).statusCode).toBe(401);
    const elsewhere = consoleBrowser(service);
    const opened = await showPasskey(elsewhere, { device, handle }, 'session/passkey');
    expect(opened.json()).toMatchObject({ openedBy: 'passkey', member: { displayName: 'Ada' } });
    expect((await elsewhere.call('GET', '/v1/agents')).statusCode).toBe(200);
    const [entry] = await entriesOf(acme, 'console.signed_in');
    expect(entry?.metadata).toMatchObject({ openedBy: 'passkey' });
  });

  test('keeps its session when the key of the first sign-in ends', async () => {
    const acme = await service.asDeveloper();
    const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'other' })).json();
    const browser = consoleBrowser(service);
    await signInByKey(browser, { ...acme, apiKey } as never);
    await registerPasskey(browser);

    await acme('DELETE', `/v1/keys/${keyId}`);

    expect((await browser.call('GET', '/v1/agents')).statusCode).toBe(200);
  });

  test.each([
    ['of a principal or a stranger', { userHandle: 'AAAA' }],
    ['without a verified person', { flags: 1 }],
    ['of another page', { origin: 'https://evil.example' }],
    ['of another service', { rpId: 'evil.example' }],
    ['over another question', { challenge: 'AAAA' }],
    ['in a frame', { crossOrigin: true }],
  ])('opens nothing: %s', async (_, fault) => {
    const ada = await memberOf(service, await service.asDeveloper());
    const elsewhere = consoleBrowser(service);

    const refused = await showPasskey(elsewhere, shownBy(ada), 'session/passkey', fault);

    expect([400, 401]).toContain(refused.statusCode);
    expect((await elsewhere.call('GET', '/v1/agents')).statusCode).toBe(401);
    expect((await showPasskey(elsewhere, shownBy(ada), 'session/passkey')).statusCode).toBe(200);
  });

  test('that may be a copy opens nothing any more, and the log says so', async () => {
    const acme = await service.asDeveloper();
    const ada = await memberOf(service, acme);
    const open = (counter: number) =>
      showPasskey(consoleBrowser(service), shownBy(ada), 'session/passkey', { counter });

    expect((await open(7)).statusCode).toBe(200);
    expect(refusalOf(await open(6))).toMatch(/WEBAUTHN_CLONE_SUSPECTED/);
    expect((await open(8)).statusCode).toBe(401);
    expect(await entriesOf(acme, 'member.clone_suspected')).toHaveLength(1);
    expect(await entriesOf(acme, 'console.sign_in_failed')).toHaveLength(1);
  });

  test('can be joined by another one after a step-up, and be removed, but for the last', async () => {
    const ada = await memberOf(service, await service.asDeveloper());
    const elsewhere = consoleBrowser(service);
    await showPasskey(elsewhere, shownBy(ada), 'session/passkey');
    service.advance(601);
    expect(refusalOf((await registerPasskey(ada)).answer)).toBe('403 STEP_UP_REQUIRED');
    await showPasskey(ada, shownBy(ada), 'session/step-up');

    const { answer } = await registerPasskey(ada);
    const list = async () => (await ada.call('GET', '/v1/console/passkeys')).json().passkeys;
    const [second, first] = await list();
    const removed = await ada.call('DELETE', `/v1/console/passkeys/${first.id}`);

    expect(answer.json()).toMatchObject({ session: null, passkey: { id: second.id } });
    expect(removed.statusCode).toBe(204);
    expect(await list()).toEqual([second]);
    expect((await elsewhere.call('GET', '/v1/agents')).statusCode).toBe(401);
    expect(refusalOf(await ada.call('DELETE', `/v1/console/passkeys/${second.id}`))).toBe('409 CONFLICT');
    expect((await ada.call('DELETE', `/v1/console/passkeys/${first.id}`)).statusCode).toBe(404);
  });
});

describe('a step-up', () => {
  test('is asked for where authority is given, and lasts ten minutes', async () => {
    const ada = await memberOf(service, await service.asDeveloper());
    expect((await makeKey(ada)).statusCode).toBe(201);
    service.advance(600);

    const refused = await makeKey(ada);
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toMatchObject({
      ...{ code: 'STEP_UP_REQUIRED', details: { maxAgeSeconds: 600, methods: ['passkey'] } },
    });
    const before = ada.headers();
    const answer = await showPasskey(ada, shownBy(ada), 'session/step-up');
    const until = new Date(service.clock().getTime() + 600_000).toISOString();
    expect([answer.statusCode, answer.json().steppedUpUntil]).toEqual([200, until]);

    expect((await makeKey(ada)).statusCode).toBe(201);
    expect((await ada.call('GET', '/v1/agents', { headers: before })).statusCode).toBe(401);
    service.advance(599);
    expect((await makeKey(ada)).statusCode).toBe(201);
    service.advance(1);
    expect(refusalOf(await makeKey(ada))).toBe('403 STEP_UP_REQUIRED');
  });

  test('lets the same request through that was refused before, with its key', async () => {
    const ada = await memberOf(service, await service.asDeveloper());
    service.advance(600);
    const request = { body: { capsMode: 'warn' }, headers: { 'idempotency-key': 'one' } };

    const refused = await ada.call('PATCH', '/v1/me', request);
    await showPasskey(ada, shownBy(ada), 'session/step-up');
    const done = await ada.call('PATCH', '/v1/me', request);

    expect(refusalOf(refused)).toBe('403 STEP_UP_REQUIRED');
    expect(done.json()).toMatchObject({ capsMode: 'warn' });
  });

  test('is asked for by what loosens, and by nothing that cuts authority', async () => {
    const acme = await service.asDeveloper();
    const ada = await memberOf(service, acme);
    const { agentId } = (await ada.call('POST', '/v1/agents', { body: { name: 'Bot' } })).json();
    const { keyId } = (await makeKey(ada)).json();
    const manifest = (permission: string) => ({ connector: 'crm', tools: { find: permission } });
    const put = (permission: string) => ada.call('PUT', '/v1/manifests/crm', { body: manifest(permission) });
    const policy = (effect: string) => ({ effect, scopes: ['crm:read'], name: effect });
    const make = (effect: string) => ada.call('POST', '/v1/policies', { body: policy(effect) });
    await put('write');
    const allow = (await make('allow')).json().id;
    const deny = (await make('deny')).json().id;
    service.advance(600);

    const cuts = [
      await ada.call('DELETE', `/v1/policies/${allow}`),
      await make('deny'),
      await put('read'),
      await ada.call('POST', '/v1/me/stop', { body: {} }),
      await ada.call('DELETE', `/v1/agents/${agentId}`),
      await ada.call('DELETE', `/v1/keys/${keyId}`),
      await ada.call('DELETE', '/v1/manifests/crm'),
    ];
    const loosens = [
      await ada.call('DELETE', `/v1/policies/${deny}`),
      await make('allow'),
      await ada.call('PATCH', `/v1/policies/${deny}`, { body: { effect: 'allow' } }),
      await ada.call('PATCH', '/v1/me', { body: { consentMode: 'passkey' } }),
      await ada.call('PATCH', '/v1/me', { body: { auditRetentionDays: 30 } }),
      await ada.call('PATCH', `/v1/agents/${agentId}`, { body: { scopes: ['email:send'] } }),
      await ada.call('POST', '/v1/scim/tokens', { body: { name: 'okta' } }),
      await ada.call('POST', '/v1/webhooks', { body: { url: 'https://app.example/hook', events: ['*'] } }),
    ];

    expect(cuts.filter(({ statusCode }) => statusCode >= 300).map(({ body }) => body)).toEqual([]);
    expect(loosens.map(refusalOf)).toEqual(loosens.map(() => '403 STEP_UP_REQUIRED'));
    await showPasskey(ada, shownBy(ada), 'session/step-up');
    expect((await ada.call('DELETE', `/v1/policies/${deny}`)).statusCode).toBe(204);
  });

  test.each([
    ...['policyBundles.activate', 'policyBundles.sync', 'oauth.putClient', 'workloads.add'],
    ...['anomalies.createChannel', 'anomalies.changeChannel', 'decisions.addChannel', 'developers.resume'],
    ...['assertions.liftStop', 'approvers.setAbsence'],
  ])('is asked for by %s', async (operationId) => {
    const ada = await memberOf(service, await service.asDeveloper());
    const route = service.routes.find(({ schema }) => schema?.operationId === operationId);
    const url = String(route?.url).replaceAll(/:\w+/g, 'x');
    const method = String(route?.method) as 'POST' | 'PUT' | 'PATCH';
    service.advance(600);

    expect(refusalOf(await ada.call(method, url, { body: {} }))).toBe('403 STEP_UP_REQUIRED');
    await showPasskey(ada, shownBy(ada), 'session/step-up');
    expect((await ada.call(method, url, { body: {} })).body).not.toContain('STEP_UP_REQUIRED'); // the control
  });

  test('is asked for when a manifest gets wider', async () => {
    const ada = await memberOf(service, await service.asDeveloper());
    const put = (permission: string) =>
      ada.call('PUT', '/v1/manifests/crm', { body: { connector: 'crm', tools: { find: permission } } });
    await put('read');
    service.advance(600);

    expect(refusalOf(await put('write'))).toBe('403 STEP_UP_REQUIRED');
    expect((await ada.call('GET', '/v1/manifests/crm')).json().manifest.tools).toEqual({ find: 'read' });
  });

  test('takes no passkey of another member, and no answer that another session asked for', async () => {
    const acme = await asSandbox();
    const [ada, bob] = [consoleBrowser(service), consoleBrowser(service)];
    await signInByKey(ada, acme);
    await signInByKey(bob, acme, { displayName: 'Bob', email: 'bob@acme.example' });
    const [ofAda, ofBob] = [await registerPasskey(ada), await registerPasskey(bob)];
    const { challengeId, publicKey } = (
      await ada.call('POST', '/v1/console/session/step-up/options', { body: {} })
    ).json();
    const response = ofBob.device.get(publicKey, { userHandle: ofBob.handle });

    const foreign = await showPasskey(ada, ofBob, 'session/step-up');
    const carried = await bob.call('POST', '/v1/console/session/step-up/verify', {
      body: { challengeId, response },
    });

    expect(refusalOf(foreign)).toMatch(/WEBAUTHN_VERIFICATION_FAILED/);
    expect(refusalOf(carried)).toMatch(/CHALLENGE_INVALID/);
    expect(refusalOf(await makeKey(ada))).toBe('403 STEP_UP_REQUIRED');
    expect((await showPasskey(ada, ofAda, 'session/step-up')).statusCode).toBe(200);
    expect((await makeKey(ada)).statusCode).toBe(201);
  });

  test('is asked for in a sandbox only of a member who has a passkey', async () => {
    const ada = await memberOf(service, await asSandbox());

    expect((await makeKey(ada)).statusCode).toBe(201);
    expect((await registerPasskey(ada)).answer.statusCode).toBe(201);
    expect(refusalOf(await makeKey(ada))).toBe('403 STEP_UP_REQUIRED');
  });
});
