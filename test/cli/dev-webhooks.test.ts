import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { dispatcherOf } from '../../apps/server/test/app/deliveries.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { newMachine } from './program.ts';

/** Puts a package of the server in place whose start says that a service listens, and ends when it is told to. */
function installServer(folder: string, address: string, keys: object): void {
  const server = join(folder, 'node_modules/@behest/server');
  mkdirSync(join(server, 'dist'), { recursive: true });
  writeFileSync(join(server, 'package.json'), '{}');
  writeFileSync(
    join(server, 'dist/dev.js'),
    `const fs = require('node:fs');
    fs.mkdirSync('.behest', { recursive: true });
    fs.writeFileSync('.behest/keys.json', ${JSON.stringify(JSON.stringify(keys))});
    fs.writeFileSync('setting.txt', process.argv.slice(2).join(' '));
    console.log('Behest listens at ${address}');
    setInterval(() => {}, 1_000);`,
  );
}

test('behest dev --webhooks prints each event of both accounts, once its signature is good', async () => {
  const service = await startListening({
    ...{ env: { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' }, startsAt: new Date().toISOString() },
  });
  onTestFinished(() => service.app.server.closeAllConnections());
  const { deliver } = dispatcherOf(service);
  const accounts = await Promise.all(
    (['sandbox', 'live'] as const).map(async (mode) => {
      const { apiKey } = await Behest.signup({ name: mode, mode }, { baseUrl: service.url });
      return new Behest({ apiKey, baseUrl: service.url });
    }),
  );
  const [sandbox, live] = accounts;
  if (!sandbox || !live) throw new Error('There are two accounts.');
  const left = await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/behest-dev', events: ['*'] });
  const own = await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/mine', events: ['budget.debited'] });
  const { run, folder } = newMachine();
  const keys = await Promise.all(
    accounts.map(async (account) => (await account.keys.create({ name: 'dev' })).apiKey),
  );
  installServer(folder, service.url, { SEED_SANDBOX_KEY: keys[0], SEED_API_KEY: keys[1] });
  const ending = new AbortController();
  let said = '';
  const running = run(['dev', '--webhooks'], {
    signal: ending.signal,
    heard: (out, err) => (said = out + err),
  });
  await expect.poll(() => said, { timeout: 20_000 }).toContain('behest init');

  await live.agents.register({ name: 'Paid', scopes: ['a:b'] });
  await deliver();
  const hooks = [];
  for await (const hook of sandbox.webhooks.list()) hooks.push(hook);
  const receiver = hooks.find(({ url }) => url.endsWith('/behest-dev'));
  const forged = await fetch(receiver?.url ?? '', {
    ...{ method: 'POST', body: '{}' },
    headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) },
  });
  const signed = { 'webhook-signature': 'v1,AAAA', 'webhook-id': 'evt_1' };
  const wrong = await fetch(receiver?.url ?? '', {
    ...{ method: 'POST', body: '{}' },
    headers: { ...signed, 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) },
  });
  ending.abort();

  expect((await running).code).toBe(0);
  expect(hooks.map(({ webhookId }) => webhookId)).not.toContain(left.webhookId);
  expect(hooks.map(({ webhookId }) => webhookId)).toContain(own.webhookId);
  expect(said.match(/^webhook {2}agent\.created {2}evt_\w+ {2}verified$/gm)).toHaveLength(2); // the first agent too
  expect([forged.status, wrong.status]).toEqual([400, 400]);
  expect(said).toMatch(/^webhook {2}refused: missing_header$/m);
  expect(said).toMatch(/^webhook {2}refused: bad_signature$/m);
  await expect(fetch(receiver?.url ?? '')).rejects.toThrow(); // it is closed
});

test('behest dev keeps the consent key of the live account for its owner alone, and asks for a line of each request', async () => {
  const service = await startListening({ startsAt: new Date().toISOString() });
  onTestFinished(() => service.app.server.closeAllConnections());
  const { apiKey } = await Behest.signup({ name: 'Both', mode: 'sandbox' }, { baseUrl: service.url });
  const started = async (argv: readonly string[], env: Record<string, string>) => {
    const { run, folder, configFile } = newMachine(env);
    installServer(folder, service.url, {
      ...{ SEED_SANDBOX_KEY: apiKey, SEED_API_KEY: apiKey, SEED_CONSENT_KEY: '{"kty":"EC"}' },
    });
    const ending = new AbortController();
    let said = '';
    const running = run(['dev', ...argv], {
      signal: ending.signal,
      heard: (out, err) => (said = out + err),
    });
    await expect.poll(() => said, { timeout: 20_000 }).toContain('behest init');
    ending.abort();
    await running;
    const { profiles } = JSON.parse(readFileSync(configFile, 'utf8'));
    return { said, profiles, words: readFileSync(join(folder, 'setting.txt'), 'utf8').split(' ') };
  };

  const plain = await started([], {});
  const logged = await started(['--json-logs'], { SEED_CONSENT_KEY: '{"kty":"EC","crv":"P-256"}' });

  const file = plain.profiles['dev-live'].consentKeyFile;
  expect(readFileSync(file, 'utf8')).toBe('{"kty":"EC"}\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(plain.profiles.dev.consentKeyFile).toBeUndefined();
  expect(plain.said).toContain('with its consent key');
  expect(plain.words).toContain('--requests');
  expect(logged.words).toContain('--log');
  expect(logged.profiles['dev-live'].consentKeyFile).toBeUndefined();
  expect(logged.said).not.toContain('with its consent key');
});

test('behest dev --webhooks needs the terminal', async () => {
  expect(await newMachine().run(['dev', '--webhooks', '--detach'])).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('does not go with --detach') },
  });
});
