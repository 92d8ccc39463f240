import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { payer, release } from '../app/approving.ts';
import { startPushServer } from '../app/push-server.ts';
import type { Developer } from '../app/start-app.ts';
import {
  boxesWithin,
  brand,
  brandOn,
  button,
  findings,
  heading,
  inPseudoLanguage,
  must,
  pagesOfService,
  scrollsSideways,
  sees,
} from './pages.ts';
import { addAuthenticator, enrolledAs } from './passkeys.ts';

const { visit, service } = pagesOfService({ env: { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' } });
const enrolled = enrolledAs(visit);

test('R10: two people with two authenticators see the exact call, sign it, and it runs once', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const [ada, bob] = [await enrolled(acme, 'Ada'), await enrolled(acme, 'Bob')];
  const args = { ...release.arguments, currency: 'EUR', note: 'a\u202eb' };
  const asked = (await agent.ask({ ...release, arguments: args, summary: 'Pay the rent' })).json();
  expect((await agent.enforce({ ...release, arguments: args })).sub_reason).toBe(null);

  await sees(ada, /wants to use wire of acme_bank/);
  expect(await findings(ada)).toEqual([]);
  await button(ada, 'The call').click();
  await heading(ada, /asks to use/).waitFor();
  await sees(ada, '9,000 EUR');
  await ada.getByText('Details').click();
  await sees(ada, '"amount": "9000"');
  await sees(ada, 'U+202E');
  await sees(ada, 'Pay the rent');
  expect(await findings(ada)).toEqual([]);
  const hash = (await ada.locator('#hash').innerText()).replaceAll(' ', '');
  expect(`sha256:${hash}`).toBe(asked.actionHash);
  await button(ada, 'Approve').click();
  await heading(ada, 'You approved the call').waitFor();
  await sees(ada, 'A second person has to approve');

  await brand(acme);
  await bob.goto(asked.url);
  await heading(bob, /asks to use/).waitFor();
  await sees(bob, 'A second person has to approve it too.');
  expect(await brandOn(bob, 'Approve')).toEqual({
    logo: [96, 32, true],
    name: 'Acme',
    fill: 'rgb(122, 31, 92)',
  });
  await button(bob, 'Approve').click();
  await sees(bob, 'The agent can make exactly this call now, once.');

  const decisionGrants = await agent.grantsOf(asked.decisionId);
  const call = { ...release, arguments: args, decisionGrants };
  expect(await agent.enforce(call)).toMatchObject({ allowed: true });
  expect(await agent.enforce(call)).toMatchObject({ allowed: false, sub_reason: 'consumed' });
});

describe('in other languages', { timeout: 120_000 }, () => {
  /** These tests open many pages, on a machine that may be busy. */
  const SLOW = 40_000;

  /** A call of many arguments waits for a person with a phone. */
  async function waiting(acme: Developer) {
    const agent = await payer(acme);
    const ada = await enrolled(acme, 'Ada');
    await ada.setViewportSize({ width: 390, height: 844 });
    const rows = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`row${at}`, at]));
    const args = {
      amount: '9000.50',
      currency: 'EUR',
      to: 'Acme Rent GmbH',
      due: '2026-04-01T10:30:00Z',
      rows,
    };
    const { decisionId } = (await agent.ask({ arguments: args })).json();
    const at = (language: string) => `${service().url}/approve?ui_locales=${language}#decision=${decisionId}`;
    return { ada, at, decisionId };
  }

  test('the page asks in the language of its link, with the money, times and counts of that language', async () => {
    const acme = await service().asDeveloper({ mode: 'sandbox' });
    const { ada, at, decisionId } = await waiting(acme);

    for (const [language, title, buttons, money, due, more] of [
      [
        'de',
        /möchte pay verwenden$/,
        ['Ablehnen', 'Genehmigen'],
        /^9\.000,50 EUR an /,
        'Apr',
        /^Noch \d+ Zeilen ansehen$/,
      ],
      [
        'fr',
        /demande à utiliser pay$/,
        ['Refuser', 'Approuver'],
        /^9\s000,50 EUR à /,
        'avr',
        /^Encore \d+ lignes à voir$/,
      ],
      [
        'es',
        /pide usar pay$/,
        ['Rechazar', 'Aprobar'],
        /^9\.?000,50 EUR a /,
        'abr',
        /^Faltan \d+ líneas por ver$/,
      ],
      [
        'pt-BR',
        /pede para usar pay$/,
        ['Recusar', 'Aprovar'],
        /^9\.000,50 EUR para /,
        'abr',
        /^Faltam ver \d+ linhas$/,
      ],
      ['ja', /がpayの使用を求めています$/, ['拒否', '承認'], /に9,000\.50 EUR$/, '4月', /^あと\d+行を確認$/],
    ] as const) {
      await ada.goto('about:blank');
      await ada.goto(at(language));
      await heading(ada, title).waitFor({ timeout: SLOW });

      expect(await ada.locator('html').getAttribute('lang')).toBe(language);
      expect(await ada.locator('.decide button').allInnerTexts()).toEqual(buttons);
      expect(await ada.locator('.headline').innerText()).toMatch(money);
      expect(await ada.locator('#call > div', { hasText: 'due' }).innerText()).toContain(due);
      expect(await ada.locator('.more').innerText()).toMatch(more);
      expect(await scrollsSideways(ada)).toBe(false);
      await boxesWithin(ada, '.decide button');
    }
    expect(await findings(ada)).toEqual([]);
    await button(ada, '拒否').click();
    await heading(ada, '呼び出しを拒否しました').waitFor({ timeout: SLOW });
    expect((await must(acme, 'GET', `/v1/decisions/${decisionId}`)).status).toBe('denied');
  });

  test.each(['ltr', 'rtl'] as const)(
    'the page holds where texts are longer by 40 %%, written %s',
    async (dir) => {
      const { ada, at } = await waiting(await service().asDeveloper({ mode: 'sandbox' }));
      await inPseudoLanguage(ada, '**/approve?**', dir);
      await ada.goto(at('de'));
      await heading(ada, /asks to use/).waitFor({ timeout: SLOW });
      await ada.locator('#details > summary').click();
      expect(await scrollsSideways(ada)).toBe(false);
      const [deny, approve] = await boxesWithin(ada, '.decide button');
      expect((deny?.x ?? 0) < (approve?.x ?? 0)).toBe(dir === 'ltr');
      expect(await findings(ada)).toEqual([]);
      await ada.locator('article > .buttons button').click();
      await heading(ada, /Calls that wait for you/).waitFor({ timeout: SLOW });
      expect(await scrollsSideways(ada)).toBe(false);
      expect(await findings(ada)).toEqual([]);
    },
  );
});

