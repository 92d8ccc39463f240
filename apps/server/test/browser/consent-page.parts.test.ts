import { describe, expect, test } from 'vitest';
import { authorize } from '../app/flow.ts';
import {
  answerAsApp,
  attemptsToGo,
  codeIn,
  consentPages,
  decide,
  openRequest,
  RETURN_TO,
  sentTo,
  withLimits,
} from './consent-page/pages.ts';
import { button, hasNo, heading, must, sees } from './pages.ts';

const { ask, visit, service } = consentPages();

const withTools = {
  scopes: ['tool:stripe:write', 'tool:mail:read', 'orders:read'],
  purpose: 'payments.payout',
  authorizationDetails: [
    {
      type: 'urn:service:tools:v1',
      connector: 'stripe',
      tools: ['refund', 'payout', 'balance'],
      caps: { payout: { per_day: 3 } },
    },
  ],
};

test('a scope of a resource is shown by its title, and what the developer adds is among the details', async () => {
  const { developer, link } = await ask({
    mode: 'sandbox',
    request: { scopes: ['ledger:close', 'ledger:tally'] },
  });
  const close = {
    title: 'Close <b>the month</b>',
    description: 'Nobody can book into it <i>afterwards</i>.',
  };
  const scopeWords = { 'ledger:close': close, 'ledger:tally': { title: 'Count' } };
  const resource = `http://localhost/${crypto.randomUUID()}`;
  const { id } = await must(developer, 'POST', '/v1/resources', { resource, name: 'Ledger', scopeWords });
  const page = await visit();
  const approvals = sentTo(page, 'approve');

  await openRequest(page, link);
  const rows = await page.locator('.rows > li').allInnerTexts();
  const details = await page.locator('#details').innerText();
  await must(developer, 'PATCH', `/v1/resources/${id}`, {
    scopeWords: { 'ledger:tally': { title: 'Count' } },
  });
  await decide(page, 'Allow');
  await sees(page, 'This request says something else by now.');
  await button(page, 'Show the request as it is now').click();
  await sees(page, 'ledger:close');
  await decide(page, 'Allow', 'Allowed');

  expect(rows).toEqual(['Close <b>the month</b> (may spend, send, delete or publish)', 'Count']);
  expect(details).toMatch(/ledger:close\s+Nobody can book into it <i>afterwards<\/i>\.\s+ledger:tally/);
  expect(approvals).toEqual(Array(2).fill({ scopeWordsSha256: expect.stringMatching(/^[0-9a-f]{64}$/) }));
});

