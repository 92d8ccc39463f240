import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { ownDomain } from '../app/asserting.ts';
import { deliveriesOf, dispatcherOf, registerWebhook } from '../app/deliveries.ts';
import { registerAgent } from '../app/flow.ts';
import { newClient } from '../app/oauth.ts';
import { startReceiver } from '../app/receiving.ts';
import { addSaml } from '../app/saml-provider.ts';
import { addOidc } from '../app/signing-on.ts';
import { transmitterAt } from '../app/transmitter.ts';
import { consolePages, DESK, faultsOf, populated, refusedCalls, undecided, withSameIds } from './console.ts';
import { button, findings, hasNo, heading, picture, sees } from './pages.ts';
import { addAuthenticator } from './passkeys.ts';

const { visit, signedIn, open, service } = consolePages({
  env: {
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
    SSO_ALLOW_PRIVATE_HOSTS: 'true',
    SSO_ALLOW_INSECURE_URLS: 'true',
  },
});
/** Axe is a script from outside the page, and cannot judge what is half faded in. */
const inspected = { bypassCSP: true, reducedMotion: 'reduce' } as const;

const pages = [
  { name: 'overview', path: '', title: 'Overview' },
  { name: 'agents', path: '/agents', title: 'Agents' },
  { name: 'agent', path: '/agents/:agent', title: 'Travel booker' },
  { name: 'grants', path: '/grants', title: 'Grants' },
  { name: 'grant', path: '/grants/:grant', title: 'Travel booker for user_42' },
  { name: 'tour', path: '/tour', title: 'Tour' },
  { name: 'members', path: '/members', title: 'Members' },
  { name: 'changes', path: '/changes', title: 'Changes' },
  { name: 'keys', path: '/keys', title: 'API keys' },
  { name: 'usage', path: '/usage', title: 'Usage' },
  { name: 'settings', path: '/settings', title: 'Settings' },
  { name: 'requests', path: '/requests', title: 'Requests for consent' },
  { name: 'people', path: '/people', title: 'People' },
  { name: 'person', path: '/people/:person', title: 'user_42' },
  { name: 'audit', path: '/audit', title: 'Audit' },
  { name: 'identity', path: '/identity', title: 'Sign-on and provisioning' },
  { name: 'connections', path: '/connections', title: 'Connected accounts' },
  { name: 'connect', path: '/identity/new', title: 'Connect an organisation' },
  { name: 'webhooks', path: '/webhooks', title: 'Webhooks' },
  { name: 'signature', path: '/webhooks/signature', title: 'Check a signature' },
] as const;

test.each(pages)(
  '$name: has no fault that axe finds, empty or full, and fits a phone',
  async ({ name, path, title }) => {
    const developer = await service().asDeveloper({ mode: 'sandbox' });
    const page = await signedIn(developer, inspected);
    if (!path.includes(':')) {
      await open(page, path, title);
      await page.waitForLoadState('networkidle');
      expect(['empty', ...(await faultsOf(page))]).toEqual(['empty']);
    }
    const { agentId, grantId } = await populated(developer);
    await registerWebhook(developer, 'https://hooks.acme.example/behest', [
      'grant.*',
      'token.reuse_detected',
    ]);

    await open(
      page,
      path.replace(':agent', agentId).replace(':grant', grantId).replace(':person', 'user_42'),
      title,
    );
    await page.waitForLoadState('networkidle');

    expect(['full', ...(await faultsOf(page))]).toEqual(['full']);
    await withSameIds(page);
    await picture(page, `console-${name}`);
  },
);

