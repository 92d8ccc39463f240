import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { launchBrowser } from '../../apps/server/test/browser/browser.ts';
import { findings } from '../../apps/server/test/browser/pages.ts';
import { buildSite } from './build.ts';
import { deadLinks, deadMarkdownLinks, serveFolder } from './serve.ts';

const ROOT = join(import.meta.dirname, '../..');
const BUILT = process.env.BEHEST_SITE; // a site for the root of a host that is built already
const BASE = '/behest/docs/';

let site: string;
let browser: Browser;
let server: Awaited<ReturnType<typeof serveFolder>>;

beforeAll(async () => {
  site = BUILT ?? mkdtempSync(join(tmpdir(), 'site-'));
  if (!BUILT) await buildSite(ROOT, site);
  server = await serveFolder(site);
  browser = await launchBrowser();
}, 600_000); // the build takes minutes on a busy machine

afterAll(async () => {
  await browser.close();
  await server.stop();
  if (!BUILT) rmSync(site, { recursive: true, force: true });
});

/** Opens a page in a browser that reaches this site and no other. */
async function visit(path: string) {
  const page = await browser.newPage({ bypassCSP: true });
  const strangers: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
      strangers.push(request.url());
  });
  await page.goto(`${server.url}${path}`, { waitUntil: 'load' });
  return { page, strangers };
}

/** The keys open the search once the page's script has run, which a loaded page may still be about to do. */
async function search(page: Page) {
  const input = page.locator('#localsearch-input');
  await vi.waitFor(async () => {
    await page.keyboard.press('Control+k');
    await input.waitFor({ timeout: 500 });
  }, 20_000);
  await input.fill('proof of possession');
  await page.locator('#localsearch-list a').first().waitFor();
}

test('every page is there as HTML and as Markdown, and no link of either is dead', () => {
  const html = globSync('**/*.html', { cwd: site }).filter((page) => page !== '404.html');
  const markdown = globSync('**/*.md', { cwd: site });

  expect(html.length).toBeGreaterThan(500);
  expect(html.map((page) => page.replace(/html$/, 'md')).sort()).toEqual(markdown.sort());
  expect(readFileSync(join(site, 'guides/verify-a-token.md'), 'utf8')).toBe(
    readFileSync(join(ROOT, 'docs/guides/verify-a-token.md'), 'utf8'),
  );
  expect(existsSync(join(site, 'openapi.json'))).toBe(true);
  expect(deadLinks(site)).toEqual([]);
  expect(deadMarkdownLinks(site)).toEqual([]);
});

test('llms.txt names every page that a person would look for', () => {
  const text = readFileSync(join(site, 'llms.txt'), 'utf8');

  expect(text).toContain('[Quickstart](guides/quickstart.md): ');
  expect(text).toContain('](api/agents.md): The programs that act for principals.');
  expect(text).toContain('](sdk/index/interfaces/AgentsApi.md)');
});

test.each(['/index.html', '/api/agents.html'])('%s is accessible, light, dark and narrow', async (path) => {
  const { page, strangers } = await visit(path);

  const wide = await findings(page);
  await page.setViewportSize({ width: 375, height: 800 });
  const narrow = await findings(page);
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );

  expect([wide, narrow]).toEqual([[], []]);
  expect(overflow).toBe(0);
  expect(strangers).toEqual([]);
  await page.close();
});

test('the search finds a page without another server', async () => {
  const { page, strangers } = await visit('/index.html');

  await search(page);

  expect(await page.locator('#localsearch-list a').count()).toBeGreaterThan(1);
  expect(strangers).toEqual([]);
  await page.close();
});

test('a site for a path of a host stays below it: its pages, its links and its search', async () => {
  const below = mkdtempSync(join(tmpdir(), 'site-below-'));
  onTestFinished(() => rmSync(below, { recursive: true, force: true }));
  await buildSite(ROOT, below, BASE);
  const host = await serveFolder(below, BASE);
  onTestFinished(host.stop);
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const astray: string[] = [];
  page.on('response', (answer) => {
    const isBelow = answer.url().startsWith(`${host.url}/`) || answer.url().startsWith('data:');
    if (!isBelow || answer.status() >= 400) astray.push(`${answer.status()} ${answer.url()}`);
  });

  await page.goto(`${host.url}/`, { waitUntil: 'load' });
  await page.getByRole('link', { name: 'Quickstart' }).first().click();
  await page.waitForURL(`${host.url}/guides/quickstart.html`);
  await search(page);

  expect(await page.locator('#localsearch-list a').first().getAttribute('href')).toMatch(
    new RegExp(`^${BASE}`),
  );
  expect(astray).toEqual([]);
  expect(deadLinks(below, BASE)).toEqual([]);
  expect(deadLinks(below).length).toBeGreaterThan(0); // at the root of a host they lead nowhere
  expect(deadMarkdownLinks(below)).toEqual([]);
}, 600_000); // the build takes minutes on a busy machine
