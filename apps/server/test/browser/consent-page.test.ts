import { expect, test } from 'vitest';
import { actionsOf, entriesOf } from '../app/flow.ts';
import { codeIn, consentPages, decide, openRequest, withLimits } from './consent-page/pages.ts';
import { brand, brandOn, button, findings, sees } from './pages.ts';

const { ask, visit, service } = consentPages();

test('the proof of the person is the hint, where the developer’s app vouches for the person', async () => {
  const { developer, id, vouchedLink, grant } = await ask({ hasKey: true });
  const page = await visit();

  await openRequest(page, await vouchedLink());
  await sees(page, 'Acme vouches that this is you.');
  const shown = await page.locator('main').innerText();
  await decide(page, 'Allow', 'Allowed');

  for (const text of ['Travel booker', 'user_42', 'Read your calendar', 'calendar:read', 'email:send', id]) {
    expect(shown).toContain(text);
  }
  expect(shown).not.toContain('Not verified');
  const given = await grant();
  expect(given).toMatchObject({ principalId: 'user_42', consentMethod: 'developer' });
  expect(given).not.toHaveProperty('unverified');
  expect(await actionsOf(developer)).toContain('authorization.approved');
});

test('the proof of the person is the right code from the mail', async () => {
  const { vouchedLink, grant } = await ask({ hasKey: true, settings: { consentMode: 'email' } });
  const page = await visit();

  await openRequest(page, await vouchedLink({ email: 'ada@example.org' }));
  await button(page, 'Send the code').click();
  const entry = page.getByLabel('Code from the email');
  await entry.fill('1234');
  await button(page, 'Check the code').click();
  await sees(page, 'The code has eight digits.');
  const code = codeIn(service().mails.sent()[0]?.text);
  await entry.fill(code.replaceAll(/\d/g, (digit) => String(9 - Number(digit))));
  await entry.press('Enter');
  await sees(page, 'This is not the code');
  await entry.fill(`${code.slice(0, 4)} ${code.slice(4)}`);
  await button(page, 'Check the code').click();
  await sees(page, 'You have shown that you can read this person’s email.');
  await decide(page, 'Allow', 'Allowed');

  expect(await grant()).toMatchObject({ consentMethod: 'email' });
});

test('the person grants tighter limits on what the agent may pass to a tool', async () => {
  const { link, grant } = await ask({ request: withLimits });
  const page = await visit();

  await openRequest(page, link);
  await sees(page, 'amount: between 1 and 500');
  await page.getByText('Allow less').last().click(); // below `transfer`
  await page.getByLabel('amount at most').fill('99.50');
  await sees(page, 'You allow at most 99.50.');
  await page.getByLabel('amount at least').fill('10');
  await page.getByRole('checkbox', { name: 'USD' }).uncheck();
  await page
    .getByRole('group', { name: /to › each entry › host/ })
    .getByLabel('a.example')
    .uncheck();
  await sees(page, 'You allow 1 of 2 values.');
  await sees(page, 'everything requested, within tighter limits');
  await decide(page, 'Allow', 'Allowed');

  const { authorizationDetails } = await grant();
  expect(authorizationDetails[0].arguments).toEqual({
    transfer: {
      '/amount': { min: '10', max: '99.50' },
      '/currency': { in: ['EUR'] },
      '/to': { each: { '/host': { host: ['b.example'] } } },
    },
    notify: { '': { open: true }, '/topic': { prefix: ['x', 'y'] } },
  });
});

test('a refusal reaches the developer with its reason', async () => {
  const { developer, link, record } = await ask();
  const page = await visit();

  await openRequest(page, link);
  await page.getByText('Reason to deny').click();
  await page.getByLabel(/Your reason/).fill(' Not\tthis week ');
  await decide(page, 'Deny', 'Denied');

  expect((await record()).status).toBe('denied');
  const [entry] = await entriesOf(developer, 'authorization.denied');
  expect(entry?.metadata).toMatchObject({ reason: 'Not this week' });
});

test('the developer’s logo, name and colour stand first, in light and in dark, and the service’s name at the end', async () => {
  const { developer, link } = await ask();
  await brand(developer);
  const page = await visit({ viewport: { width: 390, height: 844 } });

  await openRequest(page, link);
  const shown = { logo: [96, 32, true], name: 'Acme', fill: 'rgb(122, 31, 92)' };
  expect(await brandOn(page, 'Allow')).toEqual(shown);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await brandOn(page, 'Allow')).toEqual(shown);
  expect(await page.locator('.colophon').innerText()).toBe('Behest');

  const axe = await visit({ bypassCSP: true }); // axe is a script from outside the page
  const other = await ask();
  await brand(other.developer);
  await openRequest(axe, other.link);
  expect(await findings(axe)).toEqual([]);
});
