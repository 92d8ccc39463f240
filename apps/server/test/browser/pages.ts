import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { startListening } from '../app/listening.ts';
import type { Developer, TestOptions } from '../app/start-app.ts';
import { freePort } from '../servers/start-server.ts';
import { giveBack, openBrowser, takeBrowser } from './browser.ts';

const IMAGES = join(import.meta.dirname, '../../../../docs/images');
const updatesImages = process.env.UPDATE_IMAGES === '1';

/** The browser's messages about refusals, about failures that a test made, and about unknown schemes. */
const EXPECTED = /^Failed to load resource: |^Failed to launch '/;

export interface Visit extends BrowserContextOptions {
  /** Complaints that the test expects from the browser. */
  readonly expected?: RegExp;
  /** With nothing in its cache. */
  readonly isNew?: true;
}

/**
 * One service for a file's tests, and browsers. The service has its own clock, which stands still unless a
 * test moves it.
 */
export function pagesOfService(options: TestOptions = {}) {
  let service: Awaited<ReturnType<typeof startListening>>;
  beforeAll(async () => {
    service = await startListening({ startsAt: '2026-03-02T09:00:00Z', ...options, isShared: true });
    service.app.server.prependListener('request', (_, answer) => {
      answer.setHeader('date', service.clock().toUTCString());
    });
  });
  afterAll(() => service.stop());

  /** A person's own browser. It must not complain, and must send requests to the service only. */
  async function visit({ expected, isNew, ...wishes }: Visit = {}): Promise<Page> {
    const wanted = { locale: 'en-GB', timezoneId: 'UTC', viewport: { width: 820, height: 900 }, ...wishes };
    const own = await (isNew ? openBrowser(wanted) : takeBrowser(wanted));
    const { context, page } = own;
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
    onTestFinished(async ({ task }) => {
      const isUsable = !isNew && task.result?.state !== 'fail';
      await (isUsable ? giveBack(own, wanted) : context.close());
      expect(complaints).toEqual([]);
    });
    return page;
  }

  return { visit, service: () => service };
}

export async function must(developer: Developer, ...call: Parameters<Developer>) {
  const answer = await developer(...call);
  if (answer.statusCode >= 300) throw new Error(`${call[0]} ${call[1]}: ${answer.body}`);
  return answer.json();
}

/** Gives an account a colour, and a logo of it: a white ring on a disc. */
export async function brand(developer: Developer, accentColor = '#7a1f5c') {
  const png = new PNG({ width: 96, height: 96 });
  const disc = [...Buffer.from(accentColor.slice(1), 'hex'), 255];
  for (let at = 0; at < 96 * 96; at += 1) {
    const radius = Math.hypot((at % 96) - 47.5, Math.floor(at / 96) - 47.5);
    if (radius < 47) png.data.set(radius > 18 && radius < 28 ? [255, 255, 255, 255] : disc, 4 * at);
  }
  const logo = PNG.sync.write(png).toString('base64');
  return must(developer, 'PATCH', '/v1/me/branding', { accentColor, logo });
}

/** What shows the account that has a page: the sizes of its logo, the name beside it, and the colour of the button. */
export async function brandOn(page: Page, label: string) {
  await page.locator('.masthead img').evaluate('(image) => image.decode()');
  const logo: unknown = await page.evaluate(
    "(({ naturalWidth, width, src }) => [naturalWidth, width, new URL(src).origin === location.origin])(document.querySelector('.masthead img'))",
  );
  await button(page, label).waitFor();
  const named = `[...document.querySelectorAll('button')].find((it) => it.textContent === '${label}')`;
  const fill: unknown = await page.evaluate(`getComputedStyle(${named}).backgroundColor`);
  return { logo, name: await page.locator('.masthead').innerText(), fill };
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 });

/** Waits until the page shows these words. */
export const sees = (page: Page, words: string | RegExp) => page.getByText(words).first().waitFor();

/** Waits until the page shows none of these, because a page may replace words in two steps. */
export const hasNo = (target: Locator) => expect.poll(() => target.count(), { timeout: 10_000 }).toBe(0);

/** Holds answers to a call back until the test lets them go, like a slow network. */
export async function holdBack(page: Page, pattern: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(pattern, async (route) => {
    await promise;
    await route.continue();
  });
  return { letGo: () => resolve() };
}

