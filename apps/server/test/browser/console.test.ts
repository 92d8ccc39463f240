import { expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { dispatcherOf } from '../app/deliveries.ts';
import { startReceiver } from '../app/receiving.ts';
import { besideProvider, registerAt } from '../app/signing-on.ts';
import { consolePages, DESK, populated, refusedCalls, withSameIds } from './console.ts';
import { button, findings, hasNo, heading, must, picture, sees } from './pages.ts';
import { addAuthenticator } from './passkeys.ts';

const { visit, signedIn, open, service } = consolePages(
  besideProvider({ WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' }),
);

const agentsOf = (page: Parameters<typeof heading>[0]) => page.locator('tbody .row-link').allInnerTexts();

test('a newcomer signs in with a key, finds an agent, stops it and takes that back', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { agentId } = await populated(developer);
  const statusOf = async () => (await developer('GET', `/v1/agents/${agentId}`)).json().status;
  const page = await visit();

  await open(page, '/agents', 'Sign in to the console');
  await page.getByLabel('API key').fill(developer.apiKey);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Your email address').fill('ada@acme.example');
  await button(page, 'Sign in with the key').click();
  await heading(page, 'Agents').waitFor();
  await button(page, 'Stop Travel booker').click();
  await sees(page, '1 active grant');
  const untouched = await statusOf();
  await button(page, 'Stop the agent').click();
  await sees(page, 'Its tokens and grants are refused from now on.');
  const stopped = await statusOf();
  await button(page, 'Resume the agent').click();
  await sees(page, 'Everything works as before.');

  expect([untouched, stopped, await statusOf()]).toEqual(['active', 'suspended', 'active']);
  expect(await page.evaluate('document.cookie')).toBe('');
  expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain('bh_');
});

test('the tour goes from an agent to a revoked token, with the real consent page in the middle', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);

  await page.getByRole('link', { name: 'Begin with the tour' }).click();
  await button(page, 'Register it').click();
  await button(page, 'Ask').click();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Open the consent page' }).click();
  const consent = await opened;
  await button(consent, 'Allow').click();
  for (const name of ['Get the token', 'Verify', 'Revoke', 'Verify again', 'Call the tool'])
    await button(page, name).click();
  await heading(page, 'Tour').waitFor();
  await sees(page, 'That is the life of a grant');
  const answers = await page.getByRole('region', { name: 'Answer' }).allInnerTexts();
  const bottom = "document.querySelector('.step:last-child .answer').getBoundingClientRect().bottom";
  await expect.poll(() => page.evaluate(`${bottom} < innerHeight`)).toBe(true);
  const made = await page.locator('.links a').allInnerTexts();
  await page.getByRole('link', { name: 'Why the call was denied' }).click();
  await heading(page, 'Why calendar:list_events was denied').waitFor();

  expect(answers).toHaveLength(8);
  expect(answers[4]).toContain('"valid": true');
  expect(answers[6]).toContain('"valid": false');
  expect(answers[7]).toContain('"allowed": false');
  expect(made).toHaveLength(4);
  const [grant] = (await developer('GET', '/v1/grants')).json().grants;
  expect(grant).toMatchObject({ principalId: 'user_42', status: 'revoked' });
});

test('a colour is shown on the page for people before it is saved', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);
  const fill = () =>
    page.evaluate(
      "getComputedStyle(document.querySelector('iframe').contentDocument.querySelector('.decide button:last-child')).backgroundColor",
    );

  await open(page, '/settings', 'Settings');
  await page.getByLabel('Colour of the button').fill('#7a1f5c');
  await expect.poll(fill).toBe('rgb(122, 31, 92)');
  const unsaved = (await developer('GET', '/v1/me/branding')).json().accentColor;
  await button(page, 'Save').click();
  await expect
    .poll(async () => (await developer('GET', '/v1/me/branding')).json().accentColor)
    .toBe('#7a1f5c');

  expect(unsaved).toBeNull();
});