/**
 * Lets a browser without a screen and a network turn on notifications: Chromium shows none there, and reaches no push server.
 * The page, its worker and the service are the real ones.
 */
const subscribeAt = (page: Page, subscription: { readonly endpoint: string }) =>
  page.addInitScript(`{
    const made = ${JSON.stringify(subscription)};
    let current = null;
    Object.defineProperty(Notification, 'permission', { get: () => 'default' });
    PushManager.prototype.getSubscription = async () => current;
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
      const text = atob(applicationServerKey.replaceAll('-', '+').replaceAll('_', '/'));
      const key = Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer;
      const unsubscribe = async () => (current = null);
      current = { endpoint: made.endpoint, options: { applicationServerKey: key }, toJSON: () => made, unsubscribe };
      return current;
    };
  }`);

/** The worker of the page, which writes down what it would show and open. */
async function workerOf(page: Page) {
  const context = page.context();
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  await worker.evaluate(`{
    globalThis.seen = [];
    registration.showNotification = async (title, { body, data }) => void seen.push({ title, body, data });
    clients.openWindow = async (address) => void seen.push(address);
  }`);
  const session = await context.newCDPSession(page);
  const { promise, resolve } = Promise.withResolvers<string>();
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [registration] }) => {
    if (registration) resolve(registration.registrationId);
  });
  await session.send('ServiceWorker.enable');
  const to = { origin: new URL(page.url()).origin, registrationId: await promise };
  return {
    seen: () => worker.evaluate('seen'),
    /** As the browser does that has decrypted a message. */
    deliver: (data: string) => session.send('ServiceWorker.deliverPushMessage', { ...to, data }),
    click: (data: string) =>
      worker.evaluate(`dispatchEvent(Object.assign(new Event('notificationclick'), {
        notification: { close() {}, data: ${JSON.stringify(data)} },
        waitUntil() {},
      }))`),
  };
}

test('a browser with notifications shows the headline of a call and leads to it, until they are turned off', async () => {
  const phone = (await startPushServer()).browser();
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const eve = { email: 'eve@example.org', displayName: 'Eve' };
  const { link } = (await acme('POST', '/v1/approvers', eve)).json();
  const page = await visit({
    isNew: true,
    permissions: ['notifications'],
    expected: /TrustedScriptURL|trusted-types/,
  });
  await subscribeAt(page, phone.subscription);
  const policy = (await page.goto(link))?.headers()['content-security-policy'] ?? '';
  expect(policy.split('; ').filter((rule) => /script|trusted|worker/.test(rule))).toEqual([
    "script-src 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types approve-worker',
  ]);
  await addAuthenticator(page);
  await button(page, 'Make a passkey').click();
  await heading(page, 'Calls that wait for you').waitFor();

  await button(page, 'Turn on in this browser').click();
  await button(page, 'Turn off in this browser').waitFor();
  const worker = await workerOf(page);
  const args = { to: 'ACME Ltd', amount: '9', currency: 'EUR' };
  const { url } = (await agent.ask({ arguments: args })).json();
  await service().runJob('notices of decisions');
  const [message] = phone.messages();
  await worker.deliver(JSON.stringify(message));
  const shown = { title: 'An agent waits for your decision', body: '9 EUR to ACME Ltd', data: url };
  await expect.poll(worker.seen).toEqual([shown]);
  await worker.click(url);
  await worker.deliver(JSON.stringify({ title: 'Win', url: 'https://evil.example/approve' }));
  await worker.deliver('no message of ours');
  const general = { title: 'A call waits for your decision', body: '', data: '/approve' };
  await expect.poll(worker.seen).toEqual([shown, url, { title: 'Win', body: '', data: '/approve' }, general]);

  const attempt = (script: string) => page.evaluate(script).then(String, String);
  const address = '/approve/approve-worker.js';
  expect(await attempt(`navigator.serviceWorker.register('${address}')`)).toContain('TrustedScriptURL');
  for (const name of ['approve-worker', 'default', 'other'])
    expect(await attempt(`trustedTypes.createPolicy('${name}', {})`)).toContain('TypeError');

  await button(page, 'Turn off in this browser').click();
  await button(page, 'Turn on in this browser').waitFor();
  await agent.ask({ arguments: { ...args, amount: '10' } });
  await service().runJob('notices of decisions');
  expect(phone.messages()).toEqual([message]);
});
