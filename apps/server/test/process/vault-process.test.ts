import { once } from 'node:events';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, connectAccount } from '../app/connecting.ts';
import type { Call } from '../app/start-app.ts';
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

/** A process of the service, called over HTTP as tests call it in memory. */
function over(url: string) {
  const inject = async ({ method = 'GET', url: path, headers = {}, body }: Record<string, unknown>) => {
    const answer = await fetch(new URL(String(path), url), {
      method: String(method),
      redirect: 'manual',
      headers: { ...Object(headers), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const cookies = answer.headers.getSetCookie().map((line) => {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      return { name: pair.slice(0, at), value: pair.slice(at + 1) };
    });
    const all = Object.fromEntries(answer.headers);
    return { statusCode: answer.status, headers: all, body: text, json: () => JSON.parse(text), cookies };
  };
  const calling = (apiKey: string): Call =>
    Object((method: string, path: string, body?: object) =>
      inject({ method, url: path, headers: { authorization: `Bearer ${apiKey}` }, body }),
    );
  return { app: Object({ inject }), inject, calling };
}

test('V17: a disconnection that is killed at the upstream is finished by the sweep of the next process', async () => {
  const upstream = await startAccountsServer();
  const { settings, url } = await goodSettings();
  const env = { ...settings, VAULT_ENCRYPTION_KEY: 'a1'.repeat(32), CONNECT_ALLOW_PRIVATE_HOSTS: 'true' };
  const client = new pg.Client(settings.DATABASE_URL);
  await client.connect();
  onTestFinished(() => client.end());
  const { inject, calling, ...service } = over(url);
  const killed = startServer(env);
  await killed.ready();
  const made = await inject({ method: 'POST', url: '/v1/signup', body: { name: 'Acme', mode: 'sandbox' } });
  const acme = calling(made.json().apiKey);
  await addProvider(acme, upstream);
  const { credentialId } = await connectAccount(service, acme, upstream);
  let asked = 0;
  upstream.behaviour.instead = ({ url: path }) => {
    if (path !== '/token/revocation' || asked > 0) return false;
    asked += 1;
    return true; // and never answers
  };

  const lost = acme('DELETE', `/v1/vault/credentials/${credentialId}`).catch((error: unknown) => error);
  await vi.waitFor(() => expect(asked).toBe(1), PATIENCE);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  expect(await lost).toBeInstanceOf(Error);
  const left = await client.query('select disconnecting_at is not null as is_left from vault_credentials');
  expect(left.rows).toEqual([{ is_left: true }]);
  await client.query(
    `update vault_credentials set disconnecting_at = disconnecting_at - interval '1 minute'`,
  );

  await startHere(env).ready();

  const rows = async () => (await client.query('select id from vault_credentials')).rows;
  await vi.waitFor(async () => expect(await rows()).toEqual([]), PATIENCE);
  const told = await client.query(
    `select metadata ->> 'upstream' as upstream from audit_entries where action = 'vault.connection.disconnected'`,
  );
  expect(told.rows).toEqual([{ upstream: 'revoked' }]);
  expect(upstream.calls.filter((call) => call === 'POST /token/revocation')).toHaveLength(3); // the first was lost
});