test('a webhook, a delivery that failed, and what asks before it acts have no fault, and fit a phone', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { deliver } = dispatcherOf(service());
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(developer, receiver.url, ['agent.*', 'grant.*']);
  await populated(developer);
  await deliver();
  receiver.answerStatus(503);
  await registerAgent(developer, 'Hotel finder');
  await deliver();
  const failing = (await deliveriesOf(developer, webhookId)).find(({ status }) => status === 'pending');
  const page = await signedIn(developer, inspected);
  await open(page, `/webhooks/${webhookId}`, receiver.url);
  await page.waitForLoadState('networkidle');
  const one = await faultsOf(page);
  await withSameIds(page);
  await picture(page, 'console-webhook');
  const asking: unknown[] = [];
  for (const name of ['Rotate the secret', 'Change', 'Recover', 'Delete']) {
    await button(page, name).first().click();
    await page.locator('.dialog').waitFor();
    asking.push(...(await findings(page)));
    await page.keyboard.press('Escape');
  }
  await open(page, `/webhooks/${webhookId}/${failing?.id}`, 'agent.created');
  await page.waitForLoadState('networkidle');
  const other = await faultsOf(page);
  await withSameIds(page);
  await picture(page, 'console-delivery');

  expect([one, asking, other]).toEqual([[], [], []]);
});

const waiting = [
  { name: 'decisions', path: '/decisions', title: 'Decisions' },
  { name: 'decision', path: '/decisions/:decision', title: 'acme_bank.wire' },
  { name: 'approvers', path: '/approvers', title: 'Approvers' },
  { name: 'anomalies', path: '/anomalies', title: 'Anomalies' },
  { name: 'alert', path: '/anomalies/:alert', title: /./ },
] as const;

test('what waits for people has no fault that axe finds, empty or full, and fits a phone', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer, inspected);
  const found: unknown[] = [];
  for (const { path, title } of waiting.filter(({ path }) => !path.includes(':'))) {
    await open(page, path, title);
    await page.waitForLoadState('networkidle');
    found.push(...(await findings(page)));
  }
  const { decisionId, alertId } = await undecided(service(), developer);
  for (const { name, path, title } of waiting) {
    await open(page, path.replace(':decision', decisionId).replace(':alert', alertId), title);
    await page.waitForLoadState('networkidle');
    found.push(...(await faultsOf(page)).map((fault) => [name, fault]));
    await withSameIds(page);
    await picture(page, `console-${name}`);
  }

  expect(found).toEqual([]);
}, 60_000);

test('denials, failed requests, and one of each have no fault, empty or full, and fit a phone', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer, inspected);
  const faultsAt = async (path: string, title: string, name?: string) => {
    await open(page, path, title);
    await page.waitForLoadState('networkidle');
    const faults = await faultsOf(page);
    await withSameIds(page);
    if (name) await picture(page, name);
    return faults;
  };
  const empty = [
    ...(await faultsAt('/denials', 'Denials')),
    ...(await faultsAt('/denials?show=failed', 'Denials')),
  ];
  const { requestId } = await refusedCalls(developer);
  const ruled = '/v1/audit/entries?denial=tool_not_granted/policy_denied';
  const [entry] = (await developer('GET', ruled)).json().entries;
  const lesser = '/v1/audit/entries?denial=permission_insufficient';
  const [asksPerson] = (await developer('GET', lesser)).json().entries; // with a long request to paste

  expect(empty).toEqual([]);
  expect(await faultsAt('/denials', 'Denials', 'console-denials')).toEqual([]);
  expect(await faultsAt('/denials?show=failed', 'Denials')).toEqual([]);
  const denied = 'Why acme_pay:refund was denied';
  expect(await faultsAt(`/denials/${entry.entryId}`, denied, 'console-denial')).toEqual([]);
  expect(await faultsAt(`/denials/${asksPerson.entryId}`, 'Why acme_pay:close was denied')).toEqual([]);
  expect(await faultsAt(`/denials/requests/${requestId}`, 'NOT_FOUND', 'console-failed-request')).toEqual([]);
  expect(await page.content()).not.toContain('iban-of-ada');
});

