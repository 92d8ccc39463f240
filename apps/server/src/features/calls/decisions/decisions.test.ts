import { expect, test } from 'vitest';
import { enrolApprover, payer, release } from '../../../../test/app/approving.ts';
import { entriesOf, grantTo, partsOf, refusalOf, sharedSandbox } from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';

const sandbox = sharedSandbox();

async function started() {
  const { service, acme } = await sandbox();
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  return { service, acme, agent, ada };
}

/** A call that Ada has approved. */
async function approved(change: object = {}) {
  const all = await started();
  const asked = (await all.agent.ask(change)).json();
  await all.ada.approve(asked.decisionId);
  const decisionGrants = await all.agent.grantsOf(asked.decisionId);
  /** Takes a step at the issuer, as an enforcer elsewhere does. */
  const step = (phase: string, callId: string, more: object = {}) => {
    const { arguments: args, connector, tool, decision, caseId, caseVersion } = asked;
    const action = {
      v: 1,
      connector,
      tool,
      arguments: args,
      case_id: caseId,
      case_version: caseVersion,
      decision,
    };
    const { grantToken } = all.agent;
    const body = { decisionGrants, action, caseVersion, callId, grantToken, phase, ...more };
    return all.acme('POST', '/v1/decisions/consume', body);
  };
  return { ...all, asked, decisionId: String(asked.decisionId), decisionGrants, step };
}

const reasonOf = (answer: { json: () => { details?: { sub_reason?: string } } }) =>
  answer.json().details?.sub_reason;

test('R10: a call waits for a person, passes once, and is used up', async () => {
  const { acme, agent, ada } = await started();

  const denied = await agent.enforce();
  expect(denied).toMatchObject({
    allowed: false,
    reason_code: 'decision_required',
    sub_reason: null,
    details: { quorum: 1, action_hash: expect.stringMatching(/^sha256:/) },
  });
  const asked = await agent.ask({ summary: 'Rent of May' });
  expect([asked.statusCode, asked.json().status]).toEqual([201, 'pending']);
  const { decisionId } = asked.json();
  expect(asked.json().actionHash).toBe(denied.details.action_hash);
  expect([(await agent.ask()).statusCode, (await agent.ask()).json().decisionId]).toEqual([200, decisionId]);

  expect((await ada.approve(decisionId)).json()).toEqual({ decision: 'approved', status: 'approved' });
  const decisionGrants = await agent.grantsOf(decisionId);

  const passed = await agent.enforce({ decisionGrants, callId: 'call-0001' });
  expect(passed).toMatchObject({ allowed: true, decision: { decision_id: decisionId, state: 'sent' } });
  const again = await agent.enforce({ decisionGrants, callId: 'call-0002' });
  expect([again.reason_code, again.sub_reason]).toEqual(['decision_required', 'consumed']);
  expect((await acme('GET', `/v1/decisions/${decisionId}`)).json()).toMatchObject({ status: 'consumed' });
  const entries = await entriesOf(acme, 'tool.enforce');
  expect(entries.filter(({ metadata }) => metadata.decisionId === decisionId)).toHaveLength(1);
});

test('R10: a call that differs by one byte is another call', async () => {
  const { agent, decisionGrants } = await approved();

  const other = await agent.enforce({ decisionGrants, arguments: { to: 'ACME Ltd', amount: '120.51' } });
  expect([other.allowed, other.sub_reason]).toEqual([false, 'action_mismatch']);
  expect(await agent.enforce({ decisionGrants })).toMatchObject({ allowed: true });
});

test('R10: of fifty calls at once with one decision, one passes', async () => {
  // The tool has no cap: fifty waiting calls could keep a meter from answering in time.
  const uncapped = { tool: 'wire', arguments: { decision: 'note', to: 'ACME Ltd' } };
  const { agent, decisionGrants } = await approved(uncapped);
  const calls = Array.from({ length: 50 }, (_, index) =>
    agent.enforce({ ...uncapped, decisionGrants, callId: `parallel-${index}` }),
  );

  const answers = await Promise.all(calls);

  const taken = answers.filter(({ allowed }) => !allowed).map(({ sub_reason }) => sub_reason);
  expect([answers.filter(({ allowed }) => allowed).length, new Set(taken)]).toEqual([
    1,
    new Set(['consumed']),
  ]);
});

