import { readFile } from 'node:fs/promises';
import { readZip } from '@behest/protocol/stored-zip';
import { expect, test } from 'vitest';
import { tamper } from '../app/many-entries.ts';
import { consolePages, populated, undecided } from './console.ts';
import { button, hasNo, heading, sees } from './pages.ts';

const { signedIn, open, service } = consolePages();

test('the browser verifies each row of the audit explorer, and marks the one that somebody changed', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer);
  const marks = (word: string) => page.locator('tbody .status', { hasText: word }).count();

  await open(page, '/audit?action=grant.*', 'Audit');
  await expect.poll(() => marks('Verified')).toBe(4);
  const rows = await page.locator('tbody .row-link').count();
  await tamper(
    service().databaseUrl,
    `update audit_entries set metadata = metadata || '{"scopes":["all:all"]}'
     where developer_id = $1 and action = 'grant.created' and seq =
       (select min(seq) from audit_entries where developer_id = $1 and action = 'grant.created')`,
    [developer.developerId],
  );
  await page.reload();
  await expect.poll(() => marks('Changed')).toBe(1);
  const good = await marks('Verified');
  await page.getByLabel('Actor').fill('nobody');
  await page.keyboard.press('Enter');
  await sees(page, 'No entry matches these filters');

  expect([rows, good]).toEqual([4, 3]);
  expect(page.url()).toContain('actor=nobody');
});

test('a text filter applies after a pause of typing, and its field keeps what is typed, also when it is refused', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer);
  const action = page.getByLabel('Action');
  const rows = page.locator('tbody tr[data-index]');

  await open(page, '/audit', 'Audit');
  await expect.poll(() => rows.count()).toBeGreaterThan(4);
  await action.pressSequentially('grant.*', { delay: 20 });
  await expect.poll(() => rows.count()).toBe(4);
  await action.pressSequentially('x', { delay: 20 });
  await page.getByRole('alert').waitFor(); // the service takes no such pattern
  const kept = [await action.inputValue(), await rows.count()];
  await action.press('Backspace');
  await hasNo(page.getByRole('alert'));

  expect(kept).toEqual(['grant.*x', 4]);
  expect(await rows.count()).toBe(4);
});

test('the audit explorer shows exact times with their zone, and only the days that the address names', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer);
  const rows = page.locator('tbody .row-link');

  await open(page, '/audit', 'Audit');
  await sees(page, /Mar 2, 2026, \d\d:\d\d:\d\d UTC/);
  await page.getByLabel('From').fill('2026-03-02');
  await page.getByLabel('To', { exact: true }).fill('2026-03-02');
  await expect.poll(() => page.url()).toContain('until=2026-03-03');
  await expect.poll(() => rows.count()).toBeGreaterThan(0);
  await page.getByLabel('From').fill('2026-03-03'); // after the end, which goes
  await sees(page, 'No entry matches these filters');
  const columns = await page.getByRole('button', { name: 'Columns' }).count();
  const at = new URL(page.url()).searchParams;
  await button(page, 'Clear filters').click();
  await rows.first().waitFor();

  expect(columns).toBe(0);
  expect([at.get('since'), at.get('until')]).toEqual(['2026-03-03T00:00:00.000Z', null]);
});

test('budgets are plotted against their limits, those with the largest share spent first, by grant and by agent', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer);
  const bars = () => page.locator('.budgets .meter-words').allInnerTexts();

  await open(page, '/usage', 'Usage');
  await sees(page, '€32.50 of €200.00 spent');
  await expect.poll(async () => (await bars()).join()).toMatch(/Travel booker.*Mail reader/s);
  const byGrant = await bars();
  await page.getByText('Show as table').first().click();
  const table = await page.locator('.budgets tbody tr').allInnerTexts();
  await page.getByLabel('By').selectOption('agent');
  await expect.poll(() => page.url()).toContain('by=agent');
  const byAgent = await bars();
  await page.locator('.budgets tbody a').first().click();

  await heading(page, 'Travel booker').waitFor();
  expect(byGrant.map((bar) => bar.replace(/\s+/g, ' '))).toEqual([
    expect.stringMatching(/^Travel booker ….{6} €32\.50 of €200\.00 spent$/),
    expect.stringMatching(/^Mail reader ….{6} €0\.00 of €50\.00 spent$/),
  ]);
  expect(table[0]?.split(/\s*\t\s*/).slice(1)).toEqual(['€32.50', '€200.00', '€167.50', '16.3%']);
  expect(byAgent).toHaveLength(2);
});

