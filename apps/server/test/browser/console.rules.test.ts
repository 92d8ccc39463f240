import { expect, test } from 'vitest';
import { execute } from '../servers/postgres.ts';
import { consolePages, faultsOf, populated, withSameIds } from './console.ts';
import { button, hasNo, heading, must, picture, sees } from './pages.ts';

const { signedIn, open, service } = consolePages();
const inspected = { bypassCSP: true, reducedMotion: 'reduce' } as const;

type Page = Awaited<ReturnType<typeof signedIn>>;

async function shown(page: Page, name: string): Promise<void> {
  expect([name, ...(await faultsOf(page))]).toEqual([name]);
  await page.evaluate('scrollTo(0, 0)');
  await withSameIds(page);
  await picture(page, name);
}

async function account() {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  return { developer, page: await signedIn(developer, inspected) };
}

const night = { name: 'Nothing at night', effect: 'deny', timeOfDayStart: '22:00', timeOfDayEnd: '06:00' };
const tools = { transfer: { permission: 'write', caps: { per_day: 5 } }, get_balance: 'read' };

test('the pages of policies have no fault that axe finds, and fit a phone', async () => {
  const { developer, page } = await account();
  await open(page, '/policies', 'Policies');
  await page.waitForLoadState('networkidle');
  expect(['empty', ...(await faultsOf(page))]).toEqual(['empty']);
  const { id } = await must(developer, 'POST', '/v1/policies', { ...night, timeZone: 'Europe/Berlin' });
  await must(developer, 'POST', '/v1/policies', {
    name: 'No deletes',
    effect: 'deny',
    priority: -1,
    scopes: ['tool:*:delete'],
  });
  await must(developer, 'POST', '/v1/policies', {
    name: 'Payments of finance',
    effect: 'require_approval',
    priority: 10,
    connector: 'acme_pay',
    tools: ['transfer'],
  });
  await must(developer, 'PATCH', `/v1/policies/${id}`, { scopes: ['email:send'] });

  await page.reload();
  await sees(page, 'Payments of finance');
  const order = await page.locator('tbody .row-link').allInnerTexts();
  await shown(page, 'console-policies');
  await open(page, `/policies/${id}?version=1`, 'Nothing at night');
  await page.getByLabel('Networks').fill('10.0.0.1/8');
  await sees(page, '10.0.0.1/8 is no network.');
  await page.getByLabel('Networks').fill('');
  await page.getByLabel('Scopes').fill('calendar:read');
  await page.getByLabel('From').fill('08:00');
  await page.getByLabel('Until').fill('20:00');
  await page.getByLabel('Person').focus();
  await button(page, 'Replay the last 30 days').click();
  await sees(page, 'Saving takes effect at once.');
  await shown(page, 'console-policy');
  await page.getByRole('button', { name: 'JSON' }).click();
  await page.getByLabel('Policy as JSON').fill('{\n  "name": "x",\n  "effect": "forbid"\n}');
  await sees(page, 'effect: One of: deny, require_approval, allow.');
  expect(['json', ...(await faultsOf(page))]).toEqual(['json']);

  expect(order).toEqual(['Payments of finance', 'Nothing at night', 'No deletes']);
});

test('the pages of manifests have no fault that axe finds, and fit a phone', async () => {
  const { developer, page } = await account();
  await must(developer, 'PUT', '/v1/manifests/acme_pay', { connector: 'acme_pay', version: '1.1.0', tools });

  await open(page, '/manifests', 'Manifests');
  await sees(page, 'acme_pay');
  await shown(page, 'console-manifests');
  await open(page, '/manifests/acme_pay', 'acme_pay');
  const editor = page.getByLabel('Manifest as JSON');
  await editor.fill(
    (await editor.inputValue()).replace('"write"', '"admin"').replace('per_day": 5', 'per_day": 50'),
  );
  await sees(page, 'One tool becomes new or wider: transfer.');
  await button(page, 'Replay the last 30 days').click();
  await sees(page, 'Saving takes effect at once.');
  await sees(page, '1 of the newest 500 active grants has to be asked again:');
  await shown(page, 'console-manifest');
  await editor.fill((await editor.inputValue()).replace('"admin"', '"root"'));
  await sees(page, 'invalid_permission');
  expect(['wrong', ...(await faultsOf(page))]).toEqual(['wrong']);
});

