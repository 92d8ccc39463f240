import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AppError, unavailable } from '../../src/platform/errors.ts';
import { pageAnswer, strayPage } from '../../src/platform/http/answers/plain-page.ts';
import { startListening } from '../app/listening.ts';
import { type Service, startApp } from '../app/start-app.ts';
import { launchBrowser } from './browser.ts';
import { findings, heading, scrollsSideways, sees } from './pages.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const get = (url: string, headers: Record<string, string> = {}) => service.app.inject({ url, headers });

const filesIn = (folder: string) =>
  globSync(`${join(import.meta.dirname, '../../src', folder)}/*`).map((file) => basename(file));

/** The pages of all features: where each is, which its document's name says, and its folder. */
const pages = globSync('features/*/*/page/*.html', { cwd: join(import.meta.dirname, '../../src') }).map(
  (document) => [`/${basename(document, '.html')}`, dirname(document)] as const,
);

test('there are pages', () => {
  expect(pages.map(([path]) => path)).toEqual(expect.arrayContaining(['/consent', '/permissions']));
});

describe.each([...pages, ['/platform/page', 'platform/page'] as const])('below %s', (path, folder) => {
  const files = filesIn(folder);
  const isServed = (file: string) => /[.](js|css)$/.test(file);

  test.each(files.filter(isServed))('is the file %s, without comments', async (file) => {
    const answer = await get(`${path}/${file}`);

    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': file.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    expect(answer.body).not.toMatch(/^\s*(\/\*|\/\/)/m);
    const again = await get(`${path}/${file}`, { 'if-none-match': String(answer.headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test.each(files.filter(isServed))(
    'is the file %s, compressed where the browser takes that',
    async (file) => {
      const plain = await get(`${path}/${file}`, { 'accept-encoding': 'gzip, br;q=0' });
      const packed = await get(`${path}/${file}`, { 'accept-encoding': 'gzip, deflate, br' });

      expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([
        undefined,
        'br',
      ]);
      expect(packed.headers).toMatchObject({
        vary: 'Accept-Encoding',
        etag: expect.not.stringMatching(/^W/),
      });
      expect(packed.headers.etag).not.toBe(plain.headers.etag);
      expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(plain.body);
    },
  );

  test.each([
    ...files.filter((file) => !isServed(file)),
    '..%2fconsent.routes.ts',
    '../consent.routes.ts',
    '..%2f..%2f..%2f..%2fpackage.json',
    '%2e%2e/consent.rules.ts',
    '..%5cconsent.rules.ts',
    'page.css%00',
    'page.css/',
    'PAGE.CSS',
    'page/consent.js',
    '__proto__',
    'constructor',
  ])('is no other file, such as %s', async (file) => {
    expect((await get(`${path}/${file}`)).statusCode).toBe(404);
  });
});

describe.each(pages.map(([path]) => path))('the document %s', (path) => {
  test('O11 H1 appears in no frame, runs its own scripts alone and is not cached', async () => {
    const answer = await get(path);

    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const policy = String(answer.headers['content-security-policy']);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy.split('; ')).toContain(rule);
    }
    expect(policy).not.toContain('unsafe');
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(answer.body).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|style=/i);
  });

  test('is the same for everybody, and needs no credential', async () => {
    const addresses = [path, `${path}?req=areq_01K9Z3QW5M8T2V4X6Y7Z8A9B0C`, `${path}?req=<script>`];

    const bodies = await Promise.all(addresses.map(async (url) => (await get(url)).body));

    expect(new Set(bodies).size).toBe(1);
  });
});

test('a browser starts, runs scripts and has fonts to draw text with', async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.setContent('<span id="wide">mmmm</span><br><span id="narrow">iiii</span>');

  const [wide, narrow] = await page.evaluate<[number, number]>(
    "['wide', 'narrow'].map((id) => document.getElementById(id).getBoundingClientRect().width)",
  );

  expect(narrow).toBeGreaterThan(0);
  expect(wide).toBeGreaterThan(narrow);
});

test('the first page and the pages of refusals say what to do, are sound in both colour schemes, and fit a phone', async () => {
  const { url, stop } = await startListening();
  onTestFinished(stop);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const refusals = {
    '/429': new AppError('RATE_LIMITED', 'Slow down.', { retryAfter: 7 }),
    '/500': new AppError('INTERNAL_ERROR', 'A sentence for programs.'),
    '/503': unavailable('db'),
  };
  for (const [path, error] of Object.entries(refusals)) {
    const answer = pageAnswer(strayPage(error, 'req_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'));
    await page.route(url + path, (route) => route.fulfill({ status: error.status, ...answer }));
  }

  for (const [path, status, title, words] of [
    ['/', 200, 'You decide what AI agents may do', 'Each permission can be ended at any time.'],
    ['/nowhere', 404, 'There is no such page', 'The link may be incomplete, or what it led to has ended.'],
    ['/429', 429, 'Too many requests', 'Try again in 7 seconds.'],
    ['/500', 500, 'Something went wrong', 'quote the request below if it goes on.'],
    ['/503', 503, 'Not available right now', 'Try again in a minute.'],
  ] as const) {
    const answer = await page.goto(url + path);
    expect(answer?.status()).toBe(status);
    await heading(page, title).waitFor();
    await sees(page, words);
    expect(await page.getByText(/^Request \S+$/).count()).toBe(status === 200 ? 0 : 1);
    expect(await page.getByText(/sentence for programs|Slow down/).count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  }
});
