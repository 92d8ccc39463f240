import { describe, expect, test } from 'vitest';
import { entriesOf, grantTo } from '../../../../test/app/flow.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { catalogue, features } from '../../../features.ts';
import { type ExportedEntry, envelopeToOcsf, gapToOcsf, toOcsf } from './ocsf.rules.ts';

/** The attributes that OCSF 1.6.0 requires of every event, and of the classes used here. */
const OF_ALL = ['activity_id', 'category_uid', 'class_uid', 'metadata', 'severity_id', 'time', 'type_uid'];
const OF_CLASS: Readonly<Record<number, readonly string[]>> = {
  2004: ['finding_info'],
  3002: ['user'],
  3004: ['entity'],
  3005: ['user', 'privileges'],
  6003: ['actor', 'api', 'src_endpoint'],
};
const ACTIVITIES: Readonly<Record<number, readonly number[]>> = {
  2004: [1, 2, 3],
  3002: [1],
  3004: [1, 3, 4],
  3005: [1, 2],
  6003: [99],
};

const entry = (change: Partial<ExportedEntry> = {}): ExportedEntry => ({
  entryId: 'alog_1',
  id: 'alog_1',
  seq: 7,
  developerId: 'dev_1',
  agentId: null,
  agentDid: null,
  grantId: null,
  principalId: null,
  action: 'agent.created',
  status: 'success',
  metadata: {},
  purpose: null,
  timestamp: '2026-01-02T03:04:05.678Z',
  prevHash: null,
  hash: 'h',
  salt: 's',
  source: 'service',
  requestId: null,
  ...change,
});

test('an entry of every action has the attributes that its class requires', () => {
  const actions = features.flatMap(({ acts, attempts }) => [...Object.keys(acts ?? {}), ...(attempts ?? [])]);
  const seen = new Set<number>();

  for (const action of [...actions, 'calendar.read']) {
    for (const status of ['success', 'blocked'] as const) {
      const event = toOcsf(entry({ action, status }));
      const { class_uid: uid, activity_id: activity } = event;
      seen.add(uid);
      const required = [...OF_ALL, ...(OF_CLASS[uid] ?? ['no such class'])];
      expect({ action, missing: required.filter((name) => event[name] === undefined) }).toEqual({
        action,
        missing: [],
      });
      expect({ action, knows: ACTIVITIES[uid]?.includes(activity) }).toEqual({ action, knows: true });
      expect(event).toMatchObject({
        type_uid: uid * 100 + activity,
        category_uid: Math.floor(uid / 1000),
        time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
        metadata: { version: '1.6.0', uid: 'alog_1', sequence: 7, event_code: action, tenant_uid: 'dev_1' },
      });
    }
  }
  expect([...seen].sort()).toEqual([2004, 3002, 3004, 3005, 6003]);
  expect(actions.length).toBeGreaterThan(80);
});

test.for<[change: Partial<ExportedEntry>, told: object]>([
  [
    {
      action: 'grant.created',
      agentId: 'ag_1',
      grantId: 'grnt_1',
      principalId: 'u',
      metadata: { scopes: ['a:b'] },
    },
    {
      class_uid: 3005,
      user: { uid: 'ag_1' },
      privileges: ['a:b'],
      resources: [{ uid: 'grnt_1', owner: { uid: 'u' } }],
    },
  ],
  [
    { action: 'anomaly.detected', metadata: { alertId: 'anm_1', ruleId: 'rate_spike', severity: 'high' } },
    { severity_id: 4, status_id: 1, is_alert: true, finding_info: { uid: 'anm_1', title: 'rate_spike' } },
  ],
  [{ action: 'anomaly.resolved' }, { activity_id: 3, status_id: 4, is_alert: false }],
  [
    { action: 'policy.denied', status: 'blocked' },
    { class_uid: 6003, severity_id: 3, status_id: 2, status_detail: 'blocked' },
  ],
  [
    { action: 'step.done', status: 'failure', source: 'developer', agentId: 'ag_1' },
    { severity_id: 2, actor: { user: { uid: 'ag_1' } } },
  ],
  [
    { metadata: { actor: 'developer:key_1' } },
    { actor: { user: { uid: 'dev_1', credential_uid: 'key_1' } } },
  ],
  [
    { metadata: { actor: 'principal', ip: '192.0.2.1' }, principalId: 'u' },
    { actor: { user: { uid: 'u', type_id: 1 } }, src_endpoint: { ip: '192.0.2.1' } },
  ],
  [{ metadata: { actor: 'system' } }, { actor: { user: { type_id: 3 } } }],
])('an entry is told in the words of the schema: %j', ([change, told]) => {
  expect(toOcsf(entry(change))).toMatchObject(told);
});

