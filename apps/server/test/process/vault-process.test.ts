import { once } from 'node:events';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startHere } from '../servers/start-here.ts';
import { goodSettings, startServer } from '../servers/start-server.ts';

vi.setConfig({ testTimeout: 120_000 }); // a process takes seconds to start on a busy machine
const PATIENCE = { timeout: 30_000, interval: 50 };

test('V6: a rotation of the vault key that is killed goes on at the next start, and loses and repeats nothing', async () => {
  const { settings, url } = await goodSettings();
  const [former, current] = ['a1'.repeat(32), 'b2'.repeat(32)];
  const post = async (path: string, bearer: string, body: object) => {
    const authorization = bearer && { authorization: `Bearer ${bearer}` };
    const headers = { 'content-type': 'application/json', ...authorization };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(answer.status, path).toBeLessThan(300);
    return Object(await answer.json());
  };
  const client = new pg.Client(settings.DATABASE_URL);
  await client.connect();
  onTestFinished(() => client.end());
  const keysOf = async (developerId: string) => {
    const statement = 'select distinct key_id from vault_credentials where developer_id = $1';
    return (await client.query(statement, [developerId])).rows.map((row) => String(row.key_id));
  };

  const before = startServer({ ...settings, VAULT_ENCRYPTION_KEY: former });
  await before.ready();
  const developers: { apiKey: string; developerId: string }[] = [];
  for (const name of ['First', 'Second']) {
    const made = await post('/v1/signup', '', { name, mode: 'sandbox' });
    developers.push(made);
    for (const service of ['github', 'gitlab', 'slack']) {
      const credential = { principalId: 'user_42', service, accessToken: `upstream-${service}` };
      await post('/v1/vault/credentials', made.apiKey, credential);
    }
  }
  before.child.kill('SIGKILL');
  await once(before.child, 'exit');
  const [first, second] = developers.map(({ developerId }) => developerId).sort();
  const [sealedBefore] = await keysOf(String(first));

  // The rotation waits in the middle of the second developer's credentials when it is killed.
  await client.query('begin');
  await client.query('select from vault_credentials where developer_id = $1 and service = $2 for update', [
    second,
    'slack',
  ]);
  const rotating = { ...settings, VAULT_ENCRYPTION_KEY: current, VAULT_ENCRYPTION_KEYS_PREVIOUS: former };
  const killed = startServer(rotating);
  await killed.ready();
  await vi.waitFor(async () => expect(await keysOf(String(first))).not.toContain(sealedBefore), PATIENCE);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  await client.query('commit');
  expect(await keysOf(String(second))).toContain(sealedBefore);

  await startHere(rotating).ready();
  await vi.waitFor(async () => expect(await keysOf(String(second))).not.toContain(sealedBefore), PATIENCE);

  const { rows } = await client.query(
    `select developer_id, (metadata ->> 'count')::int as count from audit_entries where action = 'vault.key.rotated'`,
  );
  expect(rows).toEqual(expect.arrayContaining([first, second].map((id) => ({ developer_id: id, count: 3 }))));
  expect(rows).toHaveLength(2);
  for (const { apiKey } of developers) {
    const { agentId } = await post('/v1/agents', apiKey, { name: 'Travel booker' });
    const asked = { agentId, principalId: 'user_42', scopes: ['vault:credentials:exchange'] };
    const { code } = await post('/v1/authorize', apiKey, asked);
    const { grantToken } = await post('/v1/token', apiKey, { code, agentId });
    for (const service of ['github', 'gitlab', 'slack']) {
      const taken = await post('/v1/vault/credentials/exchange', grantToken, { service });
      expect(taken.accessToken).toBe(`upstream-${service}`);
    }
  }
});
