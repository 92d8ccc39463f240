import { afterAll, expect, test } from 'vitest';
import { enrolApprover } from '../../../../test/app/approving.ts';
import { grantTo, refusalOf } from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, through } from '../../../../test/app/proxy.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let started: Promise<Service> | undefined;
afterAll(async () => (await started)?.stop());

const manifest = {
  $schema: 'https://behest.dev/schemas/manifest-0.6.json',
  connector: 'github',
  tools: {
    comment: { permission: 'write', caps: { per_case: 2 } },
    close: { permission: 'write', requires_decision: true },
  },
};
const post = { methods: ['POST'] };
const rules = [
  { id: 'comment', ...post, path: '/comments', tool: { connector: 'github', tool: 'comment', body: 'none' } },
  { id: 'close', ...post, path: '/closed', tool: { connector: 'github', tool: 'close', body: 'none' } },
];

/** An agent whose calls through the proxy belong to cases. */
async function caseWorker() {
  started ??= startApp({ isShared: true, env: onThisMachine });
  const service = await started;
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('PUT', '/v1/manifests/github', manifest);
  const request = { scopes: ['vault:github:proxy', 'tool:github:write'] };
  const held = await proxied(acme, { profile: { rules }, request });
  const declare = (caseId: string, body: object) => acme('PUT', `/v1/decisions/cases/${caseId}`, body);
  const call = (path: string, caseId: string, headers: Record<string, string> = {}) =>
    through(service, held.grantToken, path, {
      method: 'POST',
      headers: { 'behest-case': caseId, ...headers },
    });
  return { service, acme, declare, call, ...held };
}

const reasonOf = (answer: Awaited<ReturnType<typeof through>>) => answer.json().details.details.sub_reason;

test('a request names a case that the developer has declared for its grant, and no other', async () => {
  const { acme, grantId, declare, call, receiver } = await caseWorker();
  const other = await grantTo(acme);
  await declare('case-of-another', { caseVersion: '1', grantIds: [other.grantId] });
  const declared = await declare('case-1', { caseVersion: '1', grantIds: [grantId] });
  expect(declared.json()).toEqual({ caseId: 'case-1', caseVersion: '1', grantIds: [grantId] });

  for (const caseId of ['case-2', 'case-of-another', 'CASE-1']) {
    expect(reasonOf(await call('/comments', caseId)), caseId).toBe('invalid_case_id');
  }
  const answers = [];
  for (let each = 0; each < 3; each += 1) answers.push(await call('/comments', 'case-1'));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 403]);

  await declare('case-1', { caseVersion: '2' }); // keeps its grants, and its counters
  expect(reasonOf(await call('/comments', 'case-1'))).toBe('limit_reached');
  await declare('case-1', { caseVersion: '2', grantIds: [] });
  expect(reasonOf(await call('/comments', 'case-1'))).toBe('invalid_case_id');
  expect(receiver.received).toHaveLength(2);
});

test('a case takes the grants of its own account, each once', async () => {
  const { service, grantId, declare } = await caseWorker();
  const stranger = await grantTo(await service.asDeveloper({ mode: 'sandbox' }));

  for (const grantIds of [[grantId, stranger.grantId], ['grnt_nobodys']]) {
    expect(refusalOf(await declare('case-1', { caseVersion: '1', grantIds }))).toBe('400 BAD_REQUEST');
  }
  const twice = await declare('case-1', { caseVersion: '1', grantIds: [grantId, grantId] });
  expect(twice.json().grantIds).toEqual([grantId]);
});

test('R10: a decision about a case holds for the version that the case has when the request comes', async () => {
  const { service, acme, grantId, grantToken, declare, call, receiver } = await caseWorker();
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  await declare('case-1', { caseVersion: '1', grantIds: [grantId] });
  const sent = { method: 'POST', upstream: 'api', path: '/closed', query: [], body: null };
  async function approved(caseVersion: string) {
    const about = { grantToken, connector: 'github', tool: 'close', caseId: 'case-1', caseVersion };
    const { decisionId } = (await acme('POST', '/v1/decisions', { ...about, arguments: sent })).json();
    await ada.approve(decisionId);
    const shown = await acme('POST', `/v1/decisions/${decisionId}/grants`, { grantToken });
    return { 'behest-decision-grant': String(shown.json().decisionGrants[0]) };
  }

  const first = await approved('1');
  await declare('case-1', { caseVersion: '2' });
  expect(reasonOf(await call('/closed', 'case-1', first))).toBe('case_changed');
  const second = await approved('2');
  expect((await call('/closed', 'case-1', second)).statusCode).toBe(200);
  expect(receiver.received).toHaveLength(1);
});