test('R10: the same call finds its decision again after a lost answer, and no other call does', async () => {
  const { agent, decisionGrants, step, acme } = await approved();

  const first = await step('hold', 'call-0001');
  const again = await step('hold', 'call-0001');
  expect([first.json(), again.json()]).toMatchObject([
    { consumed: true, state: 'held', replayed: false },
    { state: 'held', replayed: true },
  ]);
  expect(reasonOf(await step('send', 'call-0002'))).toBe('consumed');
  expect((await step('send', 'call-0001')).json()).toMatchObject({ state: 'sent', replayed: false });
  expect((await step('send', 'call-0001')).json()).toMatchObject({ state: 'sent', replayed: true });
  expect(await agent.enforce({ decisionGrants, callId: 'call-0001' })).toMatchObject({ allowed: true });
  expect((await step('release', 'call-0001')).statusCode).toBe(409);
  expect((await step('spend', 'call-0001')).json()).toMatchObject({ state: 'spent' });
  expect(reasonOf(await step('send', 'call-0001'))).toBe('consumed');
  expect((await entriesOf(acme, 'decision.consumed')).length).toBe(1);
});

test('a decision that another check denies afterwards is free again', async () => {
  const { step } = await approved();
  await step('hold', 'call-0001');

  expect((await step('release', 'call-0001')).json()).toMatchObject({ state: 'free' });
  expect((await step('hold', 'call-0002')).json()).toMatchObject({ state: 'held', replayed: false });
});

test('R10: no step is taken once the grant has ended, also not back', async () => {
  for (const phase of ['send', 'release', 'spend']) {
    const { acme, agent, step } = await approved();
    const before = phase === 'spend' ? 'send' : 'hold';
    expect((await step(before, 'call-0001')).statusCode).toBe(200);

    await acme('DELETE', `/v1/grants/${agent.grantId}`);

    const refused = await step(phase, 'call-0001');
    expect([refused.statusCode, reasonOf(refused)], phase).toEqual([409, 'revoked']);
  }
});

test('R10: decision grants are for the agent, the grant and the case that asked', async () => {
  const { acme, agent, decisionGrants, decisionId, step } = await approved({
    caseId: 'case-1',
    caseVersion: '1',
  });
  const other = await grantTo(acme, { scopes: ['tool:acme_bank:write'] });
  const { grantToken } = other;

  const foreign = await acme('POST', `/v1/decisions/${decisionId}/grants`, { grantToken });
  expect([foreign.statusCode, reasonOf(foreign)]).toEqual([403, 'wrong_agent']);
  const named = { caseId: 'case-1', caseVersion: '1', decisionGrants };
  expect(await agent.enforce({ ...named, grantToken })).toMatchObject({ sub_reason: 'wrong_agent' });
  expect(await agent.enforce({ ...named, caseId: 'case-2' })).toMatchObject({ sub_reason: 'wrong_case' });
  expect(await agent.enforce({ ...named, caseVersion: '2' })).toMatchObject({ sub_reason: 'case_changed' });
  const edited = decisionGrants.map((jwt: string) => `${jwt.slice(0, -8)}AAAAAAAA`);
  expect(await agent.enforce({ ...named, decisionGrants: edited })).toMatchObject({
    sub_reason: 'malformed',
  });
  const wrong = await step('send', 'call-0001', { grantToken });
  expect([wrong.statusCode, reasonOf(wrong)]).toEqual([403, 'wrong_agent']);
  expect(await agent.enforce(named)).toMatchObject({ allowed: true });
});

test('a case that moves on ends what was asked and approved about it', async () => {
  const { acme, agent, ada, decisionGrants } = await approved({ caseId: 'case-1', caseVersion: '1' });
  const body = { caseId: 'case-1', caseVersion: '1', arguments: { to: 'B' } };
  const open = (await agent.ask(body)).json().decisionId;

  expect((await acme('PUT', '/v1/decisions/cases/case-1', { caseVersion: '2' })).json()).toEqual({
    caseId: 'case-1',
    caseVersion: '2',
    grantIds: [],
  });
  const used = await agent.enforce({ caseId: 'case-1', caseVersion: '1', decisionGrants });
  expect(used).toMatchObject({ allowed: false, sub_reason: 'revoked' });
  expect((await acme('GET', `/v1/decisions/${open}`)).json().status).toBe('superseded');
  expect((await ada.approve(open)).statusCode).toBe(409);
  expect(reasonOf(await agent.ask(body))).toBe('case_changed');
  expect((await agent.ask({ ...body, caseVersion: '2' })).statusCode).toBe(201);
});

