import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expiryOfAnswers } from '../../src/platform/http/idempotency/answers.ts';
import { afterStatements } from '../app/after-statements.ts';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  refusalOf,
  registerAgent,
  startSandbox,
} from '../app/flow.ts';
import { NEW_AGENT, type Sent, send } from '../app/repeating.ts';
import { type Developer, newDatabase, type Service, startApp } from '../app/start-app.ts';
import { execute } from '../servers/postgres.ts';

let service: Service;
let acme: Developer;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});
beforeEach(async () => {
  acme = await service.asDeveloper({ mode: 'sandbox' });
});

const ask = (sent: Partial<Sent> = {}) => send(service, { apiKey: acme.apiKey, ...sent });
const agentsOf = async (developer: Developer) => (await developer('GET', '/v1/agents')).json().agents;
const isReplayed = ({ headers }: { headers: object }) => 'idempotency-replayed' in headers;

describe('I13: a request that comes again with its `Idempotency-Key`', () => {
  test('is answered as before, byte for byte, and does nothing', async () => {
    const first = await ask();
    const again = await ask();

    expect(first.statusCode).toBe(201);
    expect(isReplayed(first)).toBe(false);
    expect(again.statusCode).toBe(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(again.rawPayload).toEqual(first.rawPayload);
    expect(await agentsOf(acme)).toHaveLength(1);
  });

  test('counts as a request, and has a request id of its own', async () => {
    const counting = await startApp({ databaseUrl: service.databaseUrl, store: 'memory', realLimits: true });
    const first = await send(counting, { apiKey: acme.apiKey });
    const again = await send(counting, { apiKey: acme.apiKey });

    const left = ({ headers }: typeof first) => Number(headers['x-ratelimit-remaining']);
    expect(isReplayed(again)).toBe(true);
    expect(left(again)).toBe(left(first) - 1);
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  test('is answered as before when it is a PATCH, or its answer is empty', async () => {
    const { agentId } = await registerAgent(acme);
    const { grantToken: token } = await grantTo(acme);
    const rename = { method: 'PATCH', url: `/v1/agents/${agentId}`, body: { name: 'Renamed' } };
    const revoke = { url: '/v1/tokens/revoke', body: { token }, key: 'revoke' };

    const [renamed, renamedAgain] = [await ask(rename), await ask(rename)];
    const [revoked, revokedAgain] = [await ask(revoke), await ask(revoke)];

    expect([renamedAgain.statusCode, renamedAgain.body]).toEqual([200, renamed.body]);
    expect([revoked.statusCode, revokedAgain.statusCode, revokedAgain.body]).toEqual([204, 204, '']);
    expect([renamedAgain, revokedAgain].map(isReplayed)).toEqual([true, true]);
    expect((await actionsOf(acme)).filter((action) => action === 'agent.updated')).toHaveLength(1);
  });

  test.each([
    ['another body', { body: { ...NEW_AGENT, name: 'Other' } }],
    ['another query', { url: '/v1/agents?dry=1' }],
    ['other bytes for the same body', { body: `${JSON.stringify(NEW_AGENT)} ` }],
    ['a body that is no JSON', { body: '{' }],
    ['a body of a wrong shape', { body: {} }],
    ['no body', { body: '' }],
  ])('is refused with %s, whatever else is wrong with it', async (_, change) => {
    await ask();

    const refused = await ask(change);

    expect(refusalOf(refused)).toBe('409 IDEMPOTENCY_CONFLICT');
    expect(isReplayed(refused)).toBe(false);
    expect((await ask()).statusCode).toBe(201);
    expect(await agentsOf(acme)).toHaveLength(1);
  });

  test('is refused with `{}` in place of no body, which means the same in other bytes', async () => {
    const rotate = { url: '/v1/keys/rotate', body: JSON.stringify({ graceSeconds: 300 }) };
    const { authRequestId } = await authorize(acme, (await registerAgent(acme)).agentId, {
      autoApprove: false,
    });
    const approve = { url: `/v1/authorize/${authRequestId}/approve`, body: '' };

    expect((await ask(approve)).statusCode).toBe(200);
    expect(isReplayed(await ask(approve))).toBe(true);
    expect(refusalOf(await ask({ ...approve, body: '{}' }))).toBe('409 IDEMPOTENCY_CONFLICT');
    expect((await ask(rotate)).statusCode).toBe(200);
  });

  test('is another request at another path, and for another developer', async () => {
    const other = await service.asDeveloper();
    const [one, two] = [await registerAgent(acme, 'One'), await registerAgent(acme, 'Two')];
    const rename = ({ agentId }: typeof one) =>
      ask({ method: 'PATCH', url: `/v1/agents/${agentId}`, body: { name: 'Same' } });

    expect([await rename(one), await rename(two)].map(isReplayed)).toEqual([false, false]);
    expect([await ask(), await ask({ apiKey: other.apiKey })].map(isReplayed)).toEqual([false, false]);
    expect(await agentsOf(other)).toHaveLength(1);
  });

  test('is looked up after the API key and its role', async () => {
    const made = await acme('POST', '/v1/keys', { name: 'backend', role: 'runtime' });
    await ask();

    expect(refusalOf(await ask({ apiKey: made.json().apiKey }))).toBe('403 FORBIDDEN');
    expect(refusalOf(await ask({ apiKey: 'bh_test_nobody' }))).toBe('401 UNAUTHORIZED');
  });

  test('runs again when it was refused at first', async () => {
    const { agentId } = await registerAgent(acme);
    const suspend = {
      method: 'PATCH',
      url: `/v1/agents/${agentId}`,
      body: { status: 'suspended' },
      key: 'x',
    };
    const asked = {
      url: '/v1/authorize',
      body: { agentId, principalId: 'user_42', scopes: ['calendar:read'] },
    };
    await ask(suspend);

    const refused = [await ask(asked), await ask(asked)];
    await ask({ ...suspend, body: { status: 'active' }, key: 'y' });
    const allowed = await ask(asked);

    expect(refused.map(refusalOf)).toEqual(['409 AGENT_INACTIVE', '409 AGENT_INACTIVE']);
    expect([allowed.statusCode, isReplayed(allowed)]).toEqual([201, false]);
    expect(isReplayed(await ask(asked))).toBe(true);
  });

  test('has one effect when twenty come at once, and the others get that answer or have to wait', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));

    const kinds = answers.map((answer) =>
      answer.statusCode === 201 ? (isReplayed(answer) ? 'replayed' : 'done') : refusalOf(answer),
    );
    expect(kinds.filter((kind) => kind === 'done')).toHaveLength(1);
    expect(new Set(['done', 'replayed', '409 IDEMPOTENCY_IN_PROGRESS', ...kinds]).size).toBe(3);
    expect(await agentsOf(acme)).toHaveLength(1);
  });

  test('has to wait while the first still runs', async () => {
    let second: Awaited<ReturnType<typeof send>> | undefined;
    const slow = await startApp({
      databaseUrl: service.databaseUrl,
      dbAs: (db) =>
        db.withPlugin(
          afterStatements('insert_agent_marker', async () => {
            second ??= await ask();
          }),
        ),
    });
    const body = { ...NEW_AGENT, name: 'insert_agent_marker' };

    const first = await send(slow, { apiKey: acme.apiKey, body });

    expect(first.statusCode).toBe(201);
    expect(second && refusalOf(second)).toBe('409 IDEMPOTENCY_IN_PROGRESS');
    expect(await agentsOf(acme)).toHaveLength(1);
  });
});

