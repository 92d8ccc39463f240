import { beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleBrowser, joinBy, memberOf } from '../../../../test/app/console.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { careOfChanges } from './approve.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

type Member = Pick<ConsoleBrowser, 'call'> & { readonly memberId: string };

/** A live account of two owners, who both used their passkey just now, that asks for two people. */
async function ofTwo(role: 'owner' | 'admin' = 'owner') {
  const acme = await service.asDeveloper();
  const ada = await memberOf(service, acme);
  const join = async (email: string, as: string): Promise<Member> => {
    const invited = await ada.call('POST', '/v1/members/invitations', { body: { email, role: as } });
    const { browser, opened } = await joinBy(service, invited.json().link);
    return { ...browser, memberId: String(opened.json().member.id) };
  };
  const bob = await join('bob@acme.example', 'owner');
  const eve = await join('eve@acme.example', role);
  const set = await acme('PATCH', '/v1/me', { requireTwoForLoosening: true });
  expect(set.json().requireTwoForLoosening).toBe(true);
  return { acme, ada, bob, eve };
}

const DENY = { name: 'No payments', effect: 'deny', scopes: ['payments:*'] };
const ALLOW = { name: 'Refunds', effect: 'allow', scopes: ['payments:refund'] };
const hashOf = async (acme: Developer, id: string) => (await acme('GET', `/v1/changes/${id}`)).json().hash;
const approve = async (acme: Developer, { call }: Pick<ConsoleBrowser, 'call'>, id: string) =>
  call('POST', `/v1/changes/${id}/approve`, { body: { hash: await hashOf(acme, id) } });
const policiesOf = async (acme: Developer) => (await acme('GET', '/v1/policies')).json().policies;