test('a case that is closed ends its requests at every version, and is closed once', async () => {
  const { acme, agent, ada, decisionGrants } = await approved({ caseId: 'case-1', caseVersion: '1' });
  const elsewhere = (await agent.ask({ caseId: 'case-2', arguments: { to: 'B' } })).json().decisionId;
  const open = (await agent.ask({ caseId: 'case-1', arguments: { to: 'B' } })).json().decisionId;
  await acme('PUT', '/v1/decisions/cases/case-1', { caseVersion: '1' });
  const last = (await agent.ask({ caseId: 'case-1', caseVersion: '1', arguments: { to: 'C' } })).json();
  const close = () => acme('DELETE', '/v1/decisions/cases/case-1');

  expect([(await close()).statusCode, (await close()).statusCode]).toEqual([204, 404]);
  const statusOf = async (id: string) => (await acme('GET', `/v1/decisions/${id}`)).json().status;
  expect([await statusOf(open), await statusOf(last.decisionId), await statusOf(elsewhere)]).toEqual([
    ...['superseded', 'superseded', 'pending'],
  ]);
  const used = await agent.enforce({ caseId: 'case-1', caseVersion: '1', decisionGrants });
  expect(used).toMatchObject({ allowed: false, sub_reason: 'revoked' });
  expect((await ada.approve(last.decisionId)).statusCode).toBe(409);
  expect((await entriesOf(acme, 'case.closed')).map(({ metadata }) => metadata)).toEqual([
    expect.objectContaining({ caseId: 'case-1', caseVersion: '1', superseded: 2, counters: 0 }),
  ]);
});

test('a request that is cancelled or denied allows nothing, even after it was approved', async () => {
  for (const end of ['cancel', 'deny'] as const) {
    const { acme, agent, ada, decisionId, decisionGrants, step } = await approved();
    await step('send', 'call-0001');

    const ended =
      end === 'cancel'
        ? await acme('POST', `/v1/decisions/${decisionId}/cancel`, {})
        : await ada.deny(decisionId);

    expect(ended.statusCode).toBe(200);
    const answer = await agent.enforce({ decisionGrants, callId: 'call-0001' });
    expect([answer.allowed, answer.sub_reason]).toEqual([false, 'revoked']);
    expect(
      (await acme('POST', `/v1/decisions/${decisionId}/grants`, { grantToken: agent.grantToken })).statusCode,
    ).toBe(409);
    expect((await ada.deny(decisionId)).statusCode).toBe(409);
  }
});

test('a decision of a grant that was revoked allows nothing', async () => {
  const { acme, agent, ada, decisionGrants } = await approved();
  const open = (await agent.ask({ arguments: { to: 'B' } })).json().decisionId;
  await acme('DELETE', `/v1/grants/${agent.grantId}`);

  expect(await agent.enforce({ decisionGrants })).toMatchObject({ reason_code: 'grant_revoked' });
  expect(reasonOf(await ada.approve(open))).toBe('grant_ended');
});

test('R10: four eyes are two people', async () => {
  const { service, acme, agent, ada } = await started();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const { decisionId, quorum } = (await agent.ask(release)).json();
  expect(quorum).toBe(2);

  expect((await ada.approve(decisionId)).json().status).toBe('pending');
  const early = await acme('POST', `/v1/decisions/${decisionId}/grants`, { grantToken: agent.grantToken });
  expect(early.statusCode).toBe(409);
  const twice = await ada.approve(decisionId);
  expect([twice.statusCode, twice.json().details]).toEqual([
    403,
    { sub_reason: 'same_approver', check: 'person' },
  ]);
  const [refused] = await entriesOf(acme, 'decision.approval_refused');
  expect(refused).toMatchObject({ status: 'blocked', metadata: { check: 'person', decisionId } });

  expect((await bob.approve(decisionId)).json().status).toBe('approved');
  const decisionGrants = await agent.grantsOf(decisionId);
  const half = await agent.enforce({ ...release, decisionGrants: decisionGrants.slice(0, 1) });
  expect(half.sub_reason).toBe('four_eyes_incomplete');
  expect(await agent.enforce({ ...release, decisionGrants })).toMatchObject({ allowed: true });
});

