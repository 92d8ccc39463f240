import { createHash } from 'node:crypto';
import { type AuditEntry, verifyChain } from '@behest/protocol/audit-chain';
import { beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { csvLine } from './compliance.rules.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, env: { COMPLIANCE_MAX_ROWS: '12' } });
  return service.stop;
});

const sandbox = () => service.asDeveloper({ mode: 'sandbox' });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const GRANTS = '/v1/compliance/export/grants';
const ENTRIES = '/v1/compliance/export/audit';
const read = async (developer: Developer, url: string) => (await developer('GET', url)).json();
const linesOf = (text: string) => text.split('\n').filter(Boolean);

describe('the summary', () => {
  test('counts what there is, and echoes only the bounds that were given', async () => {
    const acme = await sandbox();
    const { grantId } = await grantTo(acme);
    await grantTo(acme);
    await grantTo(acme, { expiresIn: '60s' });
    await acme('DELETE', `/v1/grants/${grantId}`);
    const { agentId } = await registerAgent(acme);
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    await acme('POST', '/v1/policies', { name: 'None', effect: 'deny', scopes: ['payments:*'] });
    const { entries } = await read(acme, '/v1/audit/entries?limit=500');

    const summary = await read(acme, '/v1/compliance/summary');

    expect(summary).toEqual({
      generatedAt: '2026-01-01T00:00:00.000Z',
      agents: { total: 4, active: 3, suspended: 1, revoked: 0 },
      grants: { total: 3, active: 2, revoked: 1, expired: 0 },
      auditEntries: { total: entries.length, success: entries.length, failure: 0, blocked: 0 },
      policies: { total: 1 },
      plan: 'free',
    });
    expect(
      await read(acme, '/v1/compliance/summary?since=2026-01-02&until=2026-02-01T00:00:00Z'),
    ).toMatchObject({
      since: '2026-01-02',
      until: '2026-02-01T00:00:00Z',
      agents: { total: 4 },
      grants: { total: 0, active: 0, revoked: 0, expired: 0 },
      auditEntries: { total: 0 },
    });
    expect(await entriesOf(acme, 'compliance.exported')).toEqual([]);
  });
});

describe('the export of grants', () => {
  test('has every grant, newest first, with the members that it promises', async () => {
    const acme = await sandbox();
    const first = await grantTo(acme);
    const { grantId, agentId, did } = await grantTo(acme, { principalId: 'user_7' });
    await acme('DELETE', `/v1/grants/${first.grantId}`);

    const exported = await read(acme, GRANTS);

    expect(exported).toMatchObject({ generatedAt: '2026-01-01T00:00:00.000Z', total: 2 });
    const byId = new Map(exported.grants.map((grant: { id: string }) => [grant.id, grant]));
    // Between grants of one millisecond the id decides.
    expect([...byId.keys()]).toEqual([grantId, first.grantId].toSorted().toReversed());
    expect(byId.get(grantId)).toEqual({
      id: grantId,
      grantId,
      agentId,
      agentDid: did,
      principalId: 'user_7',
      developerId: acme.developerId,
      scopes: ['calendar:read', 'email:send'],
      status: 'active',
      issuedAt: '2026-01-01T00:00:00.000Z',
      expiresAt: expect.any(String),
      revokedAt: null,
      delegationDepth: 0,
      parentGrantId: null,
      purpose: null,
      revokedReason: null,
      consentMethod: 'sandbox',
    });
    expect(byId.get(first.grantId)).toMatchObject({
      status: 'revoked',
      revokedAt: '2026-01-01T00:00:00.000Z',
      revokedReason: 'developer',
    });
  });

  test.each([
    [1, 'active'],
    [0, 'expired'],
  ])('a grant is, %i ms before its end, among those that are %s', async (milliseconds, status) => {
    const acme = await sandbox();
    const { grantId } = await grantTo(acme);
    const expiresAt = new Date(service.clock().getTime() + milliseconds);
    await service.db.updateTable('grants').set({ expiresAt }).where('id', '=', grantId).execute();
    const isAmong = async (asked: string) => (await read(acme, `${GRANTS}?status=${asked}`)).total === 1;

    expect(await isAmong('active')).toBe(status === 'active');
    expect(await isAmong('expired')).toBe(status === 'expired');
  });

  test.each([
    ['status=active', 1],
    ['status=revoked', 1],
    ['status=expired', 0],
    ['principalId=user_7', 1],
    ['principalId=nobody', 0],
    ['agentId=ag_1', 0],
    ['since=2026-01-01', 2],
    ['until=2026-01-01', 0],
    ['since=2025-12-31T23:59:59.999Z&until=2026-01-01T00:00:00.001Z', 2],
  ])('filters by %s', async (query, total) => {
    const acme = await sandbox();
    const { grantId } = await grantTo(acme);
    await grantTo(acme, { principalId: 'user_7' });
    await acme('DELETE', `/v1/grants/${grantId}`);

    const { grants, ...facts } = await read(acme, `${GRANTS}?${query}`);

    expect([facts.total, grants.length]).toEqual([total, total]);
  });

  test('writes an entry that is not among the entries of its own snapshot', async () => {
    const acme = await sandbox();
    const before = await read(acme, '/v1/audit/entries?limit=500');

    const { total, entries } = await read(acme, `${ENTRIES}?since=2026-01-01`);

    expect([total, entries]).toEqual([before.entries.length, before.entries]);
    expect(await entriesOf(acme, 'compliance.exported')).toMatchObject([
      {
        status: 'success',
        metadata: { kind: 'audit', since: '2026-01-01', until: null, total, format: 'json' },
      },
    ]);
    expect((await read(acme, '/v1/events?types=compliance.exported')).events).toMatchObject([
      { type: 'compliance.exported', data: { kind: 'audit', total } },
    ]);
  });
});

