import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import {
  deliveriesOf,
  dispatcherOf,
  registerWebhook,
  sharedWithWebhooks,
  startWithWebhooks,
} from '../../../../test/app/deliveries.ts';
import {
  actionsOf,
  entriesOf,
  pagesOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
} from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';

const start = sharedWithWebhooks();
/** A service that may not call this machine. */
const startStrict = sharedSandbox();
const url = 'https://hooks.acme.test/behest';

describe('a webhook', () => {
  test('is registered with a secret, which only this answer shows', async () => {
    const { acme } = await start();

    const answer = await acme('POST', '/v1/webhooks', {
      url,
      events: ['grant.*', '*', 'grant.*'],
      description: 'Ours',
    });

    expect(answer.statusCode).toBe(201);
    const { secret, ...webhook } = answer.json();
    expect(webhook).toEqual({
      webhookId: expect.stringMatching(/^wh_[0-9A-HJKMNP-TV-Z]{26}$/),
      id: webhook.webhookId,
      url,
      events: ['grant.*', '*'],
      status: 'active',
      description: 'Ours',
      format: 'envelope',
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
      lastDeliveryAt: null,
      secretRotatedAt: null,
      previousSecretExpiresAt: null,
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await acme('GET', `/v1/webhooks/${webhook.id}`)).json()).toEqual(webhook);
    expect((await acme('GET', '/v1/webhooks')).json()).toEqual({ webhooks: [webhook], nextCursor: null });
  });

  test.each([
    ['no event', { url, events: [] }],
    ['more than a hundred events', { url, events: Array(101).fill('grant.created') }],
    ['an unknown event', { url, events: ['grant.created', 'grant.invented'] }],
    ['an unknown area', { url, events: ['grunt.*'] }],
    ['a pattern of another kind', { url, events: ['*.created'] }],
    ['no URL', { events: ['*'] }],
    ['a URL that is too long', { url: `${url}/${'a'.repeat(2048)}`, events: ['*'] }],
    ['a secret of its own', { url, events: ['*'], secret: 'whsec_AAAA' }],
  ])('with %s is refused', async (_, body) => {
    const { acme } = await start();

    expect(refusalOf(await acme('POST', '/v1/webhooks', body))).toMatch(/^400 BAD_REQUEST/);
    expect((await acme('GET', '/v1/webhooks')).json().webhooks).toEqual([]);
  });

  test('with an unknown event is refused with the position of that event', async () => {
    const { acme } = await start();

    const answer = await acme('POST', '/v1/webhooks', { url, events: ['grant.created', 'grant.invented'] });

    expect(answer.json().details.fields).toMatchObject([{ path: 'events.1' }]);
    expect(answer.body).not.toContain('grant.invented');
  });

  test('is listed newest first, page by page', async () => {
    const { acme } = await start();
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) ids.unshift((await registerWebhook(acme, url)).webhookId);

    const pages = await pagesOf(acme, '/v1/webhooks?limit=2', 'webhooks');

    expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(
      pages
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...ids].sort());
  });

  test('changes in the members that are sent, and in no others', async () => {
    const { acme } = await start();
    const { webhookId } = await registerWebhook(acme, url);
    const before = (await acme('GET', `/v1/webhooks/${webhookId}`)).json();

    const changed = await acme('PATCH', `/v1/webhooks/${webhookId}`, {
      events: ['agent.*'],
      status: 'disabled',
    });

    expect(changed.json()).toEqual({ ...before, events: ['agent.*'], status: 'disabled' });
    expect(await entriesOf(acme, 'webhook.updated')).toMatchObject([
      { metadata: { webhookId, changed: ['events', 'status'] } },
    ]);
    for (const body of [
      {},
      { url: 'ftp://a.test' },
      { events: ['no'] },
      { status: 'gone' },
      { secret: 'a' },
    ]) {
      expect(refusalOf(await acme('PATCH', `/v1/webhooks/${webhookId}`, body))).toMatch(/^400/);
    }
    expect((await acme('GET', `/v1/webhooks/${webhookId}`)).json()).toEqual(changed.json());
  });

  test('has an audit entry and an event for each change', async () => {
    const { acme } = await start();
    const { webhookId } = await registerWebhook(acme, url, ['*']);

    await acme('PATCH', `/v1/webhooks/${webhookId}`, { description: 'Ours' });
    await registerAgent(acme);
    const events = (await deliveriesOf(acme, webhookId)).map(({ eventType }) => eventType);
    await acme('DELETE', `/v1/webhooks/${webhookId}`);

    expect(events.sort()).toEqual(['agent.created', 'webhook.created', 'webhook.updated']);
    expect((await actionsOf(acme)).filter((action) => action.startsWith('webhook.'))).toEqual([
      'webhook.created',
      'webhook.updated',
      'webhook.deleted',
    ]);
  });

  test('is gone after its deletion, also for a second deletion', async () => {
    const { acme } = await start();
    const { webhookId } = await registerWebhook(acme, url);

    expect((await acme('DELETE', `/v1/webhooks/${webhookId}`)).statusCode).toBe(204);

    expect(refusalOf(await acme('DELETE', `/v1/webhooks/${webhookId}`))).toBe('404 NOT_FOUND');
    expect(refusalOf(await acme('GET', `/v1/webhooks/${webhookId}/deliveries`))).toBe('404 NOT_FOUND');
    expect((await acme('GET', '/v1/webhooks')).json().webhooks).toEqual([]);
  });

  test('beyond the plan is refused until another webhook is deleted', async () => {
    const { asDeveloper } = await startApp({ env: { PLAN_FREE_WEBHOOKS: '3' } });
    const acme = await asDeveloper();
    const register = () => acme('POST', '/v1/webhooks', { url, events: ['*'] });

    const answers = await Promise.all(Array.from({ length: 8 }, register));

    const statuses = answers.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    const refused = answers.find(({ statusCode }) => statusCode === 402);
    expect(refused?.json().details).toEqual({ limit: 3, plan: 'free', resource: 'webhooks', current: 3 });
    const { webhooks } = (await acme('GET', '/v1/webhooks')).json();
    await acme('DELETE', `/v1/webhooks/${webhooks[0].id}`);
    expect((await register()).statusCode).toBe(201);
    expect((await register()).statusCode).toBe(402);
  });
});