test('refused approvals of one minute are one entry, which counts those of the minute before', async () => {
  const { service, acme, agent, ada } = await started();
  await enrolApprover(service, acme, 'bob@example.org');
  const { decisionId } = (await agent.ask(release)).json();
  await ada.approve(decisionId);
  service.advance(60 - (service.clock().getTime() % 60_000) / 1000);

  for (const seconds of [0, 0, 60]) {
    service.advance(seconds);
    expect((await ada.approve(decisionId)).statusCode).toBe(403);
  }

  const refused = await entriesOf(acme, 'decision.approval_refused');
  expect(refused.map(({ metadata }) => metadata.previousMinute).sort()).toEqual([0, 2]);
});

test('R10: four eyes exclude the requester', async () => {
  const { service, acme, agent, ada } = await started();
  const directory = await provisionerOf(service, acme);
  await directory('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: partsOf(agent.grantToken).payload.sub,
    emails: [{ value: 'own@example.org', primary: true }],
  });
  const own = await enrolApprover(service, acme, 'Own+agents@example.org');

  const alone = await agent.ask(release);
  expect([alone.statusCode, alone.json().details]).toEqual([409, { sub_reason: 'no_quorum' }]);

  const bob = await enrolApprover(service, acme, 'bob@example.org');
  for (const [first, second] of [
    [ada, own],
    [own, ada],
  ] as const) {
    const { decisionId } = (await agent.ask(release)).json();
    expect((await first.approve(decisionId)).json().status).toBe('pending');
    const refused = await second.approve(decisionId);
    expect([refused.statusCode, refused.json().details]).toEqual([
      403,
      { sub_reason: 'same_approver', check: 'requester' },
    ]);
    await acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
  }
  const { decisionId } = (await agent.ask(release)).json();
  await ada.approve(decisionId);
  expect((await bob.approve(decisionId)).json().status).toBe('approved');
});

test('R10: two approvals of two requests never add up', async () => {
  const { service, acme, agent, ada } = await started();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const made: string[][] = [];
  for (const at of [1, 2]) {
    const { decisionId } = (await agent.ask(release)).json();
    await (at === 1 ? ada : bob).approve(decisionId);
    await (at === 1 ? bob : ada).approve(decisionId);
    made.push(await agent.grantsOf(decisionId));
    await agent.enforce({ ...release, decisionGrants: made[at - 1], reserve: false });
    await acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
  }

  const [first = [], second = []] = made;
  const spliced = [String(first[0]), String(second[1])];
  expect(await agent.enforce({ ...release, decisionGrants: spliced })).toMatchObject({
    sub_reason: 'same_approver',
  });
  const others = [String(first[0]), String(second[0])];
  expect(await agent.enforce({ ...release, decisionGrants: others })).toMatchObject({
    sub_reason: 'spliced',
  });
});

test('R10: a person who was removed meanwhile has approved nothing; issued grants stay good', async () => {
  const { service, acme, agent, ada } = await started();
  const [bob, cleo] = [
    await enrolApprover(service, acme, 'bob@example.org'),
    await enrolApprover(service, acme, 'cleo@example.org'),
  ];
  const done = (await agent.ask()).json().decisionId;
  await ada.approve(done);
  const half = (await agent.ask(release)).json().decisionId;
  await ada.approve(half);

  expect((await acme('DELETE', `/v1/approvers/${ada.approverId}`)).statusCode).toBe(204);

  expect((await ada.browser.call('GET', '/v1/approver/session')).statusCode).toBe(401);
  const shown = [
    await bob.browser.call('GET', `/v1/approver/decisions/${half}`),
    await acme('GET', `/v1/decisions/${half}`),
  ].map((answer) => answer.json());
  expect(shown).toMatchObject([{ approvals: [], firstApprover: null }, { approvals: [] }]);
  const { decisions } = (await acme('GET', '/v1/decisions')).json();
  const listed = decisions.map((one: { decisionId: string; approvals: [] }) => [
    one.decisionId === done,
    one.approvals.length,
  ]);
  expect(listed.sort()).toEqual([
    [false, 0],
    [true, 1],
  ]);
  expect((await bob.approve(half)).json().status).toBe('pending');
  expect((await cleo.approve(half)).json().status).toBe('approved');
  expect(await agent.enforce({ decisionGrants: await agent.grantsOf(done) })).toMatchObject({
    allowed: true,
  });
});

