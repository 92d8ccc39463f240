import { describe, expect, test } from 'vitest';
import { button, findings, heading, picture, sees, withFixedIds } from './pages.ts';
import {
  agentOf,
  answer,
  grant,
  grantMore,
  openAll,
  openPermissions,
  passOn,
  permissionPages,
} from './permissions-page/permissions.ts';

const { linkFor, visit, service } = permissionPages();

const person = { bypassCSP: true } as const; // axe is a script from outside the page
const ada = 'ada@example.org';

/** Gives the four agents of a bookshop six grants from a person, and one of them passes its grant on. */
async function approveAtBooks() {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await developer('PATCH', '/v1/me', { name: 'Acme Books' });
  const diary = await grant(developer, 'Diary keeper', {
    principalId: ada,
    scopes: ['calendar:read', 'calendar:write', 'contacts:read', 'files:read', 'files:write', 'email:read'],
  });
  await grantMore(developer, diary.agentId, { principalId: ada, scopes: ['files:delete'], expiresIn: '30d' });
  service().advance(600);
  const scopes = ['invoices:read', 'email:send', 'tool:stripe:write:capped:500'];
  const invoices = await grant(developer, 'Invoice assistant', {
    principalId: ada,
    scopes,
    purpose: 'payments.payout',
    budget: { amount: '200.00', currency: 'EUR' },
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
  await grantMore(developer, invoices.agentId, { principalId: ada, scopes: ['contacts:read'] });
  service().advance(600);
  await passOn(developer, invoices.grantToken, 'Payout runner', ['tool:stripe:write:capped:100']);
  service().advance(600);
  await grant(developer, 'Travel booker', {
    principalId: ada,
    scopes: ['calendar:read', 'payments:initiate'],
    expiresIn: '30d',
  });
  service().advance(600);
  await grant(developer, 'Mail reader', { principalId: ada, scopes: ['email:read'] });
  service().advance(600);
  const { agentId, did, grantId } = invoices;
  const about = { agentId, agentDid: did, grantId, principalId: ada };
  const metadata = { invoice: '2026-0117', amount: 118.4, currency: 'EUR' };
  await developer('POST', '/v1/audit/log', { ...about, action: 'invoice.paid', metadata });
  return developer;
}

test('a person’s page is accessible, closed and with everything open', async () => {
  const developer = await approveAtBooks();
  const page = await visit({ ...person, viewport: { width: 390, height: 844 } });
  await withFixedIds(page, /\/v1\/principal\/\w+\?/, /(?<=:agents:ag_|"alog_)[0-9A-HJKMNP-TV-Z]{26}/g);

  await openPermissions(page, await linkFor(developer, ada));
  const light = await findings(page);
  await picture(page, 'permissions-page');
  await openAll(page);
  await page.getByText('Activity in your name').click();
  await sees(page, 'invoice.paid');
  await page.locator('.entry summary').nth(1).click();

  expect({ light, opened: await findings(page) }).toEqual({ light: [], opened: [] });
});

test('a person’s page is accessible on a laptop, with a question, and after an end', async () => {
  const developer = await approveAtBooks();
  const page = await visit(person);

  await openPermissions(page, await linkFor(developer, ada));
  await button(page, 'End what Invoice assistant may do').click();
  const question = await findings(page);
  await answer(page, 'End it');
  await sees(page, 'Ended, with all that was passed on.');
  await page.getByText('Permissions that have ended').click();
  await sees(page, 'by you');

  expect({ question, ended: await findings(page) }).toEqual({ question: [], ended: [] });
});

test('a page without grants, a closed page and a bad link are accessible too', async () => {
  const developer = await approveAtBooks();
  const page = await visit(person);
  const link = await linkFor(developer, ada);

  await openPermissions(page, link);
  await button(page, 'Stop everything').click();
  await answer(page, 'Stop everything');
  await sees(page, 'Everything has been stopped.');
  await page.getByText('Activity in your name').click();
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

describe('the first screen', () => {
  test.each([
    ['a phone', { width: 390, height: 844 }],
    ['a laptop', { width: 1280, height: 800 }],
  ])('of %s shows three agents whole: one card each, with End beside the name', async (_, viewport) => {
    const developer = await approveAtBooks();
    const page = await visit({ ...person, viewport });

    await openPermissions(page, await linkFor(developer, ada));
    const cards = page.locator('section.agent');
    const names = await cards.locator('h2').allInnerTexts();
    const third = await cards.nth(2).boundingBox();
    const ends = await cards.evaluateAll((parts) =>
      parts.map((part) => {
        const [name, end] = ['h2', '.title > button'].map((what) =>
          part.querySelector(what)?.getBoundingClientRect(),
        );
        return Math.abs((name?.y ?? 0) + (name?.height ?? 0) / 2 - (end?.y ?? 999) - (end?.height ?? 0) / 2);
      }),
    );

    expect(names).toEqual(['Mail reader', 'Travel booker', 'Invoice assistant', 'Diary keeper']);
    expect((third?.y ?? 9_999) + (third?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
    expect(Math.max(...ends)).toBeLessThan(2);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(1_800);
    expect(await agentOf(page, 'Invoice assistant').first().innerText()).toContain('€200.00 of €200.00 left');
  });
});