test('no host of an agent can make a finding or a grant by the name of its action', () => {
  for (const action of ['anomaly.detected', 'grant.created', 'agent.deleted', 'sso.login']) {
    const metadata = { severity: 'critical', actor: 'system' };
    expect(toOcsf(entry({ action, source: 'developer', metadata, agentId: 'ag_1' }))).toMatchObject({
      class_uid: 6003,
      severity_id: 1,
      actor: { user: { uid: 'ag_1' } },
    });
  }
});

describe('an event of a stream or a webhook', () => {
  test('has the attributes that its class requires, whatever its type, and names nobody as the actor', () => {
    const types = [...catalogue.typesOf(['*']), 'budget.debited', 'enforcement.denied'];

    for (const type of types) {
      const data = { agentId: 'ag_1', principalId: 'u', grantId: 'grnt_1', scopes: ['a:b'] };
      const createdAt = '2026-01-02T03:04:05.678Z';
      const event = JSON.parse(
        envelopeToOcsf(JSON.stringify({ id: 'evt_1', type, createdAt, developerId: 'dev_1', data })),
      );
      const required = [...OF_ALL, ...(OF_CLASS[event.class_uid] ?? ['no such class'])];
      expect({ type, missing: required.filter((name) => event[name] === undefined) }).toEqual({
        type,
        missing: [],
      });
      expect(event).toMatchObject({
        time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
        metadata: { uid: 'evt_1', event_code: type, tenant_uid: 'dev_1', log_name: 'events' },
      });
      if (event.class_uid !== 2004) expect(event.actor.user.type_id).toBe(0);
    }
    expect(types.length).toBeGreaterThan(80);
  });

  test('tells a denied call as a failure, and a sandbox as such', () => {
    const text = JSON.stringify({
      id: 'evt_1',
      type: 'enforcement.denied',
      createdAt: '2026-01-02T03:04:05.678Z',
      developerId: 'dev_1',
      sandbox: true,
      data: { agentId: 'ag_1', reason: 'scope' },
    });
    expect(JSON.parse(envelopeToOcsf(text))).toMatchObject({
      class_uid: 6003,
      status_id: 2,
      resources: [{ uid: 'ag_1' }],
      unmapped: { sandbox: true, metadata: { reason: 'scope' } },
    });
  });

  test('a hole is a base event, which a SIEM reads too', () => {
    const event = JSON.parse(gapToOcsf('42', new Date(0)));
    expect(OF_ALL.filter((name) => event[name] === undefined)).toEqual([]);
    expect(event).toMatchObject({ class_uid: 0, type_uid: 99, time: 0, unmapped: { cursor: '42' } });
  });
});

test('the export of audit entries as events has an event a line, and no other line', async () => {
  const { asDeveloper } = await startApp({ env: { COMPLIANCE_MAX_ROWS: '1' } });
  const acme = await asDeveloper({ mode: 'sandbox' });
  await grantTo(acme);
  const before = (await acme('GET', '/v1/audit/entries?limit=500')).json().entries;

  const answer = await acme('GET', '/v1/compliance/export/audit?format=ocsf');

  expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  const events = answer.body
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(events).toEqual(before.map((each: ExportedEntry) => JSON.parse(JSON.stringify(toOcsf(each)))));
  expect(await entriesOf(acme, 'compliance.exported')).toMatchObject([
    { metadata: { format: 'ocsf', total: before.length } },
  ]);
  expect((await acme('GET', '/v1/compliance/export/grants?format=ocsf')).statusCode).toBe(400);
});