test('nobody is asked about a call that needs no decision, or that another check refuses', async () => {
  const { acme, agent } = await started();

  expect(reasonOf(await agent.ask({ tool: 'list' }))).toBe('not_needed');
  const unknown = await agent.ask({ tool: 'erase' });
  expect([unknown.statusCode, unknown.json().details]).toEqual([
    409,
    { reason_code: 'manifest_unknown_tool', sub_reason: 'unknown_tool' },
  ]);
  expect((await agent.ask({ expiresIn: '25h' })).statusCode).toBe(400);
  expect((await agent.ask({ expiresIn: '59s' })).statusCode).toBe(400);
  expect((await agent.ask({ tool: 'wire', arguments: {} })).statusCode).toBe(400);
  expect(reasonOf(await agent.ask(release))).toBe('no_quorum');
  expect((await agent.ask({ approvers: ['group:nobody'] })).statusCode).toBe(400);
  expect((await acme('GET', '/v1/decisions')).json().decisions).toEqual([]);
});

test('a request goes to the people whom it names, by group and by connector', async () => {
  const { service, acme, agent, ada } = await started();
  const finance = await enrolApprover(service, acme, 'fin@example.org', { groups: ['finance'] });
  const other = await enrolApprover(service, acme, 'other@example.org', { connectors: ['elsewhere'] });

  const { decisionId } = (await agent.ask({ approvers: ['group:finance'] })).json();
  const all = (await agent.ask({ arguments: { to: 'B' } })).json().decisionId;

  const seen = async ({ browser }: typeof ada) =>
    (await browser.call('GET', '/v1/approver/decisions'))
      .json()
      .decisions.map((one: { decisionId: string }) => one.decisionId)
      .sort();
  expect(await seen(finance)).toEqual([decisionId, all].sort());
  expect(await seen(ada)).toEqual([all]);
  expect(await seen(other)).toEqual([]);
  expect((await ada.approve(decisionId)).statusCode).toBe(404);
  expect((await agent.ask({ approvers: [other.approverId], arguments: { to: 'C' } })).statusCode).toBe(400);
});

test('a deputy decides in their own name for somebody who is absent', async () => {
  const { service, acme, agent, ada } = await started();
  const bob = await enrolApprover(service, acme, 'bob@example.org', { connectors: ['elsewhere'] });
  const from = service.clock().toISOString();
  const until = new Date(service.clock().getTime() + 86_400_000).toISOString();
  const { decisionId } = (await agent.ask({ approvers: [ada.approverId] })).json();
  expect((await bob.approve(decisionId)).statusCode).toBe(404);

  const body = { from, until, deputyApproverId: bob.approverId };
  expect((await ada.browser.call('PUT', '/v1/approver/absence', { body })).statusCode).toBe(200);

  const refused = [await ada.approve(decisionId), await ada.deny(decisionId)];
  expect(refused.map((answer) => [answer.statusCode, reasonOf(answer)])).toEqual([
    ...[
      [409, 'absent'],
      [409, 'absent'],
    ],
  ]);
  expect((await bob.approve(decisionId)).json().status).toBe('approved');
  const { approvals } = (await acme('GET', `/v1/decisions/${decisionId}`)).json();
  expect(approvals).toMatchObject([{ approver: `approver:${bob.approverId}`, onBehalfOf: ada.approverId }]);
  expect((await ada.browser.call('DELETE', '/v1/approver/absence')).statusCode).toBe(204);
});