test('a rule is replayed over what happened before it is saved, compared with what it was, and taken back', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer);
  const policies = async () => (await developer('GET', '/v1/policies')).json().policies;

  await open(page, '/policies', 'Policies');
  await page.getByRole('link', { name: 'Deny deletes' }).click();
  await heading(page, 'New policy').waitFor();
  await page.getByLabel('Name').fill('No mail for user_42');
  await page.getByLabel('Person').fill('user_42');
  await page.getByLabel('Scopes').fill('email:send');
  const early = await button(page, 'Save').isDisabled();
  await button(page, 'Replay the last 30 days').click();
  await sees(
    page,
    'Of 3 recorded decisions, 2 newly denied, 0 newly waiting for a person and 0 newly allowed.',
  );
  const concerned = await page.locator('.plain-table').allInnerTexts();
  const unsaved = await policies();
  await button(page, 'Save').click();
  await heading(page, 'No mail for user_42').waitFor();
  const [saved] = await policies();
  await page.getByLabel('Person').fill('user_7');
  await button(page, 'Replay the last 30 days').click();
  await sees(page, '2 newly allowed');
  await button(page, 'Save').click();
  await button(page, 'Compare Version 1 with what is saved').click();
  await sees(page, '+   "principalId": "user_7",');
  await button(page, 'Take into the editor: Version 1').click();
  await button(page, 'Replay the last 30 days').click();
  await sees(page, '2 newly denied');
  await button(page, 'Save').click();
  await button(page, 'Compare Version 2 with what is saved').waitFor();
  const [back] = await policies();

  expect([early, unsaved]).toEqual([true, []]);
  expect(concerned.join(' ')).toMatch(/Travel booker[\s\S]*Mail reader[\s\S]*user_42\s+2/);
  expect(saved).toMatchObject({ effect: 'deny', principalId: 'user_42', scopes: ['email:send'], version: 1 });
  expect(back).toMatchObject({ principalId: 'user_42', version: 3 });
});

test('a new key is shown once, and works', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);

  await open(page, '/keys', 'API keys');
  await button(page, 'Make a key').click();
  await page.getByRole('dialog').getByLabel('Name').fill('backend');
  await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click();
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  const key = await page.locator('.secret code').innerText(); // neither has closed it
  await button(page, 'I have copied it').click();
  await sees(page, 'backend');

  expect((await developer.withToken(key)('GET', '/v1/agents')).statusCode).toBe(200);
  expect(await page.content()).not.toContain(key);
});

/** It comes before the clock of the service moves, because its provider looks at the real time. */
test('an organisation is connected: its provider entered, repaired, tested and tried, and its people sent', async () => {
  const provider = await startAccountsServer();
  provider.behaviour.groups = ['finance'];
  const client = await registerAt(provider, service().url);
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);

  await open(page, '/identity', 'Sign-on and provisioning');
  await button(page, 'Connect an organisation').click();
  await page.getByRole('link', { name: 'Keycloak, by OpenID Connect' }).click();
  await sees(page, 'In your realm make a client of the type OpenID Connect');
  await sees(page, `${service().url}/sso/callback`);
  await button(page, 'Next: enter here').click();
  await page.getByLabel('Issuer URL').fill(provider.issuer);
  await page.getByLabel('Client ID').fill(client.CLIENT_ID);
  await page.getByLabel('Client secret').fill('a wrong one');
  await button(page, 'Save and test').click();
  await sees(page, 'The provider refused `clientId` with `clientSecret`');
  const [{ id }] = (await developer('GET', '/v1/sso/connections')).json().connections;
  await button(page, 'Change what was entered').click();
  await page.getByLabel('Client secret').fill(client.CLIENT_SECRET);
  await button(page, 'Save and test').click();
  await sees(page, 'The provider works.');
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Sign in there once' }).click();
  const other = await opened;
  await heading(other, 'Keycloak').waitFor();
  await sees(page, 'ada@upstream.test');
  await sees(page, 'finance');
  await button(page, 'Activate').click();
  await button(page, 'Next: provision people').click();
  await button(page, 'Make a SCIM token').click();
  const token = await page.locator('.secret code').innerText();
  await sees(page, 'Waiting for the provider’s next change…');
  await service().calling(token)('POST', '/scim/v2/Users', { userName: 'grace', externalId: 'grace' });
  await sees(page, 'scim.user.created');

  expect((await developer('GET', `/v1/sso/connections/${id}`)).json().status).toBe('active');
  expect(page.url()).not.toContain('secret');
});

