import { expect, test } from 'vitest';
import { button, findings, heading, picture, sees, withFixedIds } from './pages.ts';
import { answer, grant, openPermissions, passOn, permissionPages } from './permissions-page/permissions.ts';

const { linkFor, visit, service } = permissionPages();

const person = { bypassCSP: true } as const; // axe is a script from outside the page
const ada = 'ada@example.org';

/** Gives the agents of a bookshop some grants from a person. */
async function approveAtBooks() {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await developer('PATCH', '/v1/me', { name: 'Acme Books' });
  const scopes = ['invoices:read', 'email:send', 'tool:stripe:write:capped:500'];
  const invoices = await grant(developer, 'Invoice assistant', {
    principalId: ada,
    scopes,
    purpose: 'payments.payout',
    authorizationDetails: [
      {
        type: 'urn:service:tools:v1',
        connector: 'stripe',
        tools: ['payout'],
        arguments: { payout: { '/amount': { max: '500' }, '/currency': { in: ['EUR', 'USD'] } } },
      },
    ],
    expiresIn: '7d',
  });
  service().advance(600);
  await passOn(developer, invoices.grantToken, 'Payout runner', ['tool:stripe:write:capped:100']);
  service().advance(600);
  await grant(developer, 'Mail reader', { principalId: ada, scopes: ['email:read'] });
  service().advance(600);
  const { agentId, did, grantId } = invoices;
  const about = { agentId, agentDid: did, grantId, principalId: ada };
  const metadata = { invoice: '2026-0117', amount: 118.4, currency: 'EUR' };
  await developer('POST', '/v1/audit/log', { ...about, action: 'invoice.paid', metadata });
  return developer;
}

test('a person’s page is accessible in every state', async () => {
  const developer = await approveAtBooks();
  const page = await visit(person);
  await withFixedIds(page, /\/v1\/principal\/\w+\?/, /(?<=:agents:ag_|"alog_)[0-9A-HJKMNP-TV-Z]{26}/g);

  await openPermissions(page, await linkFor(developer, ada));
  await sees(page, 'invoice.paid');
  await page.getByText('Details').nth(1).click();
  const light = await findings(page);
  await picture(page, 'permissions-page');
  await page.setViewportSize({ width: 375, height: 800 });
  const phone = await findings(page);
  await page.setViewportSize({ width: 820, height: 900 });
  await button(page, 'End what Invoice assistant may do').click();
  const question = await findings(page);
  await answer(page, 'End it');
  await sees(page, 'Ended, with all that was passed on.');
  const ended = await findings(page);
  await page.getByText('Permissions that have ended').click();
  await sees(page, 'by you');
  const before = await findings(page);

  expect({ light, phone, question, ended, before }).toEqual({
    light: [],
    phone: [],
    question: [],
    ended: [],
    before: [],
  });
});

test('a page without grants, a closed page and a bad link are accessible too', async () => {
  const developer = await approveAtBooks();
  const page = await visit(person);
  const link = await linkFor(developer, ada);

  await openPermissions(page, link);
  await button(page, 'End everything').click();
  await answer(page, 'End everything');
  await sees(page, 'Everything has been ended.');
  await sees(page, 'You ended what Mail reader may do');
  const nothing = await findings(page);
  await button(page, 'Close it now').click();
  await heading(page, 'You have closed this page').waitFor();
  const closed = await findings(page);
  await page.goto(link);
  await heading(page, 'This page has been closed').waitFor();
  const ended = await findings(page);
  await page.reload();
  await heading(page, 'Please open the link again').waitFor();

  expect({ nothing, closed, ended, noKey: await findings(page) }).toEqual({
    nothing: [],
    closed: [],
    ended: [],
    noKey: [],
  });
});
