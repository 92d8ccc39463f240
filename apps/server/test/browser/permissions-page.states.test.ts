import { describe, expect, test } from 'vitest';
import { verifyAddress } from '../app/every-caller.ts';
import { authorize } from '../app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../app/person.ts';
import { decide, openRequest } from './consent-page/pages.ts';
import { button, findings, heading, must, picture, sees, withFixedIds } from './pages.ts';
import { addAuthenticator, enrol } from './passkeys.ts';
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

const { approve, linkFor, visit, service } = permissionPages();

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
  await heading(page, 'Show who you are').waitFor();

  expect({ nothing, closed, ended, noKey: await findings(page) }).toEqual({
    nothing: [],
    closed: [],
    ended: [],
    noKey: [],
  });
});

test('tools are shown in the words of their manifests, and a permission for everything looks graver', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const tools = {
    send_mail: { permission: 'write', title: 'Send mail' },
    find_mail: { permission: 'read', title: 'Find mail' },
    move_mail: { permission: 'write', title: 'Find mail' },
    peek: 'read',
    wipe: { permission: 'admin', title: 'Delete the mailbox' },
  };
  await must(developer, 'PUT', '/v1/manifests/mailer', { $schema: 'x', connector: 'mailer', tools });
  await grant(developer, 'Mail reader', {
    principalId: ada,
    scopes: ['tool:mailer:write', 'email:send', '*'],
  });
  const page = await visit(person);

  await openPermissions(page, await linkFor(developer, ada));
  const lines = await page.evaluate(`[...document.querySelectorAll('.grant > ul > li')].map((item) => ({
    kind: item.className, edge: getComputedStyle(item).borderInlineStartWidth,
  }))`);

  await sees(page, 'With “Send mail”, move_mail, find_mail, and peek');
  expect(lines).toEqual([
    { kind: 'far everything', edge: '4px' },
    { kind: 'far', edge: '0px' },
    { kind: 'far', edge: '0px' },
  ]);
  expect(await page.locator('main').innerText()).not.toContain('Delete the mailbox'); // beyond the permission
  expect(await findings(page)).toEqual([]);
});

/** The texts of the service's mails, the newest first. */
const mailTexts = () =>
  service()
    .mails.sent()
    .map(({ text }) => text);