/** Whether a part of the page is wider than the window. */
export const scrollsSideways = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/**
 * Makes every German text of a page its English one, longer by 40 %, and the page of a direction. Texts that the service
 * puts into its answers stay German.
 */
export async function inPseudoLanguage(page: Page, document: string, dir: 'ltr' | 'rtl') {
  await page.route('**/platform/page/de.json', async (route) => {
    const messages = Object.entries(await (await route.fetch()).json());
    const forms = (text: string, message: unknown) =>
      typeof message === 'string' ? longer(text) : { one: longer(text), other: longer(text) };
    const json = Object.fromEntries(messages.map(([text, message]) => [text, forms(text, message)]));
    await route.fulfill({ json });
  });
  await page.route(document, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace('dir="ltr"', `dir="${dir}"`);
    await route.fulfill({ response: answer, body });
  });
}

/** Where each button of a selector is, all of them within a phone's window. */
export async function boxesWithin(page: Page, buttons: string) {
  const boxes = await Promise.all((await page.locator(buttons).all()).map((each) => each.boundingBox()));
  for (const box of boxes) {
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
    expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThanOrEqual(844);
  }
  return boxes;
}

/** Opens a page of another site with this body. */
export async function openStranger(page: Page, body: string) {
  const port = await freePort();
  const stranger = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(body));
  stranger.listen(port, '127.0.0.1');
  await once(stranger, 'listening');
  onTestFinished(async () => {
    stranger.closeAllConnections();
    stranger.close();
    await once(stranger, 'close');
  });
  await page.goto(`http://127.0.0.1:${port}/elsewhere`); // the service's own name is `localhost`
}

const hasFocus = (target: Locator) => target.and(target.page().locator(':focus-visible')).count();

/**
 * Presses Tab until the target has the focus. @throws when Tab never reaches it, or its focus cannot be seen
 */
export async function tabTo(target: Locator) {
  for (let step = 0; step < 40; step += 1) {
    await target.page().keyboard.press('Tab');
    if ((await hasFocus(target)) === 0) continue;
    const outline = 'getComputedStyle(document.activeElement).outlineStyle';
    expect(await target.page().evaluate(outline)).toBe('solid');
    return;
  }
  throw new Error('not reached');
}

export const hasFocusWithin = (page: Page) => page.evaluate('document.activeElement?.tagName');

/**
 * The faults that axe finds in both colour schemes.
 * @param hasScheme waits until the page is drawn in a scheme, where a script has a part in that
 */
export async function findings(
  page: Page,
  hasScheme: (scheme: 'light' | 'dark') => Promise<unknown> = async () => {},
): Promise<unknown[]> {
  if (await page.evaluate('!globalThis.axe')) await page.evaluate(axe.source);
  const found: unknown[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await hasScheme(colorScheme);
    const rules = colorScheme === 'dark' ? `runOnly: ['color-contrast']` : ''; // the other rules see no colour
    const { violations } = Object(await page.evaluate(`axe.run({ resultTypes: ['violations'], ${rules} })`));
    for (const { id, nodes } of violations) {
      found.push({ colorScheme, id, where: nodes.map((node: { html: string }) => node.html) });
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

/** Takes a picture of a page for the documentation, when `UPDATE_IMAGES` is 1. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!updatesImages) return;
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(IMAGES, `${name}.png`), fullPage: true, animations: 'disabled' });
}

/** Sets the same ids in every picture, so a picture changes only when the page does. */
export async function withFixedIds(
  page: Page,
  calls: string | RegExp,
  ids = /[0-9A-HJKMNP-TV-Z]{26}/g,
): Promise<void> {
  await page.route(calls, async (route) => {
    const answer = await route.fetch();
    const text = (await answer.text())
      .replaceAll(ids, '01KJQX7M4B9T2ZC8V5N3R6W0YA')
      .replaceAll(/(?<=")[0-9a-f]{64}(?=")/g, '7f83b165'.repeat(8))
      .replaceAll(/localhost%3A\d+/g, 'auth.behest.example');
    await route.fulfill({ response: answer, body: text });
  });
}

/** A text in a language that is longer by 40 %, with letters that English does not have. */
export const longer = (text: string): string =>
  `⟦${text}${' ëïlöngër'.repeat(Math.ceil((text.length * 0.4) / 9))}⟧`;