test('a role without a capability sees what it lacks, with the role that has it', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer, inspected);
  await sql`update members set role = 'auditor' where developer_id = ${developer.developerId}`.execute(
    service().db,
  );

  await open(page, '/webhooks', 'Webhooks');
  const add = page.getByRole('button', { name: 'Add a webhook (Admin)' });

  expect(await add.isDisabled()).toBe(true);
  expect(await findings(page)).toEqual([]);
});

test('the questions and the palette have no fault either, and give the focus back', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer, inspected);
  await open(page, '/agents', 'Agents');

  const stop = button(page, 'Stop Travel booker');
  await stop.click();
  await button(page, 'Stop the agent').waitFor();
  const asking = await findings(page);
  await withSameIds(page);
  await picture(page, 'console-stop');
  await page.keyboard.press('Escape');
  await expect
    .poll(() => page.evaluate("document.activeElement?.getAttribute('aria-label')"))
    .toBe('Stop Travel booker');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox').waitFor();
  const searching = await findings(page);
  await page.keyboard.press('ArrowUp');
  const last = page.getByRole('menuitem', { name: 'Settings' });
  await expect.poll(() => last.getAttribute('data-focused')).toBe('true');
  const { y = 0, height = 0 } = (await last.boundingBox()) ?? {};
  await page.getByRole('searchbox').fill('user_4');
  await page.getByRole('menuitem', { name: 'user_42' }).waitFor();
  const found = await findings(page);

  expect([asking, searching, found]).toEqual([[], [], []]);
  expect(y > 0 && y + height < DESK.height).toBe(true);
});

test('the sign-in page has no fault', async () => {
  const page = await visit(inspected);
  await open(page, '', 'Sign in to the console');

  expect(await faultsOf(page)).toEqual([]);
  await heading(page, 'Sign in to the console').waitFor();
  await picture(page, 'console-sign-in');
});

test('a member who has lost their passkey comes back by a recovery code, and makes others', async () => {
  const developer = await service().asDeveloper();
  const page = await visit({ ...inspected, viewport: DESK });
  const { loseAll } = await addAuthenticator(page);
  await open(page, '/members', 'Sign in to the console');
  await page.getByLabel('API key').fill(developer.apiKey);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Your email address').fill('ada@acme.example');
  await button(page, 'Sign in with the key').click();
  await button(page, 'Register a passkey').click();
  await heading(page, 'Your recovery codes').waitFor();
  const codes = await page.locator('.codes code').allInnerTexts();
  const shown = await faultsOf(page);
  await button(page, 'I have saved them').click();
  await heading(page, 'Members').waitFor();
  await button(page, 'Sign out').click();
  await loseAll();

  await page.getByText('Lost your passkey?').click();
  await page.getByLabel('Email address of the member').fill('ada@acme.example');
  await page.getByLabel('Recovery code').fill(codes[3] ?? '');
  const asked = await faultsOf(page);
  await button(page, 'Use the code').click();
  await button(page, 'Register a passkey').click();
  await heading(page, 'Overview').waitFor();
  await open(page, '/members', 'Members');
  await sees(page, 'Recovery codes left: 9');
  await button(page, 'Make recovery codes').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make recovery codes' }).click();
  await page.getByRole('dialog', { name: 'Your recovery codes' }).waitFor();
  const others = await page.locator('.codes code').allInnerTexts();
  const remade = await findings(page);
  await button(page, 'I have saved them').click();
  await sees(page, 'Recovery codes left: 10');

  expect(codes).toHaveLength(10);
  expect(others.filter((code) => codes.includes(code))).toEqual([]);
  expect([shown, asked, remade]).toEqual([[], [], []]);
});

