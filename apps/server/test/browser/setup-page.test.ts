import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { besideProvider, registerAt } from '../app/signing-on.ts';
import {
  button,
  findings,
  heading,
  inPseudoLanguage,
  pagesOfService,
  scrollsSideways,
  sees,
} from './pages.ts';

const { visit, service } = pagesOfService(besideProvider());
const person = { bypassCSP: true } as const; // axe is a script from outside the page

test('an administrator enters the provider, sees that it works, and copies a SCIM token that works', async () => {
  const provider = await startAccountsServer();
  const client = await registerAt(provider, service().url);
  const developer = await service().asDeveloper();
  await developer('PATCH', '/v1/me', { name: 'Acme Books' });
  const body = { name: 'Initech', purposes: ['sso', 'scim'], acknowledge: 'all people of the account' };
  const link = (await developer('POST', '/v1/sso/setup-links', body)).json();
  const page = await visit(person);

  await page.goto(link.url);
  await heading(page, 'Set up sign-in for Initech').waitFor();
  expect(page.url()).not.toContain('#');
  expect(await findings(page)).toEqual([]);
  await sees(page, '2 steps left.');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate('navigator.clipboard.readText()');
  await button(page, 'Copy Redirect URI').click();
  await sees(page, 'Copied.');
  expect(await copied()).toBe(`${service().url}/sso/callback`);
  await page.getByLabel('Your identity provider').selectOption('keycloak');
  await sees(page, 'In your realm make a client of the type OpenID Connect');
  await page.getByLabel('Issuer URL').fill(`${provider.issuer}/nowhere`);
  await page.getByLabel('Client ID').fill(client.CLIENT_ID);
  await page.getByLabel('Client secret').fill(client.CLIENT_SECRET);
  await button(page, 'Save and test').click();
  await sees(page, 'There is no discovery document');
  await sees(page, '2 steps left.');
  await page.getByLabel('Issuer URL').fill(provider.issuer);
  await button(page, 'Save and test').click();
  await sees(page, 'The provider works.');
  await sees(page, '1 step left.');
  await button(page, 'Show a SCIM token').click();
  await sees(page, 'Copy the token now.');
  await sees(page, 'All steps are done.');
  await button(page, 'Copy SCIM token').click();
  await expect.poll(copied).toMatch(/^bh_scim_/);
  const token = /bh_scim_[\w-]{43}/.exec(await page.locator('main').innerText())?.[0] ?? '';
  expect(await copied()).toBe(token);
  expect(await findings(page)).toEqual([]);

  expect((await service().calling(token)('GET', '/scim/v2/Users')).statusCode).toBe(200);
  const { connections } = (await developer('GET', '/v1/sso/connections')).json();
  expect(connections).toMatchObject([{ name: 'Initech', status: 'testing', issuerUrl: provider.issuer }]);
  await page.reload(); // the tab keeps its session
  await heading(page, 'Set up sign-in for Initech').waitFor();
  await sees(page, 'All steps are done.');
  await button(page, 'I am done').click();
  await heading(page, 'Setup finished').waitFor();
  await sees(page, 'Acme Books looks at the connection and activates it.');
  await sees(page, 'ask Acme Books for a new link');
  expect(await findings(page)).toEqual([]);
  const other = await visit(person);
  await other.goto(link.url);
  await heading(other, 'This link cannot be opened').waitFor();
});

test.each(['ltr', 'rtl'] as const)('holds in a language that is longer by 40 %%, written %s', async (dir) => {
  const developer = await service().asDeveloper();
  const body = { name: 'Initech', purposes: ['sso', 'scim'], acknowledge: 'all people of the account' };
  const link = (await developer('POST', '/v1/sso/setup-links', body)).json();
  const page = await visit({ ...person, viewport: { width: 390, height: 844 }, locale: 'de-DE' });
  await inPseudoLanguage(page, '**/setup', dir);

  await page.goto(link.url);
  await heading(page, /Set up sign-in for Initech ëïlöngër/).waitFor();

  expect(await page.locator('html').getAttribute('dir')).toBe(dir);
  for (const protocol of ['oidc', 'saml']) {
    await page.locator('select').nth(1).selectOption(protocol);
    expect(await scrollsSideways(page)).toBe(false);
  }
  expect(await findings(page)).toEqual([]);
});

test('a value that the browser does not let the page copy is selected', async () => {
  const developer = await service().asDeveloper();
  const link = (
    await developer('POST', '/v1/sso/setup-links', { name: 'Initech', purposes: ['sso'] })
  ).json();
  const page = await visit(person);
  await page.goto(link.url);
  await sees(page, '1 step left.');
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))");

  await button(page, 'Copy Redirect URI').click();

  await sees(page, 'Your browser does not let the page copy.');
  expect(await page.evaluate('getSelection().toString()')).toBe(`${service().url}/sso/callback`);
});
