import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startSandbox } from '../app/flow.ts';
import { startReceiver } from '../app/receiver.ts';
import { newDatabase } from '../app/start-app.ts';
import { storeCredential } from '../app/vault.ts';

/** Tables into which the acts below write. */
const WRITTEN = ['audit_entries', 'email_verifications'];

test('nobody outside hears of an act whose commit fails', async () => {
  const { service, acme } = await startSandbox({
    databaseUrl: await newDatabase(),
    env: { VAULT_REFRESH_ALLOW_PRIVATE_HOSTS: 'true' },
  });
  const upstream = await startReceiver();
  const { id } = await storeCredential(acme, {
    refreshToken: 'upstream-refresh-1',
    refresh: { tokenEndpoint: upstream.url, revocationEndpoint: upstream.url, clientId: 'behest' },
  });
  await sql`create function refuse_commit() returns trigger language plpgsql as
    $$ begin raise exception 'the disk is full' using errcode = '53100'; end $$`.execute(service.db);
  for (const table of WRITTEN)
    await sql`create constraint trigger refuse_commit after insert on ${sql.table(table)}
      deferrable initially deferred for each row execute function refuse_commit()`.execute(service.db);
  const outside = () => [
    service.mails.sent().length,
    upstream.received.filter(({ path }) => path === '/hook').length,
  ];
  const ask = () =>
    Promise.all([
      acme('POST', '/v1/signup/verify', { email: 'ada@acme.test' }),
      acme('DELETE', `/v1/vault/credentials/${id}`),
    ]);

  const refused = (await ask()).map(({ statusCode }) => statusCode);
  await fetch(`${upstream.url}/afterwards`); // whatever was sent before has come
  const heard = outside();
  await sql`drop function refuse_commit cascade`.execute(service.db);
  const done = (await ask()).map(({ statusCode }) => statusCode);

  expect([refused, heard]).toEqual([
    [503, 503],
    [0, 0],
  ]);
  expect(done).toEqual([201, 204]);
  await expect.poll(outside).toEqual([1, 1]); // each is heard of after its commit
});
