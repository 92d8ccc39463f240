import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { grantTo, refusalOf, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();
const span = { since: '2025-12-20T00:00:00Z', until: '2026-01-10T00:00:00Z' };
const manifestOf = (tools: object) => ({ $schema: 'x', connector: 'crm', version: '1', tools });

async function calling(acme: Developer, tools: object, grant: object = {}) {
  await acme('PUT', '/v1/manifests/crm', manifestOf(tools));
  const granted = await grantTo(acme, { scopes: ['tool:crm:write'], ...grant });
  const enforce = async (tool: string, call: object = {}) => {
    const body = { grantToken: granted.grantToken, connector: 'crm', tool, arguments: {}, ...call };
    return (await acme('POST', '/v1/enforce', body)).json();
  };
  return { ...granted, enforce };
}

const replayed = async (acme: Developer, tools: object) => {
  const answer = await acme('POST', '/v1/manifests/crm/replay', { candidate: manifestOf(tools), ...span });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer.json();
};

describe('a replay of a manifest', () => {
  test('tells which calls a draft newly denies, allows and makes wait for a person, by agent and by person, and changes nothing', async () => {
    const { acme, db, advance } = await startSandbox();
    const one = await calling(acme, { lookup: 'read', update: 'write' });
    const two = await calling(acme, { lookup: 'read', update: 'write' }, { principalId: 'user_7' });
    await one.enforce('lookup');
    await one.enforce('update');
    await two.enforce('update');
    await two.enforce('purge');
    advance(60);
    const everything = async () =>
      (
        await sql`select (select count(*) from audit_entries) as entries, (select count(*) from manifest_versions) as
        versions, (select last_used_at from grants order by id limit 1) as used`.execute(db)
      ).rows;
    const before = await everything();

    const draft = {
      lookup: 'read',
      update: { permission: 'write', requires_decision: true },
      purge: 'write',
    };
    const report = await replayed(acme, draft);

    expect(report).toEqual({
      evaluated: 4,
      unchanged: 1,
      changes: [
        change(one, 'update', null, { reasonCode: 'decision_required', subReason: null }),
        change(two, 'update', null, { reasonCode: 'decision_required', subReason: null }),
        change(two, 'purge', { reasonCode: 'manifest_unknown_tool', subReason: 'unknown_tool' }, null),
      ],
      totals: { newlyDenied: 0, newlyAllowed: 1, newlyWaiting: 2 },
      agents: [
        { agentId: two.agentId, newlyDenied: 0, newlyAllowed: 1, newlyWaiting: 1 },
        { agentId: one.agentId, newlyDenied: 0, newlyAllowed: 0, newlyWaiting: 1 },
      ],
      principals: [
        { principalId: 'user_7', newlyDenied: 0, newlyAllowed: 1, newlyWaiting: 1 },
        { principalId: 'user_42', newlyDenied: 0, newlyAllowed: 0, newlyWaiting: 1 },
      ],
      notEvaluated: { decisions: 0, arguments: 0, inputs: 0, grants: 0 },
      complete: true,
    });
    expect(await everything()).toEqual(before);
    await acme('PUT', '/v1/manifests/crm', manifestOf(draft));
    expect(await two.enforce('update')).toMatchObject({ allowed: false, reason_code: 'decision_required' });
    expect(await two.enforce('purge')).toMatchObject({ allowed: true });
  });

  test('counts caps anew, at the times of the calls', async () => {
    const { acme, advance } = await startSandbox();
    const { enforce } = await calling(acme, { lookup: 'read' });
    for (let call = 0; call < 3; call += 1) await enforce('lookup');
    advance(3601);
    await enforce('lookup');
    await enforce('lookup', { reserve: false });

    const hourly = (limit: number) => ({ lookup: { permission: 'read', caps: { per_hour: limit } } });
    const two = await replayed(acme, hourly(2));
    expect(two.totals).toEqual({ newlyDenied: 1, newlyAllowed: 0, newlyWaiting: 0 });
    expect(two.changes).toMatchObject([
      { at: '2026-01-01T00:00:00.000Z', after: { reasonCode: 'cap_exceeded', subReason: 'limit_reached' } },
    ]);
    expect((await replayed(acme, hourly(3))).totals).toEqual({
      newlyDenied: 0,
      newlyAllowed: 0,
      newlyWaiting: 0,
    });
    expect((await replayed(acme, hourly(1))).totals).toEqual({
      newlyDenied: 3,
      newlyAllowed: 0,
      newlyWaiting: 0,
    });
  });

  test('guesses nothing about what an entry does not say', async () => {
    const { acme, db } = await startSandbox();
    const rules = { permission: 'write', arguments: { '/amount': { max: '5' } } };
    const tools = { pay: rules, lookup: 'read', costly: { permission: 'read', cost_units: { row: 1 } } };
    const { enforce, grantId } = await calling(acme, tools);
    await enforce('pay', { arguments: { amount: '9' } });
    await enforce('costly');
    await enforce('lookup', { grantToken: 'no token' });
    const other = await calling(acme, tools);
    await other.enforce('lookup');
    await sql`alter table audit_entries disable trigger user`.execute(db);
    await sql`update audit_entries set grant_id = 'grnt_gone' where action = 'tool.enforce' and grant_id <> ${grantId}`.execute(
      db,
    );

    const report = await replayed(acme, { pay: 'write', lookup: 'write', costly: 'write' });

    expect(report).toMatchObject({
      evaluated: 1, // the call without a token, which no manifest could allow
      unchanged: 1,
      notEvaluated: { decisions: 0, arguments: 1, inputs: 1, grants: 1 },
    });
  });

  test('says what pinned consent does with a wider draft', async () => {
    const { acme } = await startSandbox();
    await acme('PATCH', '/v1/me', { manifestPinning: 'enforce' });
    const { enforce } = await calling(acme, { lookup: { permission: 'read', caps: { per_day: 5 } } });
    await enforce('lookup');

    const wider = await replayed(acme, { lookup: { permission: 'read', caps: { per_day: 50 } } });
    const narrower = await replayed(acme, { lookup: { permission: 'read', caps: { per_day: 3 } } });

    expect(wider.changes).toMatchObject([
      { before: null, after: { reasonCode: 'manifest_unknown_tool', subReason: 'manifest_changed' } },
    ]);
    expect(narrower).toMatchObject({ evaluated: 1, unchanged: 1 });
  });

  test('is refused for a span that is too long, a faulty draft, and another connector', async () => {
    const { acme } = await sandbox();
    const replay = async (body: object) =>
      refusalOf(
        await acme('POST', '/v1/manifests/crm/replay', { candidate: manifestOf({}), ...span, ...body }),
      );

    expect(await replay({ since: '2025-11-01T00:00:00Z' })).toBe('400 BAD_REQUEST');
    expect(await replay({ since: span.until, until: span.since })).toBe('400 BAD_REQUEST');
    expect(await replay({ candidate: { ...manifestOf({ a: 'read' }), connector: 'mail' } })).toBe(
      '400 BAD_REQUEST',
    );
    expect(await replay({ candidate: manifestOf({ a: 'all' }) })).toMatch(/^400 INVALID_MANIFEST/);
    const ok = { candidate: manifestOf({ a: 'read' }), ...span };
    expect((await acme('POST', '/v1/manifests/crm/replay', ok)).statusCode).toBe(200);
  });

  test('sees the calls of its own account only', async () => {
    const { acme, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const { enforce } = await calling(acme, { lookup: 'read' });
    await enforce('lookup');

    expect(await replayed(other, { lookup: 'read' })).toMatchObject({ evaluated: 0, unchanged: 0 });
    expect(await replayed(acme, { lookup: 'read' })).toMatchObject({ evaluated: 1, unchanged: 1 });
  });
});

const change = (
  { agentId }: { readonly agentId: string },
  tool: string,
  before: object | null,
  after: object | null,
) => ({
  entryId: expect.stringMatching(/^alog_/),
  at: '2026-01-01T00:00:00.000Z',
  agentId,
  principalId: expect.stringMatching(/^user_/),
  tool,
  before,
  after,
});
