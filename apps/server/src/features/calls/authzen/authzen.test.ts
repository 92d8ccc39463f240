import { sql } from 'kysely';
import { expect, test } from 'vitest';
import {
  askTogether,
  askWith,
  decisionsIn,
  entriesOf,
  mailer,
  registerAgent,
  sharedSandbox,
  usedOf,
} from '../../../../test/app/flow.ts';
import { newResource } from '../../../../test/app/oauth.ts';
import { inTransaction } from '../../../platform/db/db.ts';

const sandbox = sharedSandbox();

const CLAIMS = { reason_code: 'token_invalid', details: { cause: 'claims' } };

test('a permit and a denial are those of the engine, and are recorded with their way', async () => {
  const { acme } = await sandbox();
  const { question, grantToken, grantId, jti } = await mailer(acme);
  const ask = askWith(acme);

  const permit = await ask(question);
  const denial = await ask({ ...question, action: { name: 'purge' } });
  const native = await acme('POST', '/v1/enforce', {
    ...{ grantToken, connector: 'acme_mail', tool: 'purge', arguments: {} },
  });

  expect(permit).toMatchObject({ status: 200, decision: true });
  expect(permit.context).toMatchObject({
    grant_id: grantId,
    call_id: expect.any(String),
    reservation: { units: expect.any(Number) },
  });
  const { reason_code, sub_reason, reason, details } = native.json();
  expect(denial).toMatchObject({
    status: 200,
    decision: false,
    context: { reason_code, sub_reason, reason, details, grant_id: grantId },
  });
  expect(await usedOf(acme, grantId)).toBe(1);
  const marked = (await entriesOf(acme, 'tool.enforce')).filter(({ metadata }) => metadata.via === 'authzen');
  expect(marked.map(({ metadata }) => [metadata.tool, metadata.pep])).toEqual(
    expect.arrayContaining([
      ['send', 'key'],
      ['purge', 'key'],
    ]),
  );
  const shown = { ...question, subject: { type: 'token', id: jti, properties: { token: grantToken } } };
  expect((await ask(shown)).decision).toBe(true);
  const follow = await acme('POST', `/v1/enforce/${permit.context.call_id}/refund`, {});
  expect(follow.statusCode).toBe(204);
});

test('a tool may be the resource, and arguments stand in one of two places', async () => {
  const { acme } = await sandbox();
  const { question } = await mailer(acme);
  const ask = askWith(acme);
  const tool = { type: 'tool', id: 'list', properties: { connector: 'acme_mail' } };
  const call = { ...question, action: { name: 'tools/call' }, resource: tool };

  expect((await ask(call)).decision).toBe(true);
  expect((await ask({ ...call, action: { name: 'tools/list' } })).context).toMatchObject(CLAIMS);
  expect((await ask({ ...call, resource: { type: 'tool', id: 'list' } })).context).toMatchObject(CLAIMS);
  const [one, other] = [{ to: 'ada' }, { to: 'bob' }];
  const twice = (first: object, second: object) => ({
    ...question,
    action: { name: 'list', properties: { arguments: first } },
    context: { arguments: second },
  });
  expect((await ask(twice(one, one))).decision).toBe(true);
  expect((await ask(twice(one, other))).context).toMatchObject(CLAIMS);
});

