import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { english } from '../../../../packages/protocol/src/english.ts';
import { AppError, unavailable } from '../../src/platform/errors.ts';
import { pageAnswer, strayPage } from '../../src/platform/http/answers/plain-page.ts';
import { LANGUAGES, MESSAGES, textsOf } from '../../src/platform/languages.ts';
import { startListening } from '../app/listening.ts';
import { type Service, startApp } from '../app/start-app.ts';
import { launchBrowser } from './browser.ts';
import { consentPages } from './consent-page/pages.ts';
import {
  boxesWithin,
  button,
  findings,
  heading,
  inPseudoLanguage,
  longer,
  scrollsSideways,
  sees,
} from './pages.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const get = (url: string, headers: Record<string, string> = {}) => service.app.inject({ url, headers });

const filesIn = (folder: string) =>
  globSync(`${join(import.meta.dirname, '../../src', folder)}/*`).map((file) => basename(file));

/**
 * The pages of all features: where each is, which its document's name says, and its folder. The page that checks receipts
 * is one file, and has tests of its own.
 */
const pages = globSync('features/*/*/page/!(verify).html', {
  cwd: join(import.meta.dirname, '../../src'),
}).map((document) => [`/${basename(document, '.html')}`, dirname(document)] as const);

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
    const answer = pageAnswer(strayPage(error, 'req_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'), 'en');
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

const REQUEST = 'req_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

test.each(LANGUAGES)('the first page and the pages of refusals are in %s as a whole', async (language) => {
  const refusals = [
    new AppError('UNAUTHORIZED', 'A sentence for programs.'),
    new AppError('NOT_FOUND', 'A sentence for programs.'),
    new AppError('METHOD_NOT_ALLOWED', 'A sentence for programs.'),
    new AppError('BAD_REQUEST', 'A sentence for programs.'),
    new AppError('RATE_LIMITED', 'A sentence for programs.'),
    new AppError('RATE_LIMITED', 'A sentence for programs.', { retryAfter: 600 }),
    new AppError('INTERNAL_ERROR', 'A sentence for programs.'),
    unavailable('db'),
  ];
  const said = (accepted: string) =>
    refusals.map((error) => textsOf(pageAnswer(strayPage(error, REQUEST), accepted).body));
  const home = async (accepted: string) =>
    textsOf((await get('/', { accept: 'text/html', 'accept-language': accepted })).body);

  for (const [index, texts] of [...said(language), await home(language)].entries()) {
    const english = [...said('en'), await home('en')][index] ?? [];
    expect(texts.length).toBe(english.length);
    expect(texts.filter((text) => english.includes(text))).toEqual(
      ['Behest', REQUEST].filter((text) => english.includes(text)),
    );
  }
});

test('a page without scripts is in the language of its browser, and a developer’s name is no text of ours', async () => {
  const { body, headers } = await get('/nowhere', {
    accept: 'text/html',
    'accept-language': 'de-CH, en;q=0.3',
  });
  const named = { title: 'Confirm', lead: '{name}', values: { name: '<b>{constructor}{name}' } };

  expect(headers).toMatchObject({ 'content-language': 'de', vary: 'Accept, Accept-Language' });
  expect(body).toMatch(/<html lang="de">[\s\S]*Diese Seite gibt es nicht/);
  expect(
    (await get('/nowhere?ui_locales=ja', { accept: 'text/html', 'accept-language': 'de' })).body,
  ).toContain('<h1>ページが見つかりません</h1>');
  const busy = strayPage(new AppError('RATE_LIMITED', '', { retryAfter: 7 }), REQUEST);
  expect(pageAnswer(busy, 'de').body).toContain('in 7 Sekunden erneut');
  expect(pageAnswer(busy, 'ja').body).toContain('7 秒後に');
  expect(pageAnswer(named, 'fr').body).toContain('<p class="lead">&lt;b&gt;{constructor}{name}</p>');
  const link = await get('/v1/signup/verify/none', { accept: 'text/html', 'accept-language': 'pt' });
  expect(link.body).toContain('Este link é desconhecido ou um mais novo o substituiu.');
});

const SOURCES = join(import.meta.dirname, '../../src');

const isCounted = (words: object): words is { other: string } =>
  'other' in words && Object.keys(words).every((key) => key === 'one' || key === 'other');

/** The texts in an object of words, at any depth. Of a sentence that counts, the form `other` names the message. */
function leavesOf(words: unknown): { readonly text: string; readonly counts?: true }[] {
  if (typeof words === 'string') return [{ text: words }];
  const object = Object(words);
  return isCounted(object) ? [{ text: object.other, counts: true }] : Object.values(object).flatMap(leavesOf);
}

const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].toSorted();

/** Whether a text differs between languages: it has a letter or a mark outside of its names, or an order of names. */
const isSaid = (text: string) =>
  text !== 'Behest' && (/[\p{L}.:]/u.test(text.replaceAll(/\{\w+\}/g, '')) || namesIn(text).length > 1);

