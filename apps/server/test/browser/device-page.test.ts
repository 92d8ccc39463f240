import { expect, test } from 'vitest';
import { askDevice, newDevice } from '../app/device.ts';
import { decide } from './consent-page/pages.ts';
import { button, findings, heading, pagesOfService, sees } from './pages.ts';

const { visit, service } = pagesOfService();
const person = { bypassCSP: true } as const; // axe is a script from outside the page

test('a person compares the code, sees who asks, and approves for the device', async () => {
  const device = await newDevice(service());
  const shown = await askDevice(device);
  const page = await visit(person);

  await page.goto(String(shown.verification_uri_complete));
  await heading(page, 'Connect a device').waitFor();
  await sees(page, 'Continue only if your own device shows');
  await sees(page, 'Nobody should send you a code');
  expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe(shown.user_code);
  expect(await findings(page)).toEqual([]);
  await button(page, 'Continue').click();

  await heading(page, /asks to act for you/).waitFor();
  await sees(page, 'Compare the code');
  expect(await page.locator('main').innerText()).toContain(shown.user_code);
  expect(await findings(page)).toEqual([]);
  await decide(page, 'Allow', 'Allowed');
});

test('a code that nobody waits with is told, and a text that is no code is not sent', async () => {
  const page = await visit(person);
  const sent: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  await page.goto(`${service().url}/device`);

  await page.getByLabel('Code', { exact: true }).fill('bcdf');
  await button(page, 'Continue').click();
  await sees(page, 'A code has eight letters');
  expect(sent).toEqual([]);
  await page.getByLabel('Code', { exact: true }).fill('bcdf ghjk');
  await page.keyboard.press('Enter');
  await sees(page, 'No device waits with this code.');
  expect(await findings(page)).toEqual([]);
});
