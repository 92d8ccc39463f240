import type { Response } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { codeIn, consentPages, decide, openRequest } from './consent-page/pages.ts';
import { button, hasFocusWithin, heading, openStranger, scrollsSideways, sees, tabTo } from './pages.ts';

const { ask, visit, service } = consentPages();

describe('texts from outside', () => {
  const MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>';

  test.each([
    ['markup', MARKUP],
    ['a template', '{agent} {{x}} &amp; <%= 1 %>'],
    ['emoji', '👩‍👩‍👧 Familienhelfer 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['writing from right to left', 'مساعد السفر (v2)'],
    ['marks stacked on a letter', `Z${'\u0300'.repeat(150)}algo`],
    ['200 characters without a break', 'W'.repeat(200)],
  ])('O14 the page shows %s as it is, and keeps its layout', async (_, text) => {
    const agent = { name: text.slice(0, 200), description: `${text}\n${text}` };
    const { link } = await ask({ agent, request: { principalId: text, scopes: ['calendar:read'] } });
    const page = await visit({ viewport: { width: 320, height: 640 } });
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => dialogs.push(dialog.message()));

    await openRequest(page, link);
    const shown = (await page.locator('main').textContent()) ?? '';
    const sideways = await scrollsSideways(page);
    const made = await page.locator('main :is(img, script, style, svg, iframe, a)').count();
    await decide(page, 'Allow', 'Allowed');
    const sidewaysAfter = await scrollsSideways(page);

    expect(shown.replaceAll(/U\+[0-9A-F]{4,5}/g, '')).toContain(
      text.replaceAll(/[\u{e0000}-\u{e007f}]/gu, ''),
    );
    expect([sideways, sidewaysAfter, made, dialogs]).toEqual([false, false, 0, []]);
  });

  test('O14 characters without width, and those that turn the writing, are shown by their numbers', async () => {
    const name = 'Pay\u200Bpal\u200F';
    const principalId = 'user\u202Egpj.exe';
    const { link } = await ask({ agent: { name }, request: { principalId } });
    const page = await visit();

    await openRequest(page, link);

    const shown = await page.locator('main').innerText();
    expect(shown).toContain('PayU+200BpalU+200F');
    expect(shown).toContain('userU+202Egpj.exe');
  });

  test('O14 a description of 2,000 characters keeps the layout', async () => {
    const description = 'word '.repeat(390) + 'W'.repeat(50);
    const { link } = await ask({ agent: { description } });
    const page = await visit({ viewport: { width: 320, height: 640 } });

    await openRequest(page, link);

    expect(await page.getByRole('blockquote').textContent()).toBe(description);
    expect(await scrollsSideways(page)).toBe(false);
  });

  test.each([
    ['320 px wide', { viewport: { width: 320, height: 640 } }],
    ['at 200 % zoom', { viewport: { width: 410, height: 450 }, deviceScaleFactor: 2 }],
  ])('a hundred scopes, long ones too, fit a window %s', async (_, wishes) => {
    const short = Array.from({ length: 99 }, (__, at) => `area${at % 9}:act${at}`);
    const scopes = [...short, `unbroken:${'x'.repeat(200)}`];
    const { link } = await ask({ request: { scopes } });
    const page = await visit(wishes);

    await openRequest(page, link);

    expect(await page.getByRole('checkbox').count()).toBe(100);
    expect(await scrollsSideways(page)).toBe(false);
    await button(page, 'Deny').scrollIntoViewIfNeeded();
    expect(await button(page, 'Deny').isVisible()).toBe(true);
  });
});