describe('the URL of a webhook', () => {
  test.each([
    ['S1', 'https://127.0.0.1/'],
    ['S1', 'https://10.0.0.7/'],
    ['S1', 'https://169.254.169.254/latest/meta-data/'],
    ['S2', 'https://2130706433/'],
    ['S2', 'https://0x7f.1/'],
    ['S2', 'https://[::ffff:7f00:1]/'],
    ['S2', 'https://localhost./'],
    ['S2', 'https://metadata.google.internal/'],
    ['S5', 'https://user:whsec_secret@hooks.acme.test/'],
    ['S5', 'https://hooks.acme.test:0/'],
    ['S5', 'https://hooks.acme.test/#a'],
    ['S5', 'gopher://hooks.acme.test/'],
    ['S5', 'file:///etc/passwd'],
    ['S5', 'https:\\\\hooks.acme.test/'],
  ])('%s: is not %s', async (_, bad) => {
    const { acme } = await startStrict();
    const { webhookId } = await registerWebhook(acme, url);

    for (const answer of [
      await acme('POST', '/v1/webhooks', { url: bad, events: ['*'] }),
      await acme('PATCH', `/v1/webhooks/${webhookId}`, { url: bad }),
    ]) {
      expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
      expect(answer.json().details.fields).toMatchObject([{ path: 'url' }]);
      expect(answer.body).not.toContain('whsec_secret');
    }
    expect((await acme('GET', '/v1/webhooks')).json().webhooks).toMatchObject([{ url }]);
  });

  test('S5: is `https` in production, and in development may be `http`', async () => {
    const { acme } = await start();
    const body = { url: 'http://hooks.acme.test/', events: ['*'] };
    expect((await acme('POST', '/v1/webhooks', body)).statusCode).toBe(201);

    const production = await startApp({
      env: { NODE_ENV: 'production', METRICS_TOKEN: 'metrics-token-of-a-test' },
    });
    const live = await production.asDeveloper();

    expect(refusalOf(await live('POST', '/v1/webhooks', body))).toBe('400 BAD_REQUEST');
    expect((await live('POST', '/v1/webhooks', { ...body, url })).statusCode).toBe(201);
  });
});

describe('the secret of a webhook', () => {
  test('is rotated with a grace period of a day, or of the requested length', async () => {
    const { acme, advance } = await startWithWebhooks();
    const { webhookId, secret } = await registerWebhook(acme, url);
    const rotate = async (body: object) =>
      (await acme('POST', `/v1/webhooks/${webhookId}/rotate-secret`, body)).json();

    const rotated = await rotate({});

    expect(rotated).toEqual({
      id: webhookId,
      secret: expect.stringMatching(/^whsec_/),
      previousSecretExpiresAt: '2026-01-02T00:00:00.000Z',
    });
    expect(rotated.secret).not.toBe(secret);
    expect((await acme('GET', `/v1/webhooks/${webhookId}`)).json()).toMatchObject({
      secretRotatedAt: '2026-01-01T00:00:00.000Z',
      previousSecretExpiresAt: '2026-01-02T00:00:00.000Z',
    });
    advance(86_400);
    expect((await acme('GET', `/v1/webhooks/${webhookId}`)).json().previousSecretExpiresAt).toBeNull();
    expect((await rotate({ graceSeconds: 0 })).previousSecretExpiresAt).toBe('2026-01-02T00:00:00.000Z');
    expect((await rotate({ graceSeconds: 604_801 })).code).toBe('BAD_REQUEST');
    expect(await entriesOf(acme, 'webhook.updated')).toMatchObject([
      { metadata: { changed: ['secret'] } },
      { metadata: { changed: ['secret'] } },
    ]);
  });
});

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