test('a webhook whose receiver fails is found, mended and recovered', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { deliver } = dispatcherOf(service());
  const receiver = await startReceiver();
  const page = await signedIn(developer);
  receiver.answerStatus(503);

  await open(page, '/webhooks', 'Webhooks');
  await button(page, 'Add a webhook').click();
  await page.getByRole('dialog').getByLabel('Address').fill(receiver.url);
  await page.getByRole('dialog').getByLabel('Events').fill('agent.created, webhook.test');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a webhook' }).click();
  const secret = await page.locator('.secret code').innerText();
  await button(page, 'I have copied it').click();
  await page.getByRole('link', { name: receiver.url }).click();
  const afterwards = await page.content();
  await button(page, 'Send a test').click();
  await heading(page, 'webhook.test').waitFor();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await deliver();
    service().advance(300);
  }
  await sees(page, 'The program answered 503.');
  const attempts = await page.getByRole('list', { name: 'Attempts in order' }).getByText('503').count();
  receiver.answerStatus(204);
  await page.getByRole('link', { name: receiver.url }).click();
  await button(page, 'Recover').click();
  await button(page, 'Send again').click();
  await sees(page, '1 delivery waits again');
  await deliver();
  await button(page, 'Close').click();
  await page.getByRole('link', { name: 'webhook.test' }).click();
  await sees(page, 'Attempt 6');
  const { headers = {}, body = '' } = receiver.received.at(-1) ?? {};
  await open(page, '/webhooks/signature', 'Check a signature');
  const sent: string[] = [];
  page.on('request', (request) => void sent.push(request.url()));
  await page.getByLabel('Secret of the webhook').fill(secret);
  await page.getByLabel('Headers').fill(JSON.stringify(headers));
  await page.getByLabel('Body').fill(`${body}\n`);
  await button(page, 'Check').click();
  await sees(page, 'right for the body before its spaces or line ends were changed');
  await page.getByLabel('Body').fill(body);
  await button(page, 'Check').click();
  await sees(page, 'The signature is right: the service sent this');

  expect(attempts).toBe(5);
  expect(receiver.received).toHaveLength(6);
  expect(afterwards).not.toContain(secret);
  expect(sent).toEqual([]);
});

test('the first owner of a live account registers a passkey, shows it for what gives authority, invites a colleague, and comes back', async () => {
  const developer = await service().asDeveloper();
  const page = await visit();
  await addAuthenticator(page);

  await open(page, '/keys', 'Sign in to the console');
  await page.getByLabel('API key').fill(developer.apiKey);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Your email address').fill('ada@acme.example');
  await button(page, 'Sign in with the key').click();
  await heading(page, 'Register a passkey').waitFor();
  await button(page, 'Register a passkey').click();
  await button(page, 'I have saved them').click();
  await heading(page, 'API keys').waitFor();
  service().advance(601);
  await button(page, 'Make a key').click();
  await page.getByRole('dialog').getByLabel('Name').fill('backend');
  await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click();
  await button(page, 'Use the passkey').click();
  await button(page, 'I have copied it').click();
  const names = (await developer('GET', '/v1/keys')).json().keys.map(({ name }: { name: string }) => name);
  await open(page, '/members', 'Members');
  await button(page, 'Invite a person').click();
  await page.getByRole('dialog').getByLabel('Email').fill('bob@acme.example');
  await page.getByRole('dialog').getByLabel('Role').selectOption('operator');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite a person' }).click();
  const link = await page.locator('.secret code').innerText();
  await button(page, 'I have copied it').click();
  const other = await visit();
  await addAuthenticator(other);
  await other.goto(link);
  await sees(other, 'Acme invites bob@acme.example');
  await other.getByLabel('Your name').fill('Bob');
  await button(other, 'Join with a passkey').click();
  await button(other, 'I have saved them').click();
  await heading(other, 'Overview').waitFor();
  await open(other, '/members', 'Members');
  await sees(other, 'Ada Lovelace');
  const offered = await other.getByRole('button', { name: /Invite|Suspend|Remove Ada/ }).count();
  await page.reload();
  await button(page, 'Suspend Bob').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Suspend' }).click();
  await button(page, 'Resume Bob').waitFor();
  await other.reload();
  await heading(other, 'Sign in to the console').waitFor();
  await button(page, 'Sign out').click();
  await button(page, 'Sign in with a passkey').click();
  await heading(page, 'Overview').waitFor();

  expect(names.filter((name: string) => name === 'backend')).toHaveLength(1);
  expect(offered).toBe(0);
});

