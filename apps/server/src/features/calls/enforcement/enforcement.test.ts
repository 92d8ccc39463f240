import { MeterError } from '@behest/protocol/enforcement/meter';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  entriesOf,
  grantTo,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { send } from '../../../../test/app/repeating.ts';
import { type Call, type Developer, newDatabase, startApp } from '../../../../test/app/start-app.ts';
import { forgettingOfCalls } from './enforcement.feature.ts';
import { answerOf } from './usage.ts';

const sandbox = sharedSandbox();

const tools = {
  list: 'read',
  send: { permission: 'write', caps: { per_day: 2 } },
  pay: { permission: 'write', arguments: { '/amount': { max: '500' } } },
};

async function mailer(acme: Developer, grant: object = {}) {
  const manifest = { $schema: 'x', connector: 'acme_mail', version: '7', tools };
  await acme('PUT', '/v1/manifests/acme_mail', manifest);
  const granted = await grantTo(acme, { scopes: ['tool:acme_mail:write'], ...grant });
  const enforce = async (tool: string, call: object = {}) => {
    const body = { grantToken: granted.grantToken, connector: 'acme_mail', tool, arguments: {}, ...call };
    return acme('POST', '/v1/enforce', body);
  };
  return { ...granted, enforce };
}

const eventsOf = async (acme: Developer) =>
  (await acme('GET', '/v1/events?types=enforcement.denied'))
    .json()
    .events.map(({ data }: { data: Readonly<Record<string, unknown>> }) => data);

const statusOf = async (acme: Developer, callId: string, word: string) =>
  (await acme('POST', `/v1/enforce/${callId}/${word}`, {})).statusCode;

describe('a call that may happen', () => {
  test('is allowed, and recorded without its arguments', async () => {
    const { acme } = await sandbox();
    const { enforce, agentId, did, grantId } = await mailer(acme);

    const answer = await enforce('list', { arguments: { folder: 'secret-folder' }, callId: 'call-0001' });

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      allowed: true,
      reason: '',
      reason_code: null,
      reasonCode: null,
      sub_reason: null,
      grant_id: grantId,
      agent_did: did,
      principal_id: 'user_42',
      developer_id: acme.developerId,
      permission: 'read',
      manifest_version: '7',
      call_id: 'call-0001',
      reservation: null,
    });
    const [entry] = await entriesOf(acme, 'tool.enforce');
    expect(entry).toMatchObject({
      status: 'success',
      agentId,
      agentDid: did,
      grantId,
      principalId: 'user_42',
    });
    expect(entry?.metadata).toEqual({
      connector: 'acme_mail',
      tool: 'list',
      permission: 'read',
      callId: 'call-0001',
      actionHash: expect.stringMatching(/^sha256:[\w-]{43}$/),
      manifestVersion: '7',
      capsMode: 'enforce',
      actor: expect.stringMatching(/^developer:key_/),
    });
    expect(JSON.stringify(entry)).not.toContain('secret-folder');
    expect(await eventsOf(acme)).toEqual([]);
  });

  test('is found in a chain that verifies', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);
    for (const amount of [5, 0.1, 1e21, 1e-6, 9e-7]) await enforce('list', { amount });

    const amounts = (await entriesOf(acme, 'tool.enforce')).map(({ metadata }) => metadata.amount);

    expect(amounts).toEqual([5, 0.1, '1e+21', 1e-6, '9e-7']);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test('keeps the name of its case up to 256 characters', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);
    for (const length of [256, 257]) await enforce('list', { caseId: '𝒜'.repeat(length) });

    const cases = (await entriesOf(acme, 'tool.enforce')).map(({ metadata }) => metadata.caseId);

    expect(cases).toEqual(['𝒜'.repeat(256), undefined]);
  });
});

