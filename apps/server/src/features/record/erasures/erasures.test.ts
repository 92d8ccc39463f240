import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { entriesOf, grantTo } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { execute } from '../../../../test/servers/postgres.ts';
import { catalogue } from '../../../features.ts';
import { longWork } from '../../../platform/long-work.ts';
import { eraseRevisionsOf } from '../../grants/policies/versions.repo.ts';
import { runErasures } from './erase.ts';

interface Entry {
  readonly id: string;
  readonly seq: number;
  readonly action: string;
  readonly hash: string;
  readonly principalId: string | null;
  readonly salt: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly erased?: true;
}

const chainOf = async (acme: Developer): Promise<Entry[]> =>
  (await acme('GET', '/v1/audit/entries?limit=500')).json().entries;
const verify = async (acme: Developer) => (await acme('GET', '/v1/audit/verify')).json();

/** Does the work of the job. @returns the entries that it found broken */
async function work({ db, clock }: Service): Promise<string[]> {
  const broken: string[] = [];
  const onFailure = (error: unknown) => {
    throw error;
  };
  const deps = {
    db,
    clock,
    catalogue,
    longWork: longWork(),
    erasers: [eraseRevisionsOf],
    onFailure,
    onBroken: (_: string, entryId: string) => void broken.push(entryId),
  };
  await runErasures(deps, new AbortController().signal);
  return broken;
}

const LETTER = { note: 'sent to user_42', amount: 3 };

/** An account in which a person left, and in which another one stays. @param letters the metadata of the agent's own entries */
async function left(service: Service, letters: readonly object[] = [LETTER]) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { grantId, agentId, did } = await grantTo(acme, { principalId: 'user_42' });
  await grantTo(acme, { principalId: 'user_7' });
  const about = { agentId, agentDid: did, grantId, principalId: 'user_42' };
  for (const metadata of letters) {
    const sent = await acme('POST', '/v1/audit/log', { ...about, action: 'letter.sent', metadata });
    expect(sent.statusCode).toBe(201);
  }
  await acme('DELETE', `/v1/grants/${grantId}`);
  return { acme, grantId };
}

const erase = async (acme: Developer, principalId = 'user_42') =>
  (await acme('POST', '/v1/audit/erasures', { principalId, reason: 'They asked.' })).json();

