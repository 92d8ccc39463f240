import { expect, test } from 'vitest';
import { afterStatements } from '../../../../test/app/after-statements.ts';
import { type ApprovingPerson, enrolApprover, payer, release } from '../../../../test/app/approving.ts';
import { gone } from '../../../../test/app/failing-statements.ts';
import { startListening } from '../../../../test/app/listening.ts';
import type { TestOptions } from '../../../../test/app/start-app.ts';
import { follow } from '../../../../test/app/streams.ts';

async function started(options: TestOptions = {}) {
  const service = await startListening(options);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const followAs = ({ browser }: Pick<ApprovingPerson, 'browser'>, lastEventId = '') =>
    follow({ url: service.url, at: '/v1/approver/events', headers: browser.headers(), lastEventId });
  return { ...service, service, acme, agent, ada, followAs };
}

const typesOf = (stream: Awaited<ReturnType<typeof follow>>) => stream.events().map(({ type }) => type);

test('W4: an approver hears of the requests that go to them, and of no others', async () => {
  const { service, acme, agent, ada, followAs } = await started();
  const eve = await enrolApprover(service, acme, 'eve@example.org');
  const [own, others] = [await followAs(ada), await followAs(eve)];

  const { decisionId } = (await agent.ask({ approvers: [ada.approverId] })).json();
  await ada.deny(decisionId);
  const shared = (await agent.ask({ arguments: { to: 'Both' } })).json();

  await others.first(1);
  await own.first(3);
  expect(typesOf(own)).toEqual(['decision.requested', 'decision.denied', 'decision.requested']);
  expect(others.events().map(({ data }) => data.decisionId)).toEqual([shared.decisionId]);
  expect(JSON.stringify(own.frames)).not.toContain('120.50');
});

test('the first of two approvals is news to the second person, and not to the first', async () => {
  const { service, acme, agent, ada, followAs } = await started();
  const eve = await enrolApprover(service, acme, 'eve@example.org');
  const [own, others] = [await followAs(ada), await followAs(eve)];

  const { decisionId } = (await agent.ask(release)).json();
  await ada.approve(decisionId);
  await eve.approve(decisionId);

  await others.first(3);
  await own.first(2);
  expect(typesOf(own)).toEqual(['decision.requested', 'decision.granted']);
  expect(typesOf(others)).toEqual(['decision.requested', 'decision.first_approval', 'decision.granted']);
});

test('a stream goes on after the last event that the browser has seen', async () => {
  const { agent, ada, followAs } = await started();
  const before = await followAs(ada);
  const { decisionId } = (await agent.ask()).json();
  const [seen] = await before.first(1);
  before.close();
  await ada.deny(decisionId);

  const resumed = await followAs(ada, seen);

  await resumed.first(1);
  expect(typesOf(resumed)).toEqual(['decision.denied']);
});

test('a stream whose question about an event fails is cut off, and the event comes when it resumes', async () => {
  let isAway = false;
  const question = afterStatements('"decisions"', async () => {
    if (isAway) throw gone();
  });
  const { agent, ada, followAs } = await started({ dbAs: (db) => db.withPlugin(question) });
  const before = await followAs(ada);
  const { decisionId } = (await agent.ask()).json();
  const [seen] = await before.first(1);
  before.close();
  await ada.deny(decisionId);

  isAway = true;
  const failed = await followAs(ada, seen);
  const end = await failed.ended;
  isAway = false;
  const resumed = await followAs(ada, seen);
  await resumed.first(1);

  expect([end, failed.events()]).toEqual(['cut off', []]);
  expect(typesOf(resumed)).toEqual(['decision.denied']);
});

