import { describe, expect, test } from 'vitest';
import { consentPages, decide, openRequest, RETURN_TO } from './consent-page/pages.ts';
import { button, findings, heading, holdBack, picture, sees, withFixedIds } from './pages.ts';

const { ask, visit, service } = consentPages();

const CALLS = '**/v1/consent/**';
const person = { bypassCSP: true } as const; // axe is a script from outside the page

const invoices = {
  agent: {
    name: 'Invoice assistant',
    description: 'I read new invoices, prepare the payments and tell you what I paid.',
  },
  settings: { name: 'Acme Books' },
  request: {
    principalId: 'ada@example.org',
    scopes: ['invoices:read', 'email:send', 'tool:stripe:write:capped:500'],
    purpose: 'payments.payout',
    authorizationDetails: [
      {
        type: 'urn:service:tools:v1',
        connector: 'stripe',
        tools: ['payout.create', 'payout.cancel'],
        caps: { 'payout.create': { per_day: 3 } },
      },
    ],
    expiresIn: '7d',
    redirectUri: RETURN_TO,
  },
};

const payments = {
  ...invoices,
  request: {
    ...invoices.request,
    scopes: ['tool:acme_pay:write'],
    authorizationDetails: [
      {
        type: 'urn:service:tools:v1',
        connector: 'acme_pay',
        tools: ['transfer', 'notify'],
        arguments: {
          transfer: {
            '/amount': { min: '1', max: '500' },
            '/currency': { in: ['EUR', 'USD'] },
            '/to/iban': { prefix: ['DE', 'FR', 'NL'] },
            '/memo': { optional: true, length: [0, 140] },
          },
          notify: { '': { open: true }, '/to': { email: ['acme.com', 'books.example'] } },
        },
      },
    ],
  },
};

const staying = { ...invoices, request: { ...invoices.request, redirectUri: undefined } };