describe('a change that loosens', () => {
  test('waits for a second member, and is made in their name with both in the chain', async () => {
    const { acme, ada, bob } = await ofTwo();

    const asked = await ada.call('POST', '/v1/policies', { body: ALLOW });
    const { changeId } = asked.json();
    const waiting = (await acme('GET', `/v1/changes/${changeId}`)).json();
    const before = await policiesOf(acme);
    const done = await approve(acme, bob, changeId);

    const at = service.clock();
    expect([asked.statusCode, asked.json()]).toEqual([
      202,
      {
        ...{ changeId: expect.stringMatching(/^chg_/), status: 'open', about: 'a new policy' },
        expiresAt: new Date(at.getTime() + 86_400_000).toISOString(),
      },
    ]);
    expect(waiting).toMatchObject({
      ...{ status: 'open', operation: 'policies.create', needed: 1, approvedBy: [], body: ALLOW },
      ...{ proposedBy: `member:${ada.memberId}`, difference: { policy: ALLOW } },
    });
    expect(before).toEqual([]);
    expect([done.statusCode, done.json()]).toMatchObject([
      200,
      { status: 'applied', approvedBy: [`member:${bob.memberId}`], body: null, params: null },
    ]);
    expect(await policiesOf(acme)).toMatchObject([ALLOW]);
    const [proposed] = await entriesOf(acme, 'change.proposed');
    const [approved] = await entriesOf(acme, 'change.approved');
    const [made] = await entriesOf(acme, 'policy.created');
    expect(proposed?.metadata).toMatchObject({ changeId, actor: `member:${ada.memberId}` });
    expect(approved?.metadata).toMatchObject({
      ...{ changeId, proposedBy: `member:${ada.memberId}`, actor: `member:${bob.memberId}`, applied: true },
      hash: waiting.hash,
    });
    expect(made?.metadata).toMatchObject({ changeId, actor: `member:${bob.memberId}` });
  });

  test('of an API key waits for two members, and never for the key', async () => {
    const { acme, ada, bob } = await ofTwo();
    const { changeId } = (await acme('POST', '/v1/policies', ALLOW)).json();

    const byKey = await acme('POST', `/v1/changes/${changeId}/approve`, {
      hash: await hashOf(acme, changeId),
    });
    const first = await approve(acme, ada, changeId);
    const again = await approve(acme, ada, changeId);
    const between = await policiesOf(acme);
    const second = await approve(acme, bob, changeId);

    expect(refusalOf(byKey)).toBe('401 UNAUTHORIZED');
    expect(first.json()).toMatchObject({ status: 'open', needed: 2 });
    expect(refusalOf(again)).toBe('403 FORBIDDEN');
    expect(between).toEqual([]);
    expect(second.json()).toMatchObject({ status: 'applied' });
    expect(await policiesOf(acme)).toHaveLength(1);
  });

  test('is approved neither by who proposed it, nor by a role without the capability, nor without a fresh passkey', async () => {
    const { acme, ada, eve, bob } = await ofTwo('admin');
    const { changeId } = (await ada.call('PATCH', '/v1/me', { body: { capsMode: 'warn' } })).json();

    const same = await approve(acme, ada, changeId);
    const weaker = await approve(acme, eve, changeId);
    const wrong = await bob.call('POST', `/v1/changes/${changeId}/approve`, {
      body: { hash: 'a'.repeat(64) },
    });
    service.advance(601);
    const stale = await approve(acme, bob, changeId);
    const me = await acme('GET', '/v1/me');

    expect(same.json()).toMatchObject({ code: 'FORBIDDEN', details: { sub_reason: 'same_member' } });
    expect(refusalOf(weaker)).toBe('403 FORBIDDEN');
    expect(refusalOf(wrong)).toBe('409 CONFLICT');
    expect(refusalOf(stale)).toBe('403 STEP_UP_REQUIRED');
    expect(me.json().capsMode).toBe('enforce');
  });

  test('is not made for a proposer who was suspended, or a key that was revoked or has expired', async () => {
    const { acme, ada, bob, eve } = await ofTwo();
    const key = (await acme('POST', '/v1/keys', { name: 'other', role: 'full' })).json();
    const ofEve = (await eve.call('POST', '/v1/policies', { body: ALLOW })).json().changeId;
    const ofKey = (await acme.withToken(key.apiKey)('POST', '/v1/policies', ALLOW)).json().changeId;
    const dated = (await acme('POST', '/v1/keys', { name: 'dated', role: 'full', expiresIn: '60s' })).json();
    const ofDated = (await acme.withToken(dated.apiKey)('POST', '/v1/policies', ALLOW)).json().changeId;
    await approve(acme, ada, ofKey);
    await approve(acme, ada, ofDated);

    service.advance(60);
    await ada.call('PATCH', `/v1/members/${eve.memberId}`, { body: { status: 'suspended' } });
    await acme('DELETE', `/v1/keys/${key.keyId}`);

    expect((await approve(acme, bob, ofEve)).json().details).toEqual({ sub_reason: 'proposer' });
    expect((await approve(acme, bob, ofKey)).json().details).toEqual({ sub_reason: 'proposer' });
    expect((await approve(acme, bob, ofDated)).json().details).toEqual({ sub_reason: 'proposer' });
    expect(await policiesOf(acme)).toEqual([]);
  });

  test('is not made when who proposed it, or agreed before, has lost the role that it needs', async () => {
    const { acme, ada, bob, eve } = await ofTwo();
    const warn = { capsMode: 'warn' };
    const ofEve = (await eve.call('PATCH', '/v1/me', { body: warn })).json().changeId;
    const ofKey = (await acme('PATCH', '/v1/me', warn)).json().changeId;
    expect((await approve(acme, eve, ofKey)).json()).toMatchObject({ status: 'open', needed: 2 });

    await ada.call('PATCH', `/v1/members/${eve.memberId}`, { body: { role: 'admin' } });

    for (const change of [ofEve, ofKey])
      expect((await approve(acme, bob, change)).json().details).toEqual({ sub_reason: 'proposer' });
    expect((await acme('GET', '/v1/me')).json().capsMode).toBe('enforce');
  });

  test('is not made when another one has made it already', async () => {
    const { acme, ada, bob, eve } = await ofTwo();
    const warn = { body: { capsMode: 'warn' } };
    const [one, two] = [await ada.call('PATCH', '/v1/me', warn), await bob.call('PATCH', '/v1/me', warn)];
    await approve(acme, eve, one.json().changeId);

    const again = await approve(acme, eve, two.json().changeId);

    expect(again.json().details).toEqual({ sub_reason: 'changed' });
    expect(await entriesOf(acme, 'developer.updated')).toHaveLength(2);
  });

  test('is not made when what it changes is another one meanwhile', async () => {
    const { acme, ada, bob } = await ofTwo();
    const { id } = (await acme('POST', '/v1/policies', DENY)).json();
    const removal = (await ada.call('DELETE', `/v1/policies/${id}`)).json().changeId;
    const warn = (await ada.call('PATCH', '/v1/me', { body: { manifestPinning: 'off' } })).json().changeId;

    await acme('PATCH', `/v1/policies/${id}`, { priority: 7 }); // tightens
    await acme('PATCH', '/v1/me', { manifestPinning: 'enforce' });

    for (const change of [removal, warn])
      expect((await approve(acme, bob, change)).json().details).toEqual({ sub_reason: 'changed' });
    expect(await policiesOf(acme)).toMatchObject([{ priority: 7 }]);
    expect((await acme('GET', '/v1/me')).json().manifestPinning).toBe('enforce');
  });

  test('is made once by two members at once', async () => {
    const { acme, ada, bob, eve } = await ofTwo();
    const { changeId } = (await ada.call('POST', '/v1/policies', { body: ALLOW })).json();

    const both = await Promise.all([bob, eve].map((one) => approve(acme, one, changeId)));

    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    expect(await policiesOf(acme)).toHaveLength(1);
    expect(await entriesOf(acme, 'change.approved')).toHaveLength(1);
  });

  test('ends after a day, or when it is withdrawn', async () => {
    const { acme, ada } = await ofTwo();
    const late = (await ada.call('POST', '/v1/policies', { body: ALLOW })).json().changeId;
    const back = (await ada.call('PATCH', '/v1/me', { body: { capsMode: 'warn' } })).json().changeId;

    const withdrawn = await acme('DELETE', `/v1/changes/${back}`);
    service.advance(86_400);
    const care = careOfChanges({ db: service.db, clock: service.clock });
    await care.run(new AbortController().signal);

    expect(withdrawn.statusCode).toBe(204);
    expect((await acme('GET', `/v1/changes/${back}`)).json()).toMatchObject({
      status: 'withdrawn',
      body: null,
    });
    expect((await acme('DELETE', `/v1/changes/${back}`)).statusCode).toBe(409);
    const open = (await acme('GET', '/v1/changes')).json().changes;
    expect(open.map(({ status }: { status: string }) => status).sort()).toEqual(['expired', 'withdrawn']);
    expect(await entriesOf(acme, 'change.expired')).toMatchObject([{ metadata: { changeId: late } }]);
    expect(await entriesOf(acme, 'change.withdrawn')).toMatchObject([{ metadata: { changeId: back } }]);
    service.advance(30 * 86_400);
    await care.run(new AbortController().signal);
    expect((await acme('GET', '/v1/changes')).json().changes).toEqual([]);
  });

  test('is kept once for the same request, and twenty wait at most', async () => {
    const { acme } = await ofTwo();
    const ask = (priority: number) => acme('POST', '/v1/policies', { ...ALLOW, priority });

    const [first, same] = [await ask(0), await ask(0)];
    const others = [];
    for (let priority = 1; priority <= 20; priority += 1) others.push(await ask(priority));

    expect(same.json().changeId).toBe(first.json().changeId);
    expect(others.slice(0, 19).every(({ statusCode }) => statusCode === 202)).toBe(true);
    expect(others[19]?.json().code).toBe('CONFLICT');
    expect((await acme('GET', '/v1/changes?status=open&limit=100')).json().changes).toHaveLength(20);
  });

  test('repeated with its Idempotency-Key gets the same answer, and another account sees nothing of it', async () => {
    const { acme, ada } = await ofTwo();
    const other = await service.asDeveloper();
    const ask = () =>
      ada.call('POST', '/v1/policies', { body: ALLOW, headers: { 'idempotency-key': 'one' } });

    const [first, second] = [await ask(), await ask()];
    const { changeId } = first.json();

    expect([second.statusCode, second.json()]).toEqual([202, first.json()]);
    expect((await other('GET', `/v1/changes/${changeId}`)).statusCode).toBe(404);
    expect((await other('DELETE', `/v1/changes/${changeId}`)).statusCode).toBe(404);
    const stranger = await memberOf(service, other);
    const foreign = await stranger.call('POST', `/v1/changes/${changeId}/approve`, {
      body: { hash: await hashOf(acme, changeId) },
    });
    expect(refusalOf(foreign)).toBe('404 NOT_FOUND');
  });
});

