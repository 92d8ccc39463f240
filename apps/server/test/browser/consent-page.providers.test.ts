import { once } from 'node:events';
import { createServer } from 'node:http';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ownDomain } from '../app/asserting.ts';
import { addSaml, requestIdIn, responseOf, signed } from '../app/saml-provider.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer } from '../app/start-app.ts';
import { directory, findSlapd, startSlapd } from '../servers/slapd.ts';
import { consentPages, decide, openRequest } from './consent-page/pages.ts';
import { button, findings, must, sees } from './pages.ts';

beforeAll(findSlapd, 300_000);

const { ask, visit, service } = consentPages(besideProvider());

/** A request whose person has to sign in at the provider that `connect` adds. */
async function askAt(principalId: string, connect: (developer: Developer) => Promise<unknown>) {
  const asked = await ask({ request: { principalId } });
  await connect(asked.developer);
  await must(asked.developer, 'PATCH', '/v1/me', { consentMode: 'sso' });
  return asked;
}

test('a person signs in with the password of a directory from the page, comes back and approves', async () => {
  const server = await startSlapd();
  const { link, grant } = await askAt('ada@acme.test', async (developer) => {
    const { token } = await must(developer, 'POST', '/v1/scim/tokens', { label: 'test' });
    const made = await must(developer, 'POST', '/v1/sso/connections', {
      name: 'Directory',
      protocol: 'ldap',
      ldapUrl: server.url,
      ldapBindDn: directory.bindDn,
      ldapBindPassword: directory.bindPassword,
      ldapSearchBase: directory.people,
    });
    const signedIn = await service().app.inject({
      method: 'POST',
      url: '/sso/callback/ldap',
      body: {
        username: 'ada',
        password: 'password of ada',
        connectionId: made.id,
        org: developer.developerId,
      },
    });
    const person = { userName: 'ada@acme.test', externalId: signedIn.json().sub };
    await service().calling(token)('POST', '/scim/v2/Users', person);
    await must(developer, 'PATCH', `/v1/sso/connections/${made.id}`, { scimManaged: true });
  });
  const page = await visit();

  await openRequest(page, link);
  await button(page, 'Sign in through your organisation').click();
  await page.getByLabel('Name', { exact: true }).fill('ada');
  await page.getByLabel('Password').fill('wrong');
  await button(page, 'Sign in').click();
  await sees(page, 'This name and password do not belong together.');
  const faults = await findings(page);
  await page.getByLabel('Name', { exact: true }).fill('ada');
  await page.getByLabel('Password').fill('password of ada');
  await button(page, 'Sign in').click();
  await sees(page, 'You have signed in through your organisation.');
  await decide(page, 'Approve', 'Approved');

  expect(faults).toEqual([]);
  expect(await grant()).toMatchObject({ principalId: 'ada@acme.test', consentMethod: 'sso' });
});

/** A SAML identity provider that signs everybody in as Ada, by a form that the browser posts. */
async function startSamlProvider(acs: string) {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(String(request.url), 'http://localhost');
    const facts = { inResponseTo: requestIdIn(searchParams), recipient: acs, destination: acs };
    const answer = Buffer.from(signed(responseOf(service().clock(), facts))).toString('base64');
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Provider</title>
      <form method="post" action="${acs}"><input type="hidden" name="SAMLResponse" value="${answer}">
      <input type="hidden" name="RelayState" value="${searchParams.get('RelayState')}"><button>Continue</button></form>`);
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://localhost:${Object(server.address()).port}/sso`;
}

test('a person signs in at a SAML provider from the page, comes back and approves', async () => {
  const acs = `${service().url}/sso/callback/saml`;
  const idpSsoUrl = await startSamlProvider(acs);
  const members = { idpSsoUrl, spAcsUrl: acs, jitProvisioning: true, domains: ['acme.test'] };
  const { link, grant } = await askAt('ada@acme.test', async (developer) => {
    await ownDomain(service(), developer, 'acme.test');
    await addSaml(developer, members);
  });
  const page = await visit();

  await openRequest(page, link);
  await button(page, 'Sign in through your organisation').click();
  await button(page, 'Continue').click();
  await sees(page, 'You have signed in through your organisation.');
  await decide(page, 'Approve', 'Approved');

  expect(await grant()).toMatchObject({ principalId: 'ada@acme.test', consentMethod: 'sso' });
});