test('a subject without authority is denied, alike for an unknown and a foreign one', async () => {
  const { acme, asDeveloper } = await sandbox();
  const { question, jti, grantToken, agentId } = await mailer(acme);
  const stranger = await asDeveloper({ mode: 'sandbox' });
  const foreign = await mailer(stranger);
  const ask = askWith(acme);
  const of = (subject: object, context?: object) =>
    ask({ ...question, subject, ...(context && { context }) });
  const unlike = ({ context }: { context: { call_id: string } }) => ({ ...context, call_id: '' });

  const unknown = await of({ type: 'token', id: 'tok_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' });
  const others = await of({ type: 'token', id: foreign.jti });

  expect(unknown.context).toMatchObject(CLAIMS);
  expect(unlike(others)).toEqual(unlike(unknown));
  const shown = { token: foreign.grantToken };
  expect(unlike(await of({ type: 'token', id: foreign.jti, properties: shown }))).toEqual(unlike(unknown));
  expect(unlike(await of({ type: 'token', id: foreign.jti, properties: { token: grantToken } }))).toEqual(
    unlike(unknown),
  );
  expect((await of({ type: 'user', id: 'user_42' })).context).toMatchObject(CLAIMS);
  expect((await of({ type: 'grant', id: foreign.grantId })).context).toMatchObject(CLAIMS);
  const person = { type: 'identity', id: 'user_42' };
  expect((await of(person)).context).toMatchObject(CLAIMS);
  expect((await of({ ...person, id: 'eve' }, { jti })).context).toMatchObject(CLAIMS);
  expect((await of(person, { jti, agent: 'ag_other' })).context).toMatchObject(CLAIMS);
  expect((await of(person, { jti, agent: agentId })).decision).toBe(true);
  expect((await of(person, { jti })).decision).toBe(true);
});

test('a grant is asked about before it is used, and never charged', async () => {
  const { acme } = await sandbox();
  const { question, grantId } = await mailer(acme);
  const ask = askWith(acme);

  const answer = await ask({ ...question, subject: { type: 'grant', id: grantId } });

  expect(answer).toMatchObject({ decision: true, context: { check_only: true, grant_id: grantId } });
  const check = await ask({ ...question, context: { check_only: true } });
  expect(check).toMatchObject({ decision: true, context: { check_only: true } });
  expect(await usedOf(acme, grantId)).toBe(0);
});

test('a token that was revoked, and one that has ended, permit nothing', async () => {
  const { acme, advance } = await sandbox();
  const [revoked, ending] = [await mailer(acme), await mailer(acme, { expiresIn: '1h' })];
  const ask = askWith(acme);
  expect((await ask(revoked.question)).decision).toBe(true);

  await acme('POST', '/v1/tokens/revoke', { token: revoked.grantToken });
  expect((await ask(revoked.question)).decision).toBe(false);
  advance(3599);
  expect((await ask(ending.question)).decision).toBe(true);
  advance(1);
  expect((await ask(ending.question)).context).toMatchObject(CLAIMS);
});

test('20 batches of 5 that come at once get no more than 7 permits from a cap of 7', async () => {
  const { acme } = await sandbox();
  const { question, grantId } = await mailer(acme);
  const batch = { ...question, evaluations: Array.from({ length: 5 }, () => ({})) };

  const answers = await Promise.all(Array.from({ length: 20 }, () => askTogether(acme, batch)));

  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(answers.map(decisionsIn).every(({ length }) => length === 5)).toBe(true);
  // A meter that is too busy denies, and may have counted the call: so a permit may be lost, and none is gained.
  const lost = answers
    .flatMap(({ evaluations }) => evaluations)
    .filter(
      ({ context }: { context: { sub_reason?: string } }) => context.sub_reason === 'meter_unavailable',
    );
  const singles: boolean[] = [];
  for (let index = 0; index < 8; index += 1) singles.push((await askWith(acme)(question)).decision);
  const permits = [...answers.flatMap(decisionsIn), ...singles].filter(Boolean).length;
  expect(permits).toBeLessThanOrEqual(7);
  expect(permits).toBeGreaterThanOrEqual(7 - lost.length);
  expect(await usedOf(acme, grantId)).toBe(7);
});