test('the table of tools is changed in place, and an unknown key is answered with the one that is near', async () => {
  const { developer, page } = await account();
  await must(developer, 'PUT', '/v1/manifests/acme_pay', { connector: 'acme_pay', version: '1.1.0', tools });
  const editor = page.getByLabel('Manifest as JSON');
  const draft = async () => JSON.parse(await editor.inputValue()).tools;

  await open(page, '/manifests/acme_pay', 'acme_pay');
  await page.getByLabel('Permission of get_balance').selectOption('write');
  await expect.poll(draft).toMatchObject({ get_balance: 'write' });
  await page.getByLabel('get_balance needs a decision').check();
  await page.getByRole('textbox', { name: 'Calls per day, transfer' }).fill('7');
  await page.getByLabel('Add a cap to get_balance').selectOption('per_hour');
  await page.getByRole('textbox', { name: 'Calls per hour, get_balance' }).fill('3');
  await sees(page, '2 tools become new or wider');
  const changed = await draft();
  expect(['table', ...(await faultsOf(page))]).toEqual(['table']);
  await button(page, 'Remove: Calls per hour, get_balance').click();
  await page.getByLabel('get_balance needs a decision').uncheck();
  await page.getByLabel('Permission of get_balance').selectOption('read');
  await page.getByRole('textbox', { name: 'Calls per day, transfer' }).fill('5');
  await sees(page, /Nothing to save. This is No. 2/);
  await editor.fill((await editor.inputValue()).replace('"caps"', '"requires_descision"'));
  await sees(page, 'Did you mean requires_decision?');
  await editor.fill(
    (await editor.inputValue()).replace('"requires_descision"', '"caps"').replace('per_day', 'perDay'),
  );
  await sees(page, 'Did you mean per_day?');
  await open(page, '/policies/new?view=json', 'New policy');
  await page.getByLabel('Policy as JSON').fill('{"name":"x","effect":"deny","agent_id":"a"}');
  await sees(page, 'Did you mean agentId?');

  expect(changed).toEqual({
    transfer: { permission: 'write', caps: { per_day: 7 } },
    get_balance: { permission: 'write', requires_decision: true, caps: { per_hour: 3 } },
  });
});

test('a fault in a text is named with its line, and its button goes there', async () => {
  const { page } = await account();
  const editor = page.getByLabel('Manifest as JSON');
  const selected = () =>
    page.evaluate(
      'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
    );

  await open(page, '/manifests/acme_mail', 'acme_mail');
  await editor.fill('{\n  "connector": "acme_mail"\n  "tools": {}\n}');
  await button(page, 'Line 3').click();
  const comma = await selected();
  await editor.fill('{\n  "connector": "acme_mail",\n  "tools": {},\n  "tools": {}\n}');
  await sees(page, 'This member is there twice.');
  await button(page, 'Line 4').click();
  const twice = await selected();
  await editor.fill(
    '{\n  "connector": "acme_mail",\n  "tools": {\n    "send": { "permission": "send" }\n  }\n}',
  );
  await button(page, 'Line 4').click();

  expect([comma, twice, await selected()]).toEqual([
    '  "tools": {}',
    '  "tools": {}',
    '    "send": { "permission": "send" }',
  ]);
  expect(await button(page, 'Save').isDisabled()).toBe(true);
});

test('what the editor marks in a policy, the service refuses at the same field', async () => {
  const { developer, page } = await account();
  await open(page, '/policies/new?view=json', 'New policy');
  const good = { name: 'x', effect: 'deny' };
  const drafts: [object, string][] = [
    [{ effect: 'deny' }, 'name'],
    [{ ...good, priority: 1.5 }, 'priority'],
    [{ ...good, hours: '9' }, 'hours'],
    [{ ...good, scopes: ['read all'] }, 'scopes.0'],
    [{ ...good, scopes: [] }, 'scopes'],
    [{ ...good, timeOfDayStart: '22:00' }, 'timeOfDayEnd'],
    [{ ...good, timeOfDayStart: '22:00', timeOfDayEnd: '22:00' }, 'timeOfDayEnd'],
    [{ ...good, timeZone: 'Europe/Berlin' }, 'timeZone'],
    [{ ...good, daysOfWeek: ['mon'], timeZone: 'Berlin' }, 'timeZone'],
    [{ ...good, purposes: ['anything'] }, 'purposes.0'],
    [{ ...good, networks: ['10.0.0.1/8'] }, 'networks.0'],
    [{ ...good, delegationDepthMin: 3, delegationDepthMax: 1 }, 'delegationDepthMax'],
    [{ ...good, tools: ['send'] }, 'connector'],
    [{ ...good, connector: 'a', arguments: { send: { to: {} } } }, 'arguments.send.to'],
    [{ ...good, connector: 'a', tools: ['list'], arguments: { send: { '/to': {} } } }, 'arguments.send'],
  ];

  const found: unknown[] = [];
  for (const [draft, field] of drafts) {
    const refused = (await developer('POST', '/v1/policies', draft)).json();
    await page.getByLabel('Policy as JSON').fill(JSON.stringify(draft));
    const marks = await page.locator('.marks > li').allInnerTexts();
    found.push([field, refused.details.fields[0].path, marks.some((mark) => mark.includes(`${field}: `))]);
  }
  await page.getByLabel('Policy as JSON').fill(JSON.stringify(good));
  await sees(page, 'Nothing is wrong with it so far.');

  expect(found).toEqual(drafts.map(([, field]) => [field, field, true]));
});