describe('the proof of the person', () => {
  test.each([
    ['without a hint', undefined],
    ['with an expired hint', { iat: -400, exp: -100 }],
    ['with a hint for another person', { sub: 'user_43' }],
  ])('is missing %s, so the person can only deny, and the page says what to do', async (_, claims) => {
    const { link, vouchedLink, record } = await ask({ hasKey: true });
    const now = Math.floor(service().clock().getTime() / 1000);
    const times = claims && 'iat' in claims && { iat: now + claims.iat, exp: now + claims.exp };
    const page = await visit();
    const approvals = sentTo(page, 'approve');

    await openRequest(page, claims ? await vouchedLink({ ...claims, ...times }) : link);
    await sees(page, /sign in at Acme again/);
    await button(page, 'Allow').click({ force: true });
    await sees(page, 'You cannot allow this yet.');
    const before = (await record()).status;
    await decide(page, 'Deny', 'Denied');

    expect(approvals).toEqual([]);
    expect([before, (await record()).status]).toEqual(['pending', 'denied']);
  });

  test('can be given by a hint after the link was opened without it in the same tab', async () => {
    const { link, vouchedLink } = await ask({ hasKey: true });
    const page = await visit();

    await openRequest(page, link);
    await sees(page, 'Not verified yet');
    await page.goto(await vouchedLink());

    await sees(page, 'Acme vouches that this is you.');
    expect(page.url()).toBe(link.replace(/#.*/, ''));
  });

  test('is lost after five wrong codes, and the page says how to go on', async () => {
    const { vouchedLink } = await ask({ hasKey: true, settings: { consentMode: 'email' } });
    const page = await visit();

    await openRequest(page, await vouchedLink({ email: 'ada@example.org' }));
    await button(page, 'Send the code').click();
    await sees(page, 'The code is on its way.');
    const code = codeIn(service().mails.sent()[0]?.text);
    const wrong = code.replaceAll(/\d/g, (digit) => String(9 - Number(digit)));
    const verified = () => page.waitForResponse((answer) => answer.url().endsWith('/email/verify'));
    await page.getByLabel('Code from the email').fill(wrong);
    for (let guess = 1; guess <= 5; guess += 1) {
      await Promise.all([verified(), button(page, 'Check the code').click()]);
      if (guess < 5) await sees(page, 'This is not the code');
    }

    await heading(page, 'This window has lost the request').waitFor();
    await button(page, 'Try again').click();
    await button(page, 'Send the code').waitFor();
  });

  test('is absent where nobody vouches for the person, and page and grant say so', async () => {
    const { link, grant } = await ask();
    const page = await visit();

    await openRequest(page, link);
    const mark = await page.getByRole('region', { name: 'Not verified' }).innerText();
    await decide(page, 'Allow', 'Allowed');

    expect(mark).toContain('Anyone who holds this link can decide');
    expect(await grant()).toMatchObject({ consentMethod: 'link', unverified: true });
  });

  test('is not needed in the sandbox, where the page calls the request a test', async () => {
    const { link, grant } = await ask({ mode: 'sandbox' });
    const page = await visit();

    await openRequest(page, link);
    const banner = await page.getByRole('region', { name: 'Sandbox' }).innerText();
    await decide(page, 'Allow', 'Allowed');

    expect(banner).toContain('This is a test');
    expect(await grant()).toMatchObject({ consentMethod: 'sandbox' });
  });
});

describe('taking parts away', () => {
  test('grants only the remaining scopes and the chosen time', async () => {
    const { link, grant } = await ask({ request: { scopes: ['calendar:read', 'calendar:*', 'email:send'] } });
    const page = await visit();
    const approvals = sentTo(page, 'approve');

    await openRequest(page, link);
    await page.getByRole('checkbox', { name: /Read your calendar/ }).uncheck();
    await sees(page, 'Still allowed: it is part of');
    await page.getByRole('checkbox', { name: /everything with your calendar/ }).uncheck();
    await page.getByLabel('Ends after').selectOption('1h');
    await sees(page, '1 of 3 permissions, for 1 hour');
    await decide(page, 'Allow', 'Allowed');
    await sees(page, '1 of 3 permissions, for 1 hour');

    expect(approvals).toEqual([{ scopes: ['email:send'], expiresIn: '1h' }]);
    const { scopes, expiresAt } = await grant();
    expect(scopes).toEqual(['email:send']);
    expect(Date.parse(expiresAt)).toBe(service().clock().getTime() + 3_600_000);
  });

  test('grants only the remaining tools', async () => {
    const { link, grant } = await ask({ request: withTools });
    const page = await visit();

    await openRequest(page, link);
    await sees(page, 'at most 3 per day');
    await page.getByRole('checkbox', { name: /payout/ }).uncheck();
    await decide(page, 'Allow', 'Allowed');

    const { authorizationDetails } = await grant();
    expect(authorizationDetails).toContainEqual(
      expect.objectContaining({ connector: 'stripe', tools: ['refund', 'balance'] }),
    );
  });

  test.each([
    ['500.01', 'not above 500'],
    ['0.5', 'its lowest value is above its highest'],
    ['1,5', 'written like 100.50'],
    ['', 'not above 500'],
  ])('takes no bound that is not tighter, such as “%s”', async (bound, fault) => {
    const { link, record } = await ask({ request: withLimits });
    const page = await visit();
    const approvals = sentTo(page, 'approve');

    await openRequest(page, link);
    await page.getByText('Allow less').last().click(); // below `transfer`
    const entry = page.getByLabel('amount at most');
    await entry.fill(bound);
    await decide(page, 'Allow');
    await page.getByRole('alert').filter({ hasText: fault }).waitFor();

    expect(await entry.getAttribute('aria-invalid')).toBe('true');
    expect([approvals, (await record()).status]).toEqual([[], 'pending']);
    await entry.fill('500');
    await decide(page, 'Allow', 'Allowed');
  });

  test('says that a list without items allows nothing, and forgets the limits of a tool that is taken away', async () => {
    const { link, grant } = await ask({ request: withLimits });
    const page = await visit();
    const approvals = sentTo(page, 'approve');

    await openRequest(page, link);
    await page.getByText('Allow less').last().click(); // below `transfer`
    for (const currency of ['EUR', 'USD']) await page.getByRole('checkbox', { name: currency }).uncheck();
    await decide(page, 'Allow');
    await page.getByRole('alert').filter({ hasText: 'has no value left' }).waitFor();
    await page.getByRole('checkbox', { name: 'transfer' }).uncheck();
    await hasNo(page.getByText('amount: between 1 and 500').and(page.locator(':visible')));
    await decide(page, 'Allow', 'Allowed');

    expect(approvals).toEqual([{ manifests: expect.any(Array), tools: { acme_pay: ['notify*'] } }]);
    const { authorizationDetails } = await grant();
    expect(authorizationDetails[0]).toMatchObject({ tools: ['notify*'], arguments: { notify: {} } });
  });

  test('says why the rest cannot be approved', async () => {
    const { link } = await ask({ request: withTools });
    const page = await visit();
    const approvals = sentTo(page, 'approve');
    const notice = page.getByRole('alert');

    await openRequest(page, link);
    await button(page, 'Select none: Tools of stripe').click();
    await decide(page, 'Allow');
    await notice.filter({ hasText: 'No tool of stripe is selected.' }).waitFor();
    for (const scope of [/changes with stripe/, /Read with mail/]) {
      await page.getByRole('checkbox', { name: scope }).uncheck();
    }
    await decide(page, 'Allow');
    await notice.filter({ hasText: 'needs a tool' }).waitFor();
    await page.getByRole('checkbox', { name: /Read your orders/ }).uncheck();
    await decide(page, 'Allow');
    await notice.filter({ hasText: 'Nothing is selected.' }).waitFor();

    expect(approvals).toEqual([]);
  });

  test('works in groups for a hundred scopes', async () => {
    const scopes = Array.from({ length: 100 }, (_, at) => `area${at % 10}:action${at}`);
    const { link, grant } = await ask({ request: { scopes } });
    const page = await visit();

    await openRequest(page, link);
    await button(page, 'Select none: All permissions').click();
    await sees(page, '0 of 100 selected');
    await button(page, 'Select all: area3').click();
    await sees(page, '10 of 100 selected');
    await decide(page, 'Allow', 'Allowed');

    expect((await grant()).scopes).toEqual(scopes.filter((scope) => scope.startsWith('area3:')));
  });
});

test('tools are shown in the words of the manifest with what they do at most, and exactly among the details', async () => {
  const { developer, agentId } = await ask();
  const tools = {
    pay: { permission: 'write', title: 'Pay out money', description: 'Sends money to a bank account.' },
    wipe: { permission: 'delete', title: 'Tidy up' },
    sweep: { permission: 'read', title: 'Tidy up' },
    look_up_person: { permission: 'read', title: 'Look up a person' },
    look_up_order: 'read',
  };
  await must(developer, 'PUT', '/v1/manifests/shop', { connector: 'shop', version: '1.0.0', tools });
  const entry = {
    type: 'urn:service:tools:v1',
    connector: 'shop',
    tools: ['pay', 'wipe', 'sweep', 'look_up_*'],
  };
  const asked = await authorize(developer, agentId, {
    scopes: ['tool:shop:delete'],
    authorizationDetails: [entry],
  });
  const page = await visit();

  await openRequest(page, String(asked.consentUrl));

  const rows = await page.locator('#tools .rows > li').allInnerTexts();
  expect(rows).toEqual([
    'Pay out money\nmakes changes',
    'Tidy up\nwipe\ncan delete', // two tools have the same title, so their names are shown
    'Tidy up\nsweep\nonly reads',
    '“Look up a person” and look_up_order\nonly reads, every tool whose name begins like this',
  ]);
  const details = await page.locator('#details').innerText();
  for (const text of ['shop: pay', 'shop: look_up_*', 'shop: look_up_person', 'Sends money to a bank']) {
    expect(details).toContain(text);
  }
});

describe('afterwards', () => {
  test.each([
    ['Allow', { code: expect.stringMatching(/^[\w-]{43}$/) }],
    ['Deny', { error: 'access_denied' }],
  ] as const)('%s leads back to the app, with its state and the issuer', async (how, answer) => {
    const { link } = await ask({ request: { redirectUri: `${RETURN_TO}?a=1`, state: 'a b&c' } });
    const page = await visit();
    await answerAsApp(page);

    await openRequest(page, link);
    await sees(page, 'You are taken to app.acme.example');
    await decide(page, how);
    await page.waitForURL(`${RETURN_TO}?**`);

    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      a: '1',
      ...answer,
      state: 'a b&c',
      iss: service().url,
    });
  });

  test.each([
    ['Allow', 'Allowed'],
    ['Deny', 'Denied'],
  ] as const)('%s without a redirect ends in words', async (how, title) => {
    const { link } = await ask();
    const page = await visit();

    await openRequest(page, link);
    await sees(page, 'You stay on this page.');
    await decide(page, how, title);

    await sees(page, 'You can close this window.');
    await hasNo(page.getByRole('button'));
  });

  test('the browser follows an app’s own scheme, and the page says what to do if nothing opens', async () => {
    const redirectUri = 'com.example.app:/back';
    const { developer, agentId } = await ask();
    await developer('PATCH', '/v1/me', { redirectUris: [redirectUri] });
    const { consentUrl } = await authorize(developer, agentId, { redirectUri });
    const page = await visit();

    await openRequest(page, consentUrl);
    const attempts = await attemptsToGo(page);
    await decide(page, 'Allow', 'Allowed');
    await page.clock.fastForward(2_500);
    await sees(page, 'If nothing else opens, you can close this window.');
    await button(page, 'Go there now').click();
    await expect.poll(attempts).toHaveLength(2);

    const [first, second] = attempts();
    expect(first).toMatch(/^com\.example\.app:\/back\?code=[\w-]{43}&/);
    expect(second).toBe(first);
    expect(await page.content()).not.toContain('code=');
  });
});
