import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { startListening } from '../app/listening.ts';

/**
 * A client that knows the HTTP interface and nothing of this project: bare `fetch`, its own readers, and the
 * members that such clients read. Unknown further members are no fault.
 */
let base = '';
beforeAll(async () => {
  const service = await startListening({ isShared: true });
  base = service.url;
  return service.stop;
});

type Json = Readonly<Record<string, unknown>>;

async function ask(key: string, method: string, path: string, body?: Json) {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: (): Json => JSON.parse(text) };
}

const callsOf = (key: string) => ({
  key,
  get: (path: string) => ask(key, 'GET', path),
  post: (path: string, body: Json = {}) => ask(key, 'POST', path, body),
  patch: (path: string, body?: Json) => ask(key, 'PATCH', path, body),
  delete: (path: string) => ask(key, 'DELETE', path),
});

async function newAccount(mode: 'live' | 'sandbox') {
  const signedUp = await ask('', 'POST', '/v1/signup', { name: 'Acme', mode });
  return callsOf(String(signedUp.json().apiKey));
}

const listIn = (answer: Json, member: string): Json[] => {
  const list = answer[member];
  if (!Array.isArray(list)) throw new Error(`${member} is no list.`);
  return list;
};

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** An agent of a sandbox account with a grant of a person. */
async function granted(acme: ReturnType<typeof callsOf>, principalId = 'user_42') {
  const { agentId, did } = (await acme.post('/v1/agents', { name: 'Booker' })).json();
  const scopes = ['calendar:read'];
  const { code } = (await acme.post('/v1/authorize', { agentId, principalId, scopes })).json();
  const { grantId } = (await acme.post('/v1/token', { code, agentId })).json();
  return { agentId, agentDid: did, grantId, principalId };
}

describe('policies', () => {
  test('are made, read, listed in the order of evaluation, changed and deleted', async () => {
    const acme = await newAccount('sandbox');
    const made = await acme.post('/v1/policies', {
      name: 'No payments at night',
      effect: 'deny',
      priority: 10,
      scopes: ['payments:*'],
      timeOfDayStart: '22:00',
      timeOfDayEnd: '06:00',
    });
    expect(made.status).toBe(201);
    const policy = made.json();
    expect(policy).toMatchObject({
      id: expect.stringMatching(/^pol_/),
      name: 'No payments at night',
      effect: 'deny',
      priority: 10,
      agentId: null,
      principalId: null,
      scopes: ['payments:*'],
      timeOfDayStart: '22:00',
      timeOfDayEnd: '06:00',
      createdAt: TIME,
      updatedAt: TIME,
    });
    const first = (await acme.post('/v1/policies', { name: 'First', effect: 'allow', priority: 20 })).json();
    expect(first).toMatchObject({ scopes: null, timeOfDayStart: null, timeOfDayEnd: null });

    const listed = listIn((await acme.get('/v1/policies')).json(), 'policies');
    expect(listed.map(({ id }) => id)).toEqual([first.id, policy.id]);
    expect((await acme.get(`/v1/policies/${policy.id}`)).json()).toMatchObject({ id: policy.id });
    const changed = await acme.patch(`/v1/policies/${policy.id}`, {
      timeOfDayStart: null,
      timeOfDayEnd: null,
    });
    expect(changed.json()).toMatchObject({ timeOfDayStart: null, priority: 10, scopes: ['payments:*'] });
    expect((await acme.patch(`/v1/policies/${policy.id}`, { scopes: [] })).status).toBe(400);
    expect((await acme.delete(`/v1/policies/${policy.id}`)).status).toBe(204);
    const gone = await acme.get(`/v1/policies/${policy.id}`);
    expect([gone.status, gone.json().code]).toEqual([404, 'NOT_FOUND']);
    expect((await acme.post('/v1/policies', { name: 'x', effect: 'deny', scope: ['a:b'] })).status).toBe(400);
  });

  test('deny a request before it is stored, and a dry run says the same', async () => {
    const acme = await newAccount('sandbox');
    const { agentId } = (await acme.post('/v1/agents', { name: 'Payer' })).json();
    const policy = (
      await acme.post('/v1/policies', { name: 'No transfers', effect: 'deny', scopes: ['payments:transfer'] })
    ).json();
    const asked = { agentId, principalId: 'user_42', scopes: ['payments:*'] };

    const dry = (await acme.post('/v1/policies/evaluate', asked)).json();
    expect(dry).toMatchObject({ effect: 'deny', policyId: policy.id, backend: 'builtin' });
    const refused = await acme.post('/v1/authorize', asked);
    expect([refused.status, refused.json()]).toMatchObject([
      403,
      { code: 'POLICY_DENIED', details: { policyId: policy.id } },
    ]);
    const fine = { ...asked, scopes: ['calendar:read'] };
    expect((await acme.post('/v1/policies/evaluate', fine)).json()).toMatchObject({
      effect: null,
      policyId: null,
    });
    expect((await acme.post('/v1/authorize', fine)).status).toBe(201);
  });

  test('approve in a live account that lets them', async () => {
    const acme = await newAccount('live');
    await acme.patch('/v1/me', { policyAutoApproval: true });
    const { agentId } = (await acme.post('/v1/agents', { name: 'Reader' })).json();
    await acme.post('/v1/policies', { name: 'Reading', effect: 'allow', scopes: ['calendar:read'] });

    const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const answer = await acme.post('/v1/authorize', asked);

    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({
      policyEnforced: true,
      effect: 'allow',
      code: expect.any(String),
    });
    const { code } = answer.json();
    expect((await acme.post('/v1/token', { code, agentId })).status).toBe(201);
  });
});