test.each(['okta', 'directory'])(
  'each step of connecting %s has no fault, and so has the page of a connection',
  async (provider) => {
    const developer = await service().asDeveloper({ mode: 'sandbox' });
    const page = await signedIn(developer, inspected);
    const { id, name } = await addSaml(developer, { groupMappings: { Finance: ['payments:read'] } });
    const step = (words: string) => `/identity/new?provider=${provider}&connectionId=${id}&step=${words}`;
    const faults: unknown[] = [];
    for (const words of ['there', 'here', 'here&protocol=saml', 'test', 'people']) {
      await open(page, step(words), 'Connect an organisation');
      await page.waitForLoadState('networkidle');
      faults.push(words, ...(await faultsOf(page)));
      await withSameIds(page);
      if (provider === 'okta' && words !== 'here&protocol=saml')
        await picture(page, `console-connect-${words}`);
    }
    await open(page, `/identity/${id}`, name);
    await page.waitForLoadState('networkidle');

    expect(faults.filter((fault) => typeof fault !== 'string')).toEqual([]);
    expect(await faultsOf(page)).toEqual([]);
    await withSameIds(page);
    if (provider === 'okta') await picture(page, 'console-connection');
  },
);

test('a provider that failed its test is activated only after a question, led to by its domains, and paused', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer, inspected);
  const asks = page.getByRole('alertdialog');
  await open(page, '/identity/new?provider=okta&step=here', 'Connect an organisation');
  await page.getByLabel('Issuer URL').fill('http://127.0.0.1:9/');
  await page.getByLabel('Client ID').fill('client-of-acme');
  await page.getByLabel('Client secret').fill('secret-of-acme');
  await button(page, 'Save and test').click();
  await button(page, 'Change what was entered').waitFor();
  await page.locator('.verdict.bad').waitFor();

  await button(page, 'Activate Okta').click();
  await asks.getByText('Nothing answers at this address.').waitFor();
  await asks.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('link', { name: 'List its domains' }).click();
  await page.getByLabel('Domains').fill('acme.example');
  await button(page, 'Save and test').click();
  await page.locator('main').getByText('people with an address in acme.example').waitFor();
  await button(page, 'Pause Okta').click();
  await asks.getByRole('button', { name: 'Pause' }).click();
  await button(page, 'Activate Okta').waitFor();
  const [connection] = (await developer('GET', '/v1/sso/connections')).json().connections;
  await open(page, `/identity/${connection.id}`, 'Okta');
  await button(page, 'Activate Okta').click();
  await asks.getByText('No test has passed since it was entered.').waitFor();

  expect(await faultsOf(page)).toEqual([]);
  expect(connection).toMatchObject({ status: 'inactive', domains: ['acme.example'], lastTestedAt: null });
});

test('a link for somebody else is made, listed and revoked', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer, inspected);
  await open(page, '/identity/new', 'Connect an organisation');

  await button(page, 'Somebody else does this').click();
  await page.getByRole('dialog').getByLabel('Organisation').fill('Initech');
  await page.getByLabel('Ends').selectOption('1');
  const asking = await findings(page);
  await button(page, 'Make the link').click();
  const link = await page.locator('.secret code').innerText();
  await button(page, 'I have copied it').click();
  await open(page, '/identity', 'Sign-on and provisioning');
  await button(page, 'Revoke the link for Initech').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await hasNo(page.getByRole('row', { name: /Initech/ }));
  const other = await visit();
  await other.goto(link);

  await heading(other, 'This link cannot be opened').waitFor();
  expect(asking).toEqual([]);
  expect(await page.content()).not.toContain(link);
});