describe('I13: an `Idempotency-Key`', () => {
  test.each([
    ['is empty', ''],
    ['has 256 characters', 'x'.repeat(256)],
    ['has 10,000 characters', 'x'.repeat(10_000)],
    ['has a letter beyond ASCII', 'clé'],
    ['has a control character', 'a\tb'],
    ['is there twice', ['a', 'b']],
    ['is there twice, and the same', ['a', 'a']],
  ])('is refused when it %s', async (_, key) => {
    expect(refusalOf(await ask({ key }))).toBe('400 BAD_REQUEST');
    expect(await agentsOf(acme)).toEqual([]);
  });

  test.each(['x', 'x'.repeat(255), '!"#$%&\'()*+,-./ ~'])('may be %s', async (key) => {
    expect((await ask({ key })).statusCode).toBe(201);
    expect(isReplayed(await ask({ key }))).toBe(true);
  });

  test('changes nothing on requests that read, and on those without an API key', async () => {
    const headers = { authorization: `Bearer ${acme.apiKey}`, 'idempotency-key': '' };
    const read = await service.app.inject({ url: '/v1/agents', headers });
    const signUp = () => send(service, { url: '/v1/signup', body: { name: 'Acme' }, apiKey: '' });
    const [first, second] = [await signUp(), await signUp()];

    expect(read.statusCode).toBe(200);
    expect(first.json().developerId).not.toBe(second.json().developerId);
  });
});