describe('a call that may not happen', () => {
  test('is an answer, an entry and an event', async () => {
    const { acme } = await sandbox();
    const { enforce, agentId, grantId } = await mailer(acme);

    const answer = await enforce('purge', { callId: 'call-0002', resource: 'inbox' });

    expect([answer.statusCode, answer.json().allowed]).toEqual([200, false]);
    expect(answer.json()).toMatchObject({
      reason: expect.stringMatching(/./),
      reason_code: 'manifest_unknown_tool',
      sub_reason: 'unknown_tool',
      subReason: 'unknown_tool',
    });
    const [entry] = await entriesOf(acme, 'tool.enforce');
    const data = {
      connector: 'acme_mail',
      tool: 'purge',
      resource: 'inbox',
      callId: 'call-0002',
      reasonCode: 'manifest_unknown_tool',
      subReason: 'unknown_tool',
    };
    expect(entry).toMatchObject({ status: 'blocked', agentId, grantId, metadata: data });
    expect(await eventsOf(acme)).toEqual([expect.objectContaining({ ...data, agentId, grantId })]);
  });

  test('leaves an entry and no event when the caller only asks', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);

    const answer = await enforce('purge', { reserve: false });

    expect(answer.json().allowed).toBe(false);
    const [entry] = await entriesOf(acme, 'tool.enforce');
    expect(entry).toMatchObject({ status: 'blocked', metadata: { checkOnly: true } });
    expect(await eventsOf(acme)).toEqual([]);
  });

  test.each([
    ['no manifest', 'manifest_unknown_tool', 'unknown_connector', { connector: 'other' }],
    [
      'arguments beyond its rules',
      'tool_not_granted',
      'argument_not_allowed',
      { tool: 'pay', arguments: { amount: 501 } },
    ],
    [
      'no arguments where it has rules',
      'tool_not_granted',
      'argument_missing',
      { tool: 'pay', arguments: undefined },
    ],
    ['a decision that is missing', 'decision_required', null, { connector: 'acme_safe', tool: 'open' }],
  ])('has %s', async (_, reasonCode, subReason, call) => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme, {
      scopes: ['tool:acme_mail:write', 'tool:acme_safe:write', 'tool:other:read'],
    });
    const open = { permission: 'write', requires_decision: true };
    await acme('PUT', '/v1/manifests/acme_safe', { connector: 'acme_safe', tools: { open } });

    const answer = await enforce('list', call);

    expect(answer.json()).toMatchObject({ allowed: false, reasonCode, subReason });
  });

  test('has a number that two readers could take for different ones', async () => {
    const { acme, app } = await sandbox();
    const { grantToken } = await mailer(acme);
    const ask = async (amount: string) => {
      const call = JSON.stringify({
        grantToken,
        connector: 'acme_mail',
        tool: 'pay',
        arguments: { amount: 0 },
      });
      const answer = await app.inject({
        method: 'POST',
        url: '/v1/enforce',
        headers: { authorization: `Bearer ${acme.apiKey}`, 'content-type': 'application/json' },
        payload: call.replace('"amount":0', `"amount":${amount}`),
      });
      return answer.json();
    };

    expect(await ask('500')).toMatchObject({ allowed: true });
    for (const inexact of ['500.0000000000000000001', '9.000000000000001', '5e-400']) {
      expect(await ask(inexact), inexact).toMatchObject({
        allowed: false,
        reasonCode: 'tool_not_granted',
        subReason: 'argument_unreadable',
        details: { cause: 'number' },
      });
    }
  });
});