test('a batch whose caps are busy for longer than a caller would wait loses no permit, and no unit', async () => {
  const { acme, service } = await sandbox();
  const { question, grantId } = await mailer(acme);
  const batch = { ...question, evaluations: Array.from({ length: 7 }, () => ({})) };
  expect((await askWith(acme)(question)).decision).toBe(true); // makes the counter

  const held = inTransaction(service.db, async (tx) => {
    await sql`select from caps_counter where developer_id = ${acme.developerId} for update`.execute(tx);
    await new Promise((resolve) => setTimeout(resolve, 800)); // past the half second of an SDK
  });
  const answer = await askTogether(acme, batch);
  await held;

  expect(decisionsIn(answer)).toEqual([true, true, true, true, true, true, false]);
  expect(answer.evaluations[6].context.sub_reason).toBe('limit_reached');
  expect(await usedOf(acme, grantId)).toBe(7);
});

test('a batch ends where its semantic says, and gives back what it took before a denial', async () => {
  const { acme } = await sandbox();
  const { question, grantId } = await mailer(acme);
  const evaluations = [{}, { action: { name: 'purge' } }, {}];
  const together = (evaluations_semantic: string) =>
    askTogether(acme, { ...question, evaluations, options: { evaluations_semantic } });

  expect(decisionsIn(await together('deny_on_first_deny'))).toEqual([true, false]);
  expect(await usedOf(acme, grantId)).toBe(0);
  expect(decisionsIn(await together('permit_on_first_permit'))).toEqual([true]);
  expect(decisionsIn(await together('execute_all'))).toEqual([true, false, true]);
  expect(await usedOf(acme, grantId)).toBe(3);
  expect((await together('other')).status).toBe(400);
  expect((await askTogether(acme, { ...question, evaluations: [] })).decision).toBe(true);
  expect((await askTogether(acme, question)).decision).toBe(true);
});

test('an item that is no question is denied, and the others go on', async () => {
  const { acme } = await sandbox();
  const { question } = await mailer(acme);
  const { resource, ...others } = question;

  const answer = await askTogether(acme, { ...others, evaluations: [{ resource }, {}, { resource }] });

  expect(answer.status).toBe(200);
  expect(decisionsIn(answer)).toEqual([true, false, true]);
  expect(answer.evaluations[1].context.error).toEqual({ status: 400, message: expect.stringMatching(/./) });
});

test('a question that is none is a bad request', async () => {
  const { acme, app } = await sandbox();
  const { question } = await mailer(acme);
  const ask = askWith(acme);
  const bodies = [
    {},
    { ...question, subject: undefined },
    { ...question, subject: { type: 'token' } },
    { ...question, subject: { type: 1, id: 'x' } },
    { ...question, action: {} },
    { ...question, resource: { type: 'connector', id: '' } },
    { ...question, context: 'x' },
    { ...question, context: { call_id: 7 } },
  ];
  for (const body of bodies) expect([body, (await ask(body)).status]).toEqual([body, 400]);
  const evaluations = Array.from({ length: 101 }, () => ({}));
  expect((await askTogether(acme, { ...question, evaluations })).status).toBe(400);
  const post = (headers: Record<string, string>, payload: string) =>
    app.inject({ method: 'POST', url: '/access/v1/evaluation', headers, payload });
  const authorization = `Bearer ${acme.apiKey}`;
  const id = 'a-request/of=mine';
  const text = JSON.stringify(question);
  expect((await post({ authorization, 'content-type': 'text/plain' }, text)).statusCode).toBe(400);
  expect((await post({ authorization, 'content-type': 'application/json' }, '')).statusCode).toBe(400);
  const json = { 'content-type': 'application/json', 'x-request-id': id };
  const anonymous = await post(json, text);
  expect([anonymous.statusCode, anonymous.headers['www-authenticate']]).toEqual([401, expect.any(String)]);
  const good = await post({ ...json, authorization }, text);
  expect([good.statusCode, good.headers['x-request-id']]).toEqual([200, id]);
});