describe('the browser', () => {
  test('H1 lets the page run its own scripts and styles and talk to the service, and nothing else', async () => {
    const { link } = await ask();
    const page = await visit();

    const answer = await page.goto(link);

    const headers = answer?.headers() ?? {};
    const rules = (headers['content-security-policy'] ?? '').split('; ').sort();
    expect(rules).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ]);
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  test('H1 runs nothing else', async () => {
    const { link } = await ask();
    const page = await visit({ expected: /Content Security Policy|Trusted(HTML|Script)/ });
    await openRequest(page, link);

    const inline = page.evaluate(`{
      const script = document.createElement('script');
      script.append('globalThis.ran = true');
      document.body.append(script);
    }`);
    await inline.catch(() => undefined); // the browser refuses it as text at once
    const markup = page.evaluate(`{ document.body.innerHTML = '<b>x</b>' }`);

    await expect(markup).rejects.toThrow('TrustedHTML');
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
  });

  test('O11 leaves another site’s frame empty, but not a window', async () => {
    const { link, record } = await ask();
    const page = await visit({ expected: /frame-ancestors|X-Frame-Options/ });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));

    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
    await openStranger(page, `<iframe src="${link}"></iframe>`);
    await refused;
    const inFrame = [...asked];
    await openRequest(page, link);

    expect(inFrame).toEqual(['/elsewhere', '/consent']);
    expect((await record()).status).toBe('pending');
  });

  test('O10 lets another site’s page decide nothing, although it has the session’s cookie', async () => {
    const { link, id, record } = await ask();
    const page = await visit();
    await openRequest(page, link);
    const path = `${service().url}/v1/consent/${id}/approve`;
    const answered: number[] = [];
    service().app.server.on('request', (request, answer) => {
      if (request.url?.endsWith('/approve')) answer.once('finish', () => answered.push(answer.statusCode));
    });

    await openStranger(page, `<form method="post" action="${path}"><button>Win</button></form>`);
    const call = `fetch('${path}', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' })`;
    await page.evaluate(`${call}.then(() => 0, () => 0)`);
    await button(page, 'Win').click();
    await expect.poll(() => answered.length).toBe(2);
    const before = (await record()).status;
    await openRequest(page, link);
    await decide(page, 'Allow', 'Allowed');

    expect(answered).toEqual([403, 403, 200]);
    expect([before, (await record()).status]).toEqual(['pending', 'approved']);
  });

  test('loads less than 60 kB, of which 20 are scripts, and nothing that it asks for is refused', async () => {
    const { link } = await ask();
    const page = await visit({ isNew: true });
    const answers: Response[] = [];
    const said: string[] = [];
    page.on('response', (answer) => answers.push(answer));
    page.on('console', (message) => said.push(message.text()));

    await openRequest(page, link);
    await page.waitForLoadState('networkidle');

    const loaded = await Promise.all(
      answers.map(async (answer) => {
        const { responseBodySize } = await answer.request().sizes();
        return { isScript: answer.request().resourceType() === 'script', size: responseBodySize };
      }),
    );
    const sum = (sizes: { size: number }[]) => sizes.reduce((total, { size }) => total + size, 0);
    expect(sum(loaded)).toBeLessThan(60_000);
    expect(sum(loaded.filter(({ isScript }) => isScript))).toBeLessThan(20_000);
    expect(answers.filter((answer) => !answer.ok()).map((answer) => answer.status())).toEqual([]);
    expect(said).toEqual([]);
  });

  test('takes the ticket out of the address, and sends it only to open the session', async () => {
    const { link, vouchedLink } = await ask({ hasKey: true });
    const ticket = new URL(link).hash.slice('#ticket='.length);
    const page = await visit();
    const told: string[] = [];
    page.on('request', (request) => told.push(`${request.url()} ${request.postData() ?? ''}`));

    await openRequest(page, await vouchedLink());
    await decide(page, 'Allow', 'Allowed');

    expect(told.filter((text) => text.includes(ticket))).toEqual([
      expect.stringContaining('/session '),
      expect.stringContaining('/session '),
    ]);
    expect(page.url()).not.toContain('#');
    expect(await page.content()).not.toContain(ticket);
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([
      0,
      0,
      '',
    ]);
  });
});

describe('by keyboard alone', () => {
  test('a person reads, narrows and approves', async () => {
    const { link, grant } = await ask();
    const page = await visit();

    await openRequest(page, link);
    const isTitleFirst = await hasFocusWithin(page);
    await tabTo(page.getByRole('checkbox', { name: /email/ }));
    await page.keyboard.press('Space');
    await tabTo(page.getByLabel('Ends after'));
    await page.keyboard.press('ArrowDown');
    await sees(page, '1 of 2 permissions, for 8 hours');
    await page.clock.fastForward(600);
    await tabTo(button(page, 'Allow'));
    await page.keyboard.press('Enter');
    await heading(page, 'Allowed').waitFor();

    expect(isTitleFirst).toBe('H1');
    expect(await hasFocusWithin(page)).toBe('H1');
    expect((await grant()).scopes).toEqual(['calendar:read']);
  });

  test('a person asks for the code, types it, gives a reason and denies', async () => {
    const { vouchedLink, record } = await ask({ hasKey: true, settings: { consentMode: 'email' } });
    const page = await visit();

    await openRequest(page, await vouchedLink({ email: 'ada@example.org' }));
    await tabTo(button(page, 'Send the code'));
    await page.keyboard.press('Enter');
    await sees(page, 'The code is on its way.');
    await page.keyboard.type(codeIn(service().mails.sent()[0]?.text));
    await page.keyboard.press('Enter');
    await sees(page, 'You have shown that you can read this person’s email.');
    await tabTo(page.locator('summary').last());
    await page.keyboard.press('Space');
    await tabTo(page.getByLabel(/Your reason/));
    await page.keyboard.type('Not now');
    await tabTo(button(page, 'Deny'));
    await page.keyboard.press('Space');
    await heading(page, 'Denied').waitFor();

    expect((await record()).status).toBe('denied');
  });
});

test('with scripts off, the page says what it is for and that nothing is granted', async () => {
  const { link, record } = await ask();
  const page = await visit({ javaScriptEnabled: false });

  await page.goto(link);

  await heading(page, 'This page needs JavaScript').waitFor();
  const shown = await page.locator('main').innerText();
  expect(shown).toContain('Nothing has been granted.');
  expect(shown).not.toContain('Opening the request');
  expect((await record()).status).toBe('pending');
});