test('a denial says what decided and what would allow it, and after that change it says to call again', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { policyId, requestId } = await refusedCalls(developer);
  const page = await signedIn(developer);

  await page.getByRole('link', { name: /Denials today/ }).click();
  await heading(page, 'Denials').waitFor();
  await page.getByRole('button', { name: /policy_denied/ }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
  const address = new URL(page.url()).searchParams.get('denial');
  await page.locator('tbody .row-link').first().click();
  await heading(page, 'Why acme_pay:refund was denied').waitFor();
  await sees(page, 'The policy “No refunds by agents” denies the call.');
  const checks = await page.locator('.checks .status').allInnerTexts();
  await developer('DELETE', `/v1/policies/${policyId}`);
  await page.reload();
  await sees(page, 'Call again: what denied the call has changed since.');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox').fill(requestId);
  await page.getByRole('menuitem', { name: /failed request/ }).click();
  await heading(page, 'NOT_FOUND').waitFor();

  expect(address).toBe('tool_not_granted/policy_denied');
  const before = Array.from({ length: 12 }, () => 'Passed');
  expect(checks).toEqual([...before, 'Failed', 'Not reached', 'Not reached']);
});

test('what weakens a live account waits until a second owner has looked at it', async () => {
  const developer = await service().asDeveloper();
  const page = await visit();
  await addAuthenticator(page);
  await open(page, '/changes', 'Sign in to the console');
  await page.getByLabel('API key').fill(developer.apiKey);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Your email address').fill('ada@acme.example');
  await button(page, 'Sign in with the key').click();
  await button(page, 'Register a passkey').click();
  await button(page, 'I have saved them').click();
  await heading(page, 'Changes').waitFor();
  await open(page, '/members', 'Members');
  await button(page, 'Invite a person').click();
  await page.getByRole('dialog').getByLabel('Email').fill('bob@acme.example');
  await page.getByRole('dialog').getByLabel('Role').selectOption('owner');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite a person' }).click();
  const link = await page.locator('.secret code').innerText();
  const other = await visit({ viewport: DESK, reducedMotion: 'reduce', bypassCSP: true });
  await addAuthenticator(other);
  await other.goto(link);
  await other.getByLabel('Your name').fill('Bob');
  await button(other, 'Join with a passkey').click();
  await button(other, 'I have saved them').click();
  await heading(other, 'Overview').waitFor();

  await open(page, '/changes', 'Changes');
  await button(page, 'Turn on').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Turn on' }).click();
  await button(page, 'Turn off').click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Turn off' }).click();
  await sees(page, 'CHANGE_PROPOSED');
  await page.keyboard.press('Escape');
  await sees(page, 'Another member than you has to agree.');
  const own = await button(page, 'Approve settings').isDisabled();
  await open(other, '/changes', 'Changes');
  const pictured = await findings(other);
  await withSameIds(other);
  await picture(other, 'console-change');
  const turned = { name: 'For one', effect: 'allow', principalId: 'user_\u202e42' };
  expect((await developer('POST', '/v1/policies', turned)).statusCode).toBe(202);
  await open(other, '/changes', 'Changes');
  await sees(other, 'user_\\u202e42');
  await button(other, 'Approve settings').click();
  await other.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click();
  await button(other, 'Turn on').waitFor();

  expect([own, pictured]).toEqual([true, []]);
  expect((await developer('GET', '/v1/me')).json().requireTwoForLoosening).toBe(false);
});

