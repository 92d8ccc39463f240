import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { registerWebhook, startWithWebhooks } from '../../../../test/app/deliveries.ts';
import { registerAgent } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { type Developer, newDatabase } from '../../../../test/app/start-app.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { claimSharesAcrossTenants, listDueDevelopersAcrossTenants, slowEndpoint } from './deliveries.repo.ts';

/** The service has a database of its own, so that a claim across tenants finds this test's deliveries only. */
const startAlone = async () => startWithWebhooks({ databaseUrl: await newDatabase() });

const register = async (developer: Developer, url: string, count: number) => {
  for (let at = 0; at < count; at += 1) await registerWebhook(developer, url, ['agent.created']);
};

/** Adds so many deliveries like the developer's first. */
const multiply = (db: Executor, { developerId }: Developer, count: number) =>
  sql`insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope, max_attempts,
      created_at, next_attempt_at, is_prompt)
    select developer_id, webhook_id, 'whd_' || n, 'evt_' || n, event_type, '{}', 5, created_at, next_attempt_at, true
    from webhook_deliveries, generate_series(1, ${count}::integer) as n where developer_id = ${developerId}`.execute(
    db,
  );

describe('a claim', () => {
  test('gives the endpoints of a developer their turns', async () => {
    const { acme, db, clock, deliver } = await startAlone();
    const receiver = await startReceiver();
    await register(acme, receiver.url, 3);
    await registerAgent(acme);
    await deliver(); // each endpoint may have five places now
    await registerAgent(acme);
    await registerAgent(acme);
    const turns: string[] = [];

    for (let turn = 0; turn < 6; turn += 1) {
      const share = { developerId: acme.developerId, after: turns.at(-1) ?? '', places: 1 };
      const [claimed] = await claimSharesAcrossTenants(db, clock(), true, [share]);
      turns.push(String(claimed?.webhookId));
    }

    expect(new Set(turns.slice(0, 3)).size).toBe(3);
    expect(turns.slice(3)).toEqual(turns.slice(0, 3));
  });

  test('finds a developer after its last turn, around to the developer of that turn', async () => {
    const { asDeveloper, db, clock, acme } = await startAlone();
    const others = [await asDeveloper({ mode: 'sandbox' }), await asDeveloper({ mode: 'sandbox' })];
    for (const developer of [acme, ...others]) {
      await register(developer, 'https://hooks.acme.test/', 1);
      await registerAgent(developer);
    }
    const [first = '', second = '', third = ''] = [acme, ...others]
      .map(({ developerId }) => developerId)
      .sort();
    const due = (after: string, { except = [] as string[], most = 9, isPrompt = true } = {}) =>
      listDueDevelopersAcrossTenants(db, clock(), { isPrompt, after, except, most });

    expect(await due('')).toEqual([first, second, third]);
    expect(await due(first)).toEqual([second, third, first]);
    expect(await due(third)).toEqual([first, second, third]);
    expect(await due(first, { most: 2 })).toEqual([second, third]);
    expect(await due(second, { except: [third] })).toEqual([first, second]);
    expect(await due('', { isPrompt: false })).toEqual([]);
  });

  test('passes a disabled endpoint over, and an endpoint with its places taken', async () => {
    const { acme, asDeveloper, db, clock, service } = await startAlone();
    const other = await asDeveloper({ mode: 'sandbox' });
    const { webhookId } = await registerWebhook(acme, 'https://hooks.acme.test/', ['agent.created']);
    await acme('PATCH', `/v1/webhooks/${webhookId}`, { status: 'disabled' });
    await register(other, 'https://hooks.acme.test/', 1);
    for (const developer of [acme, other, other]) await registerAgent(developer);
    const search = { isPrompt: true, after: '', except: [], most: 9 };
    const due = () => listDueDevelopersAcrossTenants(db, clock(), search);
    expect(await due()).toEqual([other.developerId]);

    const share = { developerId: other.developerId, after: '', places: 9 };
    expect(await claimSharesAcrossTenants(db, clock(), true, [share])).toHaveLength(1);

    expect(await due()).toEqual([]);
    service.advance(60);
    expect(await due()).toEqual([other.developerId]);
  });

  test('looks beyond an endpoint without work, and not at what is due later', async () => {
    const { acme, db, clock, deliver, advance } = await startWithWebhooks({
      databaseUrl: await newDatabase(),
    });
    const receiver = await startReceiver();
    receiver.answerStatus(500);
    await register(acme, receiver.url, 2);
    await registerAgent(acme);
    const due = () =>
      listDueDevelopersAcrossTenants(db, clock(), { isPrompt: false, after: '', except: [], most: 9 });
    const claim = async () => {
      const share = { developerId: acme.developerId, after: '', places: 9 };
      return (await claimSharesAcrossTenants(db, clock(), false, [share])).length;
    };
    await deliver();
    expect([await due(), await claim()]).toEqual([[], 0]); // both are due again in thirty seconds
    advance(30);
    expect(await due()).toEqual([acme.developerId]);

    const { webhooks } = (await acme('GET', '/v1/webhooks')).json();
    const [first = ''] = webhooks.map(({ webhookId }: { webhookId: string }) => webhookId).sort();
    await acme('PATCH', `/v1/webhooks/${first}`, { status: 'disabled' });

    expect(await due()).toEqual([acme.developerId]);
    expect(await claim()).toBe(1);
    expect(await due()).toEqual([]);
  });

  test('reads a few rows by their indexes, however many are due of one developer', async () => {
    const { acme, asDeveloper, db, clock } = await startAlone();
    const other = await asDeveloper({ mode: 'sandbox' });
    for (const developer of [acme, other]) {
      await register(developer, 'https://hooks.acme.test/', 1);
      await registerAgent(developer);
    }
    await multiply(db, acme, 5000);

    const read = await db.transaction().execute(async (tx) => {
      const search = { isPrompt: true, after: '', except: [], most: 9 };
      const due = await listDueDevelopersAcrossTenants(tx, clock(), search);
      const shares = due.map((developerId) => ({ developerId, after: '', places: 9 }));
      const claimed = await claimSharesAcrossTenants(tx, clock(), true, shares);
      expect(claimed).toHaveLength(2);
      for (const delivery of claimed) await slowEndpoint(tx, delivery);
      const { rows } = await sql<{ inOrder: number; byIndex: number }>`
        select seq_tup_read::integer as in_order, idx_tup_fetch::integer as by_index
        from pg_stat_xact_user_tables where relname = 'webhook_deliveries'`.execute(tx);
      return rows[0];
    });

    expect(read?.inOrder).toBe(0);
    expect(read?.byIndex).toBeGreaterThan(500); // a move takes so many at a time
    expect(read?.byIndex).toBeLessThan(1100);
  });

  test('moves what is left in the prompt lane of an endpoint that is slow, some at a time', async () => {
    const { acme, db, clock } = await startAlone();
    const { webhookId } = await registerWebhook(acme, 'https://hooks.acme.test/', ['agent.created']);
    const { developerId } = acme;
    await registerAgent(acme);
    await multiply(db, acme, 1200);
    const left = async () =>
      (await db.selectFrom('webhookDeliveries').select('id').where('isPrompt', '=', true).execute()).length;
    const due = () =>
      listDueDevelopersAcrossTenants(db, clock(), { isPrompt: true, after: '', except: [], most: 9 });

    await slowEndpoint(db, { developerId, webhookId });
    const counts = [await left()];
    while ((await due()).length > 0) {
      const shares = [{ developerId, after: '', places: 1 }];
      expect(await claimSharesAcrossTenants(db, clock(), true, shares)).toEqual([]);
      counts.push(await left());
    }

    expect(counts).toEqual([701, 201, 0]);
  });
});