/** Whether a file has texts that the service itself puts into a language, for mails and for pages without scripts. */
const hasTexts = (file: string) =>
  readFileSync(join(SOURCES, file), 'utf8').includes('\nexport const texts = {');

/** Every text of the pages and mails that are translated, and whether it counts something. */
async function englishTexts(): Promise<ReadonlyMap<string, boolean>> {
  const { rules: _, refusals: __, duration: ___, units: ____, permissions, ...fixed } = english;
  const texts = leavesOf([fixed, ...permissions.values()]);
  const add = async (file: string) => texts.push(...leavesOf((await import(join(SOURCES, file))).words));
  await add('platform/page/words.js');
  for (const [path, folder] of pages) {
    if (!(await get(path, { 'accept-language': 'de' })).body.includes('<html lang="de"')) continue;
    for (const file of filesIn(folder).filter((name) => name.endsWith('-words.js')))
      await add(join(folder, file));
    texts.push(...leavesOf(textsOf(readFileSync(join(SOURCES, `${folder}${path}.html`), 'utf8'))));
  }
  for (const file of globSync('**/*.ts', { cwd: SOURCES }).filter(hasTexts))
    texts.push(...leavesOf((await import(join(SOURCES, file))).texts));
  return new Map(texts.filter(({ text }) => isSaid(text)).map(({ text, counts = false }) => [text, counts]));
}