describe('a person who comes back', () => {
  test('shows a passkey, and sees the page', async () => {
    const { developer } = await approve();
    const page = await visit(person);
    await page.goto(`${service().url}/permissions`);
    await heading(page, 'Show who you are').waitFor();
    const accessible = await findings(page);
    await button(page, 'Use your passkey').click();
    await sees(page, 'Your browser gave no passkey.');
    await addAuthenticator(page);
    await enrol(page, developer);

    await button(page, 'Use your passkey').click();
    await heading(page, 'Your permissions').waitFor();
    await button(page, 'Close it now').click();
    await button(page, 'Sign in again').click();
    await heading(page, 'Show who you are').waitFor();

    expect(accessible).toEqual([]);
  });

  test('goes on from the last page of a consent, and by a mailed link once', async () => {
    const { developer, agentId, link } = await askByMail();
    const page = await visit(person);
    await openRequest(page, link);
    await button(page, 'Send the code').click();
    await sees(page, 'The code is on its way.');
    await page.getByLabel('Code from the email').fill(/^ {4}(\d{8})$/m.exec(mailTexts()[0] ?? '')?.[1] ?? '');
    await button(page, 'Check the code').click();
    await decide(page, 'Allow', 'Allowed');
    const mailed = mailTexts()[0] ?? '';

    await page.getByRole('link', { name: 'See and end what agents may do for you' }).click();
    await heading(page, 'No agent may act for you').waitFor(); // the application has not fetched the grant yet
    const { code } = await must(developer, 'POST', `/v1/authorize/${requestIn(link)}/code`);
    await must(developer, 'POST', '/v1/token', { code, agentId });
    await page.goto('about:blank');
    await page.goto(`${service().url}/permissions`);
    await page.getByLabel('Or by mail, at your address:').fill(ada);
    await button(page, 'Mail me a link').click();
    await sees(page, 'If this address is known here, a mail with a link is on its way.');
    await expect.poll(() => mailTexts()[0]).toContain('/permissions#link=');
    const [opening = ''] = /\/permissions#link=\S+/.exec(mailTexts()[0] ?? '') ?? [];
    await page.goto('about:blank');
    await page.goto(service().url + opening);
    await heading(page, 'Open your permissions').waitFor();
    const accessible = await findings(page);
    await button(page, 'Open the page').click();
    await heading(page, 'Your permissions').waitFor();
    await sees(page, 'Travel booker');
    await page.goto('about:blank');
    await page.goto(service().url + opening);
    await button(page, 'Open the page').click();

    await sees(page, 'This link is no longer valid.');
    await heading(page, 'Show who you are').waitFor();
    expect([accessible, page.url().includes('#')]).toEqual([[], false]);
    expect(mailed).toContain(`${service().settings.http.publicBaseUrl}/permissions`);
  });

  test('asks for the next link by one that is over, and stops the links', async () => {
    const email = 'grace@example.org';
    const { link } = await askByMail(email);
    const app = personOn(service());
    await app.open(link, link.split('&hint=')[1]);
    const at = `/v1/consent/${requestIn(link)}/email`;
    await app.call('POST', at);
    const code = /^ {4}(\d{8})$/m.exec(mailTexts()[0] ?? '')?.[1] ?? '';
    await app.call('POST', `${at}/verify`, { body: { code } });
    await app.call('POST', '/v1/principal/sign-in/mail', { body: { email } });
    await expect.poll(newestLink).not.toBe('');
    const first = newestLink();
    await app.call('POST', '/v1/principal/sign-in/link', { body: { token: first } });
    const page = await visit(person);
    await page.goto(`${service().url}/permissions#link=${first}`);
    await button(page, 'Open the page').click();
    await sees(page, 'This link is no longer valid.');

    await page.getByLabel('Or by mail, at your address:').fill(email);
    const asked = page.waitForRequest((request) => request.url().endsWith('/sign-in/mail'));
    await button(page, 'Mail me a link').click();
    const sent = (await asked).postDataJSON();
    await expect.poll(newestLink).not.toBe(first);
    await page.goto('about:blank');
    await page.goto(`${service().url}/permissions#link=${newestLink()}`);
    await button(page, 'Open the page').click();
    const stop = page
      .getByRole('region', { name: 'A link by mail' })
      .getByRole('button', { name: 'Stop it' });
    await stop.waitFor();
    const accessible = await findings(page);
    await stop.click();
    await answer(page, 'Stop it');

    await sees(page, 'Stopped. No link to this page is mailed.');
    expect([sent, accessible]).toEqual([{ email, link: first }, []]);
  });

  const newestLink = () => /\/permissions#link=(\S+)/.exec(mailTexts()[0] ?? '')?.[1] ?? '';

  const requestIn = (link: string) => new URL(link).searchParams.get('req');

  /** A request of which the person reads a code, at the address that the application vouches for. */
  async function askByMail(email = ada) {
    const developer = await service().asDeveloper();
    await verifyAddress(service(), developer);
    const voucher = await newVoucher();
    await must(developer, 'PATCH', '/v1/me', { consentMode: 'email', consentKeys: [voucher.jwk] });
    const { agentId } = await must(developer, 'POST', '/v1/agents', { name: 'Travel booker' });
    const request = await authorize(developer, String(agentId));
    const claims = { ...hintClaims(service(), developer.developerId, request), email };
    const link = `${request.consentUrl}&hint=${await voucher.hint(claims)}`;
    return { developer, agentId: String(agentId), link };
  }
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