describe('an erasure of a person', () => {
  test('leaves every hash, and nothing of the person; the chain is whole', async () => {
    const service = await startApp();
    const { acme, grantId } = await left(service);
    const before = await chainOf(acme);

    const answer = await acme('POST', '/v1/audit/erasures', { principalId: 'user_42' });
    const { erasureId } = answer.json();
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({ erasureId, status: 'running' });
    service.advance(60);
    expect(await work(service)).toEqual([]);

    const erased = before.filter(({ principalId }) => principalId === 'user_42').map(({ seq }) => seq);
    const after = await chainOf(acme);
    expect(erased.length).toBeGreaterThan(4);
    expect(after.filter((entry) => entry.erased).map(({ seq }) => seq)).toEqual(erased);
    expect(after.slice(0, before.length).map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
    for (const entry of after) {
      const was = before.find(({ seq }) => seq === entry.seq);
      if (!entry.erased && was) expect(entry).toEqual(was);
      if (entry.erased) expect(entry).toMatchObject({ salt: null, principalId: null, action: was?.action });
    }
    expect(after.find(({ action }) => action === 'letter.sent')?.metadata).toEqual({});
    expect(after.find(({ action, erased: is }) => is && action === 'grant.revoked')?.metadata).toMatchObject({
      reason: 'developer',
      rootGrantId: grantId,
    });
    expect(JSON.stringify(after)).not.toContain('user_42');
    expect((await acme('GET', `/v1/audit/erasures/${erasureId}`)).json()).toEqual({
      erasureId,
      status: 'done',
      entries: erased.length,
      brokenEntries: 0,
      finishedAt: service.clock().toISOString(),
    });
    expect(await entriesOf(acme, 'audit.erased')).toMatchObject([
      {
        principalId: null,
        metadata: { erasureId, count: erased.length, actor: expect.stringMatching(/^developer:/) },
      },
    ]);
    expect(await verify(acme)).toMatchObject({
      valid: true,
      erasedEntries: erased.length,
      checkedEntries: after.length,
    });
    const { rows } = await execute(
      service.databaseUrl,
      `select string_agg(t::text, '') as text from (
      select a::text as t from audit_entries a union all select e::text from audit_erasures e) as all_rows`,
    );
    expect(rows[0].text).not.toContain('user_42');
  });

  test('takes the person out of the versions of policies, and nothing of a policy in force', async () => {
    const service = await startApp();
    const { acme } = await left(service);
    const deny = { effect: 'deny', scopes: ['x:y'], principalId: 'user_42' };
    const make = async (name: string) => {
      const { id } = (await acme('POST', '/v1/policies', { name, ...deny })).json();
      return `/v1/policies/${id}`;
    };
    const [past, present] = [await make('Was about them'), await make('Is about them')];
    await acme('PATCH', past, { principalId: 'user_7' });
    await acme('PATCH', present, { name: 'Is still about them' });
    const versionsOf = async (path: string) => {
      const { versions } = (await acme('GET', `${path}/versions`)).json();
      return versions.map((each: { version: number; policy: { principalId: string } }) => [
        each.version,
        each.policy.principalId,
      ]);
    };

    await erase(acme);
    await work(service);
    const after = [await versionsOf(past), await versionsOf(present)];
    await acme('PATCH', present, { principalId: 'user_7' });

    expect(after).toEqual([[[2, 'user_7']], [[2, 'user_42']]]);
    expect(await versionsOf(present)).toEqual([[3, 'user_7']]);
    const naming = (await chainOf(acme)).filter((entry) => JSON.stringify(entry).includes('user_42'));
    expect(naming).toMatchObject([{ metadata: { version: 3 } }]); // the change that came after the erasure
    expect(await verify(acme)).toMatchObject({ valid: true });
  });

  test('takes the limits of their grants out of denied calls', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const tools = { pay: { permission: 'write', arguments: { '/amount': { max: '500' } } } };
    await acme('PUT', '/v1/manifests/bank', { $schema: 'x', connector: 'bank', version: '1', tools });
    const { grantId, grantToken } = await grantTo(acme, {
      principalId: 'user_42',
      scopes: ['tool:bank:write'],
    });
    const call = { grantToken, connector: 'bank', tool: 'pay', arguments: { amount: 900 } };
    await acme('POST', '/v1/enforce', call);
    await acme('DELETE', `/v1/grants/${grantId}`);
    const deniedIn = (chain: readonly Entry[]) => chain.find(({ action }) => action === 'tool.enforce');
    const before = deniedIn(await chainOf(acme));

    await erase(acme);
    await work(service);

    const after = deniedIn(await chainOf(acme));
    expect(before?.metadata).toMatchObject({ reasonCode: 'tool_not_granted', details: { limit: '500' } });
    expect(after?.metadata).toMatchObject({ reasonCode: 'tool_not_granted', tool: 'pay' });
    expect(after?.metadata).not.toHaveProperty('details');
    const explained = await acme('GET', `/v1/audit/${after?.id}/explanation`);
    expect(explained.json()).toMatchObject({ denial: { reasonCode: 'tool_not_granted' } });
    expect(await verify(acme)).toMatchObject({ valid: true });
  });

  test('is refused while the person has an active grant, or a legal hold stands', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { grantId } = await grantTo(acme, { principalId: 'user_42' });
    const refused = async () => {
      const answer = await acme('POST', '/v1/audit/erasures', { principalId: 'user_42' });
      return [answer.statusCode, answer.json().details?.field];
    };

    expect(await refused()).toEqual([409, 'principalId']);
    await acme('DELETE', `/v1/grants/${grantId}`);
    for (const about of [{}, { principalId: 'user_42' }]) {
      const { id } = (await acme('POST', '/v1/compliance/holds', { name: 'Case', ...about })).json();
      expect(await refused()).toEqual([409, 'legalHold']);
      await acme('POST', `/v1/compliance/holds/${id}/release`);
    }
    await acme('POST', '/v1/compliance/holds', { name: 'Other', principalId: 'user_7' });
    expect(await refused()).toEqual([202, undefined]);
  });

  test('waits while a hold stands that came later', async () => {
    const service = await startApp();
    const { acme } = await left(service);
    const { erasureId } = await erase(acme);
    const state = async () => (await acme('GET', `/v1/audit/erasures/${erasureId}`)).json();
    const { id } = (await acme('POST', '/v1/compliance/holds', { name: 'Case' })).json();

    await work(service);
    expect(await state()).toMatchObject({ status: 'running', entries: 0 });
    await acme('POST', `/v1/compliance/holds/${id}/release`);
    await work(service);

    expect(await state()).toMatchObject({ status: 'done', entries: 6 });
  });

  test('is the work of one instance', async () => {
    const service = await startApp();
    const { acme } = await left(service);
    await erase(acme);

    await Promise.all([work(service), work(service), work(service)]);

    expect(await entriesOf(acme, 'audit.erased')).toHaveLength(1);
    expect(await verify(acme)).toMatchObject({ valid: true, erasedEntries: 6 });
  });

  test('hides no change: an entry that somebody changed stays as it is', async () => {
    const service = await startApp();
    const { acme } = await left(service);
    await tamper(
      service.databaseUrl,
      `update audit_entries set action = 'letter.kept' where action = 'letter.sent'`,
    );
    const { erasureId } = await erase(acme);

    expect(await work(service)).toHaveLength(1);

    expect((await acme('GET', `/v1/audit/erasures/${erasureId}`)).json()).toMatchObject({ brokenEntries: 1 });
    expect(await verify(acme)).toMatchObject({ valid: false, problem: 'hash_mismatch' });
  });
});