test('a step of the tour that fails says what to do, and the tour begins again', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer);

  await open(page, '/tour', 'Tour');
  await button(page, 'Register it').click();
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Ask');
  const [agent] = (await developer('GET', '/v1/agents')).json().agents;
  await developer('DELETE', `/v1/agents/${agent.agentId}`);
  await button(page, 'Ask').click();
  await sees(page, 'Try the step again. If it fails again');
  const offered = await page.getByRole('button', { name: 'Try again' }).count();
  await button(page, 'Start again').click();
  await button(page, 'Register it').waitFor();

  expect(offered).toBe(1);
});

test('a request that a policy stopped is explained from the page of requests', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { agentId } = await populated(developer);
  await developer('POST', '/v1/policies', { name: 'No payments', effect: 'deny', scopes: ['payments:*'] });
  const scopes = ['payments:transfer', 'calendar:read'];
  await developer('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes });
  const page = await signedIn(developer);

  await open(page, '/requests', 'Requests for consent');
  await page.getByRole('link', { name: 'Stopped by a policy' }).click();
  await page.locator('tbody .row-link').first().click();
  await page.getByRole('link', { name: 'Explain the answer' }).click();
  await heading(page, 'Why a request for consent was refused').waitFor();
  await sees(page, 'Go to the policy');

  const change = await page.locator('.changes > li').first().innerText();
  expect(change).toContain('Ask without payments:transfer.');
  expect(change).toContain('"scopes":["calendar:read"]');
});

test('a person is found, shown with what they hold, and offboarded', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { grantId } = await populated(developer);
  const page = await signedIn(developer);

  await open(page, '/people', 'People');
  await page.getByLabel('Id begins with').fill('USER_4');
  await page.keyboard.press('Enter');
  await page.locator('tbody .row-link', { hasText: 'user_42' }).click();
  await heading(page, 'user_42').waitFor();
  await button(page, 'Offboard').click();
  await sees(page, 'It cannot be undone.');
  const before = (await developer('GET', `/v1/grants/${grantId}`)).json().status;
  await page
    .getByRole('dialog')
    .or(page.getByRole('alertdialog'))
    .getByRole('button', { name: 'Offboard' })
    .click();
  await sees(page, '3 revoked, 0 expired');
  await open(page, '/people?query=user_42', 'People');
  await page.getByRole('link', { name: 'Open the page of user_42' }).click(); // who left is in no list
  const [statement] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Download the statement').click(),
  ]);

  expect(statement.suggestedFilename()).toMatch(/^offboarding-.*\.json$/);
  expect(before).toBe('active');
  expect((await developer('GET', `/v1/grants/${grantId}`)).json().status).toBe('revoked');
});

test('requests for consent are filtered by status, in the address', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { agentId } = await populated(developer);
  const asked = { agentId, principalId: 'user_99', scopes: ['calendar:read'], autoApprove: false };
  await developer('POST', '/v1/authorize', asked);
  const page = await signedIn(developer);

  await open(page, '/requests', 'Requests for consent');
  const rows = page.locator('tbody tr[data-index]');
  await expect.poll(() => rows.count()).toBe(4);
  await page.getByLabel('Status').selectOption('pending');
  await expect.poll(() => rows.count()).toBe(1);

  expect(await rows.innerText()).toContain('user_99');
  expect(page.url()).toContain('status=pending');
});

test('the overview has its numbers from eight calls, and says what Stop everything ends', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await populated(developer);
  const page = await signedIn(developer);
  const calls: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/v1/') && pathname !== '/v1/console/session') calls.push(pathname);
  });

  await page.reload();
  await sees(page, 'Disabled webhooks');
  await page.waitForLoadState('networkidle');
  const loaded = [...calls];
  const grants = await page.locator('.card', { hasText: 'Active grants' }).innerText();
  await button(page, 'Stop everything').click();
  await sees(page, 'people');
  const falls = await page.locator('.falls').innerText();
  const { grants: counted } = (await developer('GET', '/v1/stops/preview')).json();

  expect(loaded).toHaveLength(8);
  expect(counted).toBeGreaterThan(1);
  expect(grants).toContain(String(counted));
  expect(falls).toContain(`${counted} active grants`);
});

test('the palette asks once when the typing stops, and opens what was found', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { grantId } = await populated(developer);
  const { tokens } = (await developer('GET', `/v1/grants/${grantId}/tokens`)).json();
  const page = await signedIn(developer);
  const asked: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/v1/search') asked.push(searchParams.get('q'));
  });
  const find = async (words: string, option: RegExp) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox').pressSequentially(words, { delay: 20 });
    await page.getByRole('menuitem', { name: option }).click();
  };

  await find('travel bo', /Travel booker/);
  await heading(page, 'Travel booker').waitFor();
  await find('user_4', /user_42/);
  await heading(page, 'user_42').waitFor();
  await find(tokens[0].tokenId, /token/);
  await heading(page, 'Travel booker for user_42').waitFor();

  expect(asked).toEqual(['travel bo', 'user_4', tokens[0].tokenId]);
});

