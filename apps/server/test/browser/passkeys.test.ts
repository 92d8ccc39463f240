import { describe, expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream } from '../app/connecting.ts';
import { entriesOf, grantTo, openSession } from '../app/flow.ts';
import { newClient, pkceLink } from '../app/oauth.ts';
import { consentPages, decide, openRequest, sentTo } from './consent-page/pages.ts';
import { button, findings, heading, must, sees } from './pages.ts';
import { addAuthenticator, enrol } from './passkeys.ts';
import { answer } from './permissions-page/permissions.ts';

const { ask, visit, service } = consentPages(besideUpstream());
const withPasskeys = { settings: { fidoRequired: true } } as const;
const person = { bypassCSP: true } as const; // axe is a script from outside the page

describe('a passkey in a real browser', () => {
  test('W2 signs what the person chose on the consent page, and only then are they asked', async () => {
    const { developer, id, link, grant } = await ask(withPasskeys);
    const page = await visit(person);
    await page.goto(link);
    await addAuthenticator(page);
    const passkey = await enrol(page, developer);
    const asked = sentTo(page, 'options');

    await openRequest(page, link);
    await sees(page, /Your browser asks for the passkey of/);
    expect(await findings(page)).toEqual([]);
    expect(asked).toEqual([]);
    await page.getByRole('checkbox').last().uncheck();
    await decide(page, 'Allow', 'Allowed');

    const given = await grant();
    expect(given).toMatchObject({ consentMethod: 'passkey', principalId: 'user_42' });
    expect(asked).toMatchObject([{ decision: { scopes: given.scopes } }]);
    const [entry] = await entriesOf(developer, 'fido.assertion');
    expect(entry?.metadata).toMatchObject({ credentialId: passkey.id, authRequestId: id });
  });

  test('decides nothing without a look at its person, who can try again', async () => {
    const { developer, link, record } = await ask(withPasskeys);
    const page = await visit();
    await page.goto(link);
    const { setVerified } = await addAuthenticator(page);
    await enrol(page, developer);
    await openRequest(page, link);

    await setVerified(false);
    await decide(page, 'Allow');
    await sees(page, 'No passkey was used, so nothing was decided.');
    const before = (await record()).status;
    await setVerified(true);
    await decide(page, 'Allow', 'Allowed');

    expect([before, (await record()).status]).toEqual(['pending', 'approved']);
  });

  test('is missing where the person has registered none, and they can deny', async () => {
    const { link, record } = await ask(withPasskeys);
    const page = await visit();

    await openRequest(page, link);
    await decide(page, 'Allow');
    await sees(page, 'You have no passkey yet.');
    await decide(page, 'Deny', 'Denied');

    expect((await record()).status).toBe('denied');
  });

  test('proves the person before an account is connected', async () => {
    const upstream = await startAccountsServer();
    const developer = await service().asDeveloper();
    await must(developer, 'PATCH', '/v1/me', { fidoRequired: true });
    await addProvider(developer, upstream, { name: 'Ledger' });
    const session = await askToConnect(developer);
    const page = await visit(person);
    await page.goto(session.connectUrl);
    await heading(page, /Connect Ledger/).waitFor();
    await addAuthenticator(page);
    await enrol(page, developer);

    expect(await findings(page)).toEqual([]);
    await button(page, 'Use your passkey').click();
    await button(page, 'Go to Ledger').and(page.locator(':enabled')).click();

    await heading(page, 'Connect this Ledger account?').waitFor();
    const [entry] = await entriesOf(developer, 'fido.assertion');
    expect(entry?.metadata).toMatchObject({ connectSessionId: session.id });
  });

  test('is seen on the person’s own page, and removed there', async () => {
    const developer = await service().asDeveloper({ mode: 'sandbox' });
    await grantTo(developer);
    const { dashboardUrl } = (await openSession(developer)).json();
    const page = await visit(person);
    await page.goto(dashboardUrl);
    await addAuthenticator(page);
    await enrol(page, developer);
    const again = (await openSession(developer)).json().dashboardUrl;

    await page.goto(again);
    await heading(page, 'Your permissions').waitFor();
    await page.getByRole('heading', { name: 'Your passkeys' }).waitFor();
    expect(await findings(page)).toEqual([]);
    await button(page, 'Remove the passkey Laptop').click();
    await answer(page, 'Remove it');
    await sees(page, 'Removed. This passkey no longer shows who you are.');

    const { credentials } = await must(developer, 'GET', '/v1/webauthn/credentials?principalId=user_42');
    expect(credentials).toEqual([]);
  });
});

/** A live account whose people show passkeys, and a link of its client. */
async function linkOfClient() {
  const developer = await service().asDeveloper();
  await must(developer, 'PATCH', '/v1/me', { consentMode: 'passkey' });
  const { clientId } = await newClient(developer);
  const { link } = await pkceLink(clientId, { state: 's1' });
  return { developer, link: link.replace('https://auth.test', service().url) };
}

test('O32 a person whom nobody has named shows a passkey without a name, and approves with it', async () => {
  const { developer, link } = await linkOfClient();
  const page = await visit(person);
  await page.route('https://client.test/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<h1>Back</h1>' }),
  );
  await page.goto(`${service().url}/sign-in`);
  await sees(page, 'The address of this page is not complete.');
  const { setVerified } = await addAuthenticator(page);
  await enrol(page, developer);

  await page.goto(link);
  await heading(page, 'Show who you are').waitFor();
  expect(await findings(page)).toEqual([]);
  await setVerified(false);
  await button(page, 'Use your passkey').click();
  await sees(page, 'Your browser gave no passkey.');
  await setVerified(true);
  await button(page, 'Use your passkey').click();
  await heading(page, /asks to act for you/).waitFor();
  await decide(page, 'Allow');
  await heading(page, 'Back').waitFor();

  const back = new URL(page.url());
  expect([back.pathname, back.searchParams.get('state')]).toEqual(['/cb', 's1']);
  expect(back.searchParams.get('code')).toMatch(/^[\w-]{43}$/);
  const [requested] = await entriesOf(developer, 'authorization.requested');
  expect(requested).toMatchObject({ principalId: 'user_42' });
});

test('a page whose request was used says so, and leads nowhere', async () => {
  const { developer, link } = await linkOfClient();
  const [page, other] = [await visit(), await visit()];
  await page.goto(link);
  await addAuthenticator(page);
  await enrol(page, developer);
  await other.goto(page.url().replace('/sign-in', '/oauth/authorize')); // takes the request to a new page
  await heading(other, 'Show who you are').waitFor();

  await button(page, 'Use your passkey').click();

  await heading(page, 'This request is over').waitFor();
});
