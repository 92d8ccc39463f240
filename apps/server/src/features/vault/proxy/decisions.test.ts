import { afterAll, describe, expect, test } from 'vitest';
import { enrolApprover } from '../../../../test/app/approving.ts';
import { grantTo, refusalOf } from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, through } from '../../../../test/app/proxy.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let started: Promise<Service> | undefined;
afterAll(async () => (await started)?.stop());

const manifest = {
  $schema: 'https://behest.dev/schemas/manifest-0.6.json',
  connector: 'github',
  tools: { upload: { permission: 'write', requires_decision: true } },
};
const tool = { connector: 'github', tool: 'upload', body: 'json' };
const rules = [{ id: 'up', methods: ['POST'], path: '/files', tool }];
const file = '{"name":"a"}';

/** An agent about whose uploads through the proxy a person decides. */
async function uploader() {
  started ??= startApp({ isShared: true, env: onThisMachine });
  const service = await started;
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('PUT', '/v1/manifests/github', manifest);
  const request = { scopes: ['vault:github:proxy', 'tool:github:write'] };
  const { grantToken, receiver } = await proxied(acme, { profile: { rules }, request });
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const upload = (body: string, headers: Record<string, string> = {}, path = '/files') =>
    through(service, grantToken, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const ask = async (body: string) => {
    const sent = { method: 'POST', upstream: 'api', path: '/files', query: [], body: JSON.parse(body) };
    const call = { grantToken, connector: 'github', tool: 'upload', arguments: sent };
    return (await acme('POST', '/v1/decisions', call)).json();
  };
  /** The header of an approved request. */
  async function approved(body: string) {
    const { decisionId } = await ask(body);
    await ada.approve(decisionId);
    const shown = await acme('POST', `/v1/decisions/${decisionId}/grants`, { grantToken });
    const header = { 'behest-decision-grant': shown.json().decisionGrants.join(', ') };
    return { decisionId: String(decisionId), header };
  }
  return { service, acme, ada, receiver, upload, ask, approved };
}

/** The denial of the enforcer inside the refusal of the proxy. */
const denialOf = (answer: Awaited<ReturnType<typeof through>>) => answer.json().details.details;

test('R10: a request through the proxy waits for a person, passes once, and no copy of it passes', async () => {
  const { acme, receiver, upload, ask, approved } = await uploader();

  const waiting = await upload(file);
  expect(refusalOf(waiting)).toBe('403 PROXY_DENIED enforcement');
  const { actionHash } = await ask(file);
  expect(denialOf(waiting)).toEqual({
    reason_code: 'decision_required',
    sub_reason: null,
    details: { quorum: 1, action_hash: actionHash },
  });

  const { decisionId, header } = await approved(file);
  const passed = await upload(file, header);
  expect([passed.statusCode, passed.headers['behest-proxy']]).toEqual([200, 'upstream']);
  expect(receiver.received.map(({ body }) => body)).toEqual([file]);
  expect(receiver.received[0]?.headers).not.toHaveProperty('behest-decision-grant');
  expect((await acme('GET', `/v1/decisions/${decisionId}`)).json().status).toBe('consumed');

  for (const headers of [header, { ...header, 'idempotency-key': 'one-for-both' }]) {
    const again = await upload(file, headers);
    expect([refusalOf(again), denialOf(again).sub_reason]).toEqual([
      '403 PROXY_DENIED enforcement',
      'consumed',
    ]);
  }
  expect(receiver.received).toHaveLength(1);
});

test('R10: a decision allows no other request through the proxy, be it by one byte of body or query', async () => {
  const { receiver, upload, approved } = await uploader();
  const { header } = await approved(file);

  const others = [await upload('{"name":"b"}', header), await upload(file, header, '/files?n=1')];

  expect(others.map((answer) => denialOf(answer).sub_reason)).toEqual(['action_mismatch', 'action_mismatch']);
  expect(receiver.received).toEqual([]);
  expect((await upload(file, header)).statusCode).toBe(200);
});

test('R10: of ten requests at once with one decision, the proxy sends one', async () => {
  const { receiver, upload, approved } = await uploader();
  const { header } = await approved(file);

  const answers = await Promise.all(Array.from({ length: 10 }, () => upload(file, header)));

  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
  expect(receiver.received).toHaveLength(1);
});

test('R10: a decision that ended lets nothing through the proxy', async () => {
  const { acme, ada, receiver, upload, approved } = await uploader();
  const [denied, cancelled] = [await approved(file), await approved('{"name":"b"}')];
  await ada.deny(denied.decisionId);
  await acme('POST', `/v1/decisions/${cancelled.decisionId}/cancel`, {});

  const answers = [await upload(file, denied.header), await upload('{"name":"b"}', cancelled.header)];

  expect(answers.map((answer) => denialOf(answer).sub_reason)).toEqual(['revoked', 'revoked']);
  expect(receiver.received).toEqual([]);
});

test('R10: a tool that two people decide about passes through the proxy under no word that the agent chooses', async () => {
  const { acme, receiver, upload, approved } = await uploader();
  const { header } = await approved(file);
  const { upload: tool } = manifest.tools;
  const paired = { ...manifest, tools: { upload: { ...tool, four_eyes_on: ['release'] } } };
  await acme('PUT', '/v1/manifests/github', paired);

  for (const [body, more] of [
    [file, header],
    ['{"name":"a","decision":"note"}', header],
    [file, { ...header, 'behest-decision': 'note' }],
    [file, {}],
  ] as const) {
    expect(denialOf(await upload(body, more))).toMatchObject({ reason_code: 'decision_required' });
  }
  expect(receiver.received).toEqual([]);

  await acme('PUT', '/v1/manifests/github', manifest);
  expect((await upload(file, header)).statusCode).toBe(200); // the control
});

describe('cases', () => {
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
    {
      id: 'comment',
      ...post,
      path: '/comments',
      tool: { connector: 'github', tool: 'comment', body: 'none' },
    },
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
});