describe('an erased entry that somebody changes', () => {
  test.for<[what: string, statement: string, problem: string]>([
    [
      'its content',
      `update audit_entries set status = 'blocked' where action = 'letter.sent'`,
      'leaf_mismatch',
    ],
    [
      'its content and its parts',
      `update audit_entries set status = 'blocked', parts[1] = rtrim(translate(encode(convert_to(replace(
         convert_from(decode(rpad(translate(parts[1], '-_', '+/'), (length(parts[1]) + 3) / 4 * 4, '='), 'base64'), 'UTF8'),
         '"success"', '"blocked"'), 'UTF8'), 'base64'), E'+/\\n', '-_'), '=') where action = 'letter.sent'`,
      'leaf_mismatch',
    ],
    [
      'its record',
      'delete from audit_erased where seq = (select min(seq) from audit_erased)',
      'erased_without_record',
    ],
    [
      'its leaf',
      `update audit_erased set leaf = sha256('x') where seq = (select min(seq) from audit_erased)`,
      'leaf_mismatch',
    ],
    ['the name of its erasure', `update audit_erased set erasure_id = 'erasure_x'`, 'erased_without_record'],
    [
      'one more entry, with a record',
      `with more as (update audit_entries set parts = '{}', salt = null, principal_id = null, metadata = '{}'
         where seq = 1 returning seq, developer_id)
       insert into audit_erased select m.developer_id, m.seq, e.erasure_id, sha256('x') from more m join audit_erased e using (developer_id)
       on conflict do nothing`,
      'leaf_mismatch',
    ],
  ])('is found: %s', async ([, statement, problem]) => {
    const service = await startApp();
    const { acme } = await left(service);
    await erase(acme);
    await work(service);
    expect(await verify(acme)).toMatchObject({ valid: true });

    expect(await tamper(service.databaseUrl, statement)).toBeGreaterThan(0);

    expect(await verify(acme)).toMatchObject({ valid: false, problem });
  });
});

/** Counts the parts of entries that are put together to be hashed. @returns the most in one turn of the event loop */
async function mostPartsInOneTurn(work: () => Promise<unknown>): Promise<number> {
  const bytes = Object.getPrototypeOf(Uint8Array.prototype);
  const { set } = bytes;
  let [most, parts, isOver] = [0, 0, false];
  bytes.set = function count(this: Uint8Array, ...args: unknown[]) {
    parts += 1;
    most = Math.max(most, parts);
    return Reflect.apply(set, this, args);
  };
  onTestFinished(() => {
    bytes.set = set;
  });
  const watch = async () => {
    for (; !isOver; parts = 0) await nextTurn();
  };
  const watching = watch();
  await work();
  isOver = true;
  await watching;
  bytes.set = set;
  return most;
}