describe('I13: a stored answer', () => {
  test('holds secrets that nobody finds in the database', async () => {
    const { agentId } = await registerAgent(acme);
    const made = await ask({ url: '/v1/keys', body: { name: 'spare', role: 'runtime' }, key: 'secret key' });
    const asked = await ask({
      url: '/v1/authorize',
      body: { agentId, principalId: 'user_42', scopes: ['calendar:read'] },
    });
    const issued = await ask({ url: '/v1/token', body: { code: asked.json().code, agentId } });
    const { grantToken, refreshToken } = issued.json();
    const secrets = [made.json().apiKey, asked.json().code, grantToken, refreshToken, 'secret key'];

    const { rows } = await sql<{ text: string; body: Buffer }>`
      select to_jsonb(kept)::text as text, body from idempotent_answers kept
        where developer_id = ${acme.developerId}`.execute(service.db);

    expect(rows).toHaveLength(3);
    for (const secret of secrets) {
      expect(secret).toMatch(/.{10}/);
      for (const { text, body } of rows) {
        expect(text).not.toContain(secret);
        expect(body.includes(secret)).toBe(false);
      }
    }
    expect(rows.some(({ text }) => text.includes(acme.developerId))).toBe(true); // the search works
    expect(
      (await ask({ url: '/v1/keys', body: { name: 'spare', role: 'runtime' }, key: 'secret key' })).body,
    ).toBe(made.body);
  });

  test('is a conflict when its key was replaced, and the request does not run again', async () => {
    await ask();
    const env = { VAULT_ENCRYPTION_KEY: 'cd'.repeat(32) };
    const later = await startApp({ databaseUrl: service.databaseUrl, env });

    expect(refusalOf(await send(later, { apiKey: acme.apiKey }))).toBe('409 IDEMPOTENCY_CONFLICT');
    expect(await agentsOf(acme)).toHaveLength(1);
  });

  test('still opens once there is a key for the vault', async () => {
    const { databaseUrl } = service;
    const without = await startApp({ databaseUrl, env: { VAULT_ENCRYPTION_KEY: '' } });
    const first = await send(without, { apiKey: acme.apiKey });
    const later = await startApp({ databaseUrl });

    expect((await send(later, { apiKey: acme.apiKey })).body).toBe(first.body);
  });

  test.each(['altered', 'moved to another place'])('does not open after it was %s', async (how) => {
    await ask({ key: 'one' });
    await ask({ key: 'two' });
    const { developerId } = acme;
    const all = service.db.updateTable('idempotentAnswers').where('developerId', '=', developerId);
    if (how === 'altered') await all.set({ body: sql`set_byte(body, 40, get_byte(body, 40) # 1)` }).execute();
    else {
      await all
        .set({
          body: sql`(select max(other.body) from (select body::text from idempotent_answers other
            where other.developer_id = ${developerId} and other.answer_key <> idempotent_answers.answer_key) other)::bytea`,
        })
        .execute();
    }

    for (const key of ['one', 'two']) {
      expect(refusalOf(await ask({ key }))).toBe('409 IDEMPOTENCY_CONFLICT');
    }
    expect(await agentsOf(acme)).toHaveLength(2);
  });

  test('has a fingerprint that lets nobody guess the body', async () => {
    const credential = { principalId: 'user_42', service: 'github', accessToken: 'gho_guessable' };
    const plain = createHash('sha256')
      .update(`\n${JSON.stringify(credential)}`)
      .digest();

    expect((await ask({ url: '/v1/vault/credentials', body: credential })).statusCode).toBe(201);

    const own = service.db.selectFrom('idempotentAnswers').where('developerId', '=', acme.developerId);
    const { fingerprint } = await own.select('fingerprint').executeTakeFirstOrThrow();
    expect([fingerprint.length, fingerprint.includes(plain)]).toEqual([33, false]);
  });

  test('is good for 24 hours, and then deleted', async () => {
    const { acme: own, advance, db, clock, ...rest } = await startSandbox();
    const asked = () => send(rest, { apiKey: own.apiKey });
    const stored = async () => (await db.selectFrom('idempotentAnswers').selectAll().execute()).filter(isOwn);
    const isOwn = ({ developerId }: { developerId: string }) => developerId === own.developerId;
    const clean = () => expiryOfAnswers({ db, clock, batch: 1 }).run(new AbortController().signal);
    await asked();

    advance(86_399);
    await clean();
    const justInTime = await asked();
    advance(1);
    const tooLate = await asked();
    const again = await asked();
    await clean();
    const before = await stored();
    advance(86_400);
    await clean();

    expect([justInTime, tooLate, again].map(isReplayed)).toEqual([true, false, true]);
    expect(await agentsOf(own)).toHaveLength(2);
    expect([before.length, (await stored()).length]).toEqual([1, 0]);
  });
});

