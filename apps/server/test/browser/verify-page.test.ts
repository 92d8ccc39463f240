import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { corpus, did, makeReceipt } from '../../../../packages/protocol/test/receipts.ts';
import { makeThrowAway } from '../../../../scripts/machine/folders.ts';
import { giveBack, takeBrowser } from './browser.ts';
import { button, findings, hasNo, heading, scrollsSideways, sees, tabTo } from './pages.ts';

const FILE = join(import.meta.dirname, '../../console/verify.html');
const HTML = readFileSync(FILE, 'utf8');
const GENUINE = 'This receipt is genuine';
const UNANCHORED = 'This receipt agrees with itself, but its signer is not proven';
const FAILED = 'Do not rely on this receipt';

/** The page with a receipt inside, as the service sends it. */
const pageWith = (receipt: unknown) =>
  HTML.replace(
    '<script type="application/json" id="receipt">',
    () =>
      `<script type="application/json" id="receipt">${JSON.stringify(receipt).replaceAll('<', '\\u003c')}`,
  );

/** Opens a file from the disk. The page may ask for nothing else, and must not complain. */
async function openFile(html = HTML, wishes: BrowserContextOptions = {}, before = '') {
  const folder = makeThrowAway('receipts');
  const file = join(folder, 'receipt.html');
  writeFileSync(file, html);
  const wanted = { locale: 'en-GB', timezoneId: 'UTC', viewport: { width: 820, height: 900 }, ...wishes };
  const own = await takeBrowser(wanted);
  const asked: string[] = [];
  const complaints: string[] = [];
  own.context.on('request', (request) => asked.push(request.url()));
  own.context.on('weberror', (error) => complaints.push(String(error.error())));
  own.context.on('console', (message) => complaints.push(message.text()));
  const address = pathToFileURL(file).href;
  if (before) await own.page.addInitScript(before);
  await own.page.goto(address);
  onTestFinished(async () => {
    expect({ asked, complaints }).toEqual({ asked: [address], complaints: [] });
    await giveBack(own, wanted);
  });
  return own.page;
}

/** Pastes the keys of the service, as a person copies them from its address. */
async function giveKeys(page: Page, keys: string = JSON.stringify(did)) {
  await page.getByLabel('Keys of the service').fill(keys);
  await button(page, 'Check with these keys').click();
}

