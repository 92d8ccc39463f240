import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newClient, pkceLink, REDIRECT } from '../app/oauth.ts';
import { hintClaims, newVoucher } from '../app/person.ts';
import { newServer } from '../app/published.ts';
import { decide } from './consent-page/pages.ts';
import { findings, heading, pagesOfService, sees } from './pages.ts';

const { visit, service } = pagesOfService({ env: { RESOURCES_ALLOW_UNVERIFIED: 'true' } });
const person = { bypassCSP: true } as const; // axe is a script from outside the page
const APP = 'https://app.test';

/** A live developer whose application signs people in, and a link of a client. */
async function startClient() {
  const acme = await service().asDeveloper();
  const voucher = await newVoucher();
  await acme('PATCH', '/v1/me', { name: 'Acme Books', consentKeys: [voucher.jwk] });
  const { resource } = await newServer(acme, { loginUrl: `${APP}/login`, name: 'Ledger server' });
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  const { search } = new URL((await pkceLink(clientId, { resource, state: 's' })).link);
  const sent = await fetch(`${service().url}/oauth/authorize${search}`, { redirect: 'manual' });
  const login = new URL(sent.headers.get('location') ?? '');
  const id = login.searchParams.get('areq') ?? '';
  const claims = hintClaims(service(), acme.developerId, { id, principalId: 'user_42' });
  /** The address to which the application sends the browser that it has signed in. */
  const back = async (changes: object = {}) =>
    `${login.searchParams.get('return')}#hint=${await voucher.hint({ ...claims, ...changes })}`;
  return { login, back };
}

const backAt = (page: Page) => page.waitForURL(`${REDIRECT}**`, { waitUntil: 'commit' });

test('a person whom the application has signed in is shown the request, proved, and approves', async () => {
  const started = await startClient();
  const page = await visit(person);
  await page.route(`${REDIRECT}**`, (route) => route.fulfill({ body: 'done' }));

  await page.goto(await started.back());
  await heading(page, /asks to act for you/).waitFor();

  await sees(page, 'Ledger server');
  expect(new URL(page.url()).hash).toBe('');
  expect(await findings(page)).toEqual([]);
  await decide(page, 'Approve');
  await backAt(page);
  const { searchParams } = new URL(page.url());
  expect([searchParams.get('state'), searchParams.get('code')]).toEqual([
    's',
    expect.stringMatching(/.{40}/),
  ]);
});

test('O27 a hint that names nobody for this request sends the browser back to the client, and shows nothing', async () => {
  const started = await startClient();
  const page = await visit();
  await page.route(`${REDIRECT}**`, (route) => route.fulfill({ body: 'done' }));

  const other = { areq: 'areq_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' };
  await page.goto(await started.back(other)).catch(() => {}); // the page leaves before it has loaded
  await backAt(page);

  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
});

test('O27 the page after it was left: the address alone, without a hint, opens nothing', async () => {
  const started = await startClient();
  const page = await visit({ expected: /401|404|410/ });

  await page.goto((await started.back()).replace(/#.*/, ''));

  await sees(page, /open the link|Open the link|from the application/i);
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
});
