import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addOidc, besideProvider } from '../app/signing-on.ts';
import { consentPages, decide, openRequest } from './consent-page/pages.ts';
import { button, findings, heading, must, sees } from './pages.ts';

const { ask, visit, service } = consentPages(besideProvider());

/** A request for Ada, of a developer whose provider makes its people just in time. */
async function askAda(members: object = {}, mode = 'sso') {
  const provider = await startAccountsServer();
  const asked = await ask({ request: { principalId: 'ada' } });
  await addOidc(asked.developer, provider, { jitProvisioning: true, ...members }, service().url);
  await must(asked.developer, 'PATCH', '/v1/me', { consentMode: mode });
  return { ...asked, provider };
}

test('a person signs in at the provider from the page, comes back and approves', async () => {
  const { link, grant } = await askAda();
  const page = await visit();

  await openRequest(page, link);
  await sees(page, 'To approve, sign in through your organisation');
  const faults = await findings(page);
  await button(page, 'Sign in through your organisation').click();
  await sees(page, 'You have signed in through your organisation.');
  await decide(page, 'Approve', 'Approved');

  expect(faults).toEqual([]);
  expect(new URL(page.url()).pathname).toBe('/consent');
  const cookies = await page.context().cookies();
  expect(cookies.filter(({ name }) => name === 'bh_sso_session')).toMatchObject([
    { httpOnly: true, sameSite: 'Lax' },
  ]);
  expect(await grant()).toMatchObject({ principalId: 'ada', consentMethod: 'sso' });
});

test('somebody else who signs in cannot approve, and is asked to sign in again', async () => {
  const { link, provider, record } = await askAda();
  provider.behaviour.account = 'grace';
  const page = await visit();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));

  await openRequest(page, link);
  await button(page, 'Sign in through your organisation').click();
  await sees(page, 'but not as ada');
  await button(page, 'Sign in through your organisation').click();
  await sees(page, 'but not as ada');

  const prompts = asked.map((url) => new URL(url)).filter(({ pathname }) => pathname === '/auth');
  expect(prompts.map(({ searchParams }) => searchParams.get('prompt'))).toEqual([null, 'login']);
  expect(await button(page, 'Approve').getAttribute('aria-disabled')).toBe('true');
  expect(await record()).toMatchObject({ status: 'pending' });
});

test('a demand that begins while the page is open, and a group without the scopes, are explained', async () => {
  const limits = { groupMappings: { editors: ['email:send'] }, defaultScopes: ['calendar:read'] };
  const { link, developer, record } = await askAda(limits, 'developer');
  const page = await visit();
  await openRequest(page, link);
  await must(developer, 'PATCH', '/v1/me', { consentMode: 'sso' });

  await decide(page, 'Approve');
  await sees(page, 'asks that you first sign in through your organisation');
  await button(page, 'Sign in through your organisation').click();
  await sees(page, 'You have signed in through your organisation.');
  await decide(page, 'Approve');
  await sees(page, 'Your organisation does not let you give all of this.');
  await page.getByLabel(/Send email/).uncheck();
  await decide(page, 'Approve', 'Approved');

  expect(await record()).toMatchObject({ scopes: ['calendar:read'] });
  await heading(page, 'Approved').waitFor();
});
