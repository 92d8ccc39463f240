import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream } from '../app/connecting.ts';
import { brand, brandOn, button, findings, heading, pagesOfService, sees } from './pages.ts';

const { visit, service } = pagesOfService(besideUpstream());
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
