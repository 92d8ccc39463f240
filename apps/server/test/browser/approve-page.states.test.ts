import { expect, test, vi } from 'vitest';
import { payer, release } from '../app/approving.ts';
import { verifyAddress } from '../app/every-caller.ts';
import { provisionerOf } from '../app/scim.ts';
import { ADMIN_API_KEY, type Developer } from '../app/start-app.ts';
import { button, findings, heading, must, pagesOfService, picture, sees } from './pages.ts';
import { addAuthenticator, enrolledAs } from './passkeys.ts';

const { visit, service } = pagesOfService();
const enrolled = enrolledAs(visit);

test('one person cannot decide twice, signs in again with the passkey alone, and refuses a call', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolled(acme, 'Ada');
  await enrolled(acme, 'Bob');
  const asked = (await agent.ask(release)).json();

  await ada.goto(`${service().url}/approve`);
  await button(ada, 'Sign out').click();
  await heading(ada, 'Sign in to decide').waitFor();
  expect(await findings(ada)).toEqual([]);
  await ada.goto('about:blank');
  await ada.goto(asked.url);
  await button(ada, 'Sign in with your passkey').click();
  for (const end of ['You approved the call', undefined]) {
    await heading(ada, /asks to use/).waitFor();
    await button(ada, 'Approve').click();
    if (!end) break;
    await heading(ada, end).waitFor();
    await button(ada, 'All calls').click();
    await button(ada, 'The call').click();
  }
  await sees(ada, 'This call needs two different people');
  await button(ada, 'Deny').click();
  await heading(ada, 'You denied the call').waitFor();
  expect((await acme('GET', `/v1/decisions/${asked.decisionId}`)).json().status).toBe('denied');
});

test('a call with the values of the last one in other places is another call, shown in the order of its hash', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolled(acme, 'Ada');
  const between = (from: string, to: string) => ({
    ...{ caseId: 'case-1', caseVersion: '1' },
    arguments: { '9': 'ä"\\:{', '10': [], from: { iban: from }, to: { iban: to } },
  });
  const first = (await agent.ask(between('DE11', 'DE22'))).json();
  await ada.goto(first.url);
  await heading(ada, /asks to use/).waitFor();
  await ada.getByText('Details').click();
  const shown = (await ada.locator('#text > div').allInnerTexts()).map((line) => line.trim());
  expect(shown.slice(0, 6)).toEqual([
    ...['{', '"arguments": {', '"10": [],', '"9": "ä\\"\\\\:{",', '"from": {', '"iban": "DE11"'],
  ]);
  await button(ada, 'Approve').click();
  await heading(ada, 'You approved the call').waitFor();

  service().advance(1); // the ids of one instant have no order
  const second = (await agent.ask(between('DE22', 'DE11'))).json();
  await ada.goto('about:blank');
  await ada.goto(second.url);
  await heading(ada, /asks to use/).waitFor();
  const changed = await ada.locator('#call .changed').allInnerTexts();
  expect(changed.map((row) => row.split(/\s+/).join(' '))).toEqual([
    'from › iban ≠ Changed: DE22 Before: DE11',
    'to › iban ≠ Changed: DE11 Before: DE22',
  ]);
  expect(await findings(ada)).toEqual([]);
  await sees(ada, 'Not the same as before');
});

/** The approver of this name, as the developer sees them. */
const approverOf = async (acme: Developer, name: string) =>
  (await acme('GET', '/v1/approvers'))
    .json()
    .approvers.find(({ displayName }: { displayName: string }) => displayName === name);

test('a person makes a second passkey, loses the first, and goes away for some days', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  await enrolled(acme, 'Bob');
  const ada = await enrolled(acme, 'Ada');
  const passkeys = () => ada.getByRole('button', { name: /^Remove this passkey/ });
  await passkeys().first().waitFor();
  await ada.device.loseAll();
  await button(ada, 'Make a further passkey').click();
  await passkeys().nth(1).waitFor();
  expect(await findings(ada)).toEqual([]);

  await passkeys().nth(1).click();
  await vi.waitUntil(async () => (await passkeys().count()) === 1);
  await passkeys().click();
  await sees(ada, 'This is your last passkey');
  await button(ada, 'Be away from now on').click();
  await sees(ada, 'Choose a day within the next ninety days.');
  const inAWeek = new Date(service().clock().getTime() + 7 * 86_400_000).toISOString().slice(0, 10);
  await ada.getByLabel('The last day on which you are away').fill(inAWeek);
  await ada.getByRole('radio', { name: /Bob/ }).check();
  await button(ada, 'Be away from now on').click();
  await sees(ada, 'You are away until');
  await sees(ada, 'Bob decides in your place');
  expect(await findings(ada)).toEqual([]);
  const absent = async () => (await approverOf(acme, 'Ada')).absence;
  const { approverId: deputyApproverId } = await approverOf(acme, 'Bob');
  expect(await absent()).toMatchObject({ deputyApproverId });
  await button(ada, 'End your absence').click();
  await button(ada, 'Be away from now on').waitFor();
  expect(await absent()).toBe(null);
});