test('a resource asks with its credential about its own tokens and connectors alone', async () => {
  const { acme, calling } = await sandbox();
  const [mine, other] = ['http://localhost/mine', 'http://localhost/other'];
  const [own, stranger] = [await newResource(acme, mine), await newResource(acme, other)];
  const { question } = await mailer(acme, { audience: mine });
  const ask = (credential: string, body: object) => askWith(calling(credential))(body);

  expect(await ask(own.credential, question)).toMatchObject({ status: 200, decision: true });
  expect((await ask(stranger.credential, question)).context).toMatchObject({
    reason_code: 'token_invalid',
    details: { cause: 'audience' },
  });
  await acme('PATCH', `/v1/resources/${own.id}`, { connectors: ['another'] });
  expect((await ask(own.credential, question)).context.reason_code).toBe('manifest_unknown_tool');
  await acme('PATCH', `/v1/resources/${own.id}`, { connectors: ['acme_mail'] });
  const tool = { ...question, action: { name: 'tools/call' }, resource: { type: 'tool', id: 'list' } };
  expect((await ask(own.credential, tool)).decision).toBe(true);
  expect((await ask('bh_res_unknown', question)).status).toBe(401);
  const [entry] = (await entriesOf(acme, 'tool.enforce')).filter(({ metadata }) => metadata.pep === own.id);
  expect(entry?.metadata).toMatchObject({ via: 'authzen', actor: `resource:${own.id}` });
  expect((await calling(own.credential)('GET', '/v1/agents')).statusCode).toBe(401);
});

test('a key that is bound to agents asks about their tokens alone', async () => {
  const { acme } = await sandbox();
  const { question, agentId } = await mailer(acme);
  const { agentId: otherId } = await registerAgent(acme);
  const [own, other] = [await acme.asRuntime(agentId), await acme.asRuntime(otherId)];

  expect((await askWith(own)(question)).decision).toBe(true);
  expect((await askWith(other)(question)).context).toMatchObject(CLAIMS);
});

test('the metadata names the two endpoints', async () => {
  const { app } = await sandbox();

  const answer = await app.inject('/.well-known/authzen-configuration');

  expect(answer.json()).toEqual({
    policy_decision_point: 'https://auth.test',
    access_evaluation_endpoint: 'https://auth.test/access/v1/evaluation',
    access_evaluations_endpoint: 'https://auth.test/access/v1/evaluations',
  });
  expect(answer.headers['cache-control']).toBe('public, max-age=300');
});

test.each(['false', 1, 'true', {}])(
  'a `check_only` of %j is no `true`, so the call is charged',
  async (check_only) => {
    const { acme } = await sandbox();
    const { question, grantId } = await mailer(acme);

    const answer = await askWith(acme)({ ...question, context: { check_only } });

    expect([answer.decision, answer.context.check_only]).toEqual([true, undefined]);
    expect(await usedOf(acme, grantId)).toBe(1);
  },
);

test('an item of a batch that is no object is answered as malformed, and the others go on', async () => {
  const { acme } = await sandbox();
  const { question } = await mailer(acme);
  const { action, ...shared } = question;

  const asked = {
    ...shared,
    evaluations: [{ action }, 'send', null, ['send'], 7, { action: { name: 'list' } }],
  };
  const { status, evaluations } = await askTogether(acme, asked);

  expect([status, decisionsIn({ evaluations })]).toEqual([200, [true, false, false, false, false, true]]);
  expect(evaluations[1]).toEqual({
    decision: false,
    context: { error: { status: 400, message: 'The evaluation is no object.' } },
  });
});

test('a resource whose connectors are null asks about any', async () => {
  const { acme } = await sandbox();
  const added = await acme('POST', '/v1/resources', {
    ...{ resource: 'http://localhost/any', name: 'Any server', connectors: null },
  });
  const { id } = added.json();
  await acme('PATCH', `/v1/resources/${id}`, { connectors: ['acme_mail'] });
  const changed = await acme('PATCH', `/v1/resources/${id}`, { connectors: null });

  expect([added.statusCode, added.json().connectors]).toEqual([201, []]);
  expect([changed.statusCode, changed.json().connectors]).toEqual([200, []]);
});
