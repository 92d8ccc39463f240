import { expect, test } from 'vitest';
import { type ApprovingPerson, enrolApprover, payer } from '../../../../test/app/approving.ts';
import { sharedSandbox } from '../../../../test/app/flow.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

/** Requests of each end, one a second: the last ones are still open. */
async function started() {
  const { service, acme } = await sandbox();
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const ask = async (n: number, more: object = {}) => {
    service.advance(1);
    const to = { approvers: [ada.approverId], arguments: { n } };
    return String((await agent.ask({ ...to, ...more })).json().decisionId);
  };
  return { service, acme, agent, ada, bob, ask };
}

const listed = async ({ browser }: ApprovingPerson, query = '') =>
  (await browser.call('GET', `/v1/approver/decisions${query}`)).json();
const idsOf = async (person: ApprovingPerson, query = ''): Promise<string[]> =>
  (await listed(person, query)).decisions.map(({ decisionId }: { decisionId: string }) => decisionId);

/** Follows the cursors of a list. */
async function paged(person: ApprovingPerson, query: string): Promise<string[]> {
  const seen: string[] = [];
  let cursor = '';
  do {
    const answer = await listed(person, `?limit=2&${query}${cursor}`);
    expect(answer.decisions.length).toBeLessThanOrEqual(2);
    seen.push(...answer.decisions.map(({ decisionId }: { decisionId: string }) => decisionId));
    cursor = answer.nextCursor ? `&cursor=${answer.nextCursor}` : '';
  } while (cursor !== '');
  return seen;
}

test('an approver reads how the requests to them ended, newest first, by status and page, and no others', async () => {
  const { service, acme, agent, ada, bob, ask } = await started();
  const expired = await ask(1, { expiresIn: '60s' });
  const denied = await ask(2);
  await ada.deny(denied);
  const cancelled = await ask(3);
  await acme('POST', `/v1/decisions/${cancelled}/cancel`, {});
  const used = await ask(4);
  await ada.approve(used);
  const call = { arguments: { n: 4 }, decisionGrants: await agent.grantsOf(used) };
  expect(await agent.enforce(call)).toMatchObject({ allowed: true });
  const approved = await ask(5);
  await ada.approve(approved);
  const superseded = await ask(6, { caseId: 'case-1', caseVersion: '1' });
  await acme('PUT', '/v1/decisions/cases/case-1', { caseVersion: '2' });
  const open = await ask(7);
  service.advance(60);

  const ended = [superseded, approved, used, cancelled, denied, expired];
  expect(await idsOf(ada, '?status=ended')).toEqual(ended);
  expect(await paged(ada, 'status=ended')).toEqual(ended);
  const byStatus = { superseded, approved, consumed: used, cancelled, denied, expired, pending: open };
  for (const [status, id] of Object.entries(byStatus)) {
    expect([status, await idsOf(ada, `?status=${status}`)]).toEqual([status, [id]]);
  }
  expect(await idsOf(ada)).toEqual([open]);
  expect((await listed(ada, '?status=denied')).decisions[0]).toMatchObject({
    ...{ decisionId: denied, status: 'denied', agentName: expect.any(String) },
    createdAt: expect.any(String),
  });
  expect(await idsOf(bob, '?status=ended')).toEqual([]);
  expect((await bob.browser.call('GET', `/v1/approver/decisions/${denied}`)).statusCode).toBe(404);
  const wrong = await ada.browser.call('GET', '/v1/approver/decisions?status=decided');
  expect(wrong.statusCode).toBe(400);
});

test('open requests come as they expire, each once, also those of one millisecond', async () => {
  const { agent, ada, ask } = await started();
  const late = await ask(1, { expiresIn: '2h' });
  const soon = await ask(2, { expiresIn: '1h' });
  const to = { approvers: [ada.approverId], expiresIn: '90m' };
  const same = await Promise.all(
    [3, 4, 5, 6, 7].map(async (n) => (await agent.ask({ ...to, arguments: { n } })).json().decisionId),
  );

  expect(await paged(ada, '')).toEqual([soon, ...same.sort(), late]);
  expect(await idsOf(ada)).toEqual([soon, ...same, late]);
});

test('a call is compared with the last decision of its case, also with one of the same millisecond', async () => {
  const { service, agent, ada } = await started();
  const about = { caseId: 'case-1', caseVersion: '1', approvers: [ada.approverId] };
  const request = async (n: number) =>
    String((await agent.ask({ ...about, arguments: { n } })).json().decisionId);
  const before = await request(1);
  await ada.approve(before);
  const comparedWith = async (id: string) => {
    const { previous } = (await ada.browser.call('GET', `/v1/approver/decisions/${id}`)).json();
    return previous === null ? null : JSON.parse(previous).arguments.n;
  };

  for (const n of [2, 3, 4, 5]) expect(await comparedWith(await request(n))).toBe(1);
  service.advance(1);
  const [next, last] = [await request(6), await request(7)];
  await ada.approve(next);
  expect([await comparedWith(last), await comparedWith(before)]).toEqual([6, null]);
});

/** The numbers of the metrics about decisions, by their names and labels. */
async function counted({ app }: Service): Promise<Record<string, number>> {
  const { body } = await app.inject({ url: '/metrics' });
  const lines = body.matchAll(/^(?:acts_total\{type="decision\.(\w+)"\}|(decisions_waiting)) (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, type, name, count]) => [type ?? name, Number(count)]));
}

test('the metrics tell what was asked, approved, denied, expired and used, and what waits', async () => {
  const service = await startApp();
  const waiting = async () => Number((await counted(service)).decisions_waiting);
  const now = await waiting();
  service.advance(3600);
  const others = { now, later: await waiting() };
  service.advance(-3600);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const ask = async (to: string) =>
    (await agent.ask({ arguments: { to }, expiresIn: '1h' })).json().decisionId;
  const [used, denied] = [await ask('A'), await ask('B')];
  await ask('C');
  await ada.approve(used);
  await ada.deny(denied);
  await agent.enforce({ arguments: { to: 'A' }, decisionGrants: await agent.grantsOf(used) });

  const seen = { requested: 3, granted: 1, denied: 1, consumed: 1 };
  expect(await counted(service)).toMatchObject({ ...seen, decisions_waiting: others.now + 1 });

  service.advance(3600);
  expect(await counted(service)).toMatchObject({ ...seen, decisions_waiting: others.later });
  await service.runJob('care of decisions');
  const expired = others.now + 1 - others.later;
  expect(await counted(service)).toMatchObject({ ...seen, expired, decisions_waiting: others.later });
});