describe.each(LANGUAGES)('the messages in %s', (language) => {
  const messages: Record<string, string | Record<string, string>> = JSON.parse(
    readFileSync(join(MESSAGES, `${language}.json`), 'utf8'),
  );

  test('are those of the pages: none is missing, and none is unused', async () => {
    expect(Object.keys(messages).toSorted()).toEqual([...(await englishTexts()).keys()].toSorted());
  });

  test('have the same names in braces as the English texts, and no markup', () => {
    for (const [text, message] of Object.entries(messages)) {
      for (const [form, own] of typeof message === 'string'
        ? [['', message] as const]
        : Object.entries(message)) {
        const names = namesIn(form === 'one' && !own.includes('{n}') ? text.replaceAll('{n}', '1') : text);
        expect(namesIn(own), text).toEqual(names);
        expect(own).not.toMatch(/[<>&"]/);
        expect(own.trim()).not.toBe('');
      }
    }
  });

  test('have a form for each plural category that a number needs, and no other', async () => {
    const texts = await englishTexts();
    const rules = new Intl.PluralRules(language);
    const needed = [...new Set(Array.from({ length: 10_000 }, (_, n) => rules.select(n)))].toSorted();

    for (const [text, message] of Object.entries(messages)) {
      const forms = typeof message === 'string' ? ['other'] : Object.keys(message).toSorted();
      expect(forms, text).toEqual(texts.get(text) ? needed : ['other']);
    }
  });
});

test('the language of a page is that of `ui_locales`, then that of the browser, then English', async () => {
  const said = async (url: string, accepted?: string) => {
    const { headers, body } = await get(url, accepted === undefined ? {} : { 'accept-language': accepted });
    expect(headers).toMatchObject({ vary: 'Accept-Language' });
    return [headers['content-language'], /<html lang="([^"]*)"/.exec(body)?.[1]];
  };
  const both = (language: string) => [language, language];

  expect(await said('/consent')).toEqual(both('en'));
  expect(await said('/consent', 'de-AT,de;q=0.9,en;q=0.5')).toEqual(both('de'));
  expect(await said('/consent', 'en-GB,de;q=0.9')).toEqual(both('en'));
  expect(await said('/consent', 'it,pt;q=0.8')).toEqual(both('pt-BR'));
  expect(await said('/consent?ui_locales=xx%20ja%20fr', 'de')).toEqual(both('ja'));
  expect(await said('/consent?ui_locales=en', 'de')).toEqual(both('en'));
  expect(await said('/consent?ui_locales=%22%3E%3Cscript%3E', 'es')).toEqual(both('es'));
  expect(await said(`/consent?ui_locales=${'x '.repeat(5_000)}`, `${'de,'.repeat(5_000)}`)).toEqual(
    both('en'),
  );
  expect(await said('/approve', 'pt-PT,es;q=0.5')).toEqual(both('pt-BR'));
  expect(await said('/permissions?ui_locales=ja', 'de')).toEqual(both('ja'));
  expect(await said('/setup', 'de')).toEqual(both('de'));
});

describe('pages in other languages', () => {
  const { ask, visit, service: served } = consentPages();
  const phone = { viewport: { width: 390, height: 844 }, bypassCSP: true } as const; // for axe
  const invoices = {
    agent: { name: 'Invoice assistant' },
    hasKey: true,
    request: {
      principalId: 'ada@example.org',
      scopes: ['invoices:read', 'email:send', 'tool:stripe:write:capped:500', 'contacts:read'],
      budget: { amount: '1200.50', currency: 'EUR' },
      expiresIn: '7d',
    },
  } as const;

  test.each([
    [
      'de-AT',
      'de',
      /möchte für Sie handeln/,
      ['Ablehnen', 'Erlauben'],
      /1.200,50/,
      'In Ihrem Namen senden: email',
    ],
    [
      'fr-FR',
      'fr',
      /demande à agir pour vous/,
      ['Refuser', 'Autoriser'],
      /1.200,50\s€/,
      'Envoyer en votre nom : email',
    ],
    [
      'es-ES',
      'es',
      /pide actuar por usted/,
      ['Rechazar', 'Permitir'],
      /1.?200,50\s€/,
      'Enviar en su nombre: email',
    ],
    [
      'pt-BR',
      'pt-BR',
      /pede para agir por você/,
      ['Recusar', 'Permitir'],
      /€\s1.200,50/,
      'Enviar em seu nome: email',
    ],
    [
      'ja-JP',
      'ja',
      /あなたの代理を求めています/,
      ['拒否', '許可'],
      /1,200.50/,
      'あなたの名前での送信：email',
    ],
  ] as const)(
    'the consent page is for a browser in %s',
    async (locale, language, title, [deny, allow], money, permission) => {
      const { vouchedLink, record } = await ask(invoices);
      const page = await visit({ ...phone, locale });

      await page.goto(await vouchedLink());
      await heading(page, title).waitFor();
      await page.clock.fastForward(600);
      await page.locator('#approve[aria-disabled="false"]').waitFor();

      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      expect(await page.locator('.headline').innerText()).toMatch(money);
      expect(await page.locator('.rows > li').first().innerText()).toBe(permission);
      expect(await scrollsSideways(page)).toBe(false);
      const boxes = [await button(page, deny).boundingBox(), await button(page, allow).boundingBox()];
      for (const box of boxes) expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThan(844);
      expect(boxes[0]?.height).toBe(boxes[1]?.height);
      expect(await findings(page)).toEqual([]);
      await button(page, deny).click();
      await expect.poll(async () => (await record()).status, { timeout: 10_000 }).toBe('denied');
    },
  );

  test.each([
    ['/device', 'fr-FR', 'Connecter un appareil'],
    ['/sign-in', 'ja-JP', 'このページはここでは使えません'],
    ['/connect', 'de-DE', 'Dieser Link ist unvollständig'],
    ['/setup', 'es-ES', 'Este enlace no se puede abrir'],
  ])('%s speaks the language of a browser in %s', async (path, locale, title) => {
    const page = await visit({ ...phone, locale });

    await page.goto(served().url + path);
    await heading(page, title).waitFor();

    expect(await scrollsSideways(page)).toBe(false);
    expect(await findings(page)).toEqual([]);
  });

  test('the consent page follows a link that names a language, and is English where its messages cannot be had', async () => {
    const { vouchedLink } = await ask(invoices);
    const link = (await vouchedLink()).replace('?', '?ui_locales=fr-CA%20de&');
    const page = await visit({ ...phone, expected: /preload/ });

    await page.goto(link);
    await heading(page, /demande à agir pour vous/).waitFor();
    expect(await page.locator('.rows > li').first().innerText()).toBe('Envoyer en votre nom : email');
    await page.route('**/platform/page/fr.json', (route) => route.abort());
    await page.reload();
    await heading(page, /asks to act for you/).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
  });

  test.each(['ltr', 'rtl'] as const)(
    'the consent page holds in a language that is longer by 40 %%, written %s',
    async (dir) => {
      const { vouchedLink } = await ask(invoices);
      const page = await visit({ ...phone, locale: 'de-DE' });
      await inPseudoLanguage(page, '**/consent?**', dir);

      await page.goto(await vouchedLink());
      await heading(page, /asks to act for you/).waitFor();
      for (const part of ['', '#details']) {
        if (part) await page.locator(`${part} > summary`).click();
        expect(await scrollsSideways(page)).toBe(false);
        const [deny, allow] = await boxesWithin(page, '.decide button');
        expect((deny?.x ?? 0) < (allow?.x ?? 0)).toBe(dir === 'ltr');
        expect(deny?.width).toBe(allow?.width);
      }
      expect(await findings(page)).toEqual([]);
    },
  );

  test.each(['ltr', 'rtl'] as const)(
    'pages without scripts hold in a language that is longer, written %s',
    async (dir) => {
      const page = await visit({ ...phone, expected: /404/ });
      const address = served().url;
      await page.route(`${address}/**`, async (route) => {
        const answer = await route.fetch();
        const body = await answer.text();
        const isPage = answer.headers()['content-type']?.startsWith('text/html');
        const inLonger = body.replaceAll(/>([^<>]*\p{L}[^<>]*)</gu, (_, text: string) => `>${longer(text)}<`);
        await route.fulfill({
          response: answer,
          body: isPage ? inLonger.replace('<html', `<html dir="${dir}"`) : body,
        });
      });

      for (const path of ['/', '/nowhere']) {
        await page.goto(address + path);
        expect(await page.locator('h1').innerText()).toContain('ëïlöngër');
        expect(await scrollsSideways(page)).toBe(false);
        expect(await findings(page)).toEqual([]);
      }
    },
  );
});