describe('anomalies', () => {
  async function failing() {
    const acme = await newAccount('sandbox');
    const about = await granted(acme);
    for (let n = 0; n < 12; n += 1) {
      const entry = { ...about, action: 'mail.sent', status: n < 6 ? 'failure' : 'success' };
      expect((await acme.post('/v1/audit/log', entry)).status).toBe(201);
    }
    return { acme, agentId: about.agentId };
  }

  test('are detected, listed and acknowledged', async () => {
    const { acme, agentId } = await failing();

    const detected = await acme.post('/v1/anomalies/detect');
    expect(detected.status).toBe(200);
    const { detectedAt, total, autoRevokedGrants } = detected.json();
    const anomalies = listIn(detected.json(), 'anomalies');
    expect([detectedAt, total, autoRevokedGrants]).toEqual([TIME, anomalies.length, 0]);
    const found = anomalies.find(({ type }) => type === 'high_failure_rate');
    expect(found).toMatchObject({
      id: expect.stringMatching(/^anm_/),
      type: 'high_failure_rate',
      severity: 'medium',
      agentId,
      principalId: null,
      description: expect.any(String),
      metadata: expect.any(Object),
      detectedAt: TIME,
      acknowledgedAt: null,
    });
    const open = (await acme.get('/v1/anomalies?unacknowledged=true')).json();
    expect(open.total).toBe(total);
    expect(listIn(open, 'anomalies').map(({ id }) => id)).toContain(found?.id);

    const taken = await acme.patch(`/v1/anomalies/${found?.id}/acknowledge`);
    expect([taken.status, taken.json()]).toMatchObject([200, { id: found?.id, acknowledgedAt: TIME }]);
    const again = await acme.patch(`/v1/anomalies/${found?.id}/acknowledge`);
    expect(again.json().acknowledgedAt).toBe(taken.json().acknowledgedAt);
    expect((await acme.get('/v1/anomalies?unacknowledged=true')).json().total).toBe(Number(total) - 1);
    expect((await acme.patch('/v1/anomalies/none/acknowledge')).status).toBe(404);
  });

  test('have a life cycle as alerts, counts, rules and channels', async () => {
    const { acme, agentId } = await failing();
    await acme.post('/v1/anomalies/detect');

    const alerts = listIn(
      (await acme.get(`/v1/anomaly/alerts?status=open&agentId=${agentId}`)).json(),
      'data',
    );
    const [alert] = alerts.filter(({ ruleId }) => ruleId === 'high_failure_rate');
    expect(alert).toMatchObject({
      alertId: expect.any(String),
      ruleName: expect.any(String),
      severity: 'medium',
      status: 'open',
      agentId,
      lastSeenAt: TIME,
      occurrences: 1,
      context: expect.any(Object),
    });
    const path = `/v1/anomaly/alerts/${alert?.alertId}`;
    expect((await acme.post(`${path}/resolve`, { note: 'Mended.' })).json()).toMatchObject({
      status: 'resolved',
      note: 'Mended.',
      resolvedAt: TIME,
    });
    expect((await acme.post(`${path}/acknowledge`)).status).toBe(409);
    expect((await acme.get('/v1/anomaly/metrics?window=24h')).json()).toMatchObject({
      window: '24h',
      total: alerts.length,
      byStatus: { open: alerts.length - 1, acknowledged: 0, resolved: 1 },
      bySeverity: expect.any(Object),
      byRule: { high_failure_rate: 1 },
    });
    expect((await acme.get('/v1/anomaly/metrics?window=2h')).status).toBe(400);

    const rule = await acme.post('/v1/anomaly/rules', {
      ruleId: 'many_mails',
      name: 'Many mails',
      condition: { timeWindow: '1h', threshold: 10, actions: ['mail.*'] },
    });
    expect(rule.status).toBe(201);
    const rules = listIn((await acme.get('/v1/anomaly/rules')).json(), 'rules');
    const required = ['rate_spike', 'high_failure_rate', 'off_hours_activity', 'new_principal', 'many_mails'];
    expect(rules.map(({ ruleId }) => ruleId)).toEqual(expect.arrayContaining(required));
    const again = listIn((await acme.post('/v1/anomalies/detect')).json(), 'anomalies');
    expect(again.map(({ type }) => type)).toContain('many_mails');
    expect((await acme.delete('/v1/anomaly/rules/many_mails')).status).toBe(204);
    expect((await acme.delete('/v1/anomaly/rules/rate_spike')).status).toBe(409);
    const channel = await acme.post('/v1/anomaly/channels', {
      type: 'slack',
      name: 'ops',
      config: { webhookUrl: 'https://hooks.example.com/secret' },
    });
    expect(channel.text).not.toContain('hooks.example.com/secret');
    expect(channel.json()).toMatchObject({
      id: expect.stringMatching(/^achan_/),
      severities: ['critical', 'high'],
    });
  });
});

