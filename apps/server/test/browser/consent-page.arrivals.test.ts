import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { ownDomain } from '../app/asserting.ts';
import { newClient, pkceLink, REDIRECT } from '../app/oauth.ts';
import { hintClaims, newVoucher } from '../app/person.ts';
import { newServer } from '../app/published.ts';
import { addSaml, requestIdIn, responseOf, signed } from '../app/saml-provider.ts';
import { addOidc, besideProvider, provision } from '../app/signing-on.ts';
import type { Developer } from '../app/start-app.ts';
import { directory, findSlapd, startSlapd } from '../servers/slapd.ts';
import { consentPages, decide, openRequest, sentTo } from './consent-page/pages.ts';
import { button, findings, heading, must, pagesOfService, sees } from './pages.ts';
import { addAuthenticator, enrol } from './passkeys.ts';

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
  await decide(page, 'Allow');
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
  expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
});

describe("through the developer's identity provider", () => {
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
    await sees(page, 'To allow this, sign in through your organisation');
    const faults = await findings(page);
    await button(page, 'Sign in through your organisation').click();
    await sees(page, 'You have signed in through your organisation.');
    await decide(page, 'Allow', 'Allowed');

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

    expect(await button(page, 'Allow').getAttribute('aria-disabled')).toBe('true');
    expect(await record()).toMatchObject({ status: 'pending' });
  });

  test('a demand that begins while the page is open, and a group without the scopes, are explained', async () => {
    const limits = { groupMappings: { editors: ['email:send'] }, defaultScopes: ['calendar:read'] };
    const { link, developer, record } = await askAda(limits, 'developer');
    const page = await visit();
    await openRequest(page, link);
    await must(developer, 'PATCH', '/v1/me', { consentMode: 'sso' });

    await decide(page, 'Allow');
    await sees(page, 'asks that you first sign in through your organisation');
    await button(page, 'Sign in through your organisation').click();
    await sees(page, 'You have signed in through your organisation.');
    await decide(page, 'Allow');
    await sees(page, 'Your organisation does not let you give all of this.');
    await page.getByLabel(/Send email/).uncheck();
    await decide(page, 'Allow', 'Allowed');

    expect(await record()).toMatchObject({ scopes: ['calendar:read'] });
    await heading(page, 'Allowed').waitFor();
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
    await page.bringToFront(); // to close the other one takes the browser half a minute at times
    await page.context().clearCookies({ name: 'bh_sso_session' });
    await enrol(page, developer, 'ada'); // Ada is a user by now
    await must(developer, 'POST', '/v1/sso/enforce', { enforce: true });
    const asked = sentTo(page, 'options');

    await openRequest(page, link);
    await sees(page, 'To allow this, sign in through your organisation');
    expect(await button(page, 'Allow').getAttribute('aria-disabled')).toBe('true');
    await button(page, 'Sign in through your organisation').click();
    await sees(page, /Your browser asks for the passkey of/);
    await decide(page, 'Allow', 'Allowed');

    expect(asked).toHaveLength(1);
    expect(await grant()).toMatchObject({ principalId: 'ada', consentMethod: 'passkey' });
  });
});

describe('through providers of other kinds', () => {
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
    await decide(page, 'Allow', 'Allowed');

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
    await decide(page, 'Allow', 'Allowed');

    expect(await grant()).toMatchObject({ principalId: 'ada@acme.test', consentMethod: 'sso' });
  });
});
