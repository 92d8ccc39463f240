import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, askToConnect } from '../app/connecting.ts';
import { addOidc, besideProvider, provision } from '../app/signing-on.ts';
import { brand, brandOn, button, findings, heading, must, pagesOfService, sees } from './pages.ts';

const { visit, service } = pagesOfService(besideProvider({ CONNECT_ALLOW_PRIVATE_HOSTS: 'true' }));
const person = { bypassCSP: true } as const; // axe is a script from outside the page

/** A link of a developer in the sandbox. */
async function startPage() {
  const upstream = await startAccountsServer();
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await developer('PATCH', '/v1/me', { name: 'Acme Books' });
  await addProvider(developer, upstream, { name: 'Ledger' });
  const { agentId } = (await developer('POST', '/v1/agents', { name: 'Invoice assistant' })).json();
  const session = await askToConnect(developer, { agentId, scopes: ['files:write'] });
  return { upstream, developer, session };
}

test('a person sees who connects what for whom, goes to the upstream, and confirms the account', async () => {
  const { developer, session } = await startPage();
  const page = await visit(person);

  await page.goto(session.connectUrl);
  await heading(page, 'Connect Ledger for Acme Books?').waitFor();
  const shown = await page.locator('main').innerText();
  for (const text of [
    'Acme Books',
    'Invoice assistant',
    'user_42',
    'files:read',
    'files:write',
    '127.0.0.1',
  ]) {
    expect(shown).toContain(text);
  }
  expect(page.url()).not.toContain('#'); // the ticket is in no address that people copy
  expect(await findings(page)).toEqual([]);
  await page.getByRole('checkbox').uncheck();
  await button(page, 'Go to Ledger').click();

  await heading(page, 'Connect this Ledger account?').waitFor();
  await sees(page, 'ada');
  expect(await page.locator('main').innerText()).not.toContain('files:write');
  expect(await findings(page)).toEqual([]);
  expect((await developer('GET', '/v1/vault/credentials')).json().total).toBe(0);
  await button(page, 'Connect this account').click();
  await heading(page, 'Connected').waitFor();

  const [credential] = (await developer('GET', '/v1/vault/credentials')).json().credentials;
  expect(credential.connection.scopesGranted).not.toContain('files:write');
});

test('a person who cancels has connected nothing, and the link is over', async () => {
  const { developer, session } = await startPage();
  const page = await visit(person);

  await page.goto(session.connectUrl);
  await button(page, 'Cancel').click();
  await heading(page, 'Nothing was connected').waitFor();

  expect((await developer('GET', `/v1/vault/connect-sessions/${session.id}`)).json().status).toBe(
    'cancelled',
  );
});

test('the page has the logo and the colour of the developer', async () => {
  const { developer, session } = await startPage();
  await brand(developer);
  const page = await visit();

  await page.goto(session.connectUrl);
  await heading(page, /Connect Ledger/).waitFor();

  expect(await brandOn(page, 'Go to Ledger')).toEqual({
    logo: [96, 32, true],
    name: 'Acme Books',
    fill: 'rgb(122, 31, 92)',
  });
});

/** A link for Ada, of a developer whose people prove themselves at their organisation's provider. */
async function startPageOfOrganisation() {
  const [upstream, provider] = [await startAccountsServer(), await startAccountsServer()];
  const developer = await service().asDeveloper();
  await addOidc(developer, provider, { scimManaged: true }, service().url);
  await provision(service(), developer);
  await must(developer, 'PATCH', '/v1/me', { consentMode: 'sso' });
  await addProvider(developer, upstream, { name: 'Ledger' });
  return { developer, provider, session: await askToConnect(developer, { principalId: 'ada' }) };
}

test('a person signs in at the provider from the page, comes back and connects the account', async () => {
  const { developer, session } = await startPageOfOrganisation();
  const page = await visit(person);

  await page.goto(session.connectUrl);
  await sees(page, 'sign in through your organisation as ada');
  expect(await findings(page)).toEqual([]);
  expect(await button(page, 'Go to Ledger').isDisabled()).toBe(true);
  await button(page, 'Sign in through your organisation').click();
  await heading(page, /Connect Ledger for/).waitFor();
  await button(page, 'Go to Ledger').click();
  await heading(page, 'Connect this Ledger account?').waitFor();
  await button(page, 'Connect this account').click();
  await heading(page, 'Connected').waitFor();

  const [credential] = (await must(developer, 'GET', '/v1/vault/credentials')).credentials;
  expect(credential).toMatchObject({ principalId: 'ada', connection: { method: 'sso' } });
});

test('somebody else who signs in goes no further, and a sign-on that ends is asked for again', async () => {
  const { developer, provider, session } = await startPageOfOrganisation();
  provider.behaviour.account = 'grace';
  const page = await visit(person);
  await page.goto(session.connectUrl);
  await button(page, 'Sign in through your organisation').click();
  await sees(page, 'but not as ada');
  expect(await button(page, 'Go to Ledger').isDisabled()).toBe(true);

  provider.behaviour.account = 'ada';
  await button(page, 'Sign in through your organisation').click();
  await button(page, 'Go to Ledger').click();
  await heading(page, 'Connect this Ledger account?').waitFor();
  for (const { id } of (await must(developer, 'GET', '/v1/sso/sessions')).sessions) {
    await developer('DELETE', `/v1/sso/sessions/${id}`);
  }
  await button(page, 'Connect this account').click();
  await sees(page, 'First sign in through your organisation.');
  await button(page, 'Sign in through your organisation').click();
  await heading(page, 'Connect this Ledger account?').waitFor();
  await button(page, 'Connect this account').click();
  await heading(page, 'Connected').waitFor();
});