test('a decision is found by its id and cancelled, an alert acknowledged with a note, and an approver invited', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { decisionId, alertId } = await undecided(service(), developer);
  const page = await signedIn(developer);
  const confirm = (name: string) => page.getByRole('alertdialog').getByRole('button', { name }).click();

  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox').fill(decisionId);
  await page.getByRole('menuitem', { name: /decision/ }).click();
  await heading(page, 'acme_bank.wire').waitFor();
  await sees(page, 'Approvals so far: 1 of 2');
  await button(page, 'Cancel the request').click();
  await confirm('Cancel the request');
  await sees(page, 'Cancelled');
  await open(page, `/anomalies/${alertId}`, /./);
  await button(page, 'Acknowledge')
    .or(page.getByRole('button', { name: /^Acknowledge the alert/ }))
    .click();
  await page.getByLabel('Note').fill('A load test');
  await confirm('Acknowledge');
  await sees(page, 'A load test');
  await open(page, '/approvers', 'Approvers');
  await button(page, 'Invite an approver').click();
  await page.getByRole('dialog').getByLabel('Email').fill('carol@acme.example');
  await page.getByRole('dialog').getByLabel('Name').fill('Carol');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite an approver' }).click();
  const link = await page.locator('.secret code').innerText();
  await button(page, 'I have copied it').click();
  await button(page, 'Remove Carol').click();
  await confirm('Remove');
  await hasNo(button(page, 'Remove Carol'));

  expect((await developer('GET', `/v1/decisions/${decisionId}`)).json().status).toBe('cancelled');
  expect((await developer('GET', `/v1/anomaly/alerts/${alertId}`)).json()).toMatchObject({
    status: 'acknowledged',
    note: 'A load test',
  });
  expect(link).toContain('/approve');
});

test('a grant says that it is stopped with its agent, what is left of its money, and from which grant it comes', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { agentId } = await populated(developer);
  await developer('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
  const page = await signedIn(developer);
  const states = (part: string) => page.locator(`${part} .status`).allInnerTexts();

  await open(page, `/grants?agentId=${agentId}`, 'Grants');
  await sees(page, '€167.50 of €200.00');
  const ofAgent = await states('tbody');
  await open(page, '/grants', 'Grants');
  await page.getByRole('link', { name: 'delegated, depth 1' }).click();
  await heading(page, 'Travel booker for user_42').waitFor();
  await sees(page, '€50.00 of €50.00 left');
  const tree = await page.locator('.node').allInnerTexts();
  const head = await states('.page-head');
  await open(page, `/agents/${agentId}`, 'Travel booker');
  await sees(page, 'Stopped: its tokens and grants are refused until you resume it');
  const onAgent = [...(await states('.page-head')), ...(await states('tbody'))];
  await developer('POST', '/v1/me/stop', {});
  await open(page, '/grants', 'Grants');
  await sees(page, 'Stopped with the account');

  expect([ofAgent, head]).toEqual([['Stopped with its agent'], ['Stopped with its agent']]);
  expect(tree.join(' ')).toMatch(
    /Travel booker\s+Stopped with its agent[\s\S]*€167\.50 of €200\.00 left[\s\S]*Mail reader\s+Active[\s\S]*€50\.00 of/,
  );
  expect(onAgent).toEqual(['Stopped', 'Stopped with its agent']);
  expect(await states('tbody')).toEqual(Array.from({ length: 4 }, () => 'Stopped with the account'));
});

test('the evidence about a person, an agent or a case is made on their page, and about the filters on Audit', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const { agentId } = await populated(developer);
  const { decisionId } = await undecided(service(), developer);
  const { caseId, connector, tool } = (await developer('GET', `/v1/decisions/${decisionId}`)).json();
  const page = await signedIn(developer);
  const subjectFrom = async (path: string, title: string, label: string) => {
    await open(page, path, title);
    const downloaded = page.waitForEvent('download');
    await button(page, label).click();
    const saved = await readFile(await (await downloaded).path());
    return JSON.parse(Buffer.from(readZip(saved)?.get('pack.json') ?? '{}').toString()).meta.subject;
  };

  expect([
    await subjectFrom('/people/user_42', 'user_42', 'Evidence pack'),
    await subjectFrom(`/agents/${agentId}`, 'Travel booker', 'Evidence pack'),
    await subjectFrom(`/decisions/${decisionId}`, `${connector}.${tool}`, 'Evidence pack of the case'),
    await subjectFrom('/audit?principalId=user_7', 'Audit', 'Evidence pack'),
  ]).toEqual([{ principalId: 'user_42' }, { agentId }, { caseId }, { principalId: 'user_7' }]);
});
