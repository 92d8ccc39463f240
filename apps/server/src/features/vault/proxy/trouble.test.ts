import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { entriesOf, grantTo, refusalOf, startSandbox } from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, putProfile, through } from '../../../../test/app/proxy.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { startUpstream } from '../../../../test/app/upstream.ts';
import { storeCredential } from '../../../../test/app/vault.ts';

const real = () => ({ env: onThisMachine, startsAt: new Date().toISOString() });

test('V15: a call whose entry cannot be written is not sent', async () => {
  const { acme, service } = await startSandbox({ env: onThisMachine });
  const { grantToken, receiver } = await proxied(acme);
  await sql`create function no_entry() returns trigger language plpgsql as $$ begin
    if new.action = 'vault.proxy.called' then raise 'no room'; end if; return new; end $$`.execute(
    service.db,
  );
  await sql`create trigger no_entry before insert on audit_entries for each row execute function no_entry()`.execute(
    service.db,
  );

  const refused = await through(service, grantToken, '/repos/a');

  await sql`drop trigger no_entry on audit_entries`.execute(service.db);
  expect(refusalOf(refused)).toBe('503 SERVICE_UNAVAILABLE');
  expect(receiver.received).toEqual([]);
  expect((await acme('GET', '/v1/vault/proxy/calls')).json().calls).toEqual([]);
  expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
});

describe('an upstream that refuses the access token', () => {
  async function refusing() {
    const tokens = await startUpstream();
    const refreshToken = await tokens.connect();
    const sandbox = await startSandbox(real());
    const { acme, advance } = sandbox;
    const receiver = await startReceiver();
    await putProfile(acme, `http://127.0.0.1:${receiver.port}`);
    const tokenExpiresAt = new Date(sandbox.clock().getTime() + 86_400_000).toISOString();
    await storeCredential(acme, { refreshToken, refresh: tokens.refresh, tokenExpiresAt });
    const { grantToken } = await grantTo(acme, { scopes: ['vault:github:proxy'] });
    receiver.answer(({ headers }, response) => {
      response.writeHead(headers.authorization === 'Bearer upstream-access-1' ? 401 : 200).end('answer');
    });
    return { ...sandbox, receiver, grantToken, tokens, advance };
  }

  test('is asked once more with a new one, for reads, once a minute', async () => {
    const { acme, service, receiver, grantToken, tokens, advance } = await refusing();
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(401); // it was stored just now
    advance(60);
    expect((await through(service, grantToken, '/repos/a', { method: 'POST', body: 'x' })).statusCode).toBe(
      401,
    );
    expect(tokens.calls).toEqual([]);

    const answer = await through(service, grantToken, '/repos/a');

    expect([answer.statusCode, answer.body]).toEqual([200, 'answer']);
    expect(tokens.calls).toEqual(['/token']);
    expect(receiver.received).toHaveLength(4);
    const callIds = (await entriesOf(acme, 'vault.proxy.called')).map(({ metadata }) => metadata.callId);
    expect([callIds.length, new Set(callIds).size]).toEqual([4, 3]);
    receiver.answerStatus(401);
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(401);
    expect(tokens.calls).toEqual(['/token']);
  });
});

test('a credential is used so often in a minute, by all grants together, and less where the profile says so', async () => {
  const { acme, service } = await startSandbox({
    env: { ...onThisMachine, RATE_LIMIT_VAULT_PROXY: '2', RATE_LIMIT_VAULT_PROXY_CREDENTIAL: '3' },
  });
  const { grantToken, origin } = await proxied(acme);
  const other = await grantTo(acme, { scopes: ['vault:github:proxy'] });
  const codes: number[] = [];
  for (const token of [grantToken, grantToken, grantToken, other.grantToken, other.grantToken]) {
    codes.push((await through(service, token, '/repos/a')).statusCode);
  }
  expect(codes).toEqual([200, 200, 429, 200, 429]);
  service.advance(60);
  await putProfile(acme, origin, { perMinute: 1 });
  expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
  const refused = await through(service, grantToken, '/repos/a');
  expect(refusalOf(refused)).toBe('429 RATE_LIMITED');
  expect(refused.headers['behest-proxy']).toBe('refused');
});
