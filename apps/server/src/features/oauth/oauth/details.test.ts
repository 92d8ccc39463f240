import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partsOf } from '../../../../test/app/flow.ts';
import { newClient } from '../../../../test/app/oauth.ts';
import { personOn } from '../../../../test/app/person.ts';
import { followLink, LISTENING, newServer, sendForm } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const MANIFEST = {
  $schema: 'https://behest.dev/schemas/manifest-0.6.json',
  connector: 'crm',
  tools: { lookup: { permission: 'read' }, update: { permission: 'write' }, drop: { permission: 'delete' } },
};
const ENTRY = { type: 'urn:service:tools:v1', connector: 'crm' };
const detailsOf = (...entries: object[]) => ({ scope: '', authorization_details: JSON.stringify(entries) });

let service: Service;
beforeAll(async () => {
  service = await startApp({ env: { RATE_LIMIT_OAUTH_AUTHORIZE: '1000' }, isShared: true });
});
afterAll(() => service.stop());

async function startClient() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const scopeOf = async (parameters: Record<string, string>) => {
    const { back, verifier } = await followLink(service, clientId, parameters);
    const refused = back?.searchParams.get('error');
    if (refused) return refused;
    const answer = await sendForm(service, 'token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: back?.searchParams.get('code') ?? '',
      redirect_uri: LISTENING,
      code_verifier: verifier,
    });
    const { payload } = partsOf(answer.json().access_token);
    expect(payload.authorization_details).toEqual(answer.json().authorization_details);
    return payload.scope;
  };
  return { acme, clientId, scopeOf };
}

describe('14 §3 details without a scope for their connector', () => {
  test('derive the lowest permission where no manifest says what the tools demand', async () => {
    const { scopeOf } = await startClient();

    expect(await scopeOf(detailsOf(ENTRY, { ...ENTRY, connector: 'mail', tools: ['send'] }))).toBe(
      'tool:crm:read tool:mail:read',
    );
  });

  test('derive the highest permission that a listed tool demands', async () => {
    const { acme, scopeOf } = await startClient();
    expect((await acme('PUT', '/v1/manifests/crm', MANIFEST)).statusCode).toBe(201);

    expect(await scopeOf(detailsOf({ ...ENTRY, tools: ['lookup'] }))).toBe('tool:crm:read');
    expect(await scopeOf(detailsOf({ ...ENTRY, tools: ['lookup', 'update'] }))).toBe('tool:crm:write');
    expect(await scopeOf(detailsOf({ ...ENTRY, tools: ['dr*'] }))).toBe('tool:crm:delete');
    expect(await scopeOf(detailsOf(ENTRY))).toBe('tool:crm:read');
    expect(await scopeOf(detailsOf({ ...ENTRY, tools: ['unknown'] }))).toBe('tool:crm:read');
  });

  test('add to the scopes that are sent, and never to a scope that reaches the connector', async () => {
    const { scopeOf } = await startClient();
    const mail = { ...ENTRY, connector: 'mail' };

    expect(await scopeOf({ ...detailsOf(ENTRY, mail), scope: 'calendar:read tool:crm:write' })).toBe(
      'calendar:read tool:crm:write tool:mail:read',
    );
    expect(await scopeOf({ ...detailsOf(ENTRY, mail), scope: 'tool:*:read' })).toBe('tool:*:read');
  });

  test('take the place of the scopes of the resource', async () => {
    const { acme, scopeOf } = await startClient();
    const { resource } = await newServer(acme, { scopes: ['calendar:read'] });

    expect(await scopeOf({ ...detailsOf(ENTRY), resource })).toBe('tool:crm:read');
    expect(await scopeOf({ scope: '', resource })).toBe('calendar:read');
  });

  test('are judged with what they add: scopes of the agent bound them', async () => {
    const { acme, clientId, scopeOf } = await startClient();
    await acme('PATCH', '/v1/me', { enforceAgentScopes: true });
    await acme('PATCH', `/v1/agents/${clientId}`, { scopes: ['tool:mail:read'] });

    expect(await scopeOf(detailsOf(ENTRY))).toBe('invalid_scope');
    expect(await scopeOf(detailsOf({ ...ENTRY, connector: 'mail' }))).toBe('tool:mail:read');
  });

  test('have to be well formed', async () => {
    const { scopeOf } = await startClient();

    for (const wrong of [
      {},
      { ...ENTRY, connector: 'a b' },
      { ...ENTRY, type: 'urn:other' },
      { ...ENTRY, x: 1 },
    ]) {
      expect(await scopeOf(detailsOf(wrong))).toBe('invalid_authorization_details');
    }
    expect(await scopeOf({ scope: '' })).toBe('invalid_scope');
  });

  test('are shown to the person with the scopes that they add', async () => {
    const { clientId } = await startClient();
    const person = personOn(service);
    const { back } = await followLink(service, clientId, { ...detailsOf(ENTRY), prompt: 'consent' });

    const { request } = (await person.open(back?.href ?? '')).json();

    expect(request.scopes).toEqual(['tool:crm:read']);
    expect(request.authorizationDetails).toEqual([ENTRY]);
  });

  test('work by a pushed request and by a device too', async () => {
    const { clientId } = await startClient();
    const form = { client_id: clientId, ...detailsOf(ENTRY) };

    expect((await sendForm(service, 'device_authorization', form)).statusCode).toBe(200);
    const without = await sendForm(service, 'device_authorization', { client_id: clientId, scope: '' });
    expect(without.json().error).toBe('invalid_scope');
    const pushed = await sendForm(service, 'par', {
      ...form,
      response_type: 'code',
      redirect_uri: LISTENING,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    expect(pushed.statusCode).toBe(201);
  });
});
