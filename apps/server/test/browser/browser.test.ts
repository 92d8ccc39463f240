import { expect, onTestFinished, test } from 'vitest';
import { launchBrowser } from './browser.ts';

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