describe('I13: effect and answer', () => {
  test('are both missing when the connection is lost between them, and the request can be repeated', async () => {
    const databaseUrl = await newDatabase();
    let isFirst = true;
    const broken = await startApp({
      databaseUrl,
      dbAs: (db) =>
        db.withPlugin(
          afterStatements('idempotent_answers', async () => {
            if (!isFirst) return;
            isFirst = false;
            const others = "datname = current_database() and state = 'idle in transaction'";
            await execute(
              databaseUrl,
              `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`,
            );
          }),
        ),
    });
    const own = await broken.asDeveloper();

    const lost = await send(broken, { apiKey: own.apiKey });
    const after = { agents: await agentsOf(own), acts: await actionsOf(own) };
    const again = await send(broken, { apiKey: own.apiKey });

    expect(refusalOf(lost)).toBe('503 SERVICE_UNAVAILABLE');
    expect(after.agents).toEqual([]);
    expect(after.acts).not.toContain('agent.created');
    expect([again.statusCode, isReplayed(again)]).toEqual([201, false]);
    expect(await agentsOf(own)).toHaveLength(1);
  });

  test('are repeated when Postgres ends them in favour of another transaction', async () => {
    let attempts = 0;
    const racing = await startApp({
      databaseUrl: service.databaseUrl,
      dbAs: (db) =>
        db.withPlugin(
          afterStatements('racing_agent_marker', async () => {
            attempts += 1;
            if (attempts < 3) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
          }),
        ),
    });

    const body = { ...NEW_AGENT, name: 'racing_agent_marker' };
    const answer = await send(racing, { apiKey: acme.apiKey, body });

    expect(answer.statusCode).toBe(201);
    expect(await agentsOf(acme)).toHaveLength(1);
    expect((await send(racing, { apiKey: acme.apiKey, body })).body).toBe(answer.body);
  });

  test('are both missing when the handler fails after its write, and the request can be repeated', async () => {
    const faults = [new Error('unforeseen')];
    const failing = await startApp({
      databaseUrl: service.databaseUrl,
      dbAs: (db) =>
        db.withPlugin(
          afterStatements('write_together', async () => {
            const fault = faults.pop();
            if (fault) throw fault;
          }),
        ),
    });
    const { agentId } = await registerAgent(acme);
    const body = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const request = { url: '/v1/authorize', apiKey: acme.apiKey, body };

    const failed = await send(failing, request);
    const again = await send(failing, request);

    expect(refusalOf(failed)).toBe('500 INTERNAL_ERROR');
    expect([again.statusCode, isReplayed(again)]).toEqual([201, false]);
    expect(await entriesOf(acme, 'authorization.requested')).toHaveLength(1);
  });
});

test('I13: no request keeps a connection, however it ends', async () => {
  const small = await startApp({ databaseUrl: service.databaseUrl });
  for (let round = 0; round < 4; round += 1) {
    const key = `round ${round}`;
    await Promise.all([
      send(small, { apiKey: acme.apiKey, key, body: '{' }),
      send(small, { apiKey: acme.apiKey, key: `${key} shape`, body: {} }),
      send(small, { apiKey: acme.apiKey, key: `${key} path`, method: 'PATCH', url: '/v1/agents/ag_0' }),
      send(small, { apiKey: acme.apiKey, key: `${key} done` }),
      send(small, { apiKey: acme.apiKey, key: `${key} done` }),
    ]);
  }

  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`.execute(small.db);
  expect(rows).toEqual([{ open: 0 }]);
});