test('the page is one small file that loads and sends nothing, by its own policy', () => {
  expect(Buffer.byteLength(HTML)).toBeLessThanOrEqual(200_000);
  expect(HTML).not.toMatch(/\b(?:src|href)\s*=\s*["']/);
  expect(/content-security-policy" content="([^"]*)"/.exec(HTML)?.[1]).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'$/,
  );
});

describe('from a disk', () => {
  test.each(Object.entries(corpus()))(
    '%s has the verdict that every checker gives',
    async (_name, { receipt, failed }) => {
      const page = await openFile(pageWith(receipt));

      await heading(page, failed === null ? UNANCHORED : FAILED).waitFor();
      expect((await page.locator('.checks .failed').count()) > 0).toBe(failed !== null);
      if (failed !== null) return;
      await giveKeys(page);
      await heading(page, GENUINE).waitFor();
    },
  );

  test('a person chooses or drops a file, reads what happened, and learns who signed it', async () => {
    const page = await openFile();
    const file = {
      name: 'receipt.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(makeReceipt())),
    };

    await heading(page, 'Check a receipt').waitFor();
    await page.locator('input[type=file]').setInputFiles(file);
    await heading(page, UNANCHORED).waitFor();
    await sees(page, 'Travel helper');
    await sees(page, 'Taken out by the person');
    await sees(page, 'Send mail in your name');
    await sees(page, 'A passkey signed exactly this.');
    await sees(page, /Ended by the person 1 Feb 2026/);
    await sees(page, 'payment.initiated');
    await sees(page, 'https://auth.example.test/.well-known/did.json');
    await sees(page, 'service-rs256-SaszmOe4T02EYaFnITyD8TTWBDyyOWpp3uKUi6H5K6o');
    await giveKeys(page, 'no keys');
    await sees(page, 'These are no keys. Copy the whole text from the address.');
    await giveKeys(page, JSON.stringify({ ...did, verificationMethod: [] }));
    await heading(page, UNANCHORED).waitFor();
    await giveKeys(page);
    await heading(page, GENUINE).waitFor();
    await hasNo(page.getByLabel('Keys of the service'));

    await page.evaluate(
      `(() => {
        const dropped = new DataTransfer();
        dropped.items.add(new File(['{}'], 'receipt.json'));
        dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, cancelable: true }));
      })()`,
    );
    await heading(page, 'This file is no receipt').waitFor();
  });

  test('what is hidden is called hidden, and never active', async () => {
    const page = await openFile(pageWith({ ...makeReceipt({ mode: 'link' }), consent: null }));

    await sees(page, 'has hidden parts of it');
    await sees(page, 'This receipt does not show what the person saw.');
    await sees(page, 'Nobody was verified.');
  });

  test('hostile names are shown as text', async () => {
    const agentName = '</script><img src="x" onerror="document.title=1">\u202eevil';
    const long = 'a'.repeat(1_000_000);
    const labels = { agents: { ag_travel: agentName, ag_payer: long }, scopes: { '<b>': '<b>' } };
    const page = await openFile(
      pageWith(makeReceipt({ shown: { agentName, developerName: '<h1>' }, file: { labels } })),
    );

    await heading(page, UNANCHORED).waitFor();
    await sees(page, '</script><img src="x" onerror="document.title=1">');
    expect(await page.locator('main').innerText()).toContain('U+202E');
    expect(await page.locator('img, main script, main b').count()).toBe(0);
    expect(await page.title()).toBe('Check a receipt');
    expect(await scrollsSideways(page)).toBe(false);
  });

  test('it speaks the language of the browser, or another', async () => {
    const page = await openFile(pageWith(makeReceipt()), { locale: 'pt-PT' });

    await heading(page, 'Este recibo é coerente, mas quem o assinou não está provado').waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('pt-BR');
    await page.getByLabel('Idioma').selectOption('ja');
    await heading(page, 'この受領証に矛盾はありませんが、署名者は証明されていません').waitFor();
    expect(await page.locator('main').innerText()).not.toMatch(/\b(?:the|que|para)\b/);
  });

  test('a language tag that is none keeps nobody from reading, and a browser that lacks something says so', async () => {
    const languages = `Object.defineProperty(navigator, 'languages', { value: ['en-US@posix', 'de'] });`;
    const page = await openFile(pageWith(makeReceipt()), { bypassCSP: true }, languages);
    await sees(page, /Ended by the person 1 Feb 2026/);

    const older = await openFile(pageWith(makeReceipt()), { bypassCSP: true }, 'delete Map.groupBy;');
    await heading(older, 'This browser could not check the receipt').waitFor();
    await sees(older, /groupBy/);
  });

  test.each([320, 1280])(
    'at %i pixels axe finds nothing, light and dark, and the keyboard reaches everything',
    async (width) => {
      const phone = { viewport: { width, height: 844 }, bypassCSP: true };
      const page = await openFile(pageWith(makeReceipt({ mode: 'link' })), phone);

      await heading(page, UNANCHORED).waitFor();
      expect(await findings(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      await tabTo(page.getByLabel('Keys of the service'));
      await tabTo(button(page, 'Check another receipt'));
      await giveKeys(page);
      await heading(page, GENUINE).waitFor();
      expect(await findings(page)).toEqual([]);
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'x', mimeType: 'text/plain', buffer: Buffer.from('{}') });
      await heading(page, 'This file is no receipt').waitFor();
      expect(await findings(page)).toEqual([]);
    },
  );
});
