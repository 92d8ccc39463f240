import { describe, expect, test } from 'vitest';
import { enrolApprover, payer } from '../../../../test/app/approving.ts';
import { grantTo, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();
const CALL = 'payment-0001';

async function started() {
  const { service, acme } = await sandbox();
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const count = async () => (await acme('GET', '/v1/decisions')).json().decisions.length;
  return { service, acme, agent, ada, count };
}

const facts = (answer: { statusCode: number; json(): Record<string, unknown> }) => {
  const { decisionId, status, details } = answer.json();
  return [answer.statusCode, status ?? Object(details).sub_reason, decisionId];
};

test('R10: a call that used its decision and lost the answer finds it again by its id, and asks nobody', async () => {
  const { acme, agent, ada, count } = await started();
  const ask = (change: object = {}) => agent.ask({ callId: CALL, ...change });
  const { decisionId } = (await ask()).json();
  await ada.approve(decisionId);
  expect(facts(await ask())).toEqual([200, 'approved', decisionId]);
  const decisionGrants = await agent.grantsOf(decisionId);

  const sent = await agent.enforce({ decisionGrants, callId: CALL }); // and the caller dies with the answer
  expect(sent).toMatchObject({ allowed: true, decision: { state: 'sent' } });
  expect(facts(await ask())).toEqual([200, 'consumed', decisionId]);
  const again = await agent.enforce({ decisionGrants: await agent.grantsOf(decisionId), callId: CALL });
  expect(again).toMatchObject({ allowed: true, decision: { decision_id: decisionId, state: 'sent' } });
  expect(await count()).toBe(1);

  // The controls: another id, no id and another grant are other calls.
  const next = (await ask({ callId: 'payment-0002' })).json();
  expect([next.status, next.decisionId === decisionId]).toEqual(['pending', false]);
  expect((await ask({ callId: undefined })).json().decisionId).toBe(next.decisionId);
  const other = await grantTo(acme, { scopes: ['tool:acme_bank:write'] });
  expect((await ask({ grantToken: other.grantToken })).statusCode).toBe(201);
});

test('R10: the id of a call names no other call, but for the next version of its case', async () => {
  const { acme, agent, count } = await started();
  const about = { callId: CALL, caseId: 'case-1', caseVersion: '1' };
  const { decisionId } = (await agent.ask(about)).json();

  const other = await agent.ask({ ...about, arguments: { to: 'Mallory', amount: '120.50' } });
  expect(facts(other).slice(0, 2)).toEqual([409, 'call_id_used']);
  expect(await count()).toBe(1);
  await acme('PUT', '/v1/decisions/cases/case-1', { caseVersion: '2' });
  expect(facts(await agent.ask(about))).toEqual([200, 'superseded', decisionId]);
  expect((await agent.ask({ ...about, caseVersion: '2' })).statusCode).toBe(201);
});

test('R10: of two calls that share a request, the one that uses it keeps it, and the other one asks people', async () => {
  const { agent, ada } = await started();
  const { decisionId } = (await agent.ask({ callId: CALL })).json();
  expect((await agent.ask({ callId: 'payment-0002' })).json().decisionId).toBe(decisionId);
  await ada.approve(decisionId);
  const decisionGrants = await agent.grantsOf(decisionId);

  expect(await agent.enforce({ decisionGrants, callId: 'payment-0002' })).toMatchObject({ allowed: true });

  expect(facts(await agent.ask({ callId: 'payment-0002' }))).toEqual([200, 'consumed', decisionId]);
  expect((await agent.ask({ callId: CALL })).statusCode).toBe(201);
});

test('R10: a refusal stands for its call until the request would have expired, and after silence people are asked again', async () => {
  const { service, agent, ada, count } = await started();
  const shared = { expiresIn: '10m' };
  const first = (await agent.ask(shared)).json().decisionId;
  await ada.deny(first);

  for (const change of [{}, { callId: CALL }]) {
    expect(facts(await agent.ask({ ...shared, ...change }))).toEqual([200, 'denied', first]);
  }
  service.advance(600 - 0.001);
  expect(facts(await agent.ask(shared))).toEqual([200, 'denied', first]);
  expect((await agent.ask({ arguments: { to: 'ACME Ltd', amount: '1' } })).statusCode).toBe(201); // the control
  service.advance(0.001);
  const second = await agent.ask(shared);
  expect(second.statusCode).toBe(201);

  service.advance(600); // nobody answers
  expect((await agent.ask(shared)).statusCode).toBe(201);
  expect(await count()).toBe(4);
});

test('R10: a call whose request was taken back hears so, and the same call under another id asks people', async () => {
  const { acme, agent } = await started();
  const { decisionId } = (await agent.ask({ callId: CALL })).json();
  await acme('POST', `/v1/decisions/${decisionId}/cancel`, {});

  expect(facts(await agent.ask({ callId: CALL }))).toEqual([200, 'cancelled', decisionId]);
  expect((await agent.ask({ callId: 'payment-0002' })).statusCode).toBe(201);
});

describe('a tool whose manifest binds a part of the arguments', () => {
  const pay = { permission: 'write', requires_decision: true, binds: ['/to', '/amount'] };
  const put = (acme: Developer, tool: object, more: object = {}) =>
    acme('PUT', '/v1/manifests/acme_bank', {
      $schema: 'x',
      connector: 'acme_bank',
      tools: { pay: tool, ...more },
    });
  const rent = { to: 'ACME Ltd', amount: '120.50', note: 'Rent' };
  const reworded = { ...rent, note: 'The rent of May, as agreed.' };
  const verdictOf = ({ allowed, sub_reason }: { allowed: boolean; sub_reason?: string }) =>
    allowed ? 'allowed' : sub_reason;

  async function approved(tool: object = pay) {
    const all = await started();
    await put(all.acme, tool);
    const { decisionId, actionHash } = (await all.agent.ask({ arguments: rent })).json();
    await all.ada.approve(decisionId);
    return { ...all, decisionId, actionHash, decisionGrants: await all.agent.grantsOf(decisionId) };
  }

  test('asks once about a call that is only reworded, and lets it through with the words that it has then', async () => {
    const { agent, count, decisionId, decisionGrants } = await approved();

    expect(facts(await agent.ask({ arguments: reworded }))).toEqual([200, 'approved', decisionId]);
    expect(await count()).toBe(1);
    const others = [
      { ...rent, amount: '999.00' },
      { ...rent, to: ['ACME Ltd', 'Mallory'] },
      { amount: '120.50', note: 'Rent' },
    ];
    for (const args of others) {
      expect(verdictOf(await agent.enforce({ arguments: args, decisionGrants }))).toBe('action_mismatch');
    }
    expect(verdictOf(await agent.enforce({ arguments: reworded, decisionGrants }))).toBe('allowed');
  });

  test('binds every argument without the list', async () => {
    const { binds: _, ...whole } = pay;
    const { agent, decisionGrants } = await approved(whole);

    expect(verdictOf(await agent.enforce({ arguments: reworded, decisionGrants }))).toBe('action_mismatch');
    expect(verdictOf(await agent.enforce({ arguments: rent, decisionGrants }))).toBe('allowed');
  });

  test.each<[string, object, object, object]>([
    ['binds less', pay, { ...pay, binds: ['/to'] }, {}],
    ['binds everything again', pay, { permission: 'write', requires_decision: true }, {}],
    ['binds only a part', { permission: 'write', requires_decision: true }, pay, {}],
    ['has other words', pay, { ...pay, title: 'Look at the balance' }, {}],
    ['has another tool', pay, pay, { list: 'read' }],
  ])('asks again when the manifest %s after the approval', async (_, before, after, more) => {
    const { acme, agent, decisionGrants, decisionId } = await approved(before);
    await put(acme, after, more);

    expect(verdictOf(await agent.enforce({ arguments: rent, decisionGrants }))).toBe('action_mismatch');
    const again = await agent.ask({ arguments: rent });
    expect([again.statusCode, again.json().decisionId === decisionId]).toEqual([201, false]);

    await put(acme, before);
    expect(verdictOf(await agent.enforce({ arguments: rent, decisionGrants }))).toBe('allowed');
  });

  test('is used by an enforcer elsewhere only with what the service binds', async () => {
    const { acme, agent, decisionGrants } = await approved();
    const { sha256 } = (await acme('GET', '/v1/manifests/acme_bank')).json();
    const bound = { to: 'ACME Ltd', amount: '120.50' };
    const none = { case_id: null, case_version: null, decision: null };
    const action = { v: 2, connector: 'acme_bank', tool: 'pay', manifest: sha256, arguments: bound, ...none };
    const consume = async (change: object) => {
      const body = { decisionGrants, caseVersion: null, callId: CALL, grantToken: agent.grantToken };
      const sent = await acme('POST', '/v1/decisions/consume', { ...body, action: { ...action, ...change } });
      return sent.json().state ?? Object(sent.json().details).sub_reason;
    };

    expect(await consume({ manifest: '0'.repeat(64) })).toBe('action_mismatch');
    expect(await consume({ v: 1 })).toBe('action_mismatch');
    expect(await consume({ arguments: { ...bound, amount: '1' } })).toBe('action_mismatch');
    expect(await consume({ arguments: { ...bound, note: 'x' } })).toBe('action_mismatch');
    await acme('DELETE', '/v1/manifests/acme_bank');
    expect(await consume({})).toBe('action_mismatch');
    await put(acme, pay);
    expect(await consume({})).toBe('sent');
  });

  test('is shown whole, with what binds, in its words, beside the last call that was approved', async () => {
    const { service, acme, agent, ada, decisionGrants, decisionId, actionHash } = await approved();
    await agent.enforce({ arguments: reworded, decisionGrants });
    const titled = {
      ...{ ...pay, title: 'Pay', argument_titles: { '/to': 'To', '/amount': 'Amount' } },
      titles: { de: { title: 'Zahlen', argument_titles: { '/to': 'An' } } },
    };
    await put(acme, titled);
    service.advance(1); // ids have no order within a millisecond
    const next = (await agent.ask({ arguments: { ...rent, amount: '130.00' } })).json();
    const at = `/v1/approver/decisions/${next.decisionId}`;

    const shown = (await ada.browser.call('GET', at, { headers: { 'accept-language': 'de' } })).json();

    expect(shown.arguments).toEqual({ ...rent, amount: '130.00' });
    expect(JSON.parse(shown.canonical)).toMatchObject({
      v: 2,
      arguments: { to: 'ACME Ltd', amount: '130.00' },
    });
    expect(shown.actionHash).not.toBe(actionHash);
    expect(shown.parts).toEqual([
      { path: '/amount', binds: true },
      { path: '/note', binds: false },
      { path: '/to', binds: true },
    ]);
    expect(shown.words).toEqual({
      ...{ title: 'Zahlen', description: null, language: 'de' },
      arguments: [
        { path: '/to', title: 'An' },
        { path: '/amount', title: 'Amount' },
      ],
    });
    expect(shown.lastApproved).toMatchObject({ decisionId, arguments: rent });
    const first = (await ada.browser.call('GET', `/v1/approver/decisions/${decisionId}`)).json();
    expect([first.lastApproved, first.words.title]).toEqual([null, null]);
  });
});