const tool = (permission: 'read' | 'write') => ({
  ...{ connector: 'mail', version: '1' },
  tools: { send: { permission } },
});

describe('what asks for a second member', () => {
  test('is what weakens: policies, settings, a manifest, a manifest that comes back, the setting itself', async () => {
    const { acme } = await ofTwo();
    const { id } = (await acme('POST', '/v1/policies', DENY)).json();
    await acme('PUT', '/v1/manifests/mail', tool('read'));
    await acme('PATCH', '/v1/me', { fourEyesAssurance: 'sso', enforceAgentScopes: true });

    const answers = [
      await acme('POST', '/v1/policies', ALLOW),
      await acme('POST', '/v1/policies', { ...ALLOW, effect: 'require_approval', priority: 1 }),
      await acme('PATCH', `/v1/policies/${id}`, { scopes: ['payments:refund'] }),
      await acme('PATCH', `/v1/policies/${id}`, { effect: 'allow' }),
      await acme('PATCH', `/v1/policies/${id}`, { priority: -1 }),
      await acme('PATCH', `/v1/policies/${id}`, { principalId: 'user_42' }),
      await acme('DELETE', `/v1/policies/${id}`),
      await acme('PATCH', '/v1/me', { capsMode: 'warn' }),
      await acme('PATCH', '/v1/me', { manifestPinning: 'off' }),
      await acme('PATCH', '/v1/me', { policyAutoApproval: true }),
      await acme('PATCH', '/v1/me', { fourEyesAssurance: 'dual' }),
      await acme('PATCH', '/v1/me', { enforceAgentScopes: false }),
      await acme('PATCH', '/v1/me', { requireTwoForLoosening: false }),
      await acme('PUT', '/v1/manifests/mail', tool('write')),
    ];
    await acme('DELETE', '/v1/manifests/mail');
    const back = await acme('PUT', '/v1/manifests/mail', tool('write'));

    expect([...answers, back].map(({ statusCode }) => statusCode)).toEqual(Array(15).fill(202));
    expect((await acme('GET', '/v1/me')).json()).toMatchObject({
      ...{ requireTwoForLoosening: true, capsMode: 'enforce', policyAutoApproval: false },
    });
  });

  test('is each condition that a denial gets', async () => {
    const { acme } = await ofTwo();
    const hours = { timeOfDayStart: '08:00', timeOfDayEnd: '18:00' };
    const { id } = (await acme('POST', '/v1/policies', { ...DENY, ...hours })).json();
    const ofCalls = { name: 'No mail', effect: 'deny', connector: 'mail', tools: ['send'] };
    const calls = (await acme('POST', '/v1/policies', ofCalls)).json().id;

    const answers = [];
    for (const change of [
      { connector: 'mail' },
      { delegationDepthMin: 1 },
      { delegationDepthMax: 3 },
      { timeZone: 'Europe/Berlin' },
      { timeOfDayEnd: '17:00' },
      { daysOfWeek: ['mon'] },
      { purposes: ['x-acme.support'] },
      { networks: ['192.0.2.0/24'] },
    ])
      answers.push(await acme('PATCH', `/v1/policies/${id}`, change));
    const rules = { send: { '/to': { prefix: ['ada'] } } };
    answers.push(await acme('PATCH', `/v1/policies/${calls}`, { arguments: rules }));
    answers.push(await acme('PATCH', `/v1/policies/${calls}`, { tools: ['send', 'list'] }));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(9).fill(202), 200]);
  });

  test('is nothing that tightens, or only renames', async () => {
    const { acme } = await ofTwo();
    const { id } = (await acme('POST', '/v1/policies', DENY)).json();
    await acme('PUT', '/v1/manifests/mail', tool('write'));

    const answers = [
      await acme('PATCH', `/v1/policies/${id}`, { name: 'Nothing paid' }),
      await acme('PATCH', `/v1/policies/${id}`, { scopes: ['payments:*', 'refunds:*'] }),
      await acme('PATCH', `/v1/policies/${id}`, { scopes: null, priority: 3 }),
      await acme('POST', '/v1/policies', { ...ALLOW, effect: 'require_approval', priority: 2 }),
      await acme('PATCH', '/v1/me', { manifestPinning: 'enforce', name: 'Acme Ltd' }),
      await acme('PUT', '/v1/manifests/mail', tool('read')),
      await acme('DELETE', '/v1/manifests/mail'),
      await acme('PUT', '/v1/manifests/mail', tool('read')),
    ];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 201, 200, 200, 204, 201]);
    expect((await acme('GET', '/v1/changes')).json().changes).toEqual([]);
  });

  test('is a window past midnight that loses its hours: its mornings after would be let through', async () => {
    const { acme } = await ofTwo();
    const night = { ...DENY, timeOfDayStart: '22:00', timeOfDayEnd: '02:00', daysOfWeek: ['mon'] };
    const { id } = (await acme('POST', '/v1/policies', night)).json();

    const answer = await acme('PATCH', `/v1/policies/${id}`, { timeOfDayStart: null, timeOfDayEnd: null });
    const everyDay = { timeOfDayStart: null, timeOfDayEnd: null, daysOfWeek: null };
    const wider = await acme('PATCH', `/v1/policies/${id}`, everyDay);

    expect([answer.statusCode, wider.statusCode]).toEqual([202, 200]);
  });

  test('is a manifest whose removed one could have been pushed out of memory by twenty others', async () => {
    const { acme, ada, bob } = await ofTwo();
    const put = (connector: string) =>
      acme('PUT', `/v1/manifests/${connector}`, { ...tool('write'), connector });
    await acme('PUT', '/v1/manifests/mail', tool('read'));
    await acme('DELETE', '/v1/manifests/mail');
    service.advance(1);

    const fillers = [];
    for (let at = 0; at < 20; at += 1) {
      fillers.push((await put(`filler-${at}`)).statusCode);
      await acme('DELETE', `/v1/manifests/filler-${at}`);
    }
    const back = await acme('PUT', '/v1/manifests/mail', tool('write'));
    const { changeId } = (
      await ada.call('PUT', '/v1/manifests/other', { body: { ...tool('read'), connector: 'other' } })
    ).json();
    const done = await approve(acme, bob, changeId);

    expect(fillers).toEqual([...Array(19).fill(201), 202]);
    expect(back.statusCode).toBe(202);
    expect(done.json()).toMatchObject({ status: 'applied', about: 'manifest other' });
    expect((await acme('GET', '/v1/manifests/other')).statusCode).toBe(200);
  });

  test('is asked of no sandbox, of no account that does not want it, and of none with one owner', async () => {
    const [acme, sandbox] = [await service.asDeveloper(), await service.asDeveloper({ mode: 'sandbox' })];
    await memberOf(service, acme);

    expect((await acme('POST', '/v1/policies', ALLOW)).statusCode).toBe(201);
    expect(refusalOf(await sandbox('PATCH', '/v1/me', { requireTwoForLoosening: true }))).toBe(
      '400 BAD_REQUEST',
    );
    const alone = await acme('PATCH', '/v1/me', { requireTwoForLoosening: true });
    expect(alone.json().details).toEqual({ sub_reason: 'second_owner' });
  });

  test('lets both take the rule itself back', async () => {
    const { acme, ada, bob } = await ofTwo();
    const { changeId } = (
      await ada.call('PATCH', '/v1/me', { body: { requireTwoForLoosening: false } })
    ).json();

    await approve(acme, bob, changeId);

    expect((await acme('GET', '/v1/me')).json().requireTwoForLoosening).toBe(false);
    expect((await acme('POST', '/v1/policies', ALLOW)).statusCode).toBe(201);
  });

  test('is a bundle of policies that becomes active, which two activate after one stored it', async () => {
    const { acme, ada, bob } = await ofTwo();
    const bundle = { format: 'rego', version: '1', fileCount: 1, content: 'e30=' };

    const direct = await acme('POST', '/v1/policies/sync', { ...bundle, activate: true });
    const stored = await acme('POST', '/v1/policies/sync', { ...bundle, activate: false });
    const { bundleId } = stored.json();
    const { changeId } = (
      await ada.call('POST', `/v1/policies/bundles/${bundleId}/activate`, { body: {} })
    ).json();
    await approve(acme, bob, changeId);

    expect(direct.json().details).toEqual({ field: 'activate', sub_reason: 'second_member' });
    const [first] = (await acme('GET', '/v1/policies/bundles')).json().bundles;
    expect(first).toMatchObject({ id: bundleId, active: true });
  });
});