test('I16: entries with as many members as there may be hold up nobody, when they are erased and when they are verified', async () => {
  const service = await startApp();
  const letter = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`m${n}`, n]));
  const { acme } = await left(service, Array(20).fill(letter));
  await erase(acme);

  const erasing = await mostPartsInOneTurn(() => work(service));
  const verifying = await mostPartsInOneTurn(async () => {
    expect(await verify(acme)).toMatchObject({ valid: true, erasedEntries: 25 });
  });

  expect(erasing).toBeGreaterThan(900);
  expect(erasing).toBeLessThan(4_000); // to make the parts of one entry, and its leaf
  expect(verifying).toBeGreaterThan(900);
  expect(verifying).toBeLessThan(2_700); // the watch may see the turns of two entries as one
});

test('the database lets nothing but an erasure pass', async () => {
  const service = await startApp();
  const { acme } = await left(service);
  await erase(acme);
  const one = `seq = 1 and developer_id = '${acme.developerId}'`;
  const named = `insert into audit_erased (developer_id, seq, erasure_id, leaf)
    select developer_id, seq, 'erasure_x', 'x' from audit_entries where ${one};`;
  const whole = `parts = '{x}', salt = null, principal_id = null`;

  for (const statement of [
    `update audit_entries set ${whole} where ${one}`, // nobody named it
    ...[
      `parts = '{x}', principal_id = null`,
      'parts = null, salt = null, principal_id = null',
      `${whole}, metadata = metadata || '{"more": 1}'`,
      `${whole}, metadata = '{"name": "other"}'`,
      ...[`action = 'x'`, `status = 'blocked'`, `hash = 'x'`, `prev_hash = 'x'`, 'seq = 99', `at = now()`],
      ...[`id = 'x'`, `agent_id = 'x'`, `grant_id = 'x'`, `request_id = 'x'`, `purpose = 'x'`],
    ].map(
      (set) =>
        `${named} update audit_entries set ${set.startsWith('parts') || set.startsWith(whole) ? '' : `${whole}, `}${set} where ${one}`,
    ),
    'delete from audit_entries',
    'truncate audit_entries',
    `${named} update audit_erased set leaf = 'y'`,
    `${named} delete from audit_erased`,
  ]) {
    await expect(execute(service.databaseUrl, `begin; ${statement}; commit`), statement).rejects.toThrow(
      /append-only/,
    );
  }
  await execute(service.databaseUrl, `${named} update audit_entries set ${whole} where ${one}`);
  await expect(
    execute(service.databaseUrl, `update audit_entries set parts = '{y}' where ${one}`),
  ).rejects.toThrow(/append-only/); // a second erasure
});

describe('content that is kept for a number of days', () => {
  test('is erased once a day, and goes on where it ended', async () => {
    const service = await startApp();
    const { acme } = await left(service);
    expect((await acme('PATCH', '/v1/me', { auditRetentionDays: 29 })).statusCode).toBe(400);
    expect((await acme('PATCH', '/v1/me', { auditRetentionDays: 30 })).json()).toMatchObject({
      auditRetentionDays: 30,
    });
    const old = (await chainOf(acme)).length;
    service.advance(30 * 86_400 - 1);
    await work(service);
    expect((await chainOf(acme)).some(({ erased }) => erased)).toBe(false);

    service.advance(86_400);
    await work(service);

    const erased = (await chainOf(acme)).filter((entry) => entry.erased);
    expect(erased.map(({ seq }) => seq)).toEqual(Array.from({ length: old }, (_, at) => at + 1));
    expect(await entriesOf(acme, 'audit.erased')).toMatchObject([
      { metadata: { count: old, actor: 'system' } },
    ]);
    expect(await verify(acme)).toMatchObject({ valid: true, erasedEntries: old });
    service.advance(86_400);
    await work(service);
    expect(await entriesOf(acme, 'audit.erased')).toHaveLength(1); // there was nothing more that is old
  });

  test('stays while any legal hold stands', async () => {
    const service = await startApp();
    const { acme } = await left(service);
    await acme('PATCH', '/v1/me', { auditRetentionDays: 30 });
    const { id } = (
      await acme('POST', '/v1/compliance/holds', { name: 'Case', principalId: 'user_7' })
    ).json();
    service.advance(31 * 86_400);

    await work(service);
    expect((await chainOf(acme)).some(({ erased }) => erased)).toBe(false);
    await acme('POST', `/v1/compliance/holds/${id}/release`);
    await work(service);

    expect((await chainOf(acme)).some(({ erased }) => erased)).toBe(true);
  });
});