test('an agent is chosen by its name, and one that there is not is named as one types, in the replay and in the list', async () => {
  const { developer, page } = await account();
  await must(developer, 'POST', '/v1/policies', { ...night, agentId: `ag_${'0'.repeat(26)}` });
  const never = 'No agent has this id, so the policy never matches.';
  const choices = page.getByRole('menuitem');

  await open(page, '/policies', 'Policies');
  await sees(page, 'No such agent');
  await page.getByRole('link', { name: 'Nothing at night' }).click();
  await sees(page, never);
  await page.getByLabel('Priority').fill('1');
  await button(page, 'Replay the last 30 days').click();
  await sees(page, 'No agent has this `agentId`');
  await page.getByRole('button', { name: 'ag_0' }).click();
  await page.getByRole('searchbox').pressSequentially('mail', { delay: 20 });
  await expect.poll(() => choices.allInnerTexts()).toEqual([expect.stringContaining('Mail reader')]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await button(page, 'Mail reader ▾')
    .or(page.getByRole('button', { name: 'Mail reader' }))
    .waitFor();
  await hasNo(page.getByText(never));
  await page.getByLabel('Connector').fill('acme_pay');
  await button(page, 'transfer').click();
  const tools = await page.getByLabel('Tools', { exact: true }).inputValue();
  await page.getByLabel('Tools', { exact: true }).fill('transfre');
  await sees(page, 'acme_pay has no such tool: transfre');
  expect(['unknown', ...(await faultsOf(page))]).toEqual(['unknown']);
  await page.getByLabel('Connector').fill('acme_mail');
  await sees(page, 'No manifest is of this connector');

  expect(tools).toBe('transfer');
});

test('a draft that is not saved is lost only after a question, and what was saved is named', async () => {
  const { developer, page } = await account();
  const { id } = await must(developer, 'POST', '/v1/policies', night);
  await must(developer, 'PATCH', `/v1/policies/${id}`, { name: 'Nothing late' });
  const priority = page.getByLabel('Priority');
  const asked = page.getByRole('alertdialog');
  const answer = (name: string) => asked.getByRole('button', { name }).click();

  await open(page, `/policies/${id}`, 'Nothing late');
  await sees(page, 'Nothing to save. This is version 2.');
  await sees(page, 'API key'); // who made the versions, by name
  await button(page, 'Compare Version 1 with what is saved').scrollIntoViewIfNeeded();
  const place = await page.evaluate('scrollY');
  await button(page, 'Compare Version 1 with what is saved').click();
  await sees(page, '+   "name": "Nothing late",');
  const compared = await page.evaluate('scrollY');
  await priority.fill('7');
  await button(page, 'Take into the editor: Version 1').click();
  await answer('Cancel');
  const kept = await priority.inputValue();
  await page.getByRole('link', { name: 'Policies' }).first().click();
  await answer('Cancel');
  await button(page, 'Replay the last 30 days').click();
  await button(page, 'Save').click();
  await sees(page, 'Saved as version 3');
  const left = await page.locator('.report').count();
  await button(page, 'Take into the editor: Version 1').click();
  const taken = await priority.inputValue();
  const question = page.waitForEvent('dialog');
  const reloaded = page.reload();
  await (await question).accept();
  await reloaded;
  await heading(page, 'Nothing late').waitFor();
  await priority.fill('8');
  await page.getByRole('link', { name: 'Policies' }).first().click();
  await answer('Leave');
  await heading(page, 'Policies').waitFor();

  expect([kept, left, taken]).toEqual(['7', 0, '0']);
  expect(place).toBeGreaterThan(0);
  expect(compared).toBe(place);
  expect((await developer('GET', `/v1/policies/${id}`)).json()).toMatchObject({ priority: 7, version: 3 });
});

test('a member who may not change rules sees them replayed, and which role saves', async () => {
  const { developer, page } = await account();
  const { id } = await must(developer, 'POST', '/v1/policies', night);
  const held = `update members set role = 'auditor' where developer_id = '${developer.developerId}'`;
  await execute(service().databaseUrl, held); // the last owner stays one

  await open(page, `/policies/${id}`, 'Nothing at night');
  await page.getByLabel('Until').fill('07:00');
  await sees(page, 'Saving needs the role Admin.');
  await button(page, 'Replay the last 30 days').click();
  await sees(page, 'Decided again');

  expect(await button(page, 'Save').isDisabled()).toBe(true);
  expect(await button(page, 'Delete (Admin)').isDisabled()).toBe(true);
  await sees(page, 'Versions');
});