test('W4: nothing is sent to a person who was suspended or removed, and their stream ends with the change', async () => {
  const { service, acme, agent, ada, followAs } = await started();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const eve = await enrolApprover(service, acme, 'eve@example.org');
  const [ended, removed, stays] = [await followAs(ada), await followAs(eve), await followAs(bob)];

  await acme('PATCH', `/v1/approvers/${ada.approverId}`, { status: 'suspended' });
  await acme('DELETE', `/v1/approvers/${eve.approverId}`);
  await agent.ask();

  expect([await ended.ended, await removed.ended]).toEqual(['ended', 'ended']);
  await stays.first(1);
  expect([ended.events(), removed.events(), typesOf(stays)]).toEqual([[], [], ['decision.requested']]);
});

test('W4: a stream ends within a minute after its browser signed out, and sends nothing before', async () => {
  const { agent, ada, followAs, advance } = await started();
  const stream = await followAs(ada);
  await ada.browser.call('DELETE', '/v1/approver/session');
  await agent.ask();
  expect(await stream.ended).toBe('ended');
  expect(stream.events()).toEqual([]);
  await ada.signIn();
  const quiet = await followAs(ada);
  await ada.browser.call('DELETE', '/v1/approver/session');

  advance(60);

  expect(await quiet.ended).toBe('ended');
});

test('W4: a stream does not keep its session alive, and neither does a request of the page by itself', async () => {
  const { ada, followAs, advance } = await started();
  const stream = await followAs(ada);
  const headers = { 'behest-background': '1' };

  advance(899);
  expect((await ada.browser.call('GET', '/v1/approver/me', { headers })).statusCode).toBe(200);
  advance(1);

  expect(await stream.ended).toBe('ended');
  expect((await ada.browser.call('GET', '/v1/approver/me', { headers })).statusCode).toBe(401);
});

test('a request of the person keeps the session alive, and the stream with it', async () => {
  const { agent, ada, followAs, advance } = await started();
  const stream = await followAs(ada);

  advance(899);
  await ada.browser.call('GET', '/v1/approver/me');
  advance(60);
  await agent.ask();

  await stream.first(1);
});

test('an absent approver hears nothing, and their deputy in their place', async () => {
  const { service, acme, agent, ada, followAs, advance } = await started();
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const { decisionId } = (await agent.ask({ approvers: [ada.approverId] })).json();
  const [away, deputy] = [await followAs(ada), await followAs(bob)];
  const [from, until] = [0, 86_400_000].map((later) => new Date(service.clock().getTime() + later));
  const absence = { from, until, deputyApproverId: bob.approverId };
  await ada.browser.call('PUT', '/v1/approver/absence', { body: absence });

  await acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
  await deputy.first(1);
  advance(900); // the session is idle for so long

  expect(await away.ended).toBe('ended');
  expect([typesOf(away), typesOf(deputy)]).toEqual([[], ['decision.cancelled']]);
});

test('a person may have five streams, whatever the streams of the developer', async () => {
  const { acme, ada, followAs, url } = await started();

  const streams = [];
  for (let each = 0; each < 6; each += 1) streams.push(await followAs(ada));
  const developers = await follow({ url, apiKey: acme.apiKey });

  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(developers.status).toBe(200);
});

test('W4: neither an API key nor the page of another site opens a stream of an approver', async () => {
  const { acme, ada, url } = await started();
  const at = '/v1/approver/events';
  const { 'sec-fetch-site': _, ...without } = ada.browser.headers();

  const byKey = await follow({ url, at, apiKey: acme.apiKey });
  const elsewhere = await follow({ url, at, headers: { ...without, 'sec-fetch-site': 'cross-site' } });
  const unsaid = await follow({ url, at, headers: without });

  expect([byKey.status, elsewhere.status, unsaid.status]).toEqual([403, 403, 403]);
});

test('an approver reads their own record', async () => {
  const { ada } = await started();

  const answer = await ada.browser.call('GET', '/v1/approver/me');

  expect(answer.json()).toMatchObject({
    ...{ approverId: ada.approverId, email: 'ada@example.org', kind: 'person' },
    ...{ status: 'active', sub: `approver:${ada.approverId}`, absence: null },
  });
});