describe('the export of audit entries', () => {
  test('is enough to recompute the chain, and its last line shows that it is whole', async () => {
    const acme = await sandbox();
    await grantTo(acme);

    const answer = await acme('GET', `${ENTRIES}?format=ndjson`);

    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = linesOf(answer.body);
    const entries = lines.slice(0, -1).map((line) => JSON.parse(line) as AuditEntry);
    expect(verifyChain(entries, {}, sha256)).toMatchObject({ valid: true, checkedEntries: entries.length });
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      type: 'end',
      total: entries.length,
      sha256: sha256(answer.body.slice(0, answer.body.lastIndexOf('{"type":"end"'))),
    });
  });

  test.each([
    ['action=grant.created', 1],
    ['status=failure', 0],
    ['status=success&principalId=user_42&action=grant.created', 1],
    ['grantId=grnt_1', 0],
    ['until=2026-01-01', 0],
  ])('filters by %s', async (query, total) => {
    const acme = await sandbox();
    await grantTo(acme);

    expect(await read(acme, `${ENTRIES}?${query}`)).toMatchObject({ total });
  });

  test('as JSON ends at COMPLIANCE_MAX_ROWS, and names the count and the forms without that limit', async () => {
    const acme = await sandbox();
    while ((await read(acme, '/v1/audit/head')).seq < 12) await registerAgent(acme);
    const fitting = await acme('GET', ENTRIES); // which writes the 13th entry

    const refused = await acme('GET', ENTRIES);
    const lines = await acme('GET', `${ENTRIES}?format=ndjson`);

    expect(fitting.statusCode).toBe(200);
    expect(refused.statusCode).toBe(413);
    expect(refused.json()).toMatchObject({
      code: 'EXPORT_TOO_LARGE',
      message: expect.stringContaining('13 rows'),
      details: { total: 13, limit: 12, formats: ['ndjson', 'csv'] },
    });
    expect(linesOf(lines.body)).toHaveLength(13 + 1);
  });
});

describe('a table', () => {
  test('A4: has a header, and no cell that a spreadsheet would run', async () => {
    const acme = await sandbox();
    const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '＝1+1', 'a "quoted", text'];
    expect(csvLine(['\t=1', '\r=1'])).toBe(`'\t=1,"'\r=1"\r\n`); // no principal has such a name
    for (const principalId of formulas) await grantTo(acme, { principalId });

    const answer = await service.app.inject({
      url: GRANTS,
      headers: { authorization: `Bearer ${acme.apiKey}`, accept: 'text/csv' },
    });

    expect(answer.headers['content-type']).toMatch(/^text\/csv/);
    const [header, ...rows] = answer.body.split('\r\n').slice(0, -1);
    expect(header?.split(',').slice(0, 5)).toEqual(['id', 'grantId', 'agentId', 'agentDid', 'principalId']);
    expect(rows.map((row) => row.split(',').slice(4, -12).join(',') || row)).toHaveLength(6);
    for (const cell of [",'=1+1,", ",'+1,", ",'-1,", ",'@SUM(A1),", ",'＝1+1,", ',"a ""quoted"", text",']) {
      expect(answer.body).toContain(cell);
    }
  });
});

describe('a key that may export', () => {
  test('is a full one, and no other developer gets a row', async () => {
    const [acme, other] = [await sandbox(), await sandbox()];
    await grantTo(acme);
    const runtime = await acme.asRuntime();

    for (const url of ['/v1/compliance/summary', GRANTS, ENTRIES]) {
      expect((await runtime('GET', url)).statusCode).toBe(403);
    }
    expect((await read(other, GRANTS)).grants).toEqual([]);
    const { entries } = await read(other, ENTRIES);
    expect(new Set(entries.map(({ developerId }: AuditEntry) => developerId))).toEqual(
      new Set([other.developerId]),
    );
  });

  test.each([
    ['since=2026-02-30', 'since', 'format'],
    ['until=yesterday', 'until', 'format'],
    ['since=2026-01-02&until=2026-01-02', 'until', 'too_small'],
    ['format=xml', 'format', 'not_allowed'],
  ])('gets no export for %s', async (query, path, problem) => {
    const acme = await sandbox();

    const refused = await acme('GET', `${GRANTS}?${query}`);

    expect([refused.statusCode, refused.json().details.fields]).toEqual([400, [{ path, problem }]]);
  });

  test('K7: has no header alone, since an export is recorded', async () => {
    const acme = await sandbox();

    for (let time = 0; time < 12; time += 1) {
      expect((await acme('HEAD', ENTRIES)).statusCode).toBe(405);
    }
  });
});