describe('every state of the page is accessible', () => {
  test('the request', async () => {
    const { vouchedLink } = await ask({ ...invoices, hasKey: true });
    const page = await visit(person);

    await openRequest(page, await vouchedLink());
    await page.clock.fastForward(600);
    await page.locator('#approve[aria-disabled="false"]').waitFor();

    expect(await findings(page)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await findings(page)).toEqual([]);
  });

  test('narrowed, approving, approved', async () => {
    const { vouchedLink } = await ask({ ...staying, hasKey: true });
    const page = await visit(person);

    await openRequest(page, await vouchedLink());
    await page.getByRole('checkbox', { name: /Send email/ }).uncheck();
    await page.getByRole('checkbox', { name: /payout\.cancel/ }).uncheck();
    await page.getByLabel('Ends after').selectOption('24h');
    await page.clock.fastForward(600);
    await page.locator('#approve[aria-disabled="false"]').waitFor();
    const narrowed = await findings(page);
    const { letGo } = await holdBack(page, '**/approve');
    await decide(page, 'Allow');
    await button(page, 'Allowing …').waitFor();
    const approving = await findings(page);
    letGo();
    await heading(page, 'Allowed').waitFor();

    expect({ narrowed, approving, approved: await findings(page) }).toEqual({
      narrowed: [],
      approving: [],
      approved: [],
    });
  });

  test('limits on arguments, as asked and tightened', async () => {
    const { vouchedLink } = await ask({ ...payments, hasKey: true });
    const page = await visit(person);
    await withFixedIds(page, CALLS);

    await openRequest(page, await vouchedLink());
    await page.clock.fastForward(600);
    const asked = await findings(page);
    for (const less of await page.getByText('Allow less').all()) await less.click();
    await page.getByLabel('amount at most').fill('100');
    await page.getByRole('checkbox', { name: 'USD' }).uncheck();
    await page.locator('#approve[aria-disabled="false"]').waitFor();
    const tightened = await findings(page);
    await picture(page, 'consent-limits');
    await page.setViewportSize({ width: 375, height: 800 });
    const phone = await findings(page);
    await page.getByLabel('amount at most').fill('501');
    await sees(page, /not above 500/);

    expect({ asked, tightened, phone, wrong: await findings(page) }).toEqual({
      asked: [],
      tightened: [],
      phone: [],
      wrong: [],
    });
  });

  test('nothing left, a reason, denied', async () => {
    const { vouchedLink } = await ask({ ...staying, hasKey: true });
    const page = await visit(person);

    await openRequest(page, await vouchedLink());
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
    await decide(page, 'Allow');
    await page.getByRole('alert').filter({ hasText: 'Nothing is selected.' }).waitFor();
    const nothing = await findings(page);
    await page.getByText('Reason to deny').click();
    await page.getByLabel(/Your reason/).fill('Not this month.');
    const reason = await findings(page);
    await decide(page, 'Deny', 'Denied');

    expect({ nothing, reason, denied: await findings(page) }).toEqual({
      nothing: [],
      reason: [],
      denied: [],
    });
  });

  test('a request in the sandbox', async () => {
    const { link } = await ask({ ...invoices, mode: 'sandbox' });
    const page = await visit(person);

    await openRequest(page, link);
    await page.clock.fastForward(600);
    await page.locator('#approve[aria-disabled="false"]').waitFor();

    expect(await findings(page)).toEqual([]);
  });

  test('a person who is not verified, or not yet', async () => {
    const unverified = await ask(invoices);
    const unproved = await ask({ ...invoices, hasKey: true });
    const page = await visit(person);

    await openRequest(page, unverified.link);
    await page.clock.fastForward(600);
    await page.locator('#approve[aria-disabled="false"]').waitFor();
    const link = await findings(page);
    await openRequest(page, unproved.link);

    expect({ link, hint: await findings(page) }).toEqual({ link: [], hint: [] });
  });

  test('the step for a mailed code', async () => {
    const settings = { ...invoices.settings, consentMode: 'email' };
    const { vouchedLink } = await ask({ ...invoices, settings, hasKey: true });
    const page = await visit(person);

    await openRequest(page, await vouchedLink({ email: 'ada@example.org' }));
    const before = await findings(page);
    await button(page, 'Send the code').click();
    await sees(page, 'The code is on its way.');
    const sent = await findings(page);
    await page.getByLabel('Code from the email').fill('4071 ');
    await button(page, 'Check the code').click();
    await sees(page, 'The code has eight digits.');

    expect({ before, sent, short: await findings(page) }).toEqual({ before: [], sent: [], short: [] });
  });

  test('long lists, long names, other scripts', async () => {
    const scopes = Array.from({ length: 100 }, (_, at) => `area${at % 9}:action${at}`);
    const agent = { name: `مساعد ${'W'.repeat(190)}`, description: '🧾 <b>bold</b>\u200B' };
    const { link } = await ask({ agent, request: { scopes } });
    const page = await visit({ ...person, viewport: { width: 320, height: 640 } });

    await openRequest(page, link);

    expect(await findings(page)).toEqual([]);
  });

  test('opening, and a service that does not answer', async () => {
    const { link } = await ask();
    const page = await visit(person);
    const { letGo } = await holdBack(page, '**/session');

    await page.goto(link);
    await heading(page, 'Opening the request …').waitFor();
    const opening = await findings(page);
    letGo();
    await heading(page, /asks to act/).waitFor();
    await page.route('**/approve', (route) => route.abort());
    await decide(page, 'Allow');
    await sees(page, 'No clear answer came back');

    expect({ opening, uncertain: await findings(page) }).toEqual({ opening: [], uncertain: [] });
  });

  test('without scripts', async () => {
    const { link } = await ask();
    const page = await visit({ ...person, javaScriptEnabled: false });

    await page.goto(link);
    await heading(page, 'This page needs JavaScript').waitFor();

    expect(await page.getByRole('main').count()).toBe(1);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
  });

  test('a bad link, and a request that has ended', async () => {
    const { link } = await ask(invoices);
    const page = await visit(person);

    await page.goto(link.replace(/#.*/, ''));
    await heading(page, 'Please open the link again').waitFor();
    const noKey = await findings(page);
    await openRequest(page, link);
    await page.clock.fastForward('59:00');
    await sees(page, 'This request ends soon');
    const soon = await findings(page);
    service().advance(3600);
    await page.reload();
    await heading(page, 'This request has ended').waitFor();

    expect({ noKey, soon, ended: await findings(page) }).toEqual({ noKey: [], soon: [], ended: [] });
  });
});

describe('the first screen', () => {
  const agent = invoices.agent;
  const four = {
    agent,
    hasKey: true,
    settings: { name: 'Acme Books' },
    request: {
      principalId: 'ada@example.org',
      scopes: ['invoices:read', 'email:send', 'tool:stripe:write:capped:500', 'contacts:read'],
      purpose: 'payments.payout',
      budget: { amount: '200.00', currency: 'EUR' },
      expiresIn: '7d',
    },
  } as const;

  test.each([
    ['a phone', { width: 390, height: 844 }],
    ['a laptop', { width: 1280, height: 800 }],
  ])('of %s shows who, for whom, what, until when, and both buttons', async (device, viewport) => {
    const { vouchedLink } = await ask(four);
    const page = await visit({ ...person, viewport });
    await withFixedIds(page, CALLS);

    await page.goto(await vouchedLink());
    await page.clock.fastForward(600);
    await page.locator('#approve[aria-disabled="false"]').waitFor();

    for (const text of [
      'Acme Books',
      'Invoice assistant',
      'Signed in as',
      '€200.00',
      'Send email',
      'Until',
    ]) {
      const box = await page.getByText(text).first().boundingBox();
      expect((box?.y ?? 9_999) + (box?.height ?? 0), text).toBeLessThan(viewport.height);
    }
    const [deny, allow] = [
      await button(page, 'Deny').boundingBox(),
      await button(page, 'Allow').boundingBox(),
    ];
    expect([deny?.width, deny?.height]).toEqual([allow?.width, allow?.height]);
    expect((allow?.y ?? 9_999) + (allow?.height ?? 0)).toBeLessThan(viewport.height);
    const rows = await page.locator('.rows > li').allInnerTexts();
    expect(rows[0]).toBe('Send email in your name');
    expect(rows.at(-1)).toMatch(/^Read your/);
    expect(await findings(page)).toEqual([]);
    if (device === 'a phone') await picture(page, 'consent-phone');
  });

  test('of one permission has at most 60 words, and the rest is one tap away', async () => {
    const request = { ...four.request, scopes: ['calendar:read'], budget: undefined, purpose: undefined };
    const { vouchedLink, id } = await ask({ ...four, request });
    const page = await visit({ viewport: { width: 390, height: 844 } });

    await page.goto(await vouchedLink());
    await button(page, 'Allow').waitFor();
    const seen = await page.evaluate<string>(`{
      for (const option of document.querySelectorAll('option:not(:checked)')) option.remove();
      document.body.innerText;
    }`);
    await page.getByText('Details').click();

    expect(seen.match(/[\w\p{L}]\S*/gu)?.length).toBeLessThanOrEqual(60);
    expect(await page.evaluate('document.documentElement.scrollHeight > innerHeight')).toBe(true);
    const whole = await page.locator('main').innerText();
    for (const text of ['calendar:read', id, 'did:web:', 'I read new invoices'])
      expect(whole).toContain(text);
  });

  test('of twelve permissions begins with those that act, and counts the others until they were seen', async () => {
    const looking = ['files', 'photos', 'notes', 'tasks', 'contacts', 'orders', 'invoices', 'places'];
    const acting = ['posts:publish', 'email:send', 'rooms:book', 'logs:delete'];
    const scopes = [...looking.map((what) => `${what}:read`), ...acting];
    const { vouchedLink } = await ask({ ...four, request: { ...four.request, scopes, purpose: undefined } });
    const page = await visit({ viewport: { width: 390, height: 844 } });

    await page.goto(await vouchedLink());
    const more = page.locator('.more');
    await more.waitFor();
    const bar = (await page.locator('.bar').boundingBox())?.y ?? 0;
    for (const words of ['Publish posts', 'Send email', 'Book rooms', 'Delete from your logs']) {
      const box = await page.getByText(words).boundingBox();
      expect((box?.y ?? 9_999) + (box?.height ?? 0), words).toBeLessThan(bar);
    }
    const before = Number((await more.innerText()).match(/\d+/)?.[0]);
    const press = async () => {
      if (await more.isVisible()) await more.click();
      return more.isHidden();
    };
    await expect.poll(press, { timeout: 30_000 }).toBe(true);

    expect(before).toBeGreaterThan(2);
  });
});