describe('a token', () => {
  test.each([
    [
      'revoked',
      (acme: Developer, { grantId }: { grantId: string }) => acme('DELETE', `/v1/grants/${grantId}`),
    ],
    [
      'suspended',
      (acme: Developer, { agentId }: { agentId: string }) =>
        acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' }),
    ],
  ])('is denied by the first call after its grant was %s', async (subReason, end) => {
    const { acme } = await sandbox();
    const { enforce, ...granted } = await mailer(acme);
    const before = (await enforce('list')).json();
    await end(acme, granted);

    const after = (await enforce('list')).json();

    expect(before.allowed).toBe(true);
    expect(after).toMatchObject({ allowed: false, reasonCode: 'grant_revoked', subReason });
  });

  test('is denied as the part of a grant that was revoked', async () => {
    const { acme } = await sandbox();
    const { enforce, grantToken, grantId } = await mailer(acme);
    const { agentId: subAgentId } = await registerAgent(acme);
    const part = { parentGrantToken: grantToken, subAgentId, scopes: ['tool:acme_mail:read'] };
    const child = (await acme('POST', '/v1/grants/delegate', part)).json();
    const before = (await enforce('list', { grantToken: child.grantToken })).json();
    await acme('DELETE', `/v1/grants/${grantId}`);

    const after = (await enforce('list', { grantToken: child.grantToken })).json();

    expect(before.allowed).toBe(true);
    expect(after).toMatchObject({ reasonCode: 'grant_revoked', subReason: 'parent_revoked' });
  });

  test('names nobody when it belongs to another developer, or to an agent out of a key’s reach', async () => {
    const { acme, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const { grantToken } = await mailer(acme);
    const bound = await acme.asRuntime((await registerAgent(acme)).agentId);
    const call = { grantToken, connector: 'acme_mail', tool: 'list' };

    for (const ask of [other, bound]) {
      expect((await ask('POST', '/v1/enforce', call)).json()).toMatchObject({
        allowed: false,
        reasonCode: 'token_invalid',
        details: { cause: 'developer' },
        grant_id: '',
        agent_did: '',
        principal_id: '',
        scopes: [],
      });
    }
    const [entry] = await entriesOf(other, 'tool.enforce');
    expect(entry).toMatchObject({ status: 'blocked', agentId: null, grantId: null, principalId: null });
  });

  test.each([
    ['malformed', 'not a token'],
    ['signature', undefined],
  ])('is denied with the cause %s', async (cause, text) => {
    const { acme } = await sandbox();
    const { enforce, grantToken } = await mailer(acme);
    const forged = `${grantToken.slice(0, -20)}${'A'.repeat(20)}`;

    const answer = (await enforce('list', { grantToken: text ?? forged })).json();

    expect(answer).toMatchObject({ allowed: false, reasonCode: 'token_invalid', details: { cause } });
  });

  test('is denied at its end', async () => {
    const { acme, advance } = await startSandbox();
    const { enforce } = await mailer(acme, { tokenExpiresIn: '60s' });
    advance(59);
    const before = (await enforce('list')).json();
    advance(1);

    expect(before.allowed).toBe(true);
    expect((await enforce('list')).json()).toMatchObject({ details: { cause: 'expired' } });
  });
});

describe('a manifest', () => {
  test('T3 decides for its developer alone, though another has one of that name and number', async () => {
    const { acme, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const [own, others] = [await mailer(acme), await mailer(other)];
    const narrow = { $schema: 'x', connector: 'acme_mail', version: '8', tools: { list: 'admin' } };
    const wide = { ...narrow, tools: { list: 'read' } };
    await acme('PUT', '/v1/manifests/acme_mail', narrow);
    await other('PUT', '/v1/manifests/acme_mail', wide);

    const answers = [await own.enforce('list'), await others.enforce('list')];

    expect(answers.map((answer) => answer.json().allowed)).toEqual([false, true]);
  });

  test('counts from the next call on, in every process', async () => {
    const { acme, databaseUrl } = await startSandbox();
    const { enforce } = await mailer(acme);
    const before = (await enforce('list')).json();
    const other = await startApp({ databaseUrl });
    const changed = { $schema: 'x', connector: 'acme_mail', version: '8', tools: { list: 'admin' } };
    await other.calling(acme.apiKey)('PUT', '/v1/manifests/acme_mail', changed);

    const after = (await enforce('list')).json();
    await other.calling(acme.apiKey)('DELETE', '/v1/manifests/acme_mail');
    const gone = (await enforce('list')).json();

    expect([before.allowed, before.manifest_version]).toEqual([true, '7']);
    expect(after).toMatchObject({ reasonCode: 'permission_insufficient', manifest_version: '8' });
    expect(gone).toMatchObject({ reasonCode: 'manifest_unknown_tool', subReason: 'unknown_connector' });
  });

  test.each([
    ['warn', true, null],
    ['enforce', false, 'manifest_changed'],
  ])(
    'has the effect of the setting %s when it is wider than the person agreed to',
    async (manifestPinning, allowed, subReason) => {
      const { acme } = await sandbox();
      await acme('PATCH', '/v1/me', { manifestPinning });
      const { enforce } = await mailer(acme);
      const wider = { ...tools, send: { permission: 'write', caps: { per_day: 3 } } };
      await acme('PUT', '/v1/manifests/acme_mail', { connector: 'acme_mail', tools: wider });

      const [changed, same] = [(await enforce('send')).json(), (await enforce('list')).json()];

      expect(changed).toMatchObject({ allowed, subReason });
      expect(same.allowed).toBe(true);
      const codes = (result: { warnings: { code: string }[] }) => result.warnings.map(({ code }) => code);
      expect(codes(changed).includes('manifest_changed')).toBe(allowed);
      expect(codes(same)).not.toContain('manifest_changed');
    },
  );
});

describe('caps', () => {
  test('are counted, and a call past one is denied', async () => {
    const { acme } = await sandbox();
    const { enforce, grantId } = await mailer(acme);

    const answers = [];
    for (let call = 0; call < 3; call += 1) answers.push((await enforce('send')).json());

    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(answers[0].reservation.counters).toEqual([
      { scope: 'manifest', kind: 'calls', window: 'per_day', limit: 2, used: 1, remaining: 1 },
    ]);
    expect(answers[2]).toMatchObject({ reasonCode: 'cap_exceeded', subReason: 'limit_reached' });
    const query = `grantId=${grantId}&connector=acme_mail&tool=send`;
    expect((await acme('GET', `/v1/enforce/usage?${query}`)).json()).toEqual({
      grantId,
      connector: 'acme_mail',
      tool: 'send',
      counters: [
        {
          ...{ scope: 'manifest', kind: 'calls', window: 'per_day', limit: 2, used: 2, remaining: 0 },
          retryAt: expect.any(String),
        },
      ],
    });
  });

  test('T11 are shown to a key that is bound to the agent, and to no other bound key and no other developer', async () => {
    const { acme, service } = await sandbox();
    const { agentId, grantId } = await mailer(acme);
    const query = `grantId=${grantId}&connector=acme_mail&tool=send`;
    const usage = async (ask: Developer | Call) =>
      (await ask('GET', `/v1/enforce/usage?${query}`)).statusCode;

    expect(await usage(await acme.asRuntime(agentId))).toBe(200);
    expect(await usage(await acme.asRuntime((await registerAgent(acme)).agentId))).toBe(404);
    expect(await usage(await service.asDeveloper({ mode: 'sandbox' }))).toBe(404);
  });

  test('are charged for each of two agents that chose the same id for their calls', async () => {
    const { acme } = await sandbox();
    const [one, other] = [await mailer(acme), await mailer(acme)];

    const answers = [
      await one.enforce('send', { callId: 'call-same' }),
      await other.enforce('send', { callId: 'call-same' }),
    ];

    const used = (answer: (typeof answers)[number]) => answer.json().reservation.counters[0].used;
    expect(answers.map(used)).toEqual([1, 2]); // the cap is of their person
  });

  test('R9 admit exactly as many of forty simultaneous calls as they say', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);

    const answers = await Promise.all(Array.from({ length: 40 }, () => enforce('send')));

    expect(answers.filter((answer) => answer.json().allowed)).toHaveLength(2);
    expect(await entriesOf(acme, 'tool.enforce')).toHaveLength(40);
  });

  test('charge nothing for a question, and once for a call that is repeated', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);
    await enforce('send', { reserve: false });
    await enforce('send', { callId: 'call-0003' });

    const repeated = (await enforce('send', { callId: 'call-0003' })).json();

    expect(repeated.reservation.counters).toMatchObject([{ used: 1 }]);
  });

  test('only warn where both the account and the call say so', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);
    const full = async () => (await enforce('send', { capsMode: 'warn' })).json();
    await enforce('send');
    await enforce('send');

    const before = await full();
    await acme('PATCH', '/v1/me', { capsMode: 'warn' });
    const after = await full();

    expect([before.allowed, after.allowed]).toEqual([false, true]);
    expect(before.would_deny).toBeUndefined();
    expect(after.would_deny).toMatchObject([{ reason_code: 'cap_exceeded', sub_reason: 'limit_reached' }]);
    expect((await enforce('send')).json().allowed).toBe(false);
    const entries = await entriesOf(acme, 'tool.enforce');
    expect(entries.map(({ metadata }) => metadata.capsMode)).toEqual([
      'enforce',
      'enforce',
      'enforce',
      'warn',
      'enforce',
    ]);
    expect(entries[3]?.metadata.wouldDeny).toEqual([
      { reasonCode: 'cap_exceeded', subReason: 'limit_reached' },
    ]);
  });

  test('take the units of a call back that was not sent, and keep those of one that was', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);
    await enforce('send', { callId: 'call-unsent' });
    await enforce('send', { callId: 'call-sent' });
    const follow = async (callId: string, word: string) =>
      refusalOf(await acme('POST', `/v1/enforce/${callId}/${word}`, {}));

    expect(await statusOf(acme, 'call-unsent', 'refund')).toBe(204);
    expect(await statusOf(acme, 'call-sent', 'sent')).toBe(204);
    expect(await follow('call-unsent', 'sent')).toBe('409 CONFLICT');
    expect(await follow('call-sent', 'refund')).toBe('409 CONFLICT');
    expect(await follow('call-unknown', 'refund')).toBe('404 NOT_FOUND');
    const answers = [(await enforce('send')).json(), (await enforce('send')).json()];
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, false]);
  });

  test('are shown as used up when the manifest allows less than was used', async () => {
    const { acme } = await sandbox();
    const { enforce, grantId } = await mailer(acme);
    for (let call = 0; call < 2; call += 1) await enforce('send');
    const less = { ...tools, send: { permission: 'write', caps: { per_day: 1 } } };
    await acme('PUT', '/v1/manifests/acme_mail', {
      ...{ $schema: 'x', connector: 'acme_mail', version: '8' },
      tools: less,
    });

    const query = `grantId=${grantId}&connector=acme_mail&tool=send`;
    expect((await acme('GET', `/v1/enforce/usage?${query}`)).json().counters).toMatchObject([
      { limit: 1, used: 2, remaining: 0 },
    ]);
  });

  test('are shown for a case when the question names one', async () => {
    const { acme } = await sandbox();
    const { enforce, grantId } = await mailer(acme);
    const caps = { per_case: 3, per_day: 9 };
    await acme('PUT', '/v1/manifests/acme_mail', {
      ...{ $schema: 'x', connector: 'acme_mail', version: '8' },
      tools: { ...tools, send: { permission: 'write', caps } },
    });
    await enforce('send', { caseId: 'case-1' });
    const windows = async (more: string) => {
      const query = `grantId=${grantId}&connector=acme_mail&tool=send${more}`;
      const { counters } = (await acme('GET', `/v1/enforce/usage?${query}`)).json();
      return counters.map(({ window, used }: { window: string; used: number }) => `${window} ${used}`).sort();
    };

    expect(await windows('')).toEqual(['per_day 1']);
    expect(await windows('&caseId=case-1')).toEqual(['per_case 1', 'per_day 1']);
    expect(await windows('&caseId=case-2')).toEqual(['per_case 0', 'per_day 1']);
  });

  test('by case are forgotten with their case, and no others are', async () => {
    const { acme } = await sandbox();
    const { enforce } = await mailer(acme);
    await acme('PUT', '/v1/manifests/acme_mail', {
      ...{ $schema: 'x', connector: 'acme_mail', version: '8' },
      tools: { ...tools, send: { permission: 'write', caps: { per_case: 1, per_day: 3 } } },
    });
    const names = ['"a"%', 'b","per_case","a'];
    for (const caseId of names) await enforce('send', { caseId });
    const close = (caseId: string) => acme('DELETE', `/v1/decisions/cases/${encodeURIComponent(caseId)}`);

    expect([(await close('a')).statusCode, (await close('"a"%')).statusCode]).toEqual([404, 204]);
    const answers = [...names, '"a"%'].map((caseId) => () => enforce('send', { caseId }));
    const allowed = [];
    for (const call of answers) allowed.push((await call()).json().allowed);
    expect(allowed).toEqual([true, false, false]);
    const { metadata } = (await entriesOf(acme, 'case.closed'))[0] ?? {};
    expect(metadata).toMatchObject({ caseId: '"a"%', caseVersion: null, superseded: 0 });
  });

  test('can be taken back for as long as a call is remembered from when it last came', async () => {
    const { acme, service, advance } = await startSandbox({ databaseUrl: await newDatabase() });
    const { enforce } = await mailer(acme, { expiresIn: '30d' });
    const forget = forgettingOfCalls({ ...service, callRecordSeconds: 3600 });
    await enforce('send', { callId: 'call-again' });
    advance(3599);
    await enforce('send', { callId: 'call-again' });
    advance(2);

    await forget.run(AbortSignal.timeout(10_000));

    expect(await statusOf(acme, 'call-again', 'refund')).toBe(204);
  });

  test('forget more calls at a time than one statement deletes', async () => {
    const { acme, service } = await startSandbox({ databaseUrl: await newDatabase() });
    const { agentId, grantId } = await mailer(acme);
    const old = new Date(service.clock().getTime() - 3601_000);
    await sql`insert into enforced_calls (developer_id, call_id, agent_id, grant_id, created_at)
      select ${acme.developerId}, 'call-' || n, ${agentId}, ${grantId}, ${old}
      from generate_series(1, 1001) n`.execute(service.db);

    await forgettingOfCalls({ ...service, callRecordSeconds: 3600 }).run(AbortSignal.timeout(60_000));

    expect(await service.db.selectFrom('enforcedCalls').select('callId').execute()).toEqual([]);
  });

  test('are unknown while the meter does not answer', async () => {
    const lost = async () => {
      throw new MeterError('unreachable');
    };
    await expect(answerOf({ counts: 'redis' }, lost)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  test.each([
    ['the answer was not kept', 'idempotent_answers', '53100', 503],
    ['its transaction lost a race', 'audit_entries', '40001', 200],
  ])('are charged once for a repeated request without a `callId` when %s', async (_, table, code, status) => {
    const { acme, service } = await startSandbox({ databaseUrl: await newDatabase() });
    const { grantToken } = await mailer(acme);
    await sql`create sequence failures`.execute(service.db);
    await sql`create function fail_once() returns trigger language plpgsql as
      $$ begin if nextval('failures') = 1 then raise exception 'no' using errcode = ${sql.lit(code)}; end if; return new; end $$`.execute(
      service.db,
    );
    await sql`create trigger fail_once before insert or update on ${sql.table(table)}
      for each row ${sql.raw(table === 'idempotent_answers' ? 'when (new.body is not null)' : '')}
      execute function fail_once()`.execute(service.db);
    const body = { grantToken, connector: 'acme_mail', tool: 'send', arguments: {} };
    const ask = () => send(service, { url: '/v1/enforce', apiKey: acme.apiKey, body });

    const [first, second] = [await ask(), await ask()];

    expect([first.statusCode, second.statusCode]).toEqual([status, 200]);
    expect(second.json().reservation.counters).toMatchObject([{ used: 1, remaining: 1 }]);
    expect(await entriesOf(acme, 'tool.enforce')).toHaveLength(1);
  });

  test('are charged for each request with an `Idempotency-Key` of its own', async () => {
    const { acme, service } = await sandbox();
    const { grantToken } = await mailer(acme);
    const body = { grantToken, connector: 'acme_mail', tool: 'send', arguments: {} };
    const used = async (key: string) => {
      const answer = await send(service, { url: '/v1/enforce', apiKey: acme.apiKey, body, key });
      return answer.json().reservation.counters[0].used;
    };

    expect([await used('first'), await used('first'), await used('second')]).toEqual([1, 1, 2]);
  });

  test('take the units back when the answer cannot be recorded, and nobody was allowed', async () => {
    const { acme, service } = await startSandbox({ databaseUrl: await newDatabase() });
    const { enforce } = await mailer(acme);
    await sql`create function refuse_entries() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is full' using errcode = '53100'; end $$`.execute(service.db);
    await sql`create trigger refuse_entries before insert on audit_entries
      for each row execute function refuse_entries()`.execute(service.db);

    const refused = await enforce('send');
    await sql`drop trigger refuse_entries on audit_entries`.execute(service.db);

    expect(refusalOf(refused)).toBe('503 SERVICE_UNAVAILABLE');
    const answers = [await enforce('send'), await enforce('send'), await enforce('send')];
    expect(answers.map((answer) => answer.json().allowed)).toEqual([true, true, false]);
  });
});