describe('compliance', () => {
  test('a summary has whole numbers that add up', async () => {
    const acme = await newAccount('sandbox');
    await granted(acme);

    const summary = (await acme.get('/v1/compliance/summary?since=2020-01-01')).json();

    expect(summary).toMatchObject({
      generatedAt: TIME,
      agents: { total: 1, active: 1, suspended: 0, revoked: 0 },
      grants: { total: 1, active: 1, revoked: 0, expired: 0 },
      policies: { total: 0 },
      plan: expect.any(String),
      since: expect.any(String),
    });
    expect(summary).not.toHaveProperty('until');
    const { total, success, failure, blocked } = Object(summary.auditEntries);
    expect(success + failure + blocked).toBe(total);
    expect(total).toBeGreaterThan(0);
  });

  test('the export of grants has each grant as it is', async () => {
    const acme = await newAccount('sandbox');
    const { grantId, agentId, agentDid } = await granted(acme);
    await granted(acme, 'user_7');

    const { generatedAt, total, grants } = Object(
      (await acme.get('/v1/compliance/export/grants?principalId=user_42&status=active')).json(),
    );

    expect([generatedAt, total]).toEqual([TIME, 1]);
    expect(grants).toMatchObject([
      {
        id: grantId,
        grantId,
        agentId,
        agentDid,
        principalId: 'user_42',
        developerId: expect.stringMatching(/^dev_/),
        scopes: ['calendar:read'],
        status: 'active',
        issuedAt: TIME,
        expiresAt: TIME,
        revokedAt: null,
        delegationDepth: 0,
      },
    ]);
  });

  test('a chain can be computed from an export alone', async () => {
    const acme = await newAccount('sandbox');
    await granted(acme);

    const answer = (await acme.get('/v1/compliance/export/audit')).json();
    const entries = listIn(answer, 'entries');

    expect(answer.total).toBe(entries.length);
    let before: unknown = null;
    for (const [at, entry] of entries.entries()) {
      expect([entry.seq, entry.prevHash, hashOf(entry)]).toEqual([at + 1, before, entry.hash]);
      before = entry.hash;
    }
    const lines = (await acme.get('/v1/compliance/export/audit?format=ndjson')).text.trimEnd().split('\n');
    const end: Json = JSON.parse(String(lines.at(-1)));
    const body = lines
      .slice(0, -1)
      .map((line) => `${line}\n`)
      .join('');
    expect(end).toEqual({ type: 'end', total: lines.length - 1, sha256: sha256(body) });
  });

  test('an evidence pack has its parts, and its digests fit', async () => {
    const acme = await newAccount('sandbox');
    await granted(acme);

    const pack = (await acme.get('/v1/compliance/evidence-pack?framework=gdpr')).json();

    expect(pack).toMatchObject({
      meta: { schemaVersion: '1.0', generatedAt: TIME, framework: 'gdpr' },
      summary: { grants: { total: 1 } },
      chainIntegrity: { valid: true, firstBrokenAt: null },
    });
    const entries = listIn(pack, 'auditEntries');
    expect(Object(pack.chainIntegrity).checkedEntries).toBe(entries.length);
    expect(listIn(pack, 'grants')).toHaveLength(1);
    expect(listIn(pack, 'policies')).toEqual([]);
    const { sections, digest } = Object(pack.attestation);
    expect(sections.auditEntries).toBe(sha256(entries.map((entry) => `${canonical(entry)}\n`).join('')));
    const { meta, summary, chainIntegrity, controls } = pack;
    expect(digest).toBe(sha256(canonical({ meta, summary, chainIntegrity, controls, sections })));
    expect((await acme.get('/v1/compliance/evidence-pack?framework=pci')).status).toBe(400);
  });
});

/** The line of an entry and its hash, by the text of docs/design/audit-chain.md. */
function hashOf(entry: Json): string {
  const named = ['id', 'agentId', 'agentDid', 'grantId', 'principalId', 'developerId', 'action', 'metadata'];
  const always = [...named, 'timestamp', 'prevHash', 'status'];
  const optional = ['purpose', 'salt'].filter((name) => entry[name] !== null);
  const members = [...always, ...optional].map((name) => `"${name}":${canonical(entry[name])}`);
  return sha256(`{${members.join(',')}}`);
}

/** RFC 8785. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(Object(value)[name])}`).join(',')}}`;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
