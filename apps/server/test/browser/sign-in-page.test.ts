import { expect, test } from 'vitest';
import { entriesOf } from '../app/flow.ts';
import { newClient, pkceLink } from '../app/oauth.ts';
import { decide } from './consent-page/pages.ts';
import { button, findings, heading, must, pagesOfService, sees } from './pages.ts';
import { addAuthenticator, enrol } from './passkeys.ts';

const { visit, service } = pagesOfService();

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
  const page = await visit({ bypassCSP: true }); // axe is a script from outside the page
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
