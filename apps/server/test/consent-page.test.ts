import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchBrowser } from './browser.ts';
import { actionsOf, authorize, registerAgent } from './flow.ts';
import { startListening } from './listening.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** A request that waits for its person, and a browser of that person's own. */
async function asked(request: object = {}) {
  const service = await startListening({ startsAt: new Date().toISOString() }); // browsers drop old cookies
  const developer = await service.asDeveloper();
  const { agentId } = await registerAgent(developer);
  const opened = await authorize(developer, agentId, request);
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  return { ...service, developer, agentId, opened, page };
}

const decide = (page: Page, how: 'Approve' | 'Deny') =>
  page.getByRole('button', { name: how, exact: true }).click();

describe('the consent page', () => {
  test('shows who asks for what, and an approval there becomes a grant', async () => {
    const { developer, agentId, opened, page } = await asked();

    await page.goto(opened.consentUrl);
    await page.getByRole('heading', { name: 'Travel booker' }).waitFor();
    const shown = await page.locator('main').innerText();
    await decide(page, 'Approve');
    await page.getByText('approved', { exact: false }).first().waitFor();
    const { code } = (await developer('POST', `/v1/authorize/${opened.id}/code`)).json();
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();

    for (const text of ['Acme', 'user_42', 'Read your calendar', 'calendar:read', 'email:send']) {
      expect(shown).toContain(text);
    }
    expect(page.url()).not.toContain('ticket');
    const grant = (await developer('GET', `/v1/grants/${grantId}`)).json();
    expect(grant).toMatchObject({ principalId: 'user_42', consentMethod: 'link', unverified: true });
    expect(await actionsOf(developer)).toContain('authorization.approved');
  });

  test('grants only what the person left checked', async () => {
    const { developer, agentId, opened, page } = await asked();

    await page.goto(opened.consentUrl);
    await page.getByRole('checkbox', { name: /email/i }).uncheck();
    await decide(page, 'Approve');
    await page.getByText('approved', { exact: false }).first().waitFor();
    const { code } = (await developer('POST', `/v1/authorize/${opened.id}/code`)).json();
    const { scopes } = (await developer('POST', '/v1/token', { code, agentId })).json();

    expect(scopes).toEqual(['calendar:read']);
  });

  test('sends the person back with the code, or with their refusal', async () => {
    const { developer, agentId, page, url } = await asked();
    const redirectUri = `${url}/livez`; // any page of this machine will do
    await developer('PATCH', '/v1/me', { redirectUris: [redirectUri] });

    const answers: URLSearchParams[] = [];
    for (const how of ['Approve', 'Deny'] as const) {
      const { consentUrl } = await authorize(developer, agentId, { redirectUri, state: 'a b&c' });
      await page.goto(consentUrl);
      await decide(page, how);
      await page.waitForURL(`${redirectUri}?**`);
      answers.push(new URL(page.url()).searchParams);
    }

    const [approved, denied] = answers;
    expect(Object.fromEntries(approved ?? [])).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'a b&c',
      iss: url,
    });
    expect(Object.fromEntries(denied ?? [])).toEqual({ error: 'access_denied', state: 'a b&c', iss: url });
  });

  test('is of no use to somebody else’s frame, nor without the ticket', async () => {
    const { opened, page, url } = await asked();

    await page.goto(`${url}/consent?req=${opened.id}`);
    await page.getByText('link', { exact: false }).first().waitFor();
    await page.goto('about:blank');
    await page.setContent(`<iframe src="${opened.consentUrl}"></iframe>`);
    const frame = page.frameLocator('iframe').locator('main');

    await expect(frame.innerText({ timeout: 1000 })).rejects.toThrow('Timeout');
  });
});
