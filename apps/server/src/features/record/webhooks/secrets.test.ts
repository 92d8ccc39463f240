import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { dispatcherOf, registerWebhook, startWithWebhooks } from '../../../../test/app/deliveries.ts';
import { startReceiver } from '../../../../test/app/receiver.ts';
import { newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';

const newKey = () => randomBytes(32).toString('hex');

async function startOver(databaseUrl: string, env: Readonly<Record<string, string>>) {
  const service = await startApp({ databaseUrl, env, startsAt: new Date().toISOString() });
  const warnings: string[] = [];
  const prepare = (isProduction = true) =>
    service.prepare(isProduction, (message) => void warnings.push(message));
  return { service, prepare, warnings };
}

const sealedIn = ({ db }: Service) =>
  db.selectFrom('webhookEndpoints').select(['secret', 'previousSecret', 'sealKeyId']).execute();

/** A webhook with a secret and a former secret, which both still sign. */
async function registered(databaseUrl: string) {
  const startsAt = new Date().toISOString();
  const { acme, service } = await startWithWebhooks({
    databaseUrl,
    startsAt,
    env: { VAULT_ENCRYPTION_KEY: '' },
  });
  const receiver = await startReceiver();
  const { webhookId, secret: former } = await registerWebhook(acme, receiver.url);
  const { secret } = (await acme('POST', `/v1/webhooks/${webhookId}/rotate-secret`, {})).json();
  const sendsBySecrets = async (sender: Service) => {
    await acme('POST', `/v1/webhooks/${webhookId}/test`, {});
    await dispatcherOf(sender).deliver();
    const { body = '', headers = {} } = receiver.received.at(-1) ?? {};
    for (const each of [secret, former]) {
      expect(() => new Webhook(each).verify(body, headers)).not.toThrow();
    }
  };
  return { service, sendsBySecrets };
}

test('secrets are sealed again at the start: under a vault key after the RSA key, and under the next vault key', async () => {
  const databaseUrl = await newDatabase();
  const [first, second] = [newKey(), newKey()];
  const { service, sendsBySecrets } = await registered(databaseUrl);
  const sealed = await sealedIn(service);

  const withVault = await startOver(databaseUrl, { VAULT_ENCRYPTION_KEY: first });
  await withVault.prepare();
  const renewed = await sealedIn(service);
  await withVault.prepare();
  expect(await sealedIn(service)).toEqual(renewed); // a restart changes no secret that the current key sealed

  const env = { VAULT_ENCRYPTION_KEY: second, VAULT_ENCRYPTION_KEYS_PREVIOUS: first };
  await (await startOver(databaseUrl, env)).prepare();
  const alone = await startOver(databaseUrl, { VAULT_ENCRYPTION_KEY: second });
  await alone.prepare();
  await sendsBySecrets(alone.service);

  expect(
    new Set([...sealed, ...renewed, ...(await sealedIn(service))].map(({ sealKeyId }) => sealKeyId)).size,
  ).toBe(3);
  expect(alone.warnings).toEqual([]);
});

test('a secret that no configured key opens stops the start in production, and elsewhere logs a warning', async () => {
  const databaseUrl = await newDatabase();
  const { service } = await registered(databaseUrl);
  await (await startOver(databaseUrl, { VAULT_ENCRYPTION_KEY: newKey() })).prepare();
  const before = await sealedIn(service);

  const { prepare, warnings } = await startOver(databaseUrl, { VAULT_ENCRYPTION_KEY: newKey() });

  await expect(prepare()).rejects.toThrow(
    'VAULT_ENCRYPTION_KEY does not open values sealed in this database',
  );
  await prepare(false);
  expect(warnings).toEqual(['the secrets of 1 webhooks open under no configured key: rotate them']);
  expect(await sealedIn(service)).toEqual(before);
});

test('the process that started last sets the number of attempts of later deliveries', async () => {
  const databaseUrl = await newDatabase();
  const { acme } = await startWithWebhooks({ databaseUrl });
  const { webhookId } = await registerWebhook(acme, 'https://hooks.acme.test/');
  const sendTest = async () => {
    const { deliveryId } = (await acme('POST', `/v1/webhooks/${webhookId}/test`, {})).json();
    return deliveryId;
  };
  const before = await sendTest();

  await (await startOver(databaseUrl, { WEBHOOK_MAX_ATTEMPTS: '7' })).prepare();
  const afterwards = await sendTest();

  const { deliveries } = (await acme('GET', `/v1/webhooks/${webhookId}/deliveries`)).json();
  const attemptsOf = (id: string) => deliveries.find((each: { id: string }) => each.id === id)?.maxAttempts;
  expect([attemptsOf(before), attemptsOf(afterwards)]).toEqual([5, 7]);
});
