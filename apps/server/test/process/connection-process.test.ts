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