test('an upstream is added with the address to register there, and shown with the accounts of people', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer, inspected);
  await open(page, '/connections', 'Connected accounts');

  await button(page, 'Add an upstream').click();
  await page.locator('select[name=preset]').selectOption('github');
  await page.getByLabel('Service').fill('github');
  await page.getByLabel('Client ID').fill('client-of-acme');
  await page.getByLabel('Client secret').fill('secret-of-acme');
  const asking = await findings(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Add an upstream' }).click();
  await page.getByRole('heading', { name: 'The upstream is added' }).waitFor();
  const callback = await page.getByRole('dialog').locator('dd code').innerText();
  await button(page, 'Done').click();
  await page.getByRole('row', { name: /GitHub/ }).waitFor();
  const account = { principalId: 'user_42', service: 'github', accessToken: 'upstream-token' };
  await developer('POST', '/v1/vault/credentials', account);
  await page.reload();
  await page.getByRole('row', { name: /user_42.*Stored by API/ }).waitFor();

  const [provider] = (await developer('GET', '/v1/vault/providers')).json().providers;
  expect([asking, callback]).toEqual([[], provider.redirectUri]);
  expect(await faultsOf(page)).toEqual([]);
  await withSameIds(page);
  await picture(page, 'console-connections');
});

test('a provider is believed for its people, for a client of the list, and its signals are heard', async () => {
  const provider = await startAccountsServer();
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await newClient(developer);
  const { id } = await addOidc(developer, provider, { domains: ['upstream.test'] }, service().url);
  await ownDomain(service(), developer, 'upstream.test');
  await transmitterAt(service(), provider);
  const page = await signedIn(developer, inspected);

  await open(page, `/identity/${id}?part=assertions`, 'Customer');
  await button(page, 'Let the provider decide').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Let the provider decide' }).click();
  await button(page, 'Add a client').click();
  await page.getByLabel('Scopes', { exact: true }).fill('calendar:read');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a client' }).click();
  await page.getByRole('row', { name: /calendar:read/ }).waitFor();
  await page.reload(); // what was announced to readers stays a while
  await page.getByRole('row', { name: /calendar:read/ }).waitFor();
  const believed = await faultsOf(page);
  await page.getByRole('link', { name: 'Signals', exact: true }).click();
  await button(page, 'Listen').click();
  const header = await page.locator('.secret code').innerText();
  const hearing = await faultsOf(page);

  expect([believed, hearing]).toEqual([[], []]);
  expect(header).toMatch(/^Bearer bh_ssfi_/);
  const path = `/v1/sso/connections/${id}`;
  expect((await developer('GET', `${path}/id-jag`)).json().enabled).toBe(true);
  expect((await developer('GET', `${path}/signals`)).json().delivery).toBe('push');
});

test('an owner lets an organisation into the console, whose people sign in there by its id', async () => {
  service().advance((Date.now() - service().clock().getTime()) / 1000); // the provider looks at the real time
  const provider = await startAccountsServer();
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  Object.assign(provider.behaviour, { account: 'bob', groups: ['Platform'] });
  const { id } = await addOidc(developer, provider, { groupAttribute: 'groups' }, service().url);
  const page = await signedIn(developer, inspected);
  await open(page, `/identity/${id}`, 'Customer');
  await page.getByText('Lets people into the console').click();
  await page.getByLabel('Roles by group').fill('Platform = operator');
  await page.locator('.panel', { hasText: 'Roles by group' }).getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await developer('GET', `/v1/sso/connections/${id}`)).json())
    .toMatchObject({ consoleAccess: true, consoleGroupMappings: { Platform: 'operator' } });

  const other = await visit({ ...inspected, viewport: DESK });
  await open(other, '', 'Sign in to the console');
  await other.getByLabel('Domain of your organisation').fill(developer.developerId);
  await button(other, 'Sign in with your organisation').click();
  await heading(other, 'Overview').waitFor();
  const address = other.url();
  await open(other, '/members', 'Members');
  await sees(other, 'bob@upstream.test');
  await other.waitForLoadState('networkidle');
  const faults = await faultsOf(other);
  provider.behaviour.groups = [];
  const stranger = await visit({ ...inspected, viewport: DESK });
  await open(stranger, '', 'Sign in to the console');
  await stranger.getByLabel('Domain of your organisation').fill(developer.developerId);
  await button(stranger, 'Sign in with your organisation').click();
  await sees(stranger, 'None of your groups opens this console');

  expect(address).not.toContain('#');
  expect(faults).toEqual([]);
});