test('W3: a person sees that the operator lets somebody make a new passkey, and stops it', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const ada = await enrolled(acme, 'Ada');
  const { approverId } = await approverOf(acme, 'Ada');
  const path = `/v1/admin/developers/${acme.developerId}/approver-recovery`;
  await service().calling(ADMIN_API_KEY)('POST', path, { approverId });

  await button(ada, 'Look again').click();
  await sees(ada, 'a new passkey can replace those that were lost');
  expect(await findings(ada)).toEqual([]);
  await button(ada, 'Stop this').click();
  await vi.waitUntil(async () => (await button(ada, 'Stop this').count()) === 0);
  expect(await approverOf(acme, 'Ada')).toMatchObject({ recoveryFrom: null });
});

test('a page shows a new call without being asked, and says so when somebody else decides', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const [ada, bob] = [await enrolled(acme, 'Ada'), await enrolled(acme, 'Bob')];
  await sees(ada, 'No call waits for you.');

  const { decisionId } = (await agent.ask(release)).json();
  await button(ada, 'The call').click();
  await button(bob, 'The call').click();
  await heading(bob, /asks to use/).waitFor();
  await button(bob, 'Approve').click();
  await sees(bob, 'A second person has to approve');

  await sees(ada, 'Another person approved the call while you read it.');
  await sees(ada, 'A second person has to approve it too.');
  expect(await findings(ada)).toEqual([]);
  await acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
  await heading(ada, 'This call needs no decision now').waitFor();
  await sees(ada, 'The request was taken back.');
  await button(ada, 'All calls').click();
  await sees(ada, 'No call waits for you.');
});

test('a page whose session has ended asks its person to sign in, and leads back to the call', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolled(acme, 'Ada');
  await agent.ask();
  await button(ada, 'The call').click();
  await heading(ada, /asks to use/).waitFor();

  service().advance(900);

  await heading(ada, 'Sign in to decide').waitFor();
  await button(ada, 'Sign in with your passkey').click();
  await heading(ada, /asks to use/).waitFor();
});

test('below the open calls, a person sees how those before ended, and more of them on demand', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolled(acme, 'Ada');
  for (let n = 0; n < 6; n += 1) {
    service().advance(1);
    const { decisionId } = (await agent.ask({ arguments: { n } })).json();
    await acme('POST', `/v1/decisions/${decisionId}/cancel`, {});
  }
  service().advance(1);
  await agent.ask({ expiresIn: '60s' });
  service().advance(60);
  await agent.ask();

  await button(ada, 'Look again').click();
  await sees(ada, 'Decided before');
  const items = ada.locator('#history > li');
  expect(await items.first().innerText()).toMatch(
    /wanted to use pay of acme_bank, .*The time to decide is over/,
  );
  expect([await items.count(), await findings(ada)]).toEqual([5, []]);
  await button(ada, 'Show earlier ones').click();
  await expect.poll(() => items.count()).toBe(7);
  expect(await button(ada, 'Show earlier ones').count()).toBe(0);
});

test('a person who was recorded as absent meanwhile reads why they cannot decide', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolled(acme, 'Ada');
  await agent.ask();
  await button(ada, 'The call').click();
  await heading(ada, /asks to use/).waitFor();
  const [{ approverId }] = (await acme('GET', '/v1/approvers')).json().approvers;
  const [from, until] = [0, 86_400_000].map((later) => new Date(service().clock().getTime() + later));
  await acme('PUT', `/v1/approvers/${approverId}/absence`, { from, until });

  await button(ada, 'Deny').click();

  await sees(ada, 'You are away, so you decide nothing.');
});

test('W3: a principal confirms in their browser that they enrolled, by a second mail', async () => {
  const acme = await service().asDeveloper();
  await verifyAddress(service(), acme);
  const directory = await provisionerOf(service(), acme);
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
  const emails = [{ value: 'u42@example.org', primary: true }];
  await directory('POST', '/Users', { schemas, userName: 'user_42', emails });
  await acme('POST', '/v1/approvers', { principalId: 'user_42' });
  const linkOf = (kind: string) => {
    const mail = service()
      .mails.sent()
      .find(({ text }) => text.includes(`#${kind}=`));
    return new RegExp(`/approve#${kind}=\\S+`).exec(mail?.text ?? '')?.[0] ?? '';
  };
  const page = await visit({ bypassCSP: true, isNew: true });
  await page.goto(service().url + linkOf('invite'));
  await addAuthenticator(page);
  await button(page, 'Make a passkey').click();
  await sees(page, 'open the link that was mailed to you now');

  await page.goto('about:blank');
  await page.goto(service().url + linkOf('confirm'));
  await heading(page, 'You confirmed your passkey').waitFor();
  expect(await findings(page)).toEqual([]);
  await button(page, 'All calls').click();
  await sees(page, 'You can decide from');
});

