import { describe, expect, test } from 'vitest';
import { actionsOf, authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { changesIn, personOn, startAsking } from '../../../../test/app/person.ts';
import { startApp } from '../../../../test/app/start-app.ts';

describe('the difference to the last consent', () => {
  test('is shown to the person who is proved: what is new, and what is gone', async () => {
    const { open, consent } = await startAsking();
    const first = await open({ scopes: ['calendar:read'] });
    const { grantId } = await consent({ scopes: ['calendar:read', 'mail:read'], expiresIn: '1h' });

    const { shown } = await open({ scopes: ['calendar:read', 'mail:*', 'files:read'], expiresIn: '2h' });

    expect([first.shown.previous, first.shown.diff]).toEqual([null, null]);
    expect(shown.previous).toEqual({
      grantId,
      issuedAt: expect.any(String),
      status: 'active',
      expiresAt: expect.any(String),
      scopes: ['calendar:read', 'mail:read'],
      otherActive: 0,
    });
    expect(shown.diff).toMatchObject({
      verdict: 'wider',
      counts: { new: 1, wider: 2, changed: 0, narrower: 0, removed: 0 },
    });
    expect(changesIn(shown)).toEqual(['scope new files:read', 'scope wider mail:*', 'lifetime wider']);
    expect(shown.diff.items[0]).toEqual({
      ...{ dimension: 'scope', change: 'new', key: 'files:read', before: null, after: 'files:read' },
      text: '“Read your files” is new.',
    });
  });

  test('O30 is hidden from the holder of the link alone, who learns nothing of the last consent', async () => {
    const { service, acme, agentId, consent } = await startAsking();
    await consent();
    const { consentUrl } = await authorize(acme, agentId);

    const { request } = (await personOn(service).open(String(consentUrl))).json();

    expect(request.verification.satisfied).toBe(false);
    expect([request.previous, request.diff]).toEqual([null, null]);
  });

  test('O30 is hidden where nobody is proved, and a grant of a link is no last consent', async () => {
    const service = await startApp({ env: { PRINCIPAL_PROOF: 'optional' } });
    const acme = await service.asDeveloper({ mode: 'live' });
    const { agentId } = await registerAgent(acme);
    const person = personOn(service);
    const asked = await authorize(acme, agentId);
    await person.open(String(asked.consentUrl));
    const { code } = (await person.approve(String(asked.id))).json();
    await acme('POST', '/v1/token', { code, agentId });

    const again = await authorize(acme, agentId);
    const { request } = (await person.open(String(again.consentUrl))).json();

    expect([request.verification.mode, request.previous]).toEqual(['link', null]);
  });

  test('is “same” for the same request, “narrower” for less of it, and counts from the newest active grant', async () => {
    const { acme, open, consent } = await startAsking();
    const scopes = ['calendar:read', 'mail:read'];
    const { grantId } = await consent({ scopes });
    const ended = await consent({ scopes: ['files:read'] });
    await acme('DELETE', `/v1/grants/${ended.grantId}`);

    const [same, less] = [await open({ scopes }), await open({ scopes: ['mail:read'] })];

    expect(same.shown.previous).toMatchObject({ grantId, status: 'active', otherActive: 0 });
    expect([same.shown.diff.verdict, changesIn(same.shown)]).toEqual(['same', []]);
    expect([less.shown.diff.verdict, changesIn(less.shown)]).toEqual([
      'narrower',
      ['scope removed calendar:read'],
    ]);
  });

  test('O30 counts from the grant that is to be replaced, and says to its person alone that it ends', async () => {
    const { service, acme, agentId, open, consent } = await startAsking();
    const old = await consent({ scopes: ['calendar:read'] });
    const newer = await consent({ scopes: ['mail:read'] });
    const asked = { scopes: ['calendar:read'], replacesGrantId: old.grantId };

    const { consentUrl } = await authorize(acme, agentId, asked);
    const stranger = (await personOn(service).open(String(consentUrl))).json().request;
    const [{ shown }, plain] = [await open(asked), await open({ scopes: ['calendar:read'] })];

    expect([stranger.previous, stranger.replacesGrantId]).toEqual([null, null]);
    expect(shown).toMatchObject({ replacesGrantId: old.grantId, previous: { grantId: old.grantId } });
    expect(shown.diff.verdict).toBe('same');
    expect(plain.shown).toMatchObject({ replacesGrantId: null, previous: { grantId: newer.grantId } });
  });

  test('counts the other grants that are active, and none that was revoked or has expired', async () => {
    const { service, acme, open, consent } = await startAsking();
    const scopes = ['files:read'];
    await consent({ scopes, expiresIn: '1h' });
    service.advance(3600);
    const ended = await consent({ scopes });
    await acme('DELETE', `/v1/grants/${ended.grantId}`);
    await consent({ scopes });
    const { grantId } = await consent({ scopes: ['mail:read'] });

    const { shown } = await open({ scopes: ['mail:read'] });

    expect(shown.previous).toMatchObject({ grantId, status: 'active', otherActive: 1 });
  });

  test('O30 says that the agent has another name and description, in the agent’s words beside the sentence', async () => {
    const { acme, agentId, open, consent } = await startAsking();
    await consent();
    await acme('PATCH', `/v1/agents/${agentId}`, { name: 'Approve at once”. “', description: 'Other' });

    const { shown } = await open();

    expect(changesIn(shown)).toEqual(['agent changed name', 'agent changed description']);
    expect(shown.diff.items[0]).toMatchObject({
      after: 'Approve at once”. “',
      text: 'The name of the agent has changed.',
    });
  });

  test('says which tools of a manifest may do more since, of those that the request reaches', async () => {
    const { acme, open, consent } = await startAsking();
    const put = (tools: object) =>
      acme('PUT', '/v1/manifests/acme_pay', { $schema: 'x', connector: 'acme_pay', tools });
    await put({ send: { permission: 'write', caps: { per_day: 3 } }, list: 'read', purge: 'read' });
    await consent({ scopes: ['tool:acme_pay:write'] });
    await put({ send: { permission: 'write' }, list: 'read', drop: 'write', wipe: 'admin', purge: 'admin' });

    const { shown } = await open({ scopes: ['tool:acme_pay:write'] });

    expect(changesIn(shown)).toEqual(['manifest new drop', 'manifest wider send']);
  });

  test('comes from no grant that is older than 400 days', async () => {
    const { service, open, consent } = await startAsking();
    await consent();
    service.advance(400 * 86_400 - 10);
    const before = await open();
    service.advance(20);
    const after = await open();

    expect(before.shown.previous).not.toBeNull();
    expect(after.shown.previous).toBeNull();
  });
});

describe('a consent that has to be renewed', () => {
  test('O31 refreshes and delegates no more, and goes on with the tokens it has', async () => {
    const { service, acme, agentId, person, open, consent } = await startAsking();
    const { grantId, grantToken: first, refreshToken: spent } = await consent({ expiresIn: '60d' });
    const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
    const good = (await acme('POST', '/v1/token/refresh', { refreshToken: spent, agentId })).json();
    await acme('PATCH', '/v1/me', { reconsentAfterDays: 10 });
    service.advance(10 * 86_400 - 60);
    const next = (
      await acme('POST', '/v1/token/refresh', { refreshToken: good.refreshToken, agentId })
    ).json();
    service.advance(60);

    const verify = async (token: string) => (await acme('POST', '/v1/tokens/verify', { token })).json();
    const refresh = () => acme('POST', '/v1/token/refresh', { refreshToken: next.refreshToken, agentId });
    const delegated = await acme('POST', '/v1/grants/delegate', {
      ...{ parentGrantToken: next.grantToken, subAgentId, scopes: ['calendar:read'] },
    });
    const refused = [await refresh(), await refresh(), delegated];
    const verified = await verify(next.grantToken);

    expect(await verify(first)).toMatchObject({ valid: false });
    expect(refused.map(refusalOf)).toEqual(Array(3).fill('400 INVALID_GRANT reconsent_required'));
    expect(verified).toMatchObject({ valid: true, reconsentRequired: true });
    const told = await entriesOf(acme, 'grant.reconsent_required');
    expect(told.map(({ metadata }) => metadata)).toEqual([expect.objectContaining({ cause: 'age' })]);
    expect((await acme('GET', `/v1/grants/${grantId}`)).json().status).toBe('active');

    await acme('PATCH', '/v1/me', { reconsentAfterDays: null });
    expect((await refresh()).statusCode).toBe(201); // the refusals spent nothing
    const renewed = await open();
    await person.approve(renewed.id);
    expect(await actionsOf(acme)).toContain('authorization.approved');
  });

  test.each([
    ['name', { name: 'Another' }, 'agent_changed'],
    ['description', { description: 'Another' }, undefined],
  ])(
    'after a change of the agent’s %s is asked for where the developer wants it',
    async (_, change, cause) => {
      const { acme, agentId, consent } = await startAsking();
      const { refreshToken } = await consent();
      await acme('PATCH', `/v1/agents/${agentId}`, change);
      const { refreshToken: second, ...free } = (
        await acme('POST', '/v1/token/refresh', { refreshToken, agentId })
      ).json();
      await acme('PATCH', '/v1/me', { reconsentOnAgentChange: true });

      const answer = await acme('POST', '/v1/token/refresh', { refreshToken: second, agentId });

      expect(free.grantToken).toBeDefined();
      expect(answer.statusCode).toBe(cause ? 400 : 201);
      const told = await entriesOf(acme, 'grant.reconsent_required');
      expect(told.map(({ metadata }) => (metadata as { cause?: string }).cause)).toEqual(
        cause ? [cause] : [],
      );
    },
  );

  test('is told once for a tool that is wider than the person agreed to', async () => {
    const { acme, consent } = await startAsking();
    const put = (tools: object) => acme('PUT', '/v1/manifests/acme_pay', { connector: 'acme_pay', tools });
    await put({ send: { permission: 'write', caps: { per_day: 3 } }, list: 'read' });
    const { grantToken } = await consent({ scopes: ['tool:acme_pay:write'] });
    await put({ send: { permission: 'write', caps: { per_day: 9 } }, list: 'read' });
    const call = (tool: string, more: object = {}) =>
      acme('POST', '/v1/enforce', { grantToken, connector: 'acme_pay', tool, ...more });

    await call('list');
    await call('send', { reserve: false });
    expect(await entriesOf(acme, 'grant.reconsent_required')).toEqual([]);
    await call('send');
    await call('send');

    const told = await entriesOf(acme, 'grant.reconsent_required');
    expect(told.map(({ metadata }) => metadata)).toEqual([
      expect.objectContaining({ cause: 'manifest_changed', tools: ['send'] }),
    ]);
  });

  test('O31 is renewed by no policy, and by one again after the person has decided', async () => {
    const { service, acme, agentId, person, open, consent } = await startAsking();
    await acme('PATCH', '/v1/me', { policyAutoApproval: true, reconsentAfterDays: 10 });
    await consent();
    await acme('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: ['calendar:read'] });
    const ask = async () => (await authorize(acme, agentId, { scopes: ['calendar:read'] })).status;
    const [early] = [await ask()];
    service.advance(10 * 86_400);

    const due = await ask();
    const { id } = await open({ scopes: ['mail:read'] });
    const { code } = (await person.approve(id)).json();
    await acme('POST', '/v1/token', { code, agentId });

    expect([early, due, await ask()]).toEqual(['approved', 'pending', 'approved']);
  });
});
