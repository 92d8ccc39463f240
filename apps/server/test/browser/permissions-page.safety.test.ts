import type { Response } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { button, hasFocusWithin, heading, openStranger, scrollsSideways, sees, tabTo } from './pages.ts';
import { answer, grant, isGood, openPermissions, permissionPages } from './permissions-page/permissions.ts';

const { approve, linkFor, visit, service } = permissionPages();

describe('texts from outside', () => {
  test.each([
    ['markup', '<img src=x onerror="alert(1)"><script>alert(2)</script>'],
    ['a template', '{agent} {{x}} {developer} &amp;'],
    ['writing from right to left', 'مساعد السفر (v2)'],
    ['200 characters without a break', 'W'.repeat(200)],
  ])('O14 a person’s page shows %s as it is, and keeps its layout', async (_, text) => {
    const { developer } = await approve(text);
    const { agentId, did, grantId } = await grant(developer, text, { principalId: text });
    const about = { agentId, agentDid: did, grantId, principalId: text };
    const metadata = { [text.replaceAll('"', "'")]: text }; // the name of a member holds no quotation marks
    const logged = await developer('POST', '/v1/audit/log', { ...about, action: 'a.b', metadata });
    expect(logged.statusCode).toBe(201);
    const page = await visit({ viewport: { width: 320, height: 640 } });
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => dialogs.push(dialog.message()));

    await openPermissions(page, await linkFor(developer, text));
    await page.getByText('Activity in your name').click();
    await sees(page, 'a.b');
    await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
    await page.waitForLoadState('networkidle');
    const shown = (await page.locator('main').textContent()) ?? '';
    const sideways = await scrollsSideways(page);
    const made = await page.locator('main :is(img, script, style, svg, iframe, a)').count();
    await button(page, `End what ${text} may do`).click();
    const question = (await page.getByRole('dialog').textContent()) ?? '';
    await answer(page, 'End it');
    await sees(page, 'Ended.');

    expect(shown).toContain(text);
    expect(question).toContain(text.slice(0, 40));
    expect([sideways, await scrollsSideways(page), made, dialogs]).toEqual([false, false, 0, []]);
  });
});

test('T6 an action named like a member of a prototype is shown like any other', async () => {
  const { developer, reader } = await approve();
  const { agentId, did, grantId } = reader;
  const about = { agentId, agentDid: did, grantId, principalId: 'user_42' };
  for (const action of ['constructor', 'toString']) {
    const metadata = { [action]: 'told' };
    const logged = await developer('POST', '/v1/audit/log', { ...about, action, metadata });
    expect(logged.statusCode).toBe(201);
  }
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  await page.getByText('Activity in your name').click();
  await sees(page, 'constructor, by Mail reader');
  const shown = await page.locator('main').innerText();

  expect(shown).toContain('toString, by Mail reader');
});

describe('the browser', () => {
  test('H1 lets a person’s page run its own scripts and talk to the service, and nothing else', async () => {
    const { developer } = await approve();
    const page = await visit({ expected: /Content Security Policy|Trusted(HTML|Script)/ });

    const loaded = await page.goto(await linkFor(developer));
    await heading(page, 'Your permissions').waitFor();
    const markup = page.evaluate(`{ document.body.innerHTML = '<b>x</b>' }`);

    await expect(markup).rejects.toThrow('TrustedHTML');
    const consent = await service().app.inject('/consent');
    expect(loaded?.headers()).toMatchObject({
      'content-security-policy': consent.headers['content-security-policy'],
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect(consent.headers['content-security-policy']).toContain("script-src 'self'");
  });

  test('O11 shows a person’s page in no frame', async () => {
    const { developer } = await approve();
    const page = await visit({ expected: /frame-ancestors|X-Frame-Options/ });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));

    const link = await linkFor(developer);
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
    await openStranger(page, `<iframe src="${link}"></iframe>`);
    await refused;
    const inFrame = [...asked];
    await openPermissions(page, link);

    expect(inFrame).toEqual(['/elsewhere', '/permissions']);
  });

  test('loads less than 30,000 bytes for a person’s page', async () => {
    const { developer } = await approve();
    const page = await visit({ isNew: true });
    const answers: Response[] = [];
    page.on('response', (response) => answers.push(response));

    await openPermissions(page, await linkFor(developer));
    await page.waitForLoadState('networkidle');

    const sizes = await Promise.all(
      answers.map(async (response) => (await response.request().sizes()).responseBodySize),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(30_000);
    expect(answers.filter((response) => !response.ok())).toEqual([]);
  });

  test('takes the session’s token out of the address, and sends it in a header only', async () => {
    const { developer } = await approve();
    const link = await linkFor(developer);
    const token = new URL(link).hash.slice('#session='.length);
    const page = await visit();
    const told: string[] = [];
    const headers: (string | undefined)[] = [];
    page.on('request', (request) => {
      told.push(`${request.url()} ${request.postData() ?? ''} ${request.headers().referer ?? ''}`);
      headers.push(request.headers().authorization);
    });

    await openPermissions(page, link);
    await button(page, 'End what Mail reader may do').click();
    await answer(page, 'End it');
    await sees(page, 'Ended.');

    expect(token.split('.')).toHaveLength(3);
    expect(headers).toContain(`Bearer ${token}`);
    expect(told.filter((text) => text.includes(token))).toEqual([]);
    expect(page.url()).toBe(`${service().url}/permissions`);
    expect(await page.content()).not.toContain(token);
    const stores = await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]');
    expect(stores).toEqual([0, 0, '']);
  });
});

test('a person can read the history, end a grant and end everything by keyboard alone', async () => {
  const { developer, reader, booker } = await approve();
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  const first = await hasFocusWithin(page);
  await tabTo(button(page, 'End what Mail reader may do'));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.clock.fastForward(500);
  await tabTo(button(page, 'End it'));
  await page.keyboard.press('Enter');
  await sees(page, 'Ended. Mail reader');
  const afterwards = await page.evaluate('document.activeElement?.textContent');
  const between = await isGood(developer, booker.grantToken);
  await tabTo(page.locator('.status > summary').first());
  await page.keyboard.press('Space');
  await tabTo(page.getByText('History of this permission').first());
  await page.keyboard.press('Space');
  await sees(page, 'Travel booker was allowed to act for you');
  await page.keyboard.press('Control+Home');
  await button(page, 'Stop everything').focus();
  await page.keyboard.press('Space');
  await page.clock.fastForward(500);
  await tabTo(page.getByRole('dialog').getByRole('button', { name: 'Stop everything' }));
  await page.keyboard.press('Space');
  await heading(page, 'No agent may act for you').waitFor();

  expect([first, await hasFocusWithin(page)]).toEqual(['H1', 'H1']);
  expect(afterwards).toBe('Mail reader');
  expect(between).toBe(true);
  expect(await isGood(developer, booker.grantToken)).toBe(false);
  expect(await isGood(developer, reader.grantToken)).toBe(false);
});

test('with scripts off, a person’s page says what it is for and that nothing has changed', async () => {
  const { developer } = await approve();
  const page = await visit({ javaScriptEnabled: false });

  await page.goto(await linkFor(developer));

  await heading(page, 'This page needs JavaScript').waitFor();
  expect(await page.locator('main').innerText()).toContain('Nothing has changed.');
});
