import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { replaceSealed } from '../../src/platform/seal.ts';
import { enrolApprover } from '../app/approving.ts';
import { startPushServer } from '../app/push-server.ts';
import { besideProvider } from '../app/signing-on.ts';
import { newDatabase, type Service, startApp } from '../app/start-app.ts';
import { polled } from '../app/transmitter.ts';

const newKey = () => randomBytes(32).toString('hex');
const sealing = (current: string, ...former: string[]) =>
  besideProvider({ VAULT_ENCRYPTION_KEY: current, VAULT_ENCRYPTION_KEYS_PREVIOUS: former.join(',') });

/** The tables whose rows name the derived key that sealed them. */
async function sealedTables({ db }: Service): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'seal_key_id' order by table_name`.execute(db);
  return rows.map(({ name }) => name);
}

/** The ids of the keys that sealed the rows of each of these tables. */
async function keysIn(service: Service): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {};
  for (const table of await sealedTables(service)) {
    const { rows } = await sql<{ keyId: string }>`
      select seal_key_id as "keyId" from ${sql.table(table)} where seal_key_id is not null`.execute(
      service.db,
    );
    found[table] = rows.map(({ keyId }) => keyId);
  }
  return found;
}

/** An account with a value in each of these tables, and what it can see of them. */
async function sealedUnder(databaseUrl: string, key: string) {
  const made = await polled({ databaseUrl, ...sealing(key) });
  const { acme } = made;
  const config = { url: 'https://pager.test/hooks/1', secret: 'a-secret-of-the-receiver' };
  const answers = [
    await acme('POST', '/v1/webhooks', { url: 'https://hooks.acme.test/', events: ['*'] }),
    await acme('POST', '/v1/policies/sync/secret'),
    await acme('POST', '/v1/anomaly/channels', { type: 'webhook', name: 'Pager', config }),
    await acme('POST', '/v1/decision-channels', {
      ...{ kind: 'slack', name: 'Ops', url: 'https://hooks.slack.com/services/T/B/x' },
    }),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201]);
  const ada = await enrolApprover(made.service, acme, 'ada@example.org');
  const { subscription } = (await startPushServer()).browser();
  const body = { ...subscription, endpoint: 'https://push.example.org/1' };
  expect((await ada.browser.call('PUT', '/v1/approver/notifications', { body })).statusCode).toBe(200);
  const seen = async (service: Service) => {
    const reads = ['/v1/anomaly/channels', '/v1/decision-channels', '/v1/webhooks'];
    return Promise.all(reads.map(async (path) => (await service.calling(acme.apiKey)('GET', path)).json()));
  };
  return { ...made, seen };
}

test('V6: each value that a derived key seals is sealed again at the start under the next vault key, and says the same', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = [newKey(), newKey()];
  const { service, seen, polls } = await sealedUnder(databaseUrl, former);
  const [before, shown] = [await keysIn(service), await seen(service)];
  expect(Object.entries(before).filter(([, keys]) => keys.length === 0)).toEqual([]); // no table is forgotten

  const both = await startApp({ databaseUrl, ...sealing(current, former) });
  await both.prepare();
  const after = await keysIn(both);
  await both.prepare();
  await both.runJob('connection rotation'); // the secret of the connection has a data key, which a job seals again
  const alone = await startApp({ databaseUrl, ...sealing(current) });
  await alone.prepare();

  for (const [table, keys] of Object.entries(before))
    expect(
      after[table]?.filter((key) => keys.includes(key)),
      table,
    ).toEqual([]);
  expect(await keysIn(alone)).toEqual(after); // a restart seals nothing that the current key sealed
  expect(await alone.findLost()).toEqual([]);
  expect(await seen(alone)).toEqual(shown);
  await alone.runJob('polling of signals'); // with the credential that the transmitter knows
  expect(polls).toHaveLength(1);
});

test('V6: values that no configured key opens stop the start in production, and are told of elsewhere; a look changes nothing', async () => {
  const databaseUrl = await newDatabase();
  const { service } = await sealedUnder(databaseUrl, newKey());
  const before = await keysIn(service);
  expect(await service.findLost()).toEqual([]); // the control
  const stranger = await startApp({ databaseUrl, ...sealing(newKey()) });
  const warnings: string[] = [];

  const lost = await stranger.findLost();
  await expect(stranger.prepare(true)).rejects.toThrow('VAULT_ENCRYPTION_KEY does not open');
  await stranger.prepare(false, (message) => warnings.push(message));

  expect(lost.sort()).toEqual(warnings.sort());
  expect(lost).toHaveLength(Object.keys(before).length + 1); // and the connection, whose secret has a data key
  expect(await keysIn(stranger)).toEqual(before);
});

test('a channel that was changed while it is sealed again keeps the change', async () => {
  const { service } = await sealedUnder(await newDatabase(), newKey());
  const { db } = service;
  const read = async () => ({
    anomaly: await db.selectFrom('anomalyChannels').selectAll().executeTakeFirstOrThrow(),
    decision: await db.selectFrom('decisionChannels').selectAll().executeTakeFirstOrThrow(),
  });
  const { anomaly, decision } = await read();
  const late = { sealed: Buffer.from('sealed again'), sealKeyId: 'next' };
  const stale = Buffer.from('the text before the change');

  await replaceSealed(db, 'anomaly_channels', { ...anomaly, sealed: stale }, late);
  await replaceSealed(db, 'decision_channels', { ...decision, sealed: stale }, late);
  expect(await read()).toEqual({ anomaly, decision });

  await replaceSealed(db, 'anomaly_channels', anomaly, late); // the control
  await replaceSealed(db, 'decision_channels', decision, late);
  expect(await read()).toMatchObject({ anomaly: late, decision: late });
});