test('a person sees a request behind two hundred others that end sooner, and so does their deputy', async () => {
  const { service, acme, agent, ada } = await started();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const cleo = await enrolApprover(service, acme, 'cleo@example.org');
  const asked = Array.from({ length: 200 }, (_, n) =>
    agent.ask({ approvers: [ada.approverId], expiresIn: '1h', arguments: { n } }),
  );
  expect(new Set((await Promise.all(asked)).map(({ statusCode }) => statusCode))).toEqual(new Set([201]));
  const { decisionId } = (await agent.ask({ approvers: [bob.approverId], expiresIn: '2h' })).json();
  const seen = async ({ browser }: typeof ada): Promise<string[]> =>
    (await browser.call('GET', '/v1/approver/decisions?limit=500'))
      .json()
      .decisions.map((one: { decisionId: string }) => one.decisionId);

  expect(await seen(bob)).toEqual([decisionId]);
  expect(await seen(cleo)).toEqual([]);

  const from = service.clock().toISOString();
  const until = new Date(service.clock().getTime() + 86_400_000).toISOString();
  const body = { from, until, deputyApproverId: cleo.approverId };
  await bob.browser.call('PUT', '/v1/approver/absence', { body });
  expect(await seen(cleo)).toEqual([decisionId]);
  expect(await seen(ada)).toHaveLength(200);
});

test('R10: nobody approves with an API key, another person’s challenge, or a passkey of another set', async () => {
  const { service, acme, agent, ada } = await started();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const { decisionId, actionHash } = (await agent.ask()).json();
  const at = `/v1/approver/decisions/${decisionId}`;

  const byKey = await acme('POST', `${at}/approve`, { actionHash, assertion: {} });
  expect([400, 403]).toContain(byKey.statusCode);
  const asked = (await ada.browser.call('POST', `${at}/options`, { body: {} })).json();
  const assertion = { challengeId: asked.challengeId, response: ada.device.get(asked.publicKey) };
  const body = { actionHash, assertion };
  expect(refusalOf(await bob.browser.call('POST', `${at}/approve`, { body }))).toContain('CHALLENGE_INVALID');
  const foreign = { challengeId: asked.challengeId, response: bob.device.get(asked.publicKey) };
  const answer = await ada.browser.call('POST', `${at}/approve`, {
    body: { actionHash, assertion: foreign },
  });
  expect(answer.json().details).toEqual({ check: 'credential' });
  expect(refusalOf(await ada.browser.call('POST', `${at}/approve`, { body }))).toContain('CHALLENGE_INVALID');
  expect((await ada.approve(decisionId, { fault: { flags: 1 } })).json().details).toEqual({
    check: 'userVerification',
  });
  expect(reasonOf(await ada.approve(decisionId, { change: { actionHash: 'sha256:other' } }))).toBe(
    'action_mismatch',
  );
  expect((await acme('GET', `/v1/decisions/${decisionId}`)).json().status).toBe('pending');
  expect((await ada.approve(decisionId)).json().status).toBe('approved');
});

test('no list, event or entry holds arguments, the summary, a decision grant or a secret of the page', async () => {
  const { acme, agent, ada, decisionGrants, decisionId } = await approved({ summary: 'secret-summary' });
  const shown = [
    await acme('GET', '/v1/events'),
    await acme('GET', '/v1/audit/entries'),
    await acme('GET', '/v1/approvers'),
  ].map(({ body }) => body);

  for (const text of [...decisionGrants, 'secret-summary', '120.50', ...ada.browser.cookies.values()]) {
    expect(shown.filter((body) => body.includes(text))).toEqual([]);
  }
  const own = (await acme('GET', `/v1/decisions/${decisionId}`)).body;
  expect(own.includes(String(decisionGrants[0]))).toBe(false);
  expect(own).toContain('120.50');
  expect(await agent.enforce({ decisionGrants })).toMatchObject({ allowed: true });
});

test('another developer, and a key of another agent, know nothing of a decision', async () => {
  const { service, acme, agent, decisionId } = await approved();
  const other = await service.asDeveloper({ mode: 'sandbox' });
  const stranger = await enrolApprover(service, other, 'ada@example.org');
  const { agentId } = await grantTo(acme);
  const bound = await acme.asRuntime(String(agentId));

  for (const call of [other, bound]) {
    expect((await call('GET', `/v1/decisions/${decisionId}`)).statusCode).toBe(404);
    expect((await call('POST', `/v1/decisions/${decisionId}/cancel`, {})).statusCode).toBe(404);
    expect((await call('GET', '/v1/decisions')).json().decisions).toEqual([]);
  }
  expect((await stranger.approve(decisionId)).statusCode).toBe(404);
  const asBound = await bound('POST', '/v1/decisions', agent.call({ arguments: { to: 'B' } }));
  expect([asBound.statusCode, reasonOf(asBound)]).toEqual([404, 'unknown_grant']);
});