test('a link signs in once, and leaves the address at once', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { url } = (await developer('POST', '/v1/console/session/links', {})).json();
  const [page, other] = [await visit(), await visit()];

  await page.goto(url);
  await heading(page, 'Overview').waitFor();
  await other.goto(url);
  await heading(other, 'Sign in to the console').waitFor();

  expect(new URL(url).hash).toMatch(/^#link=/);
  expect(page.url()).not.toContain('link');
  expect(other.url()).not.toContain('link');
});

test('signing out ends the session in every part of the page', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);

  await button(page, 'Sign out').click();
  await heading(page, 'Sign in to the console').waitFor();
  await page.reload();
  await heading(page, 'Sign in to the console').waitFor();
});

test('a session that ended elsewhere leaves nothing of the account in the document', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);

  await page.evaluate('globalThis.held = true');
  await page.context().clearCookies();
  await page.getByRole('link', { name: 'Keys' }).click();
  await heading(page, 'Sign in to the console').waitFor();

  expect(await page.evaluate('globalThis.held')).toBeUndefined();
});

test('what a reader pastes into a shell runs nothing, whatever the person is called', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { agentId } = await must(developer, 'POST', '/v1/agents', { name: 'Payer' });
  const principalId = "a'`id`'@acme.example";
  const { code } = await must(developer, 'POST', '/v1/authorize', {
    agentId,
    principalId,
    scopes: ['calendar:read'],
  });
  const { grantToken } = await must(developer, 'POST', '/v1/token', { agentId, code });
  await must(developer, 'PUT', '/v1/manifests/acme_pay', {
    connector: 'acme_pay',
    version: '1.0.0',
    tools: { transfer: 'write' },
  });
  await must(developer, 'POST', '/v1/enforce', { grantToken, connector: 'acme_pay', tool: 'transfer' });
  const { entries } = await must(developer, 'GET', '/v1/audit/entries?action=tool.enforce');
  const page = await signedIn(developer);

  await open(page, `/denials/${entries[0].entryId}`, /was denied/);
  const snippet = page.locator('.code', { hasText: '/v1/authorize' }).first();
  await snippet.waitFor();

  expect(await snippet.innerText()).toContain('"a\\u0027`id`\\u0027@acme.example"');
});

test('keys go through a list, open a row and go anywhere', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { grantId } = await populated(developer);
  const page = await signedIn(developer);

  await open(page, '/agents', 'Agents');
  const [, second = ''] = await agentsOf(page);
  await page.locator('tbody tr').first().focus();
  await page.keyboard.press('j');
  await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toContain(second);
  await page.keyboard.press('Enter');
  await heading(page, second).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox').fill(grantId);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');

  await heading(page, 'Travel booker for user_42').waitFor();
  expect(page.url()).toContain(grantId);
});

test('a list keeps its filters in the address, so a link shows the same rows', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer);

  await open(page, '/grants', 'Grants');
  await page.getByLabel('For', { exact: true }).fill('user_7');
  await page.keyboard.press('Enter');
  await hasNo(page.getByRole('row', { name: /user_42/ }));
  const other = await signedIn(developer);
  await other.goto(page.url());
  await sees(other, 'Expense clerk');

  expect(new URL(page.url()).search).toBe('?principalId=user_7');
  expect(await agentsOf(other)).toEqual(['Expense clerk']);
});

test('a refusal says what to do, and has the request id that the service logged', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);

  await page.goto(`${service().url}/console/agents/ag_${'0'.repeat(26)}`);
  await sees(page, 'Check the id and the account');
  const facts = await page.locator('.problem-facts').innerText();

  expect(facts).toMatch(/NOT_FOUND[\s\S]*[0-9a-f]{8}-[0-9a-f]{4}-/);
});

test('a browser whose language Intl refuses shows the overview with its plot', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);
  await page.addInitScript(() =>
    Object.defineProperty(navigator, 'language', { value: 'en-US@posix', configurable: true }),
  );

  await open(page, '', 'Overview');
  await page.locator('canvas').first().waitFor();

  expect(await page.evaluate('navigator.language')).toBe('en');
});