test('the scripts of the page are less than 20,000 bytes on their way', async () => {
  const { page, bytes } = await weighed('/approve');
  await heading(page, 'Sign in to decide').waitFor();

  expect(await bytes(/\.js$/)).toBeLessThan(20_000);
});

/** Opens a page, and weighs what came over the connection. */
async function weighed(path: string) {
  const page = await visit({ isNew: true });
  const sizes: [string, Promise<number>][] = [];
  page.on('requestfinished', (request) => {
    const size = request.sizes().then(({ responseBodySize }) => responseBodySize);
    sizes.push([request.url(), size]);
  });
  await page.goto(`${service().url}${path}`);
  await page.waitForLoadState('networkidle');
  const bytes = async (kind: RegExp) => {
    const matching = sizes.filter(([url]) => kind.test(url));
    expect(matching.length).toBeGreaterThan(5);
    return (await Promise.all(matching.map(([, size]) => size))).reduce((sum, size) => sum + size, 0);
  };
  return { page, bytes };
}

test('a call is shown in the words of the manifest, with every argument, and says which of them may differ', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolled(acme, 'Ada');
  const wire = {
    ...{ permission: 'write', requires_decision: true, binds: ['/to', '/amount', '/currency'] },
    ...{ title: 'Pay by wire', argument_titles: { '/to/name': 'Receiver', '/amount': 'Amount' } },
  };
  const manifest = { $schema: 'x', connector: 'acme_bank', tools: { wire } };
  await must(acme, 'PUT', '/v1/manifests/acme_bank', manifest);
  const to = { name: 'Acme Rent GmbH', iban: 'DE89 3704' };
  const args = { amount: '9000.00', currency: 'EUR', to, note: 'Rent of March' };
  const asked = (await agent.ask({ ...release, arguments: args })).json();
  await ada.setViewportSize({ width: 390, height: 844 });

  await ada.goto(asked.url);
  await heading(ada, /asks to use/).waitFor();

  const card = await ada.getByRole('region', { name: 'The call' }).innerText();
  expect(card).toMatch(/^9,000\.00 EUR to Acme Rent GmbH\s+Pay by wire\s/);
  const rows = (await ada.locator('#call > div').allInnerTexts()).map((row) => row.split(/\s+/).join(' '));
  expect(rows).toEqual([
    'Amount amount “9000.00”',
    'currency EUR',
    'note Rent of March May differ when the call is made.',
    'to › iban DE89 3704',
    'Receiver to › name Acme Rent GmbH',
  ]);
  expect(await findings(ada)).toEqual([]);
  const allow = await button(ada, 'Approve').boundingBox();
  expect((allow?.y ?? 9_999) + (allow?.height ?? 0)).toBeLessThan(844);
  await picture(ada, 'approve-phone');

  const { currency: _, ...bare } = args;
  await ada.goto((await agent.ask({ ...release, arguments: bare })).json().url);
  await sees(ada, 'The call names no currency for this.');
  expect(await ada.locator('#call > div').filter({ hasText: 'no currency' }).count()).toBe(1);
  expect(await ada.locator('main').innerText()).not.toContain('EUR');
});

test('on a phone the link of a notice leads to a decision by one press and the passkey, or two after a new sign-in', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const ada = await enrolled(acme, 'Ada');
  await ada.setViewportSize({ width: 390, height: 844 });
  const payment = { to: 'Acme Rent GmbH', amount: '9000.00', currency: 'EUR', due: '2026-04-01' };
  const ask = async (reference: string) => {
    const asked = await agent.ask({ arguments: { ...payment, reference } });
    return { url: String(asked.json().url), id: String(asked.json().decisionId) };
  };
  const [first, second] = [await ask('Rent of March'), await ask('Rent of April')];
  const assertions: string[] = [];
  ada.on('request', (request) => {
    const [, kind] = /\/(session|approve)(?:\/verify)?$/.exec(new URL(request.url()).pathname) ?? [];
    if (request.method() === 'POST' && kind !== undefined) assertions.push(kind);
  });
  const presses = async (...names: string[]) => {
    for (const name of names) {
      await expect.poll(() => button(ada, name).isVisible()).toBe(true);
      const box = await button(ada, name).boundingBox();
      expect((box?.y ?? 9_999) + (box?.height ?? 0), name).toBeLessThan(844);
      await button(ada, name).click();
    }
    await heading(ada, 'You approved the call').waitFor();
    return assertions.splice(0);
  };

  await ada.goto(first.url);
  expect(await presses('Approve')).toEqual(['approve']);

  await ada.context().clearCookies();
  await ada.goto(second.url);
  expect(await presses('Sign in with your passkey', 'Approve')).toEqual(['session', 'approve']);
  expect(await statusOf(acme, [first.id, second.id])).toEqual(['approved', 'approved']);
});

const statusOf = (acme: Developer, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await must(acme, 'GET', `/v1/decisions/${id}`)).status));
