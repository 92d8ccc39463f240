import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addOidc, besideProvider, provision } from '../app/signing-on.ts';
import { consentPages, decide, openRequest, sentTo } from './consent-page/pages.ts';
import { button, findings, heading, must, sees } from './pages.ts';
import { addAuthenticator, enrol } from './passkeys.ts';

const { ask, visit, service } = consentPages(besideProvider());

/** A request for Ada, of a developer whose people are provisioned. */
async function askAda(members: object = {}, mode = 'sso') {
  const provider = await startAccountsServer();
  const asked = await ask({ request: { principalId: 'ada' } });
  await addOidc(asked.developer, provider, { scimManaged: true, ...members }, service().url);
  await provision(service(), asked.developer);
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
  const askedFor = (prompt: string | null) =>
    page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url());
      return pathname === '/auth' && searchParams.get('prompt') === prompt;
    });
  await openRequest(page, link);
  const first = askedFor(null);
  await button(page, 'Sign in through your organisation').click();
  await first;
  await sees(page, 'but not as ada');
  const again = askedFor('login');
  await button(page, 'Sign in through your organisation').click();
  await again;
  await page.waitForURL(/\/consent\?/);
  await sees(page, 'but not as ada');

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

test('where a passkey is needed too, the page asks for the sign-on first, and for the passkey once', async () => {
  const { link, developer, grant } = await askAda({}, 'passkey');
  const page = await visit();
  await page.goto(link);
  await addAuthenticator(page);
  const logIn = await page.context().newPage();
  await logIn.goto(
    `${service().url}/sso/login?org=${developer.developerId}&mode=redirect&return_to=/consent`,
  );
  await logIn.close();
  await page.context().clearCookies({ name: 'bh_sso_session' });
  await enrol(page, developer, 'ada'); // Ada is a user by now
  await must(developer, 'POST', '/v1/sso/enforce', { enforce: true });
  const asked = sentTo(page, 'options');

  await openRequest(page, link);
  await sees(page, 'To approve, sign in through your organisation');
  expect(await button(page, 'Approve').getAttribute('aria-disabled')).toBe('true');
  await button(page, 'Sign in through your organisation').click();
  await sees(page, /your browser asks for the passkey of/);
  await decide(page, 'Approve', 'Approved');

  expect(asked).toHaveLength(1);
  expect(await grant()).toMatchObject({ principalId: 'ada', consentMethod: 'passkey' });
});
