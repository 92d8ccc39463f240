import { expect, test } from 'vitest';
import { enrolApprover, payer } from '../../../../test/app/approving.ts';
import { grantTo, sharedSandbox } from '../../../../test/app/flow.ts';

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
