import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize, pkce, registerAgent } from '../../../../test/app/flow.ts';
import { changesIn, personOn, startAsking } from '../../../../test/app/person.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ env: { PRINCIPAL_PROOF: 'optional' }, isShared: true });
});
afterAll(() => service.stop());

const READ = ['calendar:read'];

describe('the last consent', () => {
  test('O30 is that of this person to this agent: others are neither shown nor counted', async () => {
    const { acme, open, consent } = await startAsking(service);
    const { agentId: other } = await registerAgent(acme, 'Helper');
    await consent({ scopes: READ, principalId: 'user_43' });
    await consent({ scopes: READ, agentId: other });

    const first = await open({ scopes: READ });
    const { grantId } = await consent({ scopes: READ });
    const next = await open({ scopes: READ });

    expect(first.shown.previous).toBeNull();
    expect(next.shown.previous).toMatchObject({ grantId, otherActive: 0 });
  });

  test('O30 is hidden from a person whom only a link proves, though they have decided before', async () => {
    const { acme, agentId, vouch, open, consent } = await startAsking(service);
    await consent({ scopes: READ });
    await acme('PATCH', '/v1/me', { consentKeys: [] });
    const { consentUrl } = await authorize(acme, agentId, { scopes: READ });

    const { request } = (await personOn(service).open(String(consentUrl))).json();
    await vouch();
    const { shown } = await open({ scopes: READ });

    expect(request.verification).toMatchObject({ mode: 'link', satisfied: true });
    expect([request.previous, request.diff]).toEqual([null, null]);
    expect(shown.previous).not.toBeNull();
  });

  test('is no grant of a link, of a policy or of a delegation', async () => {
    const { acme, agentId, person, vouch, open, consent } = await startAsking(service);
    await acme('PATCH', '/v1/me', { consentKeys: [] });
    const linked = await authorize(acme, agentId, { scopes: READ });
    await person.open(String(linked.consentUrl));
    const { code: ofLink } = (await person.approve(String(linked.id))).json();
    await vouch();
    await acme('PATCH', '/v1/me', { policyAutoApproval: true });
    await acme('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: READ });
    const { code: ofPolicy } = await authorize(acme, agentId, { scopes: READ });
    const { agentId: parent } = await registerAgent(acme, 'Helper');
    const { grantToken } = await consent({ scopes: ['mail:read'], agentId: parent });
    const made = [
      await acme('POST', '/v1/token', { code: ofLink, agentId }),
      await acme('POST', '/v1/token', { code: ofPolicy, agentId }),
      await acme('POST', '/v1/grants/delegate', {
        ...{ parentGrantToken: grantToken, subAgentId: agentId, scopes: ['mail:read'] },
      }),
    ];

    const first = await open({ scopes: ['mail:read'] });
    const { grantId } = await consent({ scopes: ['mail:read'] });
    const next = await open({ scopes: ['mail:read'] });

    expect(made.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201]);
    expect(first.shown.previous).toBeNull();
    // Those of the link and of the policy hold beside it; the delegated one is a part of the helper's.
    expect(next.shown.previous).toMatchObject({ grantId, otherActive: 2 });
  });

  test('in the sandbox is one that was decided on the page, and none that was approved by itself', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { agentId } = await registerAgent(acme);
    const person = personOn(service);
    const open = async () => {
      const { id, consentUrl } = await authorize(acme, agentId, { scopes: READ, autoApprove: false });
      const { request } = (await person.open(String(consentUrl))).json();
      return { id: String(id), previous: request.previous };
    };
    const { code } = await authorize(acme, agentId, { scopes: READ });
    await acme('POST', '/v1/token', { code, agentId });

    const first = await open();
    const { code: decided } = (await person.approve(first.id)).json();
    const { grantId } = (await acme('POST', '/v1/token', { code: decided, agentId })).json();

    expect(first.previous).toBeNull();
    expect((await open()).previous).toMatchObject({ grantId });
  });

  test('is the newest that holds; where none holds, the newest, which is said to have run out', async () => {
    const { open, consent } = await startAsking(service);
    const { grantId: long } = await consent({ scopes: READ, expiresIn: '30d' });
    const { grantId: short } = await consent({ scopes: ['mail:read'], expiresIn: '1h' });
    const shown = async () => (await open({ scopes: READ })).shown.previous;

    const both = await shown();
    service.advance(3600);
    const one = await shown();
    service.advance(30 * 86_400);
    const none = await shown();

    expect(both).toMatchObject({ grantId: short, status: 'active', otherActive: 1, scopes: ['mail:read'] });
    expect(one).toMatchObject({ grantId: long, status: 'active', otherActive: 0 });
    expect(none).toMatchObject({ grantId: short, status: 'expired', otherActive: 0 });
  });

  test('is what the person left of its request, and not what was asked', async () => {
    const { open, consent } = await startAsking(service);
    const request = { scopes: [...READ, 'mail:read'], expiresIn: '24h' };
    await consent(request, { approved: { scopes: READ, expiresIn: '1h' } });

    const { shown } = await open(request);

    expect(shown.previous.scopes).toEqual(READ);
    expect(changesIn(shown)).toEqual(['scope new mail:read', 'lifetime wider']);
  });

  test('is compared in everything that a request asks for, and with the key of the agent', async () => {
    const jwk = (x: string) => ({ kty: 'OKP', crv: 'Ed25519', x });
    const { acme, agentId, open, consent } = await startAsking(service, {
      publicKeyJwk: jwk('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
    });
    const [here, there] = ['https://app.acme.test/back', 'com.acme.app:/back'];
    await acme('PATCH', '/v1/me', { redirectUris: [here, there] });
    const entry = { type: 'urn:service:tools:v1', connector: 'stripe' };
    const { codeVerifier, asked } = pkce();
    const first = {
      ...{ scopes: ['tool:stripe:write'], purpose: 'payments.payout', audience: 'https://a.test' },
      ...{ budget: { amount: '10', currency: 'USD' }, redirectUri: here, ...asked },
      authorizationDetails: [
        {
          ...{ ...entry, tools: ['refund', 'payout'], data_region: 'eu', caps: { refund: { per_day: 3 } } },
          arguments: { refund: { '/amount': { max: '5' } } },
        },
      ],
    };
    await consent(first, { exchanged: { redirectUri: here, codeVerifier } });
    const same = await open(first);
    await acme('PATCH', `/v1/agents/${agentId}`, {
      publicKeyJwk: jwk('O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik'),
    });

    const { shown } = await open({
      ...{ scopes: ['tool:stripe:write'], audience: 'https://b.test', redirectUri: there, ...asked },
      ...{ budget: { amount: '20', currency: 'USD' }, expiresIn: '1h' },
      authorizationDetails: [
        {
          ...{ ...entry, tools: ['refund', 'list'], data_region: 'us', caps: { refund: { per_day: 4 } } },
          arguments: { refund: { '/amount': { max: '6' } } },
        },
      ],
    });

    expect(same.shown.diff.verdict).toBe('same');
    expect(changesIn(shown)).toEqual([
      ...['tools wider list', 'caps wider refund per_day', 'arguments wider refund', 'purpose wider'],
      ...['budget wider', 'data_region changed', 'audience changed', 'redirectHost changed'],
      ...['agent changed key', 'tools narrower', 'lifetime narrower'],
    ]);
    const place = shown.diff.items.find((item: { dimension: string }) => item.dimension === 'redirectHost');
    expect(place).toMatchObject({ before: 'app.acme.test', after: 'com.acme.app' });
  });
});
