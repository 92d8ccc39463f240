import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { launchBrowser } from '../browser.ts';
import { authorize } from '../flow.ts';
import { startListening } from '../listening.ts';
import { hintClaims, newVoucher } from '../person.ts';
import type { Developer, TestOptions } from '../start-app.ts';

/** Where an app waits for the person's return. */
export const RETURN_TO = 'https://app.acme.example/back';

/** What a browser says of refusals, of failures that a test has made, and of schemes that no program is here for. */
const EXPECTED = /^Failed to load resource: |^Failed to launch '/;

interface Wish {
  readonly mode?: 'live' | 'sandbox';
  /** Members of the developer's own record, such as `consentMode`. */
  readonly settings?: object;
  /** A developer with a key to vouch for people. */
  readonly hasKey?: true;
  readonly agent?: object;
  readonly request?: object;
}

interface Visit extends BrowserContextOptions {
  /** What the browser will complain of. */
  readonly expected?: RegExp;
}

/** How long the page must have been in front before it takes an approval. */
const ARMING = 600;

/**
 * One browser and one service for a file's tests. The service tells its own time, which stands still unless a test
 * moves it.
 */
export function consentPages(options: TestOptions = {}) {
  let browser: Browser;
  let service: Awaited<ReturnType<typeof startListening>>;
  beforeAll(async () => {
    const startsAt = '2026-03-02T09:00:00Z';
    [browser, service] = await Promise.all([
      launchBrowser(),
      startListening({ startsAt, ...options, isShared: true }),
    ]);
    service.app.server.prependListener('request', (_, answer) => {
      answer.setHeader('date', service.clock().toUTCString());
    });
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  /** A browser of a person's own, which must not complain, nor ask anybody but the service for anything. */
  async function visit({ expected, ...wishes }: Visit = {}): Promise<Page> {
    const context = await browser.newContext({
      locale: 'en-GB',
      timezoneId: 'UTC',
      viewport: { width: 820, height: 900 },
      ...wishes,
    });
    context.setDefaultTimeout(10_000);
    await context.clock.install({ time: service.clock() });
    const complaints: string[] = [];
    context.on('weberror', (error) => complaints.push(String(error.error())));
    context.on('console', (message) => {
      const isWorse = ['error', 'warning'].includes(message.type()) && !EXPECTED.test(message.text());
      if (isWorse && !expected?.test(message.text())) complaints.push(message.text());
    });
    context.on('request', (request) => {
      const isForeign = new URL(request.url()).origin !== service.url && !request.isNavigationRequest();
      if (isForeign) complaints.push(`asked for ${request.url()}`);
    });
    await context.route(`${RETURN_TO}?**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>Back</title>' }),
    );
    onTestFinished(async () => {
      await context.close();
      expect(complaints).toEqual([]);
    });
    return context.newPage();
  }

  /** A request that waits for its person. */
  async function ask(wish: Wish = {}) {
    const { mode = 'live', settings = {}, hasKey, agent = {}, request = {} } = wish;
    const developer = await service.asDeveloper({ mode });
    const voucher = await newVoucher();
    const consentKeys = hasKey && { consentKeys: [voucher.jwk] };
    await must(developer, 'PATCH', '/v1/me', {
      ...settings,
      ...consentKeys,
      redirectUris: [RETURN_TO, `${RETURN_TO}?a=1`],
    });
    const { agentId } = await must(developer, 'POST', '/v1/agents', { name: 'Travel booker', ...agent });
    const autoApprove = mode === 'sandbox' && { autoApprove: false };
    const asked = await authorize(developer, String(agentId), { ...autoApprove, ...request });
    const link = String(asked.consentUrl);
    const id = String(asked.id);
    /** The link as the developer's app hands it on, with its word for who is signed in. */
    const vouchedLink = async (claims: object = {}) => {
      const hint = await voucher.hint({ ...hintClaims(service, developer.developerId, asked), ...claims });
      return `${link}&hint=${hint}`;
    };
    const record = () => must(developer, 'GET', `/v1/authorize/${id}`);
    /** What came of the approval. @param given the code, where the person was sent back with it */
    async function grant(given?: string) {
      const code = given ?? (await must(developer, 'POST', `/v1/authorize/${id}/code`)).code;
      const { grantId } = await must(developer, 'POST', '/v1/token', { code, agentId });
      return must(developer, 'GET', `/v1/grants/${grantId}`);
    }
    return { developer, agentId: String(agentId), id, link, vouchedLink, record, grant };
  }

  return { ask, visit, service: () => service };
}

export async function must(developer: Developer, ...call: Parameters<Developer>) {
  const answer = await developer(...call);
  if (answer.statusCode >= 300) throw new Error(`${call[0]} ${call[1]}: ${answer.body}`);
  return answer.json();
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 });

/** Waits until the page shows these words. */
export const sees = (page: Page, words: string | RegExp) => page.getByText(words).first().waitFor();

/** Opens a link and waits for the request on the page. */
export async function openRequest(page: Page, link: string) {
  await page.goto(link);
  await heading(page, /asks to act for you/).waitFor();
}

/** Decides as somebody who has read the page, and waits for the title of what follows. */
export async function decide(page: Page, how: 'Approve' | 'Deny', title?: string | RegExp) {
  if (how === 'Approve') await page.clock.fastForward(ARMING);
  await button(page, how).click();
  if (title) await heading(page, title).waitFor();
}

/** The bodies of what the page sends to one step of the API, in their order. */
export function sentTo(page: Page, step: string): unknown[] {
  const bodies: unknown[] = [];
  page.on('request', (request: Request) => {
    const isStep = request.method() === 'POST' && request.url().endsWith(`/${step}`);
    if (isStep) bodies.push(request.postDataJSON());
  });
  return bodies;
}

/** Keeps answers to a call back until the test lets them go, as a slow network does. */
export async function holdBack(page: Page, pattern: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(pattern, async (route) => {
    await promise;
    await route.continue();
  });
  return { letGo: () => resolve() };
}

/** Does any part of the page lie beside the window? */
export const scrollsSideways = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** Where the page has tried to go since, whether or not anything is there. */
export async function attemptsToGo(page: Page): Promise<() => string[]> {
  const urls: string[] = [];
  const session = await page.context().newCDPSession(page);
  await session.send('Page.enable');
  session.on('Page.frameRequestedNavigation', ({ url }) => urls.push(url));
  return () => urls;
}

/** The code that a person would read in a mail. */
export const codeIn = (text = '') => /^ {4}(\d{8})$/m.exec(text)?.[1] ?? '';
